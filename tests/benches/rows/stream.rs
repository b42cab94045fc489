//! Rows 17, 18 and 24: what readers of a turn cost.

use std::future::IntoFuture;
use std::sync::Arc;

use async_trait::async_trait;
use futures_util::StreamExt;
use graph_engine::{EventKind, Graph, Mode, Node, NodeError, Outcome, Runner, START, State, StreamOptions, Task};
use tokio::sync::mpsc;

use crate::Here;
use crate::measure::{Row, Target, Timed, times};
use crate::nodes::{Bare, Count, Rest, bare, turn};
use crate::sequence::chain;

const EVENTS: u64 = 10_000;
const BUFFER: usize = 1_024;

struct Numbers;
struct Tokens;

#[async_trait]
impl Node<Count> for Numbers {
    async fn run(&self, task: &Task<Count>) -> Result<Outcome<Count>, NodeError> {
        let ctx = task.ctx();
        for i in 0..EVENTS {
            ctx.emit(i).await?;
        }
        Ok(Outcome::default())
    }
}

#[async_trait]
impl Node<Count> for Tokens {
    async fn run(&self, task: &Task<Count>) -> Result<Outcome<Count>, NodeError> {
        let ctx = task.ctx();
        for _ in 0..EVENTS {
            ctx.token("tok ").await;
        }
        Ok(Outcome::default())
    }
}

fn one(node: impl Node<Count>) -> Runner<Count> {
    Graph::builder("one").node("x", node).edge(START, "x").compile().expect("compiles").runner().timings(false)
}

/// A task that sends, a bounded channel, and a reader.
fn limit<'a, T: Send + 'static>(here: &'a Here, event: fn(u64) -> T) -> Timed<'a> {
    times(1, move || {
        let read = here.run(async {
            let (queue, mut events) = mpsc::channel::<(Arc<str>, T)>(BUFFER);
            let node: Arc<str> = "x".into();
            let sender = tokio::spawn(async move {
                for i in 0..EVENTS {
                    assert!(queue.send((node.clone(), event(i))).await.is_ok());
                }
            });
            let mut read = 0;
            while events.recv().await.is_some() {
                read += 1;
            }
            sender.await.expect("no panic");
            read
        });
        assert_eq!(read, EVENTS);
    })
}

/// Events of a streamed turn that are of interest.
fn streamed(here: &Here, runner: &Runner<Count>, mode: Mode, counts: fn(&EventKind<Count>) -> bool) -> u64 {
    let options = StreamOptions::default().modes([mode]).buffer(BUFFER);
    here.run(async {
        let mut events = runner.thread("t").run(Count::update()).stream_with(options);
        let mut read = 0;
        while let Some(event) = events.next().await {
            read += u64::from(counts(&event.kind));
        }
        read
    })
}

/// The same pieces by [`Turn::tokens`](graph_engine::Turn::tokens), beside the turn in one task.
fn tokens(here: &Here, runner: &Runner<Count>) -> u64 {
    here.run(async {
        let mut turn = runner.thread("t").run(Count::update());
        let pieces = turn.tokens(BUFFER);
        let (end, read) = tokio::join!(turn.into_future(), pieces.count());
        assert!(end.is_ok());
        read as u64
    })
}

/// Up to the first end of a node; the rest of the turn is cancelled.
fn first_event(here: &Here, runner: &Runner<Count>) {
    // No further ahead than the reader, as where a reader pulls.
    let options = StreamOptions::default().modes([Mode::Updates]).buffer(1);
    let found = here.run(async {
        let mut events = runner.thread("t").run(Count::update()).stream_with(options);
        while let Some(event) = events.next().await {
            if matches!(event.kind, EventKind::NodeFinished { .. }) {
                return true;
            }
        }
        false
    });
    assert!(found);
}

fn bare_chain(here: &Here, nodes: &[Arc<dyn Bare>]) {
    here.run(async {
        let mut count = Count::default();
        for node in nodes {
            let update = node.run(&count).await;
            count.apply(update);
        }
    });
}

/// A task that runs the chain and sends an item after each node; the reader leaves after the first.
fn bare_first(here: &Here, nodes: &Arc<[Arc<dyn Bare>]>) {
    let nodes = nodes.clone();
    let first = here.run(async {
        let (queue, mut items) = mpsc::channel::<u64>(1);
        let chain = tokio::spawn(async move {
            let mut count = Count::default();
            for (i, node) in (0..).zip(nodes.iter()) {
                let update = node.run(&count).await;
                count.apply(update);
                if queue.send(i).await.is_err() {
                    return;
                }
            }
        });
        let first = items.recv().await;
        chain.abort();
        first
    });
    assert_eq!(first, Some(0));
}

pub(crate) fn rows(here: &Here) {
    let row = |name: &str, target| Row {
        name: name.to_owned(),
        unit: "event",
        units: (EVENTS, EVENTS),
        target: Target::Nanoseconds(target),
    };
    let (numbers, words) = (one(Numbers), one(Tokens));
    let custom = |kind: &EventKind<Count>| matches!(kind, EventKind::Custom(_));
    let token = |kind: &EventKind<Count>| matches!(kind, EventKind::Token(_));
    let text = |_| "tok ".to_owned();
    row("17 stream:10000, custom events", 220.0)
        .pair(limit(here, |i| i), times(1, || assert_eq!(streamed(here, &numbers, Mode::Custom, custom), EVENTS)));
    row("18 stream:10000, tokens", 300.0)
        .pair(limit(here, text), times(1, || assert_eq!(streamed(here, &words, Mode::Tokens, token), EVENTS)));
    row("18 stream:10000, Turn::tokens", 300.0)
        .pair(limit(here, text), times(1, || assert_eq!(tokens(here, &words), EVENTS)));

    let long = chain(1_000, || Rest).compile().expect("compiles").runner().step_limit(1_001).timings(false);
    let nodes: Arc<[Arc<dyn Bare>]> = bare(1_000, || Rest).into();
    let finished = |kind: &EventKind<Count>| matches!(kind, EventKind::NodeFinished { .. });
    let row = |name: &str, target| Row {
        name: name.to_owned(),
        unit: "run",
        units: (20, 20),
        target: Target::Nanoseconds(target),
    };
    row("24 lg_sequential:1000, awaited", 80_000.0)
        .pair(times(20, || bare_chain(here, &nodes)), times(20, || turn(here, &long)));
    row("24 lg_sequential:1000, streamed updates", 80_000.0).pair(
        times(20, || bare_chain(here, &nodes)),
        times(20, || assert_eq!(streamed(here, &long, Mode::Updates, finished), 1_000)),
    );
    row("24 lg_first_event:1000", 5_000.0)
        .pair(times(20, || bare_first(here, &nodes)), times(20, || first_event(here, &long)));
}
