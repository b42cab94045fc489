//! What a history costs to store and to go on with: bytes a super-step, and allocations whatever its length.

use std::collections::BTreeMap;

use allocation_counter::measure;
use async_trait::async_trait;
use graph_engine::{Graph, Log, MemoryStore, Node, NodeError, Outcome, Route, START, State, Task};
use graph_nodes::message::{Message, add_messages};

#[derive(Route)]
enum Again {
    Say,
    #[route(end)]
    End,
}

/// A message of 100 bytes.
fn message(n: u64) -> String {
    format!("{n:0>100}")
}

#[derive(State, Clone, Default)]
struct Logged {
    #[state(append)]
    log: Log<String>,
    at: u64,
}

#[derive(State, Clone, Default)]
struct Mapped {
    #[state(append)]
    map: BTreeMap<String, String>,
    at: u64,
}

#[derive(State, Clone, Default)]
struct Reduced {
    #[state(with = add)]
    log: Log<String>,
    at: u64,
}

fn add(log: &Log<String>, more: Log<String>) -> Result<Log<String>, std::convert::Infallible> {
    let mut log = log.clone();
    log.append(more);
    Ok(log)
}

#[derive(State, Clone, Default)]
struct Chat {
    #[state(with = add_messages)]
    messages: Log<Message>,
    at: u64,
}

/// A node that says one thing more and borrows the state.
struct Say<S: State>(fn(u64) -> S::Update, fn(&S) -> u64);

#[async_trait]
impl<S: State> Node<S> for Say<S> {
    async fn run(&self, task: &Task<S>) -> Result<Outcome<S>, NodeError> {
        Ok(Outcome::of((self.0)((self.1)(task.state()))))
    }
}

/// A history of so many super-steps: its bytes in the store and the allocations of its turn.
fn history<S: State + Default>(steps: u64, say: fn(u64) -> S::Update, at: fn(&S) -> u64) -> (usize, u64) {
    let graph = Graph::<S>::builder("g")
        .node("say", Say(say, at))
        .edge(START, "say")
        .route("say", move |state: &S| if at(state) < steps { Again::Say } else { Again::End })
        .compile()
        .unwrap();
    let (store, mut runtime) = (MemoryStore::new(), tokio::runtime::Builder::new_current_thread());
    let runtime = runtime.enable_time().build().unwrap();
    let thread = graph.runner().store(store.clone()).step_limit(steps + 1).thread("t");
    let counted = measure(|| {
        runtime.block_on(async { thread.run(S::Update::default()).await.map(drop) }).unwrap();
    });
    runtime.block_on(async { assert_eq!(at(&thread.state().await.unwrap().state), steps) });
    (store.bytes("t"), counted.count_total)
}

fn logged(steps: u64) -> (usize, u64) {
    history::<Logged>(steps, |at| Logged::update().log([message(at)]).at(at + 1), |state| state.at)
}

fn mapped(steps: u64) -> (usize, u64) {
    history::<Mapped>(
        steps,
        |at| Mapped::update().map([(format!("{at:0>8}"), message(at))]).at(at + 1),
        |state| state.at,
    )
}

fn reduced(steps: u64) -> (usize, u64) {
    history::<Reduced>(steps, |at| Reduced::update().log(Log::from([message(at)])).at(at + 1), |state| state.at)
}

fn chat(steps: u64) -> (usize, u64) {
    let say = |at| Chat::update().messages(Log::from([Message::user(message(at))])).at(at + 1);
    history::<Chat>(steps, say, |state| state.at)
}

const N: u64 = 2_000;

fn per_step(bytes: usize, steps: u64) -> f64 {
    bytes as f64 / steps as f64
}

#[test]
fn a_log_costs_what_each_step_adds() {
    let (short, long) = (logged(N).0, logged(2 * N).0);
    assert!(per_step(short, N) <= 300.0, "{} bytes a super-step", per_step(short, N));
    let growth = long as f64 / short as f64;
    assert!(growth <= 2.05, "twice the steps are {growth} times the bytes");
}

/// Of each field with stored writes there is at most twice what was written, and the value once: bases lie
/// geometrically apart. How much that is depends on how long ago the last base was. Beside
/// it stand the position and the counter.
#[test]
fn a_map_and_a_reduced_history_cost_at_most_twice_what_was_written_and_the_value() {
    // Bytes of one write with its brackets, and of one item in the value.
    let write = |item: usize| r#"[{"overwrite":false,"items":}]"#.len() + item;
    let item = |n: usize| r#""":,"#.len() + n;
    let message = serde_json::to_string(&Message::user(message(1)).with_id("msg_1000")).unwrap().len();
    let cases = [
        ("map", mapped as fn(u64) -> (usize, u64), write(2 + item(8) + 102), item(8) + 102),
        ("reduced", reduced, write("[[]]".len() + 102), 103),
        ("chat", chat, write("[[]]".len() + message), message + 1),
    ];
    for (name, history, write, value) in cases {
        let most = (2 * write + value + 85) as f64;
        for steps in [500, 1_000, N, 3_000, 2 * N] {
            let bytes = per_step(history(steps).0, steps);
            assert!(bytes <= most, "{name}: {bytes} bytes a super-step at {steps}, at most {most} may be");
        }
    }
}

#[test]
fn a_super_step_allocates_the_same_however_long_the_history_is() {
    let cases = [("log", logged as fn(u64) -> (usize, u64)), ("map", mapped), ("reduced", reduced)];
    for (name, history) in cases {
        history(10);
        let [first, second, fourth] = [N / 2, N, 2 * N].map(|steps| history(steps).1 as f64);
        let (early, late) = ((second - first) / (N / 2) as f64, (fourth - second) / N as f64);
        assert!(late <= early + 0.3, "{name}: {early} allocations a super-step, later {late}");
    }
}
