//! Rows 17, 18 and 24: what readers of a turn cost.

use std::sync::Arc;

use graph_engine::{Mode, Runner};
use tokio::sync::mpsc;

use crate::limit::{self, Node};
use crate::measure::{Timed, times};
use crate::suite::{Row, Suite};
use crate::workloads::count::{Count, Noop, chain_runner};
use crate::workloads::events::{
    BUFFER, What, emitting, first_event, is_custom, is_finished, is_token, read_by, streamed, tokens,
};
use crate::workloads::{Here, turn};

const EVENTS: u64 = 10_000;
const NODES: u64 = 1_000;
const RUNS: u64 = 20;

/// A task that sends, a bounded channel, and a reader.
fn channel(here: &Here) -> Timed<'static> {
    let here = here.clone();
    times(1, move || {
        here.run(async {
            let (queue, mut events) = mpsc::channel::<(Arc<str>, u64)>(BUFFER);
            let node: Arc<str> = "x".into();
            let sender = tokio::spawn(async move {
                for i in 0..EVENTS {
                    queue.send((node.clone(), i)).await.expect("somebody reads");
                }
            });
            let mut read = 0;
            while events.recv().await.is_some() {
                read += 1;
            }
            sender.await.expect("no panic");
            assert_eq!(read, EVENTS);
        });
    })
}

fn emitted(here: &Here, what: What) -> Timed<'static> {
    let (here, runner) = (here.clone(), emitting(what));
    let (mode, counts) = match what {
        What::Numbers => (Mode::Custom, is_custom as fn(&_) -> bool),
        What::Tokens => (Mode::Tokens, is_token as fn(&_) -> bool),
    };
    times(1, move || {
        let read = here.run(streamed(&runner, Count::update().limit(EVENTS), mode, counts));
        assert_eq!(read, EVENTS);
    })
}

/// So many events of one turn to so many readers.
pub(crate) fn shared(here: &Here, events: u64, readers: usize) -> Timed<'static> {
    let (here, runner) = (here.clone(), emitting(What::Numbers));
    times(1, move || here.run(read_by(&runner, events, readers)))
}

pub(crate) fn rows(suite: &mut Suite, here: &Here) {
    let row = |number, variant, ratio: f64, most: f64| {
        Row::new(number, "stream", EVENTS, variant).unit("event", EVENTS).ratio(ratio).most(most)
    };
    suite.pair(row(17, "custom", 2.0, 220.0), || (channel(here), emitted(here, What::Numbers)));
    suite.pair(row(18, "messages", 3.0, 300.0), || (channel(here), emitted(here, What::Tokens)));
    suite.pair(row(18, "messages, Turn::tokens", 3.0, 300.0).beside(), || {
        let (here, runner) = (here.clone(), emitting(What::Tokens));
        let engine = times(1, {
            let here = here.clone();
            move || assert_eq!(here.run(tokens(&runner, EVENTS)), EVENTS)
        });
        (channel(&here), engine)
    });
}

fn chain_by_hand(here: &Here) -> Timed<'static> {
    let here = here.clone();
    let nodes = limit::boxed(NODES, |_| limit::Noop);
    times(RUNS, move || drop(here.run(limit::chain(&nodes))))
}

/// A task that runs the chain and sends an item after each node; the reader leaves after the first.
fn first_by_hand(here: &Here) -> Timed<'static> {
    let here = here.clone();
    let nodes: Arc<[Box<dyn Node>]> = limit::boxed(NODES, |_| limit::Noop).into();
    times(RUNS, move || {
        let nodes = nodes.clone();
        let first = here.run(async {
            let (queue, mut items) = mpsc::channel::<u64>(1);
            let chain = tokio::spawn(async move {
                let mut state = limit::State::default();
                for (i, node) in (0..).zip(nodes.iter()) {
                    let update = node.run(&state).await;
                    state.apply(update);
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
    })
}

/// Row 24. Its figure is a thousand times that of row 2, and its limit has no reader: so it counts without one.
pub(crate) fn runs(suite: &mut Suite, here: &Here) {
    let row = |workload, variant, most: f64| Row::new(24, workload, NODES, variant).unit("run", RUNS).most(most);
    let runner: Runner<Count> = chain_runner(NODES, || Noop);
    suite.pair(row("lg_sequential", "streamed", 80_000.0).ratio(4.3).beside(), || {
        let (here, runner) = (here.clone(), runner.clone());
        let engine = times(RUNS, {
            let here = here.clone();
            move || {
                let read = here.run(streamed(&runner, Count::update(), Mode::Updates, is_finished));
                assert_eq!(read, NODES);
            }
        });
        (chain_by_hand(&here), engine)
    });
    suite.pair(row("lg_sequential", "awaited", 80_000.0).ratio(4.3), || {
        let (here, runner) = (here.clone(), runner.clone());
        let engine = times(RUNS, {
            let here = here.clone();
            move || drop(here.run(turn(&runner, Count::update())))
        });
        (chain_by_hand(&here), engine)
    });
    suite.pair(row("lg_first_event", "", 5_000.0), || {
        let (here, runner) = (here.clone(), runner.clone());
        let engine = times(RUNS, {
            let here = here.clone();
            move || here.run(first_event(&runner))
        });
        (first_by_hand(&here), engine)
    });
}
