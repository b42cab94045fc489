//! What a super-step may cost, counted instead of timed: heap allocations and copies of the state.
//!
//! The counts are of the second turn of a warm runner minus those of a turn of half the length, so that what a turn
//! costs once doesn't hide in them.

use std::future::IntoFuture;
use std::task::{Context, Poll, Waker};

use allocation_counter::measure;
use async_trait::async_trait;
use graph_engine::{
    END, FromTask, Graph, In, Log, MemoryStore, Next, Node, NodeError, NodeInfo, Outcome, Parallel, Route, Runner,
    START, State, TargetSpec, Task,
};
use tokio::runtime::{Builder, Runtime};

/// A state that must never be copied: the engine is its only owner.
#[derive(State, Default)]
struct Count {
    #[state(with = add)]
    ticks: u64,
    #[state(append)]
    sums: Log<u64>,
}

impl Clone for Count {
    fn clone(&self) -> Self {
        assert!(self.ticks == 0, "the state was copied after its first super-step");
        Self { ticks: 0, sums: self.sums.clone() }
    }
}

fn add(ticks: &u64, item: u64) -> Result<u64, std::convert::Infallible> {
    Ok(ticks + item)
}

#[derive(State, Default, Clone)]
struct Plain {
    ticks: u64,
}

/// A hand-written node that borrows the state: what the budget of one allocation is for.
struct Tick;

#[async_trait]
impl Node<Plain> for Tick {
    async fn run(&self, task: &Task<Plain>) -> Result<Outcome<Plain>, NodeError> {
        Ok(Outcome::of(Plain::update().ticks(task.state().ticks + 1)))
    }
}

#[derive(Route)]
enum Again {
    Tick,
    #[route(end)]
    End,
}

fn runtime() -> Runtime {
    Builder::new_current_thread().enable_time().build().expect("a runtime")
}

fn looping(steps: u64) -> Graph<Plain> {
    let again = move |plain: &Plain| if plain.ticks.is_multiple_of(steps) { Again::End } else { Again::Tick };
    Graph::builder("loop").node("tick", Tick).edge(START, "tick").route("tick", again).compile().expect("compiles")
}

/// Allocations of one turn on a fresh thread.
fn allocations<S: State>(runtime: &Runtime, runner: &Runner<S>, input: fn() -> S::Update) -> u64 {
    let mut report = None;
    let counted = measure(|| {
        let end = runtime.block_on(async { runner.thread("t").run(input()).await });
        report = Some(end.expect("the turn ends").report);
    });
    assert_eq!(report.expect("it ran").copies, 0, "copies of the state");
    counted.count_total
}

/// Allocations per unit: the difference between a long and a short turn.
fn per_unit(units: u64, mut turn: impl FnMut(u64) -> u64) -> f64 {
    turn(units / 2);
    let (short, long) = (turn(units / 2), turn(units));
    (long - short) as f64 / (units - units / 2) as f64
}

#[test]
fn a_sequential_super_step_allocates_once() {
    let runtime = runtime();
    let cost = per_unit(10_000, |steps| {
        let runner = looping(steps).runner().step_limit(steps + 1);
        allocations(&runtime, &runner, Plain::update)
    });
    assert!(cost <= 1.01, "{cost} allocations a super-step");
}

#[test]
fn with_the_memory_store_it_allocates_no_more() {
    let runtime = runtime();
    let cost = per_unit(10_000, |steps| {
        let runner = looping(steps).runner().step_limit(steps + 1).store(MemoryStore::new());
        allocations(&runtime, &runner, Plain::update)
    });
    assert!(cost <= 1.05, "{cost} allocations a super-step");
}

struct Square;

#[async_trait]
impl Node<Count> for Square {
    async fn run(&self, task: &Task<Count>) -> Result<Outcome<Count>, NodeError> {
        let n: In<u64> = FromTask::<Count>::from_task(task)?;
        assert!(*n < 10_000);
        Ok(Outcome::default())
    }
}

struct Spread(u64);

#[async_trait]
impl Node<Count> for Spread {
    async fn run(&self, _: &Task<Count>) -> Result<Outcome<Count>, NodeError> {
        Ok(Outcome::default().fan_out("square", 0..self.0))
    }

    fn describe(&self) -> NodeInfo {
        NodeInfo::default().target(TargetSpec::with_payload::<u64>("square"))
    }
}

fn fan(width: u64) -> Graph<Count> {
    Graph::builder("fan")
        .node("spread", Spread(width))
        .node("square", Square)
        .edge(START, "spread")
        .edge("square", END)
        .compile()
        .expect("compiles")
}

#[test]
fn a_branch_of_a_wide_fan_out_allocates_twice_and_for_a_task_of_its_own_once_more() {
    let runtime = runtime();
    for (parallel, limit) in [(Parallel::Joined, 2.1), (Parallel::Spawned, 3.1)] {
        let cost = per_unit(4_000, |width| {
            let runner = fan(width).runner().parallel(parallel);
            allocations(&runtime, &runner, || Count::update().ticks(0))
        });
        assert!(cost <= limit, "{cost} allocations a branch, {parallel:?}");
    }
}

#[test]
fn the_frequent_values_are_small() {
    assert!(size_of::<Outcome<Plain>>() <= 32, "{}", size_of::<Outcome<Plain>>());
    assert_eq!(size_of::<Next<Again>>(), 16);
    assert_eq!(size_of::<NodeError>(), 8);
    assert_eq!(size_of::<graph_engine::Name>(), 16);
}

#[test]
fn one_active_task_is_awaited_in_place() {
    // Without a runtime a spawn would panic, and a turn that waits for nobody is over at its first poll.
    let runner = looping(1_000).runner().step_limit(1_001).store(MemoryStore::new());
    let mut turn = runner.thread("t").run(Plain::update()).into_future();
    let mut context = Context::from_waker(Waker::noop());
    let Poll::Ready(end) = turn.as_mut().poll(&mut context) else { panic!("the turn waits") };
    assert_eq!(end.expect("it ends").report.steps, 1_000);
}

#[test]
fn several_tasks_run_without_a_runtime_too() {
    let runner = fan(100).runner().parallel(Parallel::Spawned);
    let mut turn = runner.thread("t").run(Count::update()).into_future();
    let mut context = Context::from_waker(Waker::noop());
    let Poll::Ready(end) = turn.as_mut().poll(&mut context) else { panic!("the turn waits") };
    assert_eq!(end.expect("it ends").report.tasks, 101);
}

/// So many plain nodes in a row.
fn chain(length: u64) -> Graph<Plain> {
    let name = |i: u64| format!("n{i}");
    let mut builder = Graph::builder("chain").edge(START, name(0)).edge(name(length - 1), END);
    for i in 0..length {
        builder = builder.node(name(i), Tick);
        if i > 0 {
            builder = builder.edge(name(i - 1), name(i));
        }
    }
    builder.compile().expect("compiles")
}

/// Allocations of a turn, beside those of a super-step and the thread's name.
fn of_the_turn(runtime: &Runtime, runner: &Runner<Plain>, steps: u64) -> u64 {
    allocations(runtime, runner, Plain::update) - steps - 1
}

#[test]
fn a_turn_allocates_so_often_however_many_super_steps_it_has() {
    let runtime = runtime();
    for steps in [1, 3, 10] {
        let runner = chain(steps).runner().timings(false);
        allocations(&runtime, &runner, Plain::update);
        assert_eq!(of_the_turn(&runtime, &runner, steps), 4, "{steps} super-steps");
    }
}

#[test]
fn with_the_memory_store_it_allocates_so_often() {
    let runtime = runtime();
    let runner = chain(3).runner().timings(false);
    let fresh = || runner.clone().store(MemoryStore::new());
    allocations(&runtime, &fresh(), Plain::update);
    let runner = fresh();
    let (first, second) = (of_the_turn(&runtime, &runner, 3), of_the_turn(&runtime, &runner, 3));
    assert_eq!((first, second), (33, 26), "of a runner's first turn, and of one whose thread is read first");
}
