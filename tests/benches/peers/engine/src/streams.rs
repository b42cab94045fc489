//! Turns whose events are read.

use async_trait::async_trait;
use futures_util::StreamExt;
use graph_engine::{
    EventKind, Graph, Mode, Node, NodeError, Outcome, START, State, StreamOptions, Task, Turn, TurnEnd,
};
use measure::{Asked, Times};

use crate::shapes::chain;
use crate::state::{Count, Here, Rest};

/// Says so many numbers.
struct Numbers(u64);

#[async_trait]
impl Node<Count> for Numbers {
    async fn run(&self, task: &Task<Count>) -> Result<Outcome<Count>, NodeError> {
        let ctx = task.ctx();
        for i in 0..self.0 {
            ctx.emit(i).await?;
        }
        Ok(Outcome::default())
    }
}

/// How many of the events count, and how the turn ended.
pub(crate) fn read<S: State>(
    here: &Here,
    turn: impl FnOnce() -> Turn<S>,
    mode: Mode,
    counts: fn(&EventKind<S>) -> bool,
) -> (u64, TurnEnd<S>) {
    here.run(async {
        let mut events = turn().stream_with(StreamOptions::default().modes([mode]));
        let mut read = 0;
        while let Some(event) = events.next().await {
            read += u64::from(counts(&event.kind));
        }
        (read, events.end().await.expect("ends"))
    })
}

pub(crate) fn custom(here: &Here, asked: &Asked) -> Times {
    let graph = Graph::builder("one").node("x", Numbers(asked.n)).edge(START, "x").compile().expect("compiles");
    let runner = graph.runner().timings(false);
    asked.times(asked.n, || {
        let turn = || runner.thread("t").run(Count::update());
        let (events, _) = read(here, turn, Mode::Custom, |kind| matches!(kind, EventKind::Custom(_)));
        assert_eq!(events, asked.n);
    })
}

pub(crate) fn sequential(here: &Here, asked: &Asked) -> Times {
    let graph = chain::<Count, _>(asked.n, || Rest).compile().expect("compiles");
    let runner = graph.runner().step_limit(asked.n + 1).timings(false);
    asked.times(1, || {
        let turn = || runner.thread("t").run(Count::update());
        let (events, _) = read(here, turn, Mode::Updates, |kind| matches!(kind, EventKind::NodeFinished { .. }));
        assert_eq!(events, asked.n);
    })
}
