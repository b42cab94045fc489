//! Row 7: whole turns of tiny graphs.

use futures_util::future::join_all;
use graph_engine::{END, Graph, Node, NodeError, Outcome, Parallel, Runner, START, State, Task};

use crate::Here;
use crate::measure::{Row, Target, times};
use crate::nodes::{Add, Bare, Count, Tick, bare, name, turn};
use crate::sequence::chain;

const TURNS: u64 = 10_000;

/// Counts what was appended.
struct Total;

#[async_trait::async_trait]
impl Node<Count> for Total {
    async fn run(&self, task: &Task<Count>) -> Result<Outcome<Count>, NodeError> {
        Ok(Outcome::of(Count::update().ticks(task.state().sums.len() as u64)))
    }
}

/// Five nodes at once from the beginning, and a join that counts what they appended.
fn parallel(mode: Parallel) -> Runner<Count> {
    let mut builder = Graph::builder("par").node("total", Total).edge("total", END);
    for i in 0..5 {
        builder = builder.node(name(i), Add).edge(START, name(i));
    }
    builder.join((0..5).map(name), "total").compile().expect("compiles").runner().parallel(mode).timings(false)
}

pub(crate) fn rows(here: &Here) {
    let row = |name: &str, target| Row {
        name: name.to_owned(),
        unit: "invoke",
        units: (TURNS, TURNS),
        target: Target::Nanoseconds(target),
    };
    let three = chain(3, || Tick).compile().expect("compiles").runner().timings(false);
    let nodes = bare(3, || Tick);
    let limit = times(TURNS, || {
        let mut count = Count::default();
        here.run(async {
            for node in &nodes {
                let update = Bare::run(&**node, &count).await;
                count.apply(update);
            }
        });
        assert_eq!(count.ticks, 3);
    });
    row("7 invoke_small:3 seq", 500.0).pair(limit, times(TURNS, || turn(here, &three)));
    let nodes = bare(5, || Add);
    for (label, mode) in [("joined", Parallel::Joined), ("spawned", Parallel::Spawned)] {
        let five = parallel(mode);
        let limit = times(TURNS, || {
            let mut count = Count::default();
            here.run(async {
                for update in join_all(nodes.iter().map(|node| Bare::run(&**node, &count))).await {
                    count.apply(update);
                }
            });
            count.apply(Count::update().ticks(count.sums.len() as u64));
            assert_eq!(count.ticks, 5);
        });
        row(&format!("7 invoke_small:5 par, {label}"), 1_500.0).pair(limit, times(TURNS, || turn(here, &five)));
    }
}
