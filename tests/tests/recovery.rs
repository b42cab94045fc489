//! E15 and E20: a turn that is interrupted in the middle of any step ends like one that was not, whatever moves its
//! finished tasks had chosen.

use std::future::{IntoFuture, ready};
use std::time::Duration;

use behaviour_tests::{BoxNode, Runs, TestStore, Trip, TripUpdate, note};
use graph_engine::{
    Command, Ctx, Graph, In, MemoryStore, NodeError, NodeExt, Outcome, Parallel, Route, RunError, Runner, START,
    Thread, TurnEnd,
};
use serde_json::json;

#[derive(Route)]
#[route(stay, direct, finish)]
enum Go {
    X,
    Y,
    Each(String),
    Late(u32),
}

async fn each(In(item): In<String>) -> TripUpdate {
    Trip::update().log([item.to_string()]).last(item.to_string())
}

async fn late(In(item): In<u32>, ctx: Ctx) -> TripUpdate {
    Trip::update().log([format!("late {item} of {}", ctx.task())])
}

/// A node of every move beside one that breaks: `hinder` decides how in its first run.
fn every_move(runs: &Runs, hinder: fn() -> BoxNode<Result<TripUpdate, NodeError>>) -> Graph<Trip> {
    let moves = |name: &'static str, next: fn(usize, Ctx) -> Command<Trip, Go>| {
        let runs = runs.clone();
        move |ctx: Ctx| {
            let run = runs.hit(name);
            ready(next(run, ctx).with(Trip::update().log([name.to_owned()])))
        }
    };
    let hindered = {
        let runs = runs.clone();
        move || match runs.hit("hindered") {
            0 => hinder(),
            _ => Box::pin(ready(Ok(Trip::update().log(["hindered".to_owned()]).total(2)))),
        }
    };
    let stays = |_, ctx: Ctx| match ctx.feedback::<String>() {
        Ok(None) => Command::stay("more"),
        Ok(Some(more)) => Command::declared().with(Trip::update().city(more)),
        Err(_) => Command::finish("never"),
    };
    let named = {
        let runs = runs.clone();
        move || {
            runs.hit("named");
            ready(Outcome::of(Trip::update().log(["named".to_owned()])).go_all(["x", "y", "x"]))
        }
    };
    Graph::<Trip>::builder("every")
        .node("direct", moves("direct", |_, _| Command::direct(json!({ "reply": [1, null] }))))
        .node("declared", moves("declared", |_, _| Command::declared()))
        .node("fans", moves("fans", |_, _| Command::fan_out(["p\"\\", "q"].map(|item| Go::Each(item.to_owned())))))
        .node("goes", moves("goes", |_, _| Command::go_all([Go::Y, Go::Late(1), Go::Late(2), Go::X])))
        .node("hindered", hindered)
        .node("named", named)
        .node("routed", moves("routed", |_, _| Command::declared()))
        .node("stays", moves("stays", stays))
        .node("each", each)
        .node("late", late.deferred())
        .node("x", note("x"))
        .node("y", note("y"))
        .node("joined", note("joined"))
        .edge(START, "direct")
        .edge(START, "declared")
        .edge(START, "fans")
        .edge(START, "goes")
        .edge(START, "hindered")
        .edge(START, "named")
        .edge(START, "routed")
        .edge(START, "stays")
        .join(["declared", "stays", "hindered"], "joined")
        .route("routed", |trip: &Trip| Go::Each(format!("routed at {}", trip.total)))
        .compile()
        .unwrap()
}

const HINDERED: [&str; 8] = ["direct", "declared", "fans", "goes", "hindered", "named", "routed", "stays"];

fn text(end: &TurnEnd<Trip>) -> String {
    let replies: Vec<_> =
        end.replies.iter().map(|reply| format!("{} {} {}", reply.task, reply.node, reply.value)).collect();
    format!("{:?} {:?} {replies:?} {:?}", end.status, *end.state, end.report.waiting_joins)
}

fn fine() -> BoxNode<Result<TripUpdate, NodeError>> {
    Box::pin(ready(Ok(Trip::update().log(["hindered".to_owned()]).total(2))))
}

async fn undisturbed() -> String {
    let runs = Runs::new();
    let end = every_move(&runs, fine).runner().thread("t").run(Trip::update().total(1)).await.unwrap();
    assert_eq!(end.report.steps, 4);
    text(&end)
}

#[tokio::test]
async fn the_undisturbed_turn_is_what_the_rules_say() {
    let runs = Runs::new();
    let end = every_move(&runs, fine).runner().thread("t").run(Trip::update().total(1)).await.unwrap();
    let first = ["declared", "direct", "fans", "goes", "hindered", "named", "routed", "stays"];
    let second = ["stays", "x", "y", "p\"\\", "q", "routed at 3"];
    let rest = ["joined", "late 1 of 3.0", "late 2 of 3.1"];
    assert_eq!(end.state.log, [&first[..], &second[..], &rest[..]].concat());
    assert_eq!((end.state.city.as_str(), end.replies.len()), ("more", 1));
}

#[tokio::test]
async fn a_failure_beside_every_move_loses_nothing() {
    let runs = Runs::new();
    let fails = || -> BoxNode<Result<TripUpdate, NodeError>> { Box::pin(ready(Err("broken".into()))) };
    let thread = every_move(&runs, fails).runner().store(MemoryStore::new()).thread("t");
    thread.run(Trip::update().total(1)).await.unwrap_err();
    assert_eq!(text(&thread.proceed().await.unwrap()), undisturbed().await);
    let counts = HINDERED.map(|name| runs.count(name));
    assert_eq!(counts, [1, 1, 1, 1, 2, 1, 1, 2], "only `hindered` ran again; `stays` stayed");
}

#[tokio::test(start_paused = true)]
async fn a_crash_beside_every_move_loses_nothing_that_was_saved() {
    let hangs = || -> BoxNode<Result<TripUpdate, NodeError>> { Box::pin(std::future::pending()) };
    for parallel in [Parallel::Joined, Parallel::Spawned] {
        let (runs, store) = (Runs::new(), TestStore::lasting());
        let thread = every_move(&runs, hangs).runner().parallel(parallel).store(store.clone()).thread("t");
        let turn = thread.run(Trip::update().total(1)).into_future();
        tokio::time::timeout(Duration::from_secs(1), turn).await.map(|_| ()).unwrap_err();
        assert_eq!(store.saves().len(), 7);
        // Another process.
        let other = every_move(&runs, hangs).runner().store(store).thread("t");
        assert_eq!(text(&other.proceed().await.unwrap()), undisturbed().await);
        let counts = HINDERED.map(|name| runs.count(name));
        assert_eq!(counts, [1, 1, 1, 1, 2, 1, 1, 2]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_turn_cut_after_every_step_and_every_failed_commit_ends_the_same() {
    let expected = undisturbed().await;
    let goes_on = async |thread: &Thread<Trip>| {
        for _ in 0..50 {
            let state = thread.state().await.unwrap();
            let turn = if state.checkpoint.is_none() { thread.run(Trip::update().total(1)) } else { thread.proceed() };
            if let Ok(end) = turn.await {
                return text(&end);
            }
        }
        panic!("no end")
    };
    let one_step = every_move(&Runs::new(), fine).runner().step_limit(1).store(MemoryStore::new());
    assert_eq!(goes_on(&one_step.thread("t")).await, expected);
    for failing in 0..8 {
        let store = TestStore::lasting();
        store.fail_commit_after(failing);
        let runner: Runner<Trip> = every_move(&Runs::new(), fine).runner().store(store);
        assert_eq!(goes_on(&runner.thread("t")).await, expected, "commit {failing} failed");
    }
}

#[tokio::test]
async fn replies_of_a_turn_that_failed_later_are_those_of_its_proceed() {
    let runs = Runs::new();
    let graph = Graph::<Trip>::builder("g")
        .node("reply", || ready(Command::<Trip, Reply>::direct("early")))
        .node("a", note("a"))
        .node("b", runs.failing(1, "b"))
        .node("end", || ready(Command::<Trip, Reply>::direct("late")))
        .edge(START, "reply")
        .edge(START, "a")
        .edge("a", "b")
        .edge("b", "end")
        .compile()
        .unwrap();
    let thread = graph.runner().store(MemoryStore::new()).thread("t");
    thread.run(Trip::update()).await.unwrap_err();
    assert_eq!(thread.state().await.unwrap().replies.len(), 1);
    let end = thread.proceed().await.unwrap();
    let replies: Vec<_> = end.replies.iter().map(|reply| (reply.task.to_string(), reply.value.clone())).collect();
    assert_eq!(replies, [("0.1".to_owned(), json!("early")), ("2.0".to_owned(), json!("late"))]);
}

#[derive(Route)]
#[route(direct)]
enum Reply {}

#[tokio::test]
async fn a_router_may_reply_and_finish_also_from_start() {
    #[derive(Route)]
    #[route(direct, finish)]
    enum End {}
    let graph = Graph::<Trip>::builder("g")
        .route(START, |trip: &Trip| match trip.city.as_str() {
            "" => graph_engine::Next::<End>::direct("which city?"),
            city => graph_engine::Next::finish(city),
        })
        .compile()
        .unwrap();
    let thread = graph.runner().store(MemoryStore::new()).thread("t");
    let end = thread.run(Trip::update()).await.unwrap();
    assert_eq!((end.reply(), end.report.steps), (Some(&json!("which city?")), 0));
    assert_eq!(end.replies[0].node, START);
    let end = thread.run(Trip::update().city("Oslo")).await.unwrap();
    assert_eq!((end.reply(), end.status), (Some(&json!("Oslo")), graph_engine::Status::Completed));
    assert!(matches!(*thread.run(Trip::update()).await.unwrap_err().error, RunError::Completed { .. }));
}
