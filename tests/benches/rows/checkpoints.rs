//! Rows 4, 16 and 20: threads that the memory store keeps, pauses and calls of child graphs among them; what a long
//! history costs.

use std::collections::HashMap;
use std::hint::black_box;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use graph_engine::{Graph, KeptStates, MemoryStore, Node, NodeError, Outcome, Route, Runner, START, Task, child};

use crate::limit;
use crate::measure::{Timed, times};
use crate::suite::{Law, Row, Suite};
use crate::workloads::chat::{Chat, growing, msg};
use crate::workloads::count::{Count, Tick, asking, chain_runner, looping, trips};
use crate::workloads::{Here, turn};

pub(crate) const THREADS: u64 = 1_000;
pub(crate) const SHORT: u64 = 5;
const STEPS: u64 = 1_000;
const TRIPS: u64 = 100;

/// One turn of so many super-steps in a fresh store.
pub(crate) fn grow(here: &Here, runs: u64, steps: u64) -> Timed<'static> {
    let (here, runner) = (here.clone(), growing());
    times(runs, move || {
        let end = here.run(turn(&runner.clone().store(MemoryStore::new()), Chat::update().limit(steps)));
        assert_eq!(end.state.messages.len() as u64, steps);
    })
}

/// The deltas as JSON in a list.
fn grow_by_hand(runs: u64) -> Timed<'static> {
    times(runs, || drop(black_box(limit::sqlite::deltas(STEPS))))
}

/// Row 4.
pub(crate) fn row_4(suite: &mut Suite, here: &Here) {
    let row = Row::new(4, "ckpt_loop", STEPS, "memory-grow").unit("super-step", 20 * STEPS).ratio(2.0).most(600.0);
    suite.pair(row, || (grow_by_hand(20), grow(here, 20, STEPS)));
}

/// Row 16 in memory.
pub(crate) fn rows(suite: &mut Suite, here: &Here) {
    let row = Row::new(16, "threads", THREADS, "memory").unit("graph", 5 * THREADS).ratio(2.5).most(2_200.0);
    suite.pair(row, || (threads_by_hand(here, 5), threads(here, 5)));
}

/// Row 20, and calls of child graphs, which are turns too.
pub(crate) fn row_20(suite: &mut Suite, here: &Here) {
    let row = Row::new(20, "interrupt", TRIPS, "memory").unit("round trip", 20 * TRIPS).most(2_000.0);
    suite.pair(row, || (trips_by_hand(here, 20), asked(here, 20)));
    let row = Row::extra("child graph of the same state", TRIPS, "memory").unit("call", 20 * TRIPS);
    suite.pair(row, || (trips_by_hand(here, 20), called(here, 20)));
}

/// A thousand chains of five, each in a task of its own, with their rows in one map behind a lock.
fn threads_by_hand(here: &Here, runs: u64) -> Timed<'static> {
    type Log = Mutex<HashMap<u32, Vec<Vec<u8>>>>;
    let here = here.clone();
    let nodes = Arc::new(limit::boxed(SHORT, |_| limit::Count));
    times(runs, move || {
        here.run(async {
            let store = Arc::new(Log::default());
            let thread = |id: u32| {
                let (nodes, store) = (nodes.clone(), store.clone());
                tokio::spawn(async move {
                    let mut state = limit::State::default();
                    for node in &*nodes {
                        let update = node.run(&state).await;
                        let bytes = serde_json::to_vec(&update.n).expect("JSON");
                        state.apply(update);
                        store.lock().expect("no panic").entry(id).or_default().push(bytes);
                    }
                    state.n
                })
            };
            let tasks: Vec<_> = (0..THREADS as u32).map(thread).collect();
            for task in tasks {
                assert_eq!(task.await.expect("no panic"), SHORT);
            }
        });
    })
}

fn threads(here: &Here, runs: u64) -> Timed<'static> {
    let (here, runner) = (here.clone(), chain_runner(SHORT, || Tick));
    times(runs, move || here.run(many_threads(&runner.clone().store(MemoryStore::new()))))
}

/// A thousand threads at once, each in a task of its own.
pub(crate) async fn many_threads(runner: &Runner<Count>) {
    let turn = |id: u64| tokio::spawn(runner.thread(id.to_string()).run(Count::update()).into_future());
    let turns: Vec<_> = (0..THREADS).map(turn).collect();
    for turn in turns {
        assert_eq!(turn.await.expect("no panic").expect("it ends").state.n, SHORT);
    }
}

/// Two super-steps by hand, with their rows, for each question: one that asks, one that is answered.
fn trips_by_hand(here: &Here, runs: u64) -> Timed<'static> {
    let here = here.clone();
    let nodes = limit::boxed(1, |_| limit::Count);
    times(runs, move || {
        here.run(async {
            let (mut state, mut log) = (limit::State::default(), Vec::new());
            while state.n < 2 * TRIPS {
                let update = nodes[0].run(&state).await;
                log.push(serde_json::to_vec(&update.n).expect("JSON"));
                state.apply(update);
            }
            black_box(log);
        });
    })
}

/// A hundred questions, each answered by a turn that ends with the next one.
fn asked(here: &Here, runs: u64) -> Timed<'static> {
    let (here, runner) = (here.clone(), asking());
    times(runs, move || here.run(trips(&runner, TRIPS)))
}

/// A graph that calls a graph of one node again and again.
fn called(here: &Here, runs: u64) -> Timed<'static> {
    let here = here.clone();
    let inner = Graph::builder("inner").node("step", Tick).edge(START, "step").compile().expect("compiles");
    let runner = looping(|graph| graph.node("step", child(&inner)));
    times(runs, move || {
        let runner = runner.clone().store(MemoryStore::new());
        assert_eq!(here.run(turn(&runner, Count::update().limit(TRIPS))).state.n, TRIPS);
    })
}

pub(crate) fn laws(suite: &mut Suite, here: &Here) {
    let law = |name, unit, units, most| Law { rows: &[], name, unit, units, most };
    let name = "history: growing state, memory store, 1,000, 10,000 checkpoints";
    suite.law(&law(name, "super-step", (20_000, 20_000), 1.1), || (grow(here, 20, 1_000), grow(here, 2, 10_000)));
    let name = "resume: 100 kB, memory store, 1,000, 10,000 checkpoints";
    suite.law(&law(name, "call", (20, 20), 1.1), || (resume(here, 1_000), resume(here, 10_000)));
}

/// Appends until there are a thousand messages, then only counts.
struct Fill;

#[async_trait]
impl Node<Chat> for Fill {
    async fn run(&self, task: &Task<Chat>) -> Result<Outcome<Chat>, NodeError> {
        let n = task.state().n;
        let update = Chat::update().n(n + 1);
        Ok(Outcome::of(if n < STEPS { update.messages([msg(n, 100)]) } else { update }))
    }
}

#[derive(Route)]
enum Again {
    Step,
    #[route(end)]
    End,
}

/// Loads the same 1,000 messages as of so many checkpoints.
fn resume(here: &Here, checkpoints: u64) -> Timed<'static> {
    let here = here.clone();
    let again = |chat: &Chat| if chat.n < chat.limit { Again::Step } else { Again::End };
    let graph = Graph::builder("fill").node("step", Fill).edge(START, "step").route("step", again);
    let runner = graph.compile().expect("compiles").runner().step_limit(checkpoints).store(MemoryStore::new());
    // All of it each time.
    let runner = runner.kept_states(KeptStates::none());
    here.run(turn(&runner, Chat::update().limit(checkpoints)));
    let thread = runner.thread("t");
    times(20, move || {
        let state = here.run(thread.state()).expect("a state");
        assert_eq!((state.state.messages.len() as u64, state.step), (STEPS, checkpoints));
    })
}
