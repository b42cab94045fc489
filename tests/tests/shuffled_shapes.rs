//! Ten thousand orders of running over five shapes of graphs, and ten thousand more with failures and crashes: state,
//! replies and steps are those of a calm turn.

use std::future::ready;

use behaviour_tests::{Trip, TripUpdate, note};
use graph_engine::testing::Shuffled;
use graph_engine::{Builder, Command, Ctx, Graph, In, Next, NodeError, NodeExt, Route, START, Snap};

/// For each shape.
const SEEDS: u64 = 2_000;

fn graph() -> Builder<Trip> {
    Graph::<Trip>::builder("g")
}

/// A node that writes its name and how much it sees.
fn see(name: &'static str) -> impl Fn(Snap<Trip>) -> std::future::Ready<TripUpdate> + Clone {
    move |trip: Snap<Trip>| {
        let seen = format!("{name} of {}", trip.log.len());
        ready(Trip::update().log([seen]).last(name).total(1))
    }
}

/// Six branches, joined.
fn wide() -> Builder<Trip> {
    let names = ["a", "b", "c", "d", "e", "f"];
    let branches = names.into_iter().fold(graph(), |graph, name| graph.node(name, see(name)).edge(START, name));
    branches.join(names, "end").node("end", see("end"))
}

#[derive(Route)]
#[route(direct)]
enum Spread {
    Leaf(u32),
    Last,
}

/// Sends of sends; each leaf replies.
fn sends() -> Builder<Trip> {
    #[derive(Route)]
    enum Trunk {
        Split(u32),
    }
    async fn split(In(n): In<u32>, trip: Snap<Trip>) -> Command<Trip, Spread> {
        let leaves = (0..*n).map(|at| Spread::Leaf(*n * 10 + at)).chain([Spread::Last]);
        Command::go_all(leaves).with(Trip::update().log([format!("split {n} of {}", trip.log.len())]))
    }
    async fn leaf(In(n): In<u32>) -> Command<Trip, Spread> {
        Command::direct(*n).with(Trip::update().log([format!("leaf {n}")]).last(n.to_string()))
    }
    graph()
        .node("split", split)
        .node("leaf", leaf)
        .node("last", see("last"))
        .route(START, |_: &Trip| Next::fan_out([3, 1, 2].map(Trunk::Split)))
}

/// A loop over two branches with a join, and a deferred node behind.
fn looped() -> Builder<Trip> {
    #[derive(Route)]
    enum Again {
        Begin,
        #[route(end)]
        End,
    }
    graph()
        .node("begin", see("begin"))
        .node("left", see("left"))
        .node("left2", see("left2"))
        .node("right", see("right"))
        .node("both", see("both"))
        .node("late", see("late").deferred())
        .edge(START, "begin")
        .edge(START, "late")
        .edge("begin", "left")
        .edge("begin", "right")
        .edge("left", "left2")
        .join(["left2", "right"], "both")
        .route("both", |trip: &Trip| if trip.log.len() < 14 { Again::Begin } else { Again::End })
}

#[derive(Route)]
#[route(stay)]
enum Gate {
    Done,
}

/// Two gates of one cluster that stay with feedback, beside a long branch.
fn stays() -> Builder<Trip> {
    async fn hear(ctx: Ctx, trip: Snap<Trip>) -> Result<TripUpdate, NodeError> {
        let heard: Vec<String> = ctx.feedbacks().collect::<Result<_, _>>()?;
        Ok(Trip::update().log([format!("heard {heard:?} of {}", trip.log.len())]))
    }
    fn gate(
        name: &'static str,
        until: usize,
    ) -> impl Fn(Snap<Trip>) -> std::future::Ready<Command<Trip, Gate>> + Clone {
        move |trip: Snap<Trip>| {
            let seen = trip.log.len();
            let command = if seen < until { Command::stay(format!("{name} {seen}")) } else { Command::go(Gate::Done) };
            ready(command.with(Trip::update().log([name.to_owned()])))
        }
    }
    graph()
        .cluster("c", "hear", |c| {
            c.node("hear", hear).node("a", gate("a", 6)).node("b", gate("b", 6)).edge("hear", "a").edge("hear", "b")
        })
        .node("x", note("x"))
        .node("y", note("y"))
        .node("done", see("done"))
        .edge(START, "hear")
        .edge(START, "x")
        .edge("x", "y")
}

/// Overwrites, reducers and a finish.
fn finishes() -> Builder<Trip> {
    #[derive(Route)]
    #[route(finish)]
    enum Goodbye {}
    async fn goodbye(trip: Snap<Trip>) -> Next<Goodbye> {
        Next::finish(trip.total)
    }
    graph()
        .node("sets", || ready(Trip::update().total(5).overwrite_total(10).total(3)))
        .node("writes", || ready(Trip::update().city("Oslo").log(["writes".to_owned()])))
        .node("adds", see("adds"))
        .node("goodbye", goodbye)
        .node("never", note("never"))
        .edge(START, "sets")
        .edge(START, "writes")
        .edge("sets", "adds")
        .edge("adds", "goodbye")
        .edge("writes", "w2")
        .node("w2", note("w2"))
        .edge("w2", "w3")
        .node("w3", note("w3"))
        .edge("w3", "never")
}

fn shapes() -> [(&'static str, Builder<Trip>); 5] {
    [("wide", wide()), ("sends", sends()), ("looped", looped()), ("stays", stays()), ("finishes", finishes())]
}

/// Runs every seed over every shape.
async fn all_orders_are_one(make: fn(u64) -> Shuffled) -> (u64, u64) {
    let (mut failures, mut crashes) = (0, 0);
    for (name, builder) in shapes() {
        let runner = builder.compile().unwrap().runner();
        let calm = runner.thread("calm").run(Trip::update()).await.unwrap();
        assert!(calm.report.tasks > 5, "{name}");
        for seed in 0..SEEDS {
            let run = make(seed).run(&runner, Trip::update).await;
            assert!(run.error.is_none(), "{name}, seed {seed}: {:?}", run.error);
            assert_eq!(*run.state, *calm.state, "{name}, seed {seed}");
            assert_eq!((&run.replies, run.steps), (&calm.replies, calm.report.steps), "{name}, seed {seed}");
            failures += run.failures;
            crashes += run.crashes;
        }
    }
    (failures, crashes)
}

#[tokio::test]
async fn ten_thousand_orders_of_running_are_one_result_for_each_shape() {
    assert_eq!(all_orders_are_one(Shuffled::new).await, (0, 0));
}

#[tokio::test]
async fn ten_thousand_orders_with_failures_and_crashes_are_the_same_results() {
    let (failures, crashes) = all_orders_are_one(|seed| Shuffled::new(seed).failures(11).crashes(19)).await;
    assert!(failures > 5_000 && crashes > 5_000, "{failures} failures, {crashes} crashes");
}
