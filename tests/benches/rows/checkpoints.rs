//! Rows 4, 16 and 20: threads that the memory store keeps, pauses and calls of child graphs among them; what a long
//! history costs.

use std::collections::HashMap;
use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;
use futures_util::future::join_all;
use graph_engine::{
    Ctx, Graph, Log, MemoryStore, Node, NodeError, Outcome, Route, Runner, START, Snap, State, Status, Task, child,
};

use crate::Here;
use crate::measure::{Row, Target, Timed, times};
use crate::nodes::{self, Count, CountUpdate};
use crate::state_size::letters;

const STEPS: u64 = 1_000;
const THREADS: u64 = 1_000;
const SHORT: u64 = 5;
const TRIPS: u64 = 100;

#[derive(State, Default, Clone)]
struct Chat {
    #[state(append)]
    messages: Log<Message>,
}

#[derive(Clone, serde::Serialize, serde::Deserialize)]
struct Message {
    role: String,
    content: String,
}

fn message(id: u64) -> Message {
    Message { role: "assistant".to_owned(), content: letters(id) }
}

fn append(chat: &Chat) -> ChatUpdate {
    Chat::update().messages([message(chat.messages.len() as u64)])
}

struct Append;

#[async_trait]
impl Node<Chat> for Append {
    async fn run(&self, task: &Task<Chat>) -> Result<Outcome<Chat>, NodeError> {
        Ok(Outcome::of(append(task.state())))
    }
}

#[async_trait]
trait Bare: Send + Sync {
    async fn run(&self, chat: &Chat) -> ChatUpdate;
}

#[async_trait]
impl Bare for Append {
    async fn run(&self, chat: &Chat) -> ChatUpdate {
        append(chat)
    }
}

#[derive(Route)]
enum Again {
    Tick,
    #[route(end)]
    End,
}

fn growing(steps: u64) -> Runner<Chat> {
    let again = move |chat: &Chat| {
        if (chat.messages.len() as u64).is_multiple_of(steps) { Again::End } else { Again::Tick }
    };
    let graph = Graph::builder("chat").node("tick", Append).edge(START, "tick").route("tick", again);
    graph.compile().expect("compiles").runner().step_limit(steps + 1).timings(false)
}

/// What is kept of a thread by hand: where each super-step's JSON ends.
#[derive(Default)]
struct Rows {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Rows {
    fn keep(&mut self, value: &impl serde::Serialize) {
        serde_json::to_writer(&mut self.bytes, value).expect("JSON");
        self.ends.push(self.bytes.len());
    }
}

/// A turn by hand: each super-step's message is written as JSON behind those before it.
async fn turn_by_hand(node: &dyn Bare, steps: u64) -> Rows {
    let (mut chat, mut rows) = (Chat::default(), Rows::default());
    for step in 0..steps {
        let update = node.run(&chat).await;
        chat.apply(update);
        rows.keep(&chat.messages.tail(usize::try_from(step).expect("small")));
    }
    rows
}

/// One turn of a fresh thread in a fresh store.
fn turn<S: State + Default>(here: &Here, runner: &Runner<S>) {
    nodes::turn(here, &runner.clone().store(MemoryStore::new()));
}

pub(crate) fn rows(here: &Here) {
    let row = |name: &str, unit, units, target| Row { name: name.to_owned(), unit, units: (units, units), target };
    let node: Arc<dyn Bare> = Arc::new(Append);
    let runner = growing(STEPS);
    row("4 ckpt_loop memory-grow:1000", "super-step", 20 * STEPS, Target::Nanoseconds(600.0))
        .pair(times(20, || drop(black_box(here.run(turn_by_hand(&*node, STEPS))))), times(20, || turn(here, &runner)));
    row("16 threads:1000 of 5 super-steps, memory store", "thread", 5 * THREADS, Target::Nanoseconds(2_200.0))
        .pair(times(5, || threads_by_hand(here, &*node)), times(5, || threads(here, &growing(SHORT))));
    let (asks, calls) = (asking(), calling());
    row("20 interrupt:100, memory store", "round trip", 20 * TRIPS, Target::Nanoseconds(2_000.0))
        .pair(times(20, || trips_by_hand(here, &nodes::Tick)), times(20, || trips(here, &asks)));
    row("child graph of the same state, memory store", "call", 20 * TRIPS, Target::Shown)
        .pair(times(20, || trips_by_hand(here, &nodes::Tick)), times(20, || turn(here, &calls)));
}

/// A thousand threads at once, each with a name and rows of its own.
fn threads_by_hand(here: &Here, node: &dyn Bare) {
    let turns = (0..THREADS).map(|at| async move { (format!("guest-{at}"), turn_by_hand(node, SHORT).await) });
    let kept: HashMap<String, Rows> = here.run(join_all(turns)).into_iter().collect();
    assert_eq!(kept.len() as u64, THREADS);
}

fn threads(here: &Here, runner: &Runner<Chat>) {
    let runner = runner.clone().store(MemoryStore::new());
    let turns = (0..THREADS).map(|at| runner.thread(format!("guest-{at}")).run(Chat::update()).into_future());
    let ends = here.run(join_all(turns));
    assert!(ends.iter().all(Result::is_ok));
}

/// Two super-steps by hand, with their rows, for each question: one that asks, one that is answered.
fn trips_by_hand(here: &Here, node: &dyn nodes::Bare) {
    let rows = here.run(async {
        let (mut count, mut rows) = (Count::default(), Rows::default());
        while count.ticks < 2 * TRIPS {
            let update = node.run(&count).await;
            count.apply(update);
            rows.keep(&count.ticks);
        }
        rows
    });
    assert_eq!(rows.ends.len() as u64, 2 * TRIPS);
}

/// A graph that asks again as soon as it is answered.
fn asking() -> Runner<Count> {
    let ask = async |count: Snap<Count>, ctx: Ctx| -> Result<CountUpdate, NodeError> {
        ctx.interrupt::<u64>("how many?")?;
        Ok(Count::update().ticks(count.ticks + 1))
    };
    let graph = Graph::builder("ask").node("tick", ask).edge(START, "tick").route("tick", |_: &Count| Again::Tick);
    graph.compile().expect("compiles").runner().timings(false)
}

/// A hundred questions, each answered by a turn that ends with the next one.
fn trips(here: &Here, runner: &Runner<Count>) {
    let thread = runner.clone().store(MemoryStore::new()).thread("guest-7");
    here.run(async {
        let mut end = thread.run(Count::update()).await.expect("it pauses");
        for answer in 0..TRIPS {
            assert_eq!(end.status, Status::Paused);
            end = thread.resume(answer).await.expect("it pauses");
        }
        assert_eq!(end.state.ticks, TRIPS);
    });
}

/// A graph that calls a graph of one node again and again.
fn calling() -> Runner<Count> {
    let inner = Graph::builder("inner").node("tick", nodes::Tick).edge(START, "tick").compile().expect("compiles");
    let again = |count: &Count| if count.ticks < TRIPS { Again::Tick } else { Again::End };
    let graph = Graph::builder("outer").node("tick", child(&inner)).edge(START, "tick").route("tick", again);
    graph.compile().expect("compiles").runner().step_limit(10 * TRIPS).timings(false)
}

pub(crate) fn laws(here: &Here) {
    let law = |name: &str, unit, units, target| Row { name: name.to_owned(), unit, units, target };
    let (short, long) = (growing(1_000), growing(10_000));
    law(
        "history: growing state, memory store, 1000, 10000 checkpoints",
        "super-step",
        (20_000, 20_000),
        Target::Ratio(1.1),
    )
    .pair(times(20, || turn(here, &short)), times(2, || turn(here, &long)));
    law("resume: state of 100 kB, memory store, 1000, 10000 checkpoints", "call", (20, 20), Target::Ratio(1.1))
        .pair(resume(here, 1_000), resume(here, 10_000));
}

/// Appends until there are a thousand messages, then does nothing.
struct Fill;

#[async_trait]
impl Node<Chat> for Fill {
    async fn run(&self, task: &Task<Chat>) -> Result<Outcome<Chat>, NodeError> {
        let full = task.state().messages.len() as u64 == STEPS;
        Ok(if full { Outcome::default() } else { Outcome::of(append(task.state())) })
    }
}

/// Loads the same 1,000 messages as of so many checkpoints.
fn resume(here: &Here, checkpoints: u64) -> Timed<'_> {
    let ran = AtomicU64::new(0);
    let again = move |_: &Chat| {
        if ran.fetch_add(1, Ordering::Relaxed) + 1 < checkpoints { Again::Tick } else { Again::End }
    };
    let graph = Graph::builder("fill").node("tick", Fill).edge(START, "tick").route("tick", again);
    let runner = graph.compile().expect("compiles").runner().step_limit(checkpoints).store(MemoryStore::new());
    nodes::turn(here, &runner);
    let thread = runner.thread("t");
    times(20, move || {
        let state = here.run(thread.state()).expect("a state");
        assert_eq!((state.state.messages.len() as u64, state.step), (STEPS, checkpoints));
    })
}
