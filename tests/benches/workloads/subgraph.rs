//! `lg_fanout_to_subgraph`: so many packets into a child graph that writes a line and extends it ten times.

use async_trait::async_trait;
use graph_engine::{Graph, Log, Next, Node, NodeError, Outcome, Route, Runner, START, State, Subgraph, Task};

use super::letters;

#[derive(State, Clone, Default)]
pub(crate) struct Top {
    pub(crate) topics: Vec<String>,
    #[state(append)]
    pub(crate) lines: Log<String>,
}

#[derive(State, Clone, Default)]
struct Sub {
    topic: String,
    lines: Vec<String>,
}

/// So many topics of 1,000 letters.
pub(crate) fn topics(count: u64) -> Vec<String> {
    (0..count).map(|i| letters(i, 1_000)).collect()
}

pub(crate) fn prepared(topic: &str) -> String {
    format!("{topic} (ready)")
}

pub(crate) fn written(topic: &str) -> String {
    format!("on {topic}")
}

pub(crate) fn extended(line: &str) -> String {
    format!("{line} +")
}

/// Whether a line was extended ten times.
pub(crate) fn is_long(line: &str) -> bool {
    line.ends_with(" + + + + + + + + + +")
}

struct Prepare;
struct Write;
struct Extend;

#[async_trait]
impl Node<Sub> for Prepare {
    async fn run(&self, task: &Task<Sub>) -> Result<Outcome<Sub>, NodeError> {
        Ok(Outcome::of(Sub::update().topic(prepared(&task.state().topic))))
    }
}

#[async_trait]
impl Node<Sub> for Write {
    async fn run(&self, task: &Task<Sub>) -> Result<Outcome<Sub>, NodeError> {
        Ok(Outcome::of(Sub::update().lines(vec![written(&task.state().topic)])))
    }
}

#[async_trait]
impl Node<Sub> for Extend {
    async fn run(&self, task: &Task<Sub>) -> Result<Outcome<Sub>, NodeError> {
        Ok(Outcome::of(Sub::update().lines(vec![extended(&task.state().lines[0])])))
    }
}

#[derive(Route)]
enum Each {
    One(String),
}

#[derive(Route)]
enum Again {
    Extend,
    #[route(end)]
    End,
}

pub(crate) fn fanout_to_subgraph() -> Runner<Top> {
    let sub = Graph::builder("sub")
        .node("prepare", Prepare)
        .node("write", Write)
        .node("extend", Extend)
        .edge(START, "prepare")
        .edge("prepare", "write")
        .edge("write", "extend")
        .route("extend", |sub: &Sub| if is_long(&sub.lines[0]) { Again::End } else { Again::Extend })
        .compile()
        .expect("compiles");
    let one = Subgraph::for_each(
        &sub,
        |_: &Top, topic: String| Sub::update().topic(topic),
        |sub: &Sub, _| Top::update().lines(sub.lines.clone()),
    );
    let graph = Graph::builder("top")
        .node("one", one)
        .route(START, |top: &Top| Next::fan_out(top.topics.iter().map(|topic| Each::One(topic.clone()))));
    graph.compile().expect("compiles").runner().step_limit(u64::MAX).timings(false)
}
