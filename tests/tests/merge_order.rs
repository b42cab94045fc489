//! E1: tasks of one super-step read one snapshot and are merged in task order, whatever the order in which they finish.

use std::time::Duration;

use behaviour_tests::{BoxNode, Trip, TripUpdate, note};
use expect_test::expect;
use graph_engine::testing::run_logged;
use graph_engine::{Command, Ctx, Graph, In, NodeError, Parallel, Res, Route, START, Seams, Snap};

const BRANCHES: [&str; 6] = ["a", "b", "c", "d", "e", "f"];

#[derive(Route)]
enum Out {
    Zz,
    Work(String),
}

/// How long each branch takes.
struct Delays([u64; 6]);

type Branch = BoxNode<Result<Command<Trip, Out>, NodeError>>;

/// Branch `at` appends, writes `last`, emits, and goes to `zz` or sends `at` tasks to `work`.
fn branch(at: usize) -> impl Fn(Ctx, Res<Delays>) -> Branch + Clone {
    move |ctx, delays| {
        Box::pin(async move {
            tokio::time::sleep(Duration::from_millis(delays.0[at])).await;
            let name = BRANCHES[at];
            ctx.emit(name).await?;
            let update = Trip::update().log([name.to_owned()]).last(name).total(1);
            let next = match at % 2 {
                0 => Command::go(Out::Zz),
                _ => Command::fan_out((0..at).map(|item| Out::Work(format!("{name}{item}")))),
            };
            Ok(next.with(update))
        })
    }
}

async fn work(In(item): In<String>) -> TripUpdate {
    Trip::update().log([item.to_string()]).last(item.to_string())
}

/// Declared in the reverse order of names.
fn six_branches() -> Graph<Trip> {
    let mut builder = Graph::<Trip>::builder("six").node("zz", note("zz")).node("work", work);
    for (at, name) in BRANCHES.into_iter().enumerate().rev() {
        builder = builder.node(name, branch(at)).edge(START, name);
    }
    builder.compile().unwrap()
}

/// Every order of 0..n.
fn orders(n: usize) -> Vec<Vec<usize>> {
    if n == 0 {
        return vec![Vec::new()];
    }
    let shorter = orders(n - 1);
    let longer = shorter.into_iter().flat_map(|order| {
        (0..n).map(move |at| {
            let mut order = order.clone();
            order.insert(at, n - 1);
            order
        })
    });
    longer.collect()
}

async fn every_order_is_the_same(parallel: Parallel) {
    let graph = six_branches();
    let log = expect![[r#"
        0 started
        0.0 a#1 start
        0.0 a#1 custom "a"
        0.0 a#1 finish, wrote `last`, `log`, `total`, go `zz`
        0.1 b#1 start
        0.1 b#1 custom "b"
        0.1 b#1 finish, wrote `last`, `log`, `total`, fan out `work`
        0.2 c#1 start
        0.2 c#1 custom "c"
        0.2 c#1 finish, wrote `last`, `log`, `total`, go `zz`
        0.3 d#1 start
        0.3 d#1 custom "d"
        0.3 d#1 finish, wrote `last`, `log`, `total`, fan out `work`, `work`, `work`
        0.4 e#1 start
        0.4 e#1 custom "e"
        0.4 e#1 finish, wrote `last`, `log`, `total`, go `zz`
        0.5 f#1 start
        0.5 f#1 custom "f"
        0.5 f#1 finish, wrote `last`, `log`, `total`, fan out `work`, `work`, `work`, `work`, `work`
        0 merged, next `zz`, `work`
        1.0 zz#1 start
        1.0 zz#1 finish, wrote `log`
        1.1 work#1 start
        1.1 work#1 finish, wrote `last`, `log`
        1.2 work#1 start
        1.2 work#1 finish, wrote `last`, `log`
        1.3 work#1 start
        1.3 work#1 finish, wrote `last`, `log`
        1.4 work#1 start
        1.4 work#1 finish, wrote `last`, `log`
        1.5 work#1 start
        1.5 work#1 finish, wrote `last`, `log`
        1.6 work#1 start
        1.6 work#1 finish, wrote `last`, `log`
        1.7 work#1 start
        1.7 work#1 finish, wrote `last`, `log`
        1.8 work#1 start
        1.8 work#1 finish, wrote `last`, `log`
        1.9 work#1 start
        1.9 work#1 finish, wrote `last`, `log`
        1 merged
        2 ended: done
    "#]];
    let all = orders(6);
    assert_eq!(all.len(), 720);
    for order in all {
        let mut delays = [0; 6];
        for (place, branch) in order.iter().enumerate() {
            delays[*branch] = 10 * (place as u64 + 1);
        }
        let runner = graph.runner().parallel(parallel).provide(Delays(delays));
        let (end, told) = run_logged(runner.thread("t").run(Trip::update())).await;
        let end = end.unwrap();
        assert_eq!(
            end.state.log,
            ["a", "b", "c", "d", "e", "f", "zz", "b0", "d0", "d1", "d2", "f0", "f1", "f2", "f3", "f4"],
            "{order:?}"
        );
        assert_eq!((end.state.last.as_str(), end.state.total), ("f4", 6), "{order:?}");
        assert_eq!((end.report.steps, end.report.tasks, end.report.attempts), (2, 16, 16));
        log.assert_eq(&told);
    }
}

#[tokio::test(start_paused = true)]
async fn all_720_finishing_orders_of_spawned_branches_are_one_result() {
    every_order_is_the_same(Parallel::Spawned).await;
}

#[tokio::test(start_paused = true)]
async fn all_720_finishing_orders_of_joined_branches_are_one_result() {
    every_order_is_the_same(Parallel::Joined).await;
}

#[tokio::test(start_paused = true)]
async fn the_order_of_finishing_is_really_the_given_one() {
    let graph = six_branches();
    let runner = graph.runner().provide(Delays([60, 50, 40, 30, 20, 10]));
    let mut turn = runner.thread("t").run(Trip::update());
    let mut reader = turn.reader(graph_engine::StreamOptions::default().modes([graph_engine::Mode::Custom]));
    turn.await.unwrap();
    let mut arrived = Vec::new();
    while let Some(event) = futures_util::StreamExt::next(&mut reader).await {
        if let graph_engine::EventKind::Custom(value) = event.kind {
            arrived.push(value);
        }
    }
    assert_eq!(arrived, ["f", "e", "d", "c", "b", "a"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn real_threads_change_nothing() {
    let mut builder = Graph::<Trip>::builder("wide");
    let names: Vec<String> = (0..32).map(|at| format!("n{at:02}")).collect();
    for (at, name) in names.iter().enumerate() {
        let own = name.clone();
        let node = move |ctx: Ctx| {
            let own = own.clone();
            async move {
                for _ in 0..(at * 7 + ctx.thread().len() * 5) % 11 {
                    tokio::task::yield_now().await;
                }
                Trip::update().log([own.clone()]).last(own)
            }
        };
        builder = builder.node(name.as_str(), node).edge(START, name.as_str());
    }
    let runner = builder.compile().unwrap().runner().seams(Seams::default().seed(1));
    let mut logs = std::collections::BTreeSet::new();
    for run in 0..50 {
        let (end, log) = run_logged(runner.thread("t".repeat(run % 7 + 1)).run(Trip::update())).await;
        let end = end.unwrap();
        assert_eq!(end.state.log, names);
        assert_eq!(end.state.last, "n31");
        logs.insert(log);
    }
    assert_eq!(logs.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn tasks_of_one_step_see_the_same_snapshot() {
    let see = |name: &'static str, millis: u64| {
        move |trip: Snap<Trip>| async move {
            tokio::time::sleep(Duration::from_millis(millis)).await;
            Trip::update().log([format!("{name} sees {}", trip.log.len())]).last(name)
        }
    };
    let graph = Graph::<Trip>::builder("g")
        .node("early", see("early", 1))
        .node("late", see("late", 100))
        .node("next", see("next", 1))
        .edge(START, "early")
        .edge(START, "late")
        .edge("early", "next")
        .compile()
        .unwrap();
    let end = graph.runner().thread("t").run(Trip::update().log(["in".to_owned()])).await.unwrap();
    assert_eq!(end.state.log, ["in", "early sees 1", "late sees 1", "next sees 3"]);
}

#[tokio::test]
async fn one_update_keeps_the_order_of_its_writes() {
    async fn many() -> TripUpdate {
        let first = Trip::update().log(["1".to_owned()]).city("Oslo").log(["2".to_owned()]);
        first.then(Trip::update().log(["3".to_owned()]).city("Bergen").total(2))
    }
    let graph = Graph::<Trip>::builder("g").node("many", many).edge(START, "many").compile().unwrap();
    let end = graph.runner().thread("t").run(Trip::update()).await.unwrap();
    assert_eq!(end.state.log, ["1", "2", "3"]);
    assert_eq!((end.state.city.as_str(), end.state.total), ("Bergen", 2));
}

#[tokio::test]
async fn a_command_composes_its_updates_in_order() {
    async fn many() -> Command<Trip, Out> {
        let first = Trip::update().city("Oslo").log(["1".to_owned()]);
        Command::go(Out::Zz).with(first).with(Trip::update().city("Bergen").log(["2".to_owned()]))
    }
    let graph = Graph::<Trip>::builder("g")
        .node("many", many)
        .node("zz", note("zz"))
        .node("work", work)
        .edge(START, "many")
        .compile()
        .unwrap();
    let end = graph.runner().thread("t").run(Trip::update()).await.unwrap();
    assert_eq!(end.state.log, ["1", "2", "zz"]);
    assert_eq!(end.state.city, "Bergen");
}
