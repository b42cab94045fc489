//! A turn over the real adapter, with everything that can be asked of it afterwards.

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use graph_engine::{DiagramFormat, Graph, Log, Mode, State, StreamOptions};
use graph_engine_sqlite::SqliteStore;
use graph_nodes::flow::{Cursor, Flow, Stage};
use graph_nodes::gate::{Backoff, GatePolicy};
use graph_nodes::message::Message;
use graph_nodes::model::{Cassette, ChatModel};
use graph_nodes::stage::{Draft, GateBook, Seat};
use graph_nodes::tool::{ToolBox, ToolError, ToolReply, tool};
use graph_nodes_openai::testing::{Reply, Server};
use graph_nodes_openai::{ApiKey, Limits, OpenAi, OpenAiModel};
use serde_json::{Map, Value};

use crate::sinks::{Counted, Sinks};
use crate::sources::{Given, Source};

/// What the provider answers in the end.
pub(crate) const SAID: &str = "Welcome to Oslo.";

#[derive(State, Clone, Default, Debug)]
struct Visit {
    #[state(append)]
    history: Log<Message>,
    draft: Option<Draft>,
    book: GateBook,
    cursor: Cursor,
}

const SEAT: Seat<Visit> = Seat { history: Visit::HISTORY, draft: Visit::DRAFT, book: Visit::BOOK };

fn graph() -> Graph<Visit> {
    let fails = tool::<Visit, Map<String, Value>>("sign", "Signs.", |_, call| async move {
        let key = call.resource::<ApiKey>()?;
        match *call.resource::<Given>()? {
            Given::ToolPanic => panic!("the signature failed with {key:?}"),
            Given::ToolError => Err::<ToolReply<Visit>, _>(ToolError::new(format!("no signature with {key:?}"))),
            Given::Key | Given::Header => Ok(ToolReply::text("signed")),
        }
    });
    let tools = ToolBox::builder().tool(fails.needs::<ApiKey>().needs::<Given>()).build().unwrap();
    let policy = GatePolicy::new().with_backoff(Backoff::Fixed(Duration::ZERO));
    let explore = Stage::new("explore").prompt(|_| "You welcome guests.".to_owned()).tools(["sign"]);
    Flow::new("hotel", SEAT, Visit::CURSOR).policy(policy).stage(explore).tools(tools).build().unwrap()
}

fn model(server: &Server, source: &Source, key: &str, sinks: &Sinks) -> OpenAiModel {
    let limits = Limits::new().at_once(2);
    let described = OpenAi::new(server.base_url(), "local").limits(&limits);
    let described = match source.given {
        Given::Header => described.secret_header("x-key", key),
        _ => described.key(key),
    };
    let embedder = described.clone().build_embedder(2).unwrap();
    let model = described.clone().build().unwrap();
    sinks
        .put("debug of the adapter", format!("{limits:?} {described:?} {embedder:?} {model:?} {:?}", ApiKey::new(key)));
    model
}

/// Talks once, and puts everything that can be seen of it into the sinks.
pub(crate) async fn talk(source: &Source, key: &str, sinks: &Sinks) {
    let folder = tempfile::tempdir().unwrap();
    let good =
        format!("data: {{\"choices\":[{{\"delta\":{{\"content\":\"{SAID}\"}},\"finish_reason\":\"stop\"}}]}}\n\n");
    let mut replies = (source.replies)(key);
    replies.push(Reply::stream(good));
    let server = Server::start(replies).await.unwrap();
    let cassette = folder.path().join("cassette.jsonl");
    let recorded = Cassette::record(&cassette, Arc::new(model(&server, source, key, sinks))).open().unwrap();
    let provided: Arc<dyn ChatModel> = Arc::new(recorded);
    let store = SqliteStore::open(folder.path().join("threads.sqlite")).unwrap();
    let counted = Counted::default();
    let graph = graph();
    let drawn = [("dot", DiagramFormat::Dot), ("mermaid", DiagramFormat::Mermaid), ("json", DiagramFormat::Json)];
    let runner = graph
        .runner()
        .store(store)
        .provide_arc(provided)
        .metrics(counted.clone())
        .trace_content(true)
        .record_path(true);
    let thread = runner.thread("guest-7");
    let turn = thread.run(SEAT.user("hello")).with(ApiKey::new(key)).with(source.given);
    let mut debug = format!("{runner:?} {thread:?} {turn:?}");

    let all = [Mode::Nodes, Mode::Updates, Mode::State, Mode::Custom, Mode::Tokens, Mode::Checkpoints];
    let mut events = turn.stream_with(StreamOptions::default().modes(all));
    let mut told = String::new();
    while let Some(event) = events.next().await {
        writeln!(told, "{event} {event:?} {:?}", event.kind).unwrap();
    }
    sinks.put("events", told);
    let (said, report) = match events.end().await {
        Ok(end) => (format!("{:?}", end.reply_as::<String>()), end.report),
        Err(failed) => {
            let mut said = format!("{failed} {failed:?}");
            let mut cause = std::error::Error::source(&failed);
            while let Some(inner) = cause {
                write!(said, "{inner} {inner:?}").unwrap();
                cause = inner.source();
            }
            (said, *failed.report)
        }
    };
    sinks.put("what the turn says", said);
    write!(debug, "{report:?}").unwrap();
    sinks.put("debug of the engine", debug);
    for (place, format) in drawn {
        sinks.put(place, graph.topology().drawn(format).unwrap());
    }
    let path = report.path.as_ref().expect("the path was asked for");
    sinks.put(
        "executed path",
        format!("{} {}", graph.topology().dot().executed(path), serde_json::to_string(path).unwrap()),
    );
    let state = thread.state().await.unwrap();
    let history: Vec<_> = state.state.history.iter().collect();
    sinks.put("state", format!("{:?} {history:?}", state.state));
    sinks.put("tables", format!("{}{}", state.state.book.to_table(), state.state.book.to_attempts_table()));
    let mut lines = Vec::new();
    thread.export(&mut lines).await.unwrap();
    sinks.put("export", String::from_utf8(lines).unwrap());
    sinks.put("metrics", counted.take());
    sinks.put("cassette", std::fs::read_to_string(&cassette).unwrap());
    drop((runner, thread));
    let files = std::fs::read_dir(folder.path()).unwrap().map(|file| file.unwrap().path());
    let stored = files.filter(|path| *path != cassette).map(|path| std::fs::read(path).unwrap());
    sinks.put("checkpoints", stored.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).collect());
    assert!(!server.requests().is_empty());
}
