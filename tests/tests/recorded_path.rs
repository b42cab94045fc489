//! E26: where a turn really went, in its report: visits, every kind of edge, failures, and what waits at the end.

use std::future::ready;
use std::time::Duration;

use behaviour_tests::{Runs, Trip, after, note};
use graph_engine::{
    Cache, Command, EdgeKind, ExecutedPath, FailedTask, Graph, In, MemoryStore, NodeExt, Parallel, Retry, Route,
    RunError, Runner, START, Siblings, Snap, Status,
};

const BOTH: [Parallel; 2] = [Parallel::Joined, Parallel::Spawned];

/// `name visits failures rejections` of every node, with what it is at the end.
fn nodes(path: &ExecutedPath) -> Vec<String> {
    let shown = path.nodes.iter().map(|visit| {
        let mut text = format!("{} {} {} {}", visit.node, visit.visits, visit.failures, visit.rejections);
        if visit.failed {
            text.push_str(" failed");
        }
        if visit.waiting {
            text.push_str(" waiting");
        }
        text
    });
    shown.collect()
}

/// `from -kind-> to count` of every edge.
fn edges(path: &ExecutedPath) -> Vec<String> {
    let name = |name: &str| name.trim_matches('_').to_owned();
    let shown = path
        .edges
        .iter()
        .map(|edge| format!("{} -{:?}-> {} {}", name(&edge.from), edge.kind, name(&edge.to), edge.count));
    shown.collect()
}

#[tokio::test(start_paused = true)]
async fn nothing_is_recorded_unless_somebody_asks() {
    let graph = Graph::<Trip>::builder("g").node("a", note("a")).edge(START, "a").compile().unwrap();
    assert_eq!(graph.runner().thread("t").run(Trip::update()).await.unwrap().report.path, None);
    let on = graph.runner().record_path(true);
    assert!(on.thread("t").run(Trip::update()).await.unwrap().report.path.is_some());
    let off = on.record_path(false);
    assert_eq!(off.thread("t").run(Trip::update()).await.unwrap().report.path, None);
}

#[derive(Route)]
#[route(stay, direct, finish)]
enum Moves {
    Work(u32),
    Last,
    #[route(end)]
    Stop,
}

/// A graph in which every kind of edge is taken.
fn every_kind(runs: &Runs) -> Graph<Trip> {
    let split = || ready(Command::<Trip, Moves>::fan_out([1, 2, 3].map(Moves::Work)));
    let work = {
        let runs = runs.clone();
        move |In(n): In<u32>| {
            let run = runs.hit(&n.to_string());
            ready(match (*n, run) {
                (1, 0) => Err("once"),
                (3, _) => Err("always"),
                _ => Ok(Trip::update().total(1)),
            })
        }
    };
    let gate = |trip: Snap<Trip>| {
        ready(match trip.total {
            2 => Command::<Trip, Moves>::stay("more").with(Trip::update().total(1)),
            3 => Command::go_all([Moves::Last, Moves::Stop]),
            _ => Command::declared(),
        })
    };
    Graph::<Trip>::builder("g")
        .node("split", split)
        .node("work", work.retry(Retry::fixed(2, Duration::ZERO)).on_error("sorry"))
        .node("sorry", |_: In<FailedTask>| ready(Command::<Trip, Moves>::direct("sorry")))
        .node("left", note("left"))
        .node("right", note("right"))
        .node("gate", gate)
        .node("last", || ready(Command::<Trip, Moves>::finish("bye")))
        .edge(START, "split")
        .edge("work", "left")
        .edge("work", "right")
        .join(["left", "right"], "gate")
        .compile()
        .unwrap()
}

#[tokio::test(start_paused = true)]
async fn every_kind_of_edge_is_counted() {
    for parallel in BOTH {
        let runner = every_kind(&Runs::new()).runner().parallel(parallel).record_path(true);
        let end = runner.thread("t").run(Trip::update()).await.unwrap();
        assert_eq!(end.status, Status::Completed);
        let path = end.report.path.unwrap();
        assert_eq!(
            nodes(&path),
            ["gate 2 0 1", "last 1 0 0", "left 1 0 0", "right 1 0 0", "sorry 1 0 0", "split 1 0 0", "work 3 3 0"],
            "{parallel:?}"
        );
        assert_eq!(
            edges(&path),
            [
                "start -Static-> split 1",
                "gate -Go-> end 1",
                "gate -Stay-> gate 1",
                "gate -Go-> last 1",
                "last -Finish-> end 1",
                "left -Join-> gate 1",
                "right -Join-> gate 1",
                "sorry -Direct-> end 1",
                "split -FanOut-> work 3",
                "work -Static-> left 2",
                "work -Static-> right 2",
                "work -Error-> sorry 1"
            ]
        );
    }
}

#[tokio::test(start_paused = true)]
async fn routers_and_clusters_are_recorded_as_what_they_do() {
    #[derive(Route)]
    #[route(stay)]
    enum Verdict {
        Done,
        Again,
    }
    let verdict = |trip: &Trip| match trip.log.len() {
        2 => graph_engine::Next::<Verdict>::stay("again"),
        4 => graph_engine::Next::go(Verdict::Again),
        _ => graph_engine::Next::go(Verdict::Done),
    };
    let graph = Graph::<Trip>::builder("g")
        .cluster("stage", "agent", |c| {
            c.node("agent", note("agent")).node("gate", note("gate")).edge("agent", "gate").route("gate", verdict)
        })
        .node("again", note("again"))
        .node("done", note("done"))
        .edge("again", "agent")
        .route(START, |_: &Trip| ready_to_start())
        .compile()
        .unwrap();
    let end = graph.runner().record_path(true).thread("t").run(Trip::update()).await.unwrap();
    let path = end.report.path.unwrap();
    assert_eq!(nodes(&path), ["again 1 0 0", "agent 3 0 0", "done 1 0 0", "gate 3 0 1"]);
    assert_eq!(
        edges(&path),
        [
            "start -Go-> agent 1",
            "again -Static-> agent 1",
            "agent -Static-> gate 3",
            "gate -Go-> again 1",
            "gate -Stay-> agent 1",
            "gate -Go-> done 1"
        ]
    );
}

fn ready_to_start() -> graph_engine::Next<Start> {
    graph_engine::Next::go(Start::Agent)
}

#[derive(Route)]
enum Start {
    Agent,
}

/// `ok`, then `bad` (which fails so often), beside a join that waits for it.
fn failing(runs: &Runs, times: usize) -> Graph<Trip> {
    Graph::<Trip>::builder("g")
        .siblings(Siblings::Finish)
        .node("ok", note("ok"))
        .node("bad", runs.failing(times, "bad").retry(Retry::fixed(2, Duration::ZERO)))
        .node("beside", after(5, "beside"))
        .node("both", note("both"))
        .edge(START, "ok")
        .edge("ok", "bad")
        .edge("ok", "beside")
        .join(["bad", "ok"], "both")
        .compile()
        .unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_failed_turn_says_who_failed_and_what_waits_and_proceeding_tells_only_its_own_part() {
    for parallel in BOTH {
        let runs = Runs::new();
        let runner: Runner<Trip> = failing(&runs, 3).runner().parallel(parallel).record_path(true);
        let thread = runner.store(MemoryStore::new()).thread("t");
        let failed = thread.run(Trip::update()).await.unwrap_err();
        let mut whole = failed.report.path.clone().unwrap();
        assert_eq!(nodes(&whole), ["bad 1 2 0 failed", "beside 1 0 0", "both 0 0 0 waiting", "ok 1 0 0"]);
        assert_eq!(
            edges(&whole),
            ["start -Static-> ok 1", "ok -Static-> bad 1", "ok -Static-> beside 1", "ok -Join-> both 1"]
        );
        let end = thread.proceed().await.unwrap();
        let path = end.report.path.unwrap();
        assert_eq!(nodes(&path), ["bad 1 1 0", "both 1 0 0"]);
        assert_eq!(edges(&path), ["bad -Join-> both 1"]);
        whole.add(&path);
        assert_eq!(nodes(&whole), ["bad 2 3 0", "beside 1 0 0", "both 1 0 0", "ok 1 0 0"]);
        assert_eq!(whole.edges.iter().map(|edge| edge.count).sum::<u64>(), 5);
    }
}

#[tokio::test(start_paused = true)]
async fn a_stopped_turn_says_what_would_run_next() {
    let graph = Graph::<Trip>::builder("g")
        .node("a", after(10, "a"))
        .node("b", note("b"))
        .node("late", note("late").deferred())
        .edge(START, "a")
        .edge(START, "late")
        .edge("a", "b")
        .compile()
        .unwrap();
    let runner = graph.runner().record_path(true);
    let path = |report: graph_engine::RunReport| nodes(&report.path.unwrap());
    let turn = runner.thread("t").run(Trip::update()).drain_on(tokio::time::sleep(Duration::from_millis(5)));
    assert_eq!(path(turn.await.unwrap().report), ["a 1 0 0", "b 0 0 0 waiting", "late 0 0 0 waiting"]);
    let turn = runner.thread("t").run(Trip::update()).cancel_on(tokio::time::sleep(Duration::from_millis(5)));
    assert_eq!(path(turn.await.unwrap().report), ["a 1 0 0 waiting", "late 0 0 0 waiting"]);
    let failed = runner.clone().step_limit(1).thread("t").run(Trip::update()).await.unwrap_err();
    assert!(matches!(*failed, RunError::StepLimit { .. }));
    assert_eq!(path(*failed.report), ["a 1 0 0", "b 0 0 0 waiting", "late 0 0 0 waiting"]);
    let failed = runner.thread("t").run(Trip::update()).deadline(Duration::from_millis(5)).await.unwrap_err();
    assert_eq!(path(*failed.report), ["a 1 0 0 waiting", "late 0 0 0 waiting"]);
}

#[tokio::test(start_paused = true)]
async fn several_failures_mark_only_those_that_stopped_the_turn() {
    let fails = || ready(Err::<(), _>("broken"));
    let graph = Graph::<Trip>::builder("g")
        .node("plain", fails)
        .node("routed", fails.on_error("sorry"))
        .node("sorry", |_: In<FailedTask>| ready(()))
        .edge(START, "plain")
        .edge(START, "routed")
        .compile()
        .unwrap();
    let failed = graph.runner().record_path(true).thread("t").run(Trip::update()).await.unwrap_err();
    assert_eq!(nodes(failed.report.path.as_ref().unwrap()), ["plain 1 1 0 failed", "routed 1 1 0"]);
}

#[tokio::test(start_paused = true)]
async fn a_cached_task_is_a_visit_and_takes_its_edges() {
    let graph = Graph::<Trip>::builder("g")
        .node("a", note("a").cache(Cache::by(|_: &Trip| 1)))
        .node("b", note("b"))
        .edge(START, "a")
        .edge("a", "b")
        .compile()
        .unwrap();
    let runner = graph.runner().record_path(true);
    let first = runner.thread("t").run(Trip::update()).await.unwrap();
    let second = runner.thread("t").run(Trip::update()).await.unwrap();
    assert_eq!((second.report.cached, second.report.path), (1, first.report.path));
}

#[tokio::test(start_paused = true)]
async fn a_path_survives_json_and_is_the_same_in_both_modes_and_every_run() {
    let mut paths = Vec::new();
    for parallel in [BOTH, BOTH].concat() {
        let runner = every_kind(&Runs::new()).runner().parallel(parallel).record_path(true);
        let report = runner.thread("t").run(Trip::update()).await.unwrap().report;
        let json = serde_json::to_string(&report).unwrap();
        let again: graph_engine::RunReport = serde_json::from_str(&json).unwrap();
        assert_eq!(again, report);
        paths.push(report.path.unwrap());
    }
    assert!(paths.windows(2).all(|pair| pair[0] == pair[1]));
    let kinds: std::collections::BTreeSet<_> = paths[0].edges.iter().map(|edge| edge.kind).collect();
    assert_eq!(kinds.len(), 8);
    assert!(kinds.contains(&EdgeKind::Error));
}

#[tokio::test(start_paused = true)]
async fn every_edge_of_a_path_is_one_that_the_graph_declares() {
    let graph = every_kind(&Runs::new());
    let end = graph.runner().record_path(true).thread("t").run(Trip::update()).await.unwrap();
    for edge in end.report.path.unwrap().edges {
        let declared =
            graph.topology().edges.iter().any(|d| d.from == edge.from && d.to == edge.to && d.kind == edge.kind);
        assert!(declared, "{edge:?}");
    }
}
