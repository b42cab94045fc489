//! Rows 1 to 3: one node at a time, in a loop and in a chain.

use graph_engine::{END, Graph, MemoryStore, Node, NodeError, Outcome, Route, Runner, START, Snap, State, Task};

use crate::Here;
use crate::measure::{Row, Target, Timed, times};
use crate::nodes::{Bare, Count, CountUpdate, Tick, bare, name, turn};

#[derive(Route)]
enum Again {
    Tick,
    #[route(end)]
    End,
}

async fn tick(count: Snap<Count>) -> CountUpdate {
    Count::update().ticks(count.ticks + 1)
}

/// Counts up and says so, if anybody listens.
struct Telling;

#[async_trait::async_trait]
impl Node<Count> for Telling {
    async fn run(&self, task: &Task<Count>) -> Result<Outcome<Count>, NodeError> {
        task.ctx().emit(task.state().ticks).await?;
        Ok(Outcome::of(Count::update().ticks(task.state().ticks + 1)))
    }
}

fn looping(
    steps: u64,
    build: impl FnOnce(graph_engine::Builder<Count>) -> graph_engine::Builder<Count>,
) -> Runner<Count> {
    let again = move |count: &Count| if count.ticks.is_multiple_of(steps) { Again::End } else { Again::Tick };
    let graph = build(Graph::builder("loop")).edge(START, "tick").route("tick", again).compile().expect("compiles");
    graph.runner().step_limit(steps + 1).timings(false)
}

/// So many nodes, each with an edge to the next.
pub(crate) fn chain<N: Node<Count>>(length: u64, node: impl Fn() -> N) -> graph_engine::Builder<Count> {
    let mut builder = Graph::builder("chain").edge(START, name(0)).edge(name(length - 1), END);
    for i in 0..length {
        builder = builder.node(name(i), node());
        if i > 0 {
            builder = builder.edge(name(i - 1), name(i));
        }
    }
    builder
}

fn chain_runner(length: u64) -> Runner<Count> {
    chain(length, || Tick).compile().expect("compiles").runner().step_limit(length + 1).timings(false)
}

fn limit<'a>(here: &'a Here, nodes: u64, runs: u64, steps: u64) -> Timed<'a> {
    let nodes = bare(nodes, || Tick);
    times(runs, move || {
        let mut count = Count::default();
        here.run(async {
            for node in nodes.iter().cycle().take(usize::try_from(steps).expect("small")) {
                let update = Bare::run(&**node, &count).await;
                count.apply(update);
            }
        });
        assert_eq!(count.ticks, steps);
    })
}

pub(crate) fn rows(here: &Here) {
    let row = |name: &str, target| Row {
        name: name.to_owned(),
        unit: "super-step",
        units: (100_000, 100_000),
        target: Target::Nanoseconds(target),
    };
    let by_hand = looping(10_000, |graph| graph.node("tick", Tick));
    let function = looping(10_000, |graph| graph.node("tick", tick));
    let many = chain_runner(1_000);
    row("1 loop:10000, node that borrows", 80.0).pair(limit(here, 1, 10, 10_000), times(10, || turn(here, &by_hand)));
    row("1 loop:10000, async fn with Snap", 120.0)
        .pair(limit(here, 1, 10, 10_000), times(10, || turn(here, &function)));
    row("2 chain_run:1000, node that borrows", 80.0)
        .pair(limit(here, 1_000, 100, 1_000), times(100, || turn(here, &many)));
    row("3 loop:10000, memory store", 250.0)
        .pair(limit(here, 1, 10, 10_000), times(10, || turn(here, &by_hand.clone().store(MemoryStore::new()))));
}

pub(crate) fn laws(here: &Here) {
    let law = |name: &str, units, target| Row {
        name: name.to_owned(),
        unit: "super-step",
        units,
        target: Target::Ratio(target),
    };
    let (small, large) = (chain_runner(100), chain_runner(10_000));
    law("graph size: chain_run 100, 10000", (10_000, 10_000), 1.2)
        .pair(times(100, || turn(here, &small)), times(1, || turn(here, &large)));
    let (short, long) =
        (looping(1_000, |graph| graph.node("tick", Tick)), looping(10_000, |graph| graph.node("tick", Tick)));
    let stored = |runner: &Runner<Count>| turn(here, &runner.clone().store(MemoryStore::new()));
    law("history: loop with memory store, 1000, 10000 checkpoints", (20_000, 20_000), 1.1)
        .pair(times(20, || stored(&short)), times(2, || stored(&long)));
    let telling = looping(10_000, |graph| graph.node("tick", Telling));
    law("nothing listening: loop:10000, loop that emits", (100_000, 100_000), 1.05)
        .pair(times(10, || turn(here, &long)), times(10, || turn(here, &telling)));
}
