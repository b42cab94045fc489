//! Where keys come from, and who echoes them.

use graph_nodes_openai::testing::Reply;

/// One way in which a key could get out.
pub(crate) struct Source {
    pub(crate) name: &'static str,
    /// What the server answers before it answers well.
    pub(crate) replies: fn(&str) -> Vec<Reply>,
    pub(crate) given: Given,
}

/// How the program has the key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Given {
    /// As the key of the model.
    Key,
    /// As another header.
    Header,
    /// As the turn's own resource, which a tool writes into its error.
    ToolError,
    /// The same, and the tool panics with it.
    ToolPanic,
}

const fn source(name: &'static str, given: Given, replies: fn(&str) -> Vec<Reply>) -> Source {
    Source { name, replies, given }
}

/// An error as providers write it.
fn echo(status: u16, key: &str) -> Reply {
    Reply::status(status).body(said(key))
}

fn said(key: &str) -> String {
    format!("{{\"error\":{{\"message\":\"Incorrect key provided: {key}.\",\"type\":\"{key}\",\"code\":\"{key}\"}}}}")
}

fn event(data: &str) -> Reply {
    Reply::stream(format!("data: {{\"choices\":[{{\"delta\":{{\"content\":\"Wel\"}}}}]}}\n\ndata: {data}\n\n"))
}

const CALL: &str = "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"c1\",\"function\":\
    {\"name\":\"sign\",\"arguments\":\"{}\"}}]},\"finish_reason\":\"tool_calls\"}]}\n\n";

pub(crate) const SOURCES: &[Source] = &[
    source("key", Given::Key, |_| Vec::new()),
    source("header", Given::Header, |key| vec![echo(500, key)]),
    source("unauthorised", Given::Key, |key| vec![echo(401, key)]),
    source("forbidden", Given::Header, |key| vec![echo(403, key)]),
    source("rate", Given::Key, |key| vec![echo(429, key).header("retry-after", "0").header("x-echo", key)]),
    source("bad-request", Given::Key, |key| vec![echo(400, key)]),
    source("plain-text", Given::Key, |key| vec![Reply::status(502).body(format!("<h1>Bad gateway for {key}</h1>"))]),
    source("redirect", Given::Key, |key| vec![Reply::status(307).header("location", &format!("/v2?key={key}"))]),
    source("error-event", Given::Key, |key| vec![event(&said(key))]),
    source("error-event-in-pieces", Given::Key, |key| vec![event(&said(key)).pieces_of(3)]),
    source("event-that-is-no-json", Given::Key, |key| vec![event(&format!("{{\"choices\": {key}"))]),
    source("answer-that-is-no-json", Given::Key, |key| vec![Reply::json(format!("not {key}"))]),
    source("cut", Given::Key, |key| vec![event(&said(key)).reset_at(70)]),
    source("tool-error", Given::ToolError, |_| vec![Reply::stream(CALL)]),
    source("tool-panic", Given::ToolPanic, |_| vec![Reply::stream(CALL)]),
];
