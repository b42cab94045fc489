//! `stream`: a node that emits, and readers.

use std::future::IntoFuture;

use async_trait::async_trait;
use futures_util::StreamExt;
use futures_util::future::join_all;
use graph_engine::{EventKind, Graph, Mode, Node, NodeError, Outcome, Runner, START, State, StreamOptions, Task};

use super::count::Count;

/// Places for events that wait for a reader.
pub(crate) const BUFFER: usize = 1_024;

/// What is emitted.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum What {
    Numbers,
    Tokens,
}

struct Emits(What);

#[async_trait]
impl Node<Count> for Emits {
    async fn run(&self, task: &Task<Count>) -> Result<Outcome<Count>, NodeError> {
        let ctx = task.ctx();
        for i in 0..task.state().limit {
            match self.0 {
                What::Numbers => ctx.emit(i).await?,
                What::Tokens => ctx.token("tok ").await,
            }
        }
        Ok(Outcome::of(Count::update().n(1)))
    }
}

/// One node that emits as often as the state's limit says.
pub(crate) fn emitting(what: What) -> Runner<Count> {
    let graph = Graph::builder("one").node("x", Emits(what)).edge(START, "x").compile().expect("compiles");
    graph.runner().timings(false)
}

/// Events of a streamed turn that are of interest.
pub(crate) async fn streamed<S: State + Default>(
    runner: &Runner<S>,
    input: S::Update,
    mode: Mode,
    counts: fn(&EventKind<S>) -> bool,
) -> u64 {
    let options = StreamOptions::default().modes([mode]).buffer(BUFFER);
    let mut events = runner.thread("t").run(input).stream_with(options);
    let mut read = 0;
    while let Some(event) = events.next().await {
        read += u64::from(counts(&event.kind));
    }
    read
}

pub(crate) fn is_custom(kind: &EventKind<Count>) -> bool {
    matches!(kind, EventKind::Custom(_))
}

pub(crate) fn is_token(kind: &EventKind<Count>) -> bool {
    matches!(kind, EventKind::Token(_))
}

pub(crate) fn is_finished<S>(kind: &EventKind<S>) -> bool {
    matches!(kind, EventKind::NodeFinished { .. })
}

/// The pieces of text by [`Turn::tokens`](graph_engine::Turn::tokens), beside the turn in one task.
pub(crate) async fn tokens(runner: &Runner<Count>, count: u64) -> u64 {
    let mut turn = runner.thread("t").run(Count::update().limit(count));
    let pieces = turn.tokens(BUFFER);
    let (end, read) = tokio::join!(turn.into_future(), pieces.count());
    assert!(end.is_ok());
    read as u64
}

/// So many readers of one turn, each of which gets every event.
pub(crate) async fn read_by(runner: &Runner<Count>, events: u64, readers: usize) {
    let mut turn = runner.thread("t").run(Count::update().limit(events));
    let options = || StreamOptions::default().modes([Mode::Custom]).buffer(BUFFER);
    let readers: Vec<_> = (0..readers).map(|_| turn.reader(options())).collect();
    let counted =
        readers.into_iter().map(|reader| reader.filter(|event| std::future::ready(is_custom(&event.kind))).count());
    let (end, read) = tokio::join!(turn.into_future(), join_all(counted));
    assert!(end.is_ok() && read.iter().all(|read| *read as u64 == events));
}

/// Up to the first end of a node; the rest of the turn is cancelled.
pub(crate) async fn first_event(runner: &Runner<Count>) {
    // No further ahead than the reader, as where a reader pulls.
    let options = StreamOptions::default().modes([Mode::Updates]).buffer(1);
    let mut events = runner.thread("t").run(Count::update()).stream_with(options);
    loop {
        let event = events.next().await.expect("a node ends");
        if is_finished(&event.kind) {
            return;
        }
    }
}
