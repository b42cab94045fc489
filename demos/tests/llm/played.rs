//! What a language model's server answers, and a talk with it.

use demos::hotel::terminal::{Chat, Options, Style, run};
use graph_nodes_openai::testing::{Asked, Reply, Server};
use serde_json::{Value, json};

/// A stream in which the model calls a tool; the arguments come in pieces of three letters.
pub(crate) fn call(tool: &str, arguments: Value) -> Reply {
    let arguments: Vec<char> = arguments.to_string().chars().collect();
    let first = json!({"index": 0, "id": "c-1", "type": "function", "function": {"name": tool, "arguments": ""}});
    let mut deltas = vec![json!({"role": "assistant", "content": null}), json!({"tool_calls": [first]})];
    deltas.extend(arguments.chunks(3).map(|piece| {
        let piece: String = piece.iter().collect();
        json!({"tool_calls": [{"index": 0, "function": {"arguments": piece}}]})
    }));
    stream(&deltas, "tool_calls")
}

/// A stream in which the model says a text, word by word.
pub(crate) fn text(text: &str) -> Reply {
    let deltas: Vec<Value> = text.split_inclusive(' ').map(|word| json!({"content": word})).collect();
    stream(&deltas, "stop")
}

fn stream(deltas: &[Value], finish: &str) -> Reply {
    let delta = |delta: &Value| json!({"choices": [{"index": 0, "delta": delta, "finish_reason": null}]});
    let mut events: Vec<Value> = deltas.iter().map(delta).collect();
    events.push(json!({"choices": [{"index": 0, "delta": {}, "finish_reason": finish}]}));
    events.push(json!({"choices": [], "usage": {"prompt_tokens": 40, "completion_tokens": 2, "total_tokens": 42}}));
    let body: String = events.iter().map(|event| format!("data: {event}\n\n")).collect();
    Reply::stream(format!("{body}data: [DONE]\n\n"))
}

/// The command line for this server.
pub(crate) fn options(url: &str) -> Options {
    Options {
        llm: Some(url.to_owned()),
        model: Some("played".to_owned()),
        today: Some(jiff::civil::date(2026, 6, 10)),
        store: Some("memory".into()),
        ..Options::default()
    }
}

/// What a talk of these lines writes, and the chat.
pub(crate) async fn talk(options: &Options, lines: &[&str]) -> (String, Chat) {
    let mut written = Vec::new();
    let input = lines.join("\n");
    let chat = run(options, input.as_bytes(), &mut written, false, Style::PLAIN).await.unwrap().unwrap();
    (String::from_utf8(written).unwrap(), chat)
}

/// The names of the tools that a request offers.
pub(crate) fn offered(asked: &Asked) -> Vec<String> {
    let tools = asked.json()["tools"].as_array().cloned().unwrap_or_default();
    tools.iter().map(|tool| tool["function"]["name"].as_str().unwrap().to_owned()).collect()
}

/// The messages of a request in short: the role, then the text or what is called.
pub(crate) fn messages(asked: &Asked) -> Vec<String> {
    let short = |message: &Value| {
        let role = message["role"].as_str().unwrap();
        match message["tool_calls"].as_array() {
            Some(calls) => {
                let calls: Vec<String> = calls
                    .iter()
                    .map(|call| {
                        format!(
                            "{}{}",
                            call["function"]["name"].as_str().unwrap(),
                            call["function"]["arguments"].as_str().unwrap()
                        )
                    })
                    .collect();
                format!("{role} calls {}", calls.join(", "))
            }
            None => format!("{role}: {}", message["content"].as_str().unwrap_or_default()),
        }
    };
    asked.json()["messages"].as_array().unwrap().iter().map(short).collect()
}

/// A server of a thread of its own, for tests that wait for another process.
pub(crate) struct Apart {
    pub(crate) server: std::sync::Arc<Server>,
    _until: std::sync::mpsc::Sender<()>,
}

impl Apart {
    pub(crate) fn start(replies: Vec<Reply>) -> Self {
        let (started, server) = std::sync::mpsc::channel();
        let (until, ended) = tokio::sync::oneshot::channel::<()>();
        let (sender, receiver) = std::sync::mpsc::channel::<()>();
        std::thread::spawn(move || {
            // The test is over.
            let _ = receiver.recv();
            drop(until);
        });
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                started.send(std::sync::Arc::new(Server::start(replies).await.unwrap())).unwrap();
                let _ = ended.await;
            });
        });
        Self { server: server.recv().unwrap(), _until: sender }
    }

    /// Waits until so many requests have arrived.
    pub(crate) fn asked(&self, count: usize) -> Vec<Asked> {
        let limit = std::time::Instant::now() + std::time::Duration::from_secs(60);
        loop {
            let requests = self.server.requests();
            if requests.len() >= count {
                return requests;
            }
            assert!(std::time::Instant::now() < limit, "only {} requests", requests.len());
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
    }
}
