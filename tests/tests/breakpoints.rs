//! Static breakpoints: a turn stops before or after a node, and goes on from there.

use behaviour_tests::{Runs, Trip};
use graph_engine::{
    BreakAt, Breakpoint, Ctx, Durability, END, Filter, Graph, In, MemoryStore, Next, NodeError, Route, RunError,
    Runner, START, Status,
};

fn chain(runs: &Runs) -> Runner<Trip> {
    let graph = Graph::<Trip>::builder("chain")
        .node("a", runs.node("a"))
        .node("b", runs.node("b"))
        .node("c", runs.node("c"))
        .edge(START, "a")
        .edge("a", "b")
        .edge("b", "c");
    graph.compile().unwrap().runner().store(MemoryStore::new())
}

fn before(node: &str) -> Breakpoint {
    Breakpoint::Before(node.into())
}

fn after(node: &str) -> Breakpoint {
    Breakpoint::After(node.into())
}

#[tokio::test]
async fn before_a_node_one_pause_and_then_the_node_runs() {
    let runs = Runs::new();
    let thread = chain(&runs).thread("t");
    let end = thread.run(Trip::update()).break_before(["b"]).await.unwrap();
    assert_eq!((end.status, end.status.as_str(), runs.take()), (Status::Paused, "paused", vec!["a".to_owned()]));
    assert_eq!((end.report.breakpoints, end.report.pending), (vec![before("b")], vec!["b".into()]));
    let end = thread.proceed().break_before(["b"]).await.unwrap();
    assert_eq!((end.status, runs.take()), (Status::Done, vec!["b".to_owned(), "c".to_owned()]));
    assert!(end.report.breakpoints.is_empty());
}

#[tokio::test]
async fn after_a_node_its_update_is_merged_and_what_follows_waits() {
    let runs = Runs::new();
    let thread = chain(&runs).thread("t");
    let end = thread.run(Trip::update()).break_after(["b"]).await.unwrap();
    assert_eq!((end.status, end.state.log.join(" ")), (Status::Paused, "a b".to_owned()));
    assert_eq!((end.report.breakpoints, end.report.pending), (vec![after("b")], vec!["c".into()]));
    assert_eq!(thread.proceed().break_after(["b"]).await.unwrap().status, Status::Done);
    assert_eq!(runs.take(), ["a", "b", "c"]);
}

#[tokio::test]
async fn before_and_after_the_same_node_are_two_stops() {
    let thread = chain(&Runs::new()).break_before("b").break_after("b").thread("t");
    let stops = [thread.run(Trip::update()), thread.proceed(), thread.proceed()];
    let mut seen = Vec::new();
    for turn in stops {
        let end = turn.await.unwrap();
        seen.push((end.status, end.state.log.join(" "), end.report.breakpoints));
    }
    let wanted = [
        (Status::Paused, "a".to_owned(), vec![before("b")]),
        (Status::Paused, "a b".to_owned(), vec![after("b")]),
        (Status::Done, "a b c".to_owned(), vec![]),
    ];
    assert_eq!(seen, wanted);
}

#[tokio::test]
async fn after_one_node_and_before_the_next_are_one_stop_that_names_both() {
    let thread = chain(&Runs::new()).thread("t");
    let end = thread.run(Trip::update()).break_after("a").break_before("b").await.unwrap();
    assert_eq!(end.report.breakpoints, [after("a"), before("b")]);
    assert!(end.report.to_string().ends_with("; stopped after `a`; stopped before `b`"), "{}", end.report);
    assert_eq!(thread.proceed().break_after("a").break_before("b").await.unwrap().status, Status::Done);
}

#[tokio::test]
async fn at_all_nodes_a_turn_makes_one_super_step_at_a_time() {
    let runs = Runs::new();
    let thread = chain(&runs).break_before(BreakAt::All).thread("t");
    let mut seen = vec![thread.run(Trip::update()).await.unwrap()];
    while seen.last().is_some_and(|end| end.status == Status::Paused) {
        seen.push(thread.proceed().await.unwrap());
    }
    let logs: Vec<_> = seen.iter().map(|end| end.state.log.join(" ")).collect();
    assert_eq!(logs, ["", "a", "a b", "a b c"]);
}

#[derive(Route)]
enum Again {
    A,
    #[route(end)]
    End,
}

#[tokio::test]
async fn in_a_loop_every_later_visit_stops_again() {
    let runs = Runs::new();
    let graph = Graph::<Trip>::builder("loop")
        .node("a", runs.node("a"))
        .edge(START, "a")
        .route("a", |trip: &Trip| if trip.log.len() < 3 { Again::A } else { Again::End });
    let thread = graph.compile().unwrap().runner().store(MemoryStore::new()).break_before("a").thread("t");
    let mut end = thread.run(Trip::update()).await.unwrap();
    let mut visits = Vec::new();
    while end.status == Status::Paused {
        visits.push(end.state.log.len());
        end = thread.proceed().await.unwrap();
    }
    assert_eq!((visits, end.status), (vec![0, 1, 2], Status::Done));
    // So does the next turn.
    assert_eq!(thread.run(Trip::update()).await.unwrap().status, Status::Paused);
}

#[tokio::test]
async fn a_stop_is_durable_over_a_restart() {
    for durability in [Durability::Sync, Durability::Async, Durability::Exit] {
        let (runs, store) = (Runs::new(), MemoryStore::new());
        let process = || chain(&runs).store(store.clone()).durability(durability).break_before("c").thread("t");
        let end = process().run(Trip::update()).await.unwrap();
        assert_eq!((end.status, runs.take()), (Status::Paused, vec!["a".to_owned(), "b".to_owned()]), "{durability:?}");
        let state = process().state().await.unwrap();
        assert_eq!((state.next, state.state.log.join(" ")), (vec!["c".into()], "a b".to_owned()));
        assert_eq!(process().proceed().await.unwrap().status, Status::Done);
        assert_eq!(runs.take(), ["c"]);
    }
}

#[tokio::test]
async fn an_unknown_node_is_refused_before_anything_runs() {
    let runs = Runs::new();
    let runner = chain(&runs);
    for (node, turn) in [
        ("d", runner.thread("t").run(Trip::update()).break_before("d")),
        ("d", runner.thread("t").run(Trip::update()).break_after(vec!["a", "d"])),
        (START, runner.thread("t").run(Trip::update()).break_after(START)),
        (END, runner.thread("t").run(Trip::update()).break_before(END)),
        ("e", runner.clone().break_before("e").thread("t").run(Trip::update())),
    ] {
        let failed = turn.await.unwrap_err();
        assert!(matches!(&*failed.error, RunError::UnknownNode { node: named, .. } if *named == node), "{failed}");
    }
    assert!(runs.take().is_empty());
    assert!(runner.thread("t").history(&Filter::default()).await.unwrap().is_empty());
}

#[tokio::test]
async fn without_a_store_a_breakpoint_is_refused_before_anything_runs() {
    let runs = Runs::new();
    let runner = chain(&runs).graph().runner();
    for (turn, wanted) in [
        (runner.thread("t").run(Trip::update()).break_before("a"), "break_before"),
        (runner.thread("t").run(Trip::update()).break_after("a"), "break_after"),
    ] {
        let failed = turn.await.unwrap_err();
        assert!(matches!(&*failed.error, RunError::NoStore { operation, .. } if *operation == wanted), "{failed}");
    }
    assert!(runs.take().is_empty());
}

#[tokio::test]
async fn in_a_parallel_step_all_of_it_waits() {
    let runs = Runs::new();
    let graph = Graph::<Trip>::builder("parallel")
        .node("a", runs.node("a"))
        .node("b", runs.node("b"))
        .edge(START, "a")
        .edge(START, "b");
    let thread = graph.compile().unwrap().runner().store(MemoryStore::new()).thread("t");
    let end = thread.run(Trip::update()).break_before(["b", "a"]).await.unwrap();
    assert_eq!((end.report.breakpoints, runs.take()), (vec![before("a"), before("b")], vec![]));
    let end = thread.proceed().break_before("b").await.unwrap();
    assert_eq!((end.status, end.state.log.join(" ")), (Status::Done, "a b".to_owned()));
}

#[derive(Route)]
enum Each {
    Work(u32),
}

#[tokio::test]
async fn before_a_fan_out_it_is_one_stop_and_all_payloads_are_kept() {
    async fn work(In(item): In<u32>) -> behaviour_tests::TripUpdate {
        Trip::update().log([item.to_string()])
    }
    async fn spread() -> Next<Each> {
        Next::fan_out((0..3).map(Each::Work))
    }
    let graph = Graph::<Trip>::builder("fan").node("spread", spread).node("work", work).edge(START, "spread");
    let thread = graph.compile().unwrap().runner().store(MemoryStore::new()).break_before("work").thread("t");
    let end = thread.run(Trip::update()).await.unwrap();
    assert_eq!((end.status, end.report.breakpoints), (Status::Paused, vec![before("work")]));
    let end = thread.proceed().await.unwrap();
    assert_eq!((end.status, end.state.log.join(" ")), (Status::Done, "0 1 2".to_owned()));
}

#[tokio::test]
async fn after_the_last_node_there_is_nothing_to_wait_for() {
    let end = chain(&Runs::new()).thread("t").run(Trip::update()).break_after("c").await.unwrap();
    assert_eq!((end.status, end.report.breakpoints.len()), (Status::Done, 0));
}

#[tokio::test]
async fn new_input_at_a_breakpoint_is_refused_and_abandoning_leaves_it() {
    let thread = chain(&Runs::new()).break_before("b").thread("t");
    thread.run(Trip::update()).await.unwrap();
    let failed = thread.run(Trip::update()).await.unwrap_err();
    assert!(matches!(&*failed.error, RunError::Unfinished { pending, .. } if pending[..] == ["b"]), "{failed}");
    thread.abandon().await.unwrap();
    let end = thread.run(Trip::update()).await.unwrap();
    assert_eq!((end.status, end.state.log.join(" ")), (Status::Paused, "a a".to_owned()));
}

#[tokio::test]
async fn a_drained_turn_that_goes_on_stops_before_a_node_and_not_after_one_of_the_turn_before() {
    let thread = chain(&Runs::new()).thread("t");
    let turn = thread.run(Trip::update()).break_after("a");
    turn.await.unwrap();
    // Another turn: what `a` did is over.
    let end = thread.proceed().break_after("a").break_before("c").await.unwrap();
    assert_eq!((end.status, end.report.breakpoints), (Status::Paused, vec![before("c")]));
}

#[tokio::test]
async fn a_branch_stops_at_the_place_that_the_old_one_had_passed() {
    let thread = chain(&Runs::new()).thread("t");
    thread.run(Trip::update()).await.unwrap();
    let old = thread.history(&Filter::default()).await.unwrap();
    // After `a`, `b` is next.
    let end = thread.at(old[2].id).proceed().break_before("b").await.unwrap();
    assert_eq!((end.status, end.report.breakpoints), (Status::Paused, vec![before("b")]));
    assert_eq!(thread.proceed().break_before("b").await.unwrap().state.log.join(" "), "a b c");
}

#[tokio::test]
async fn a_question_behind_a_breakpoint_is_asked_once_it_is_passed() {
    async fn ask(ctx: Ctx) -> Result<behaviour_tests::TripUpdate, NodeError> {
        let city: String = ctx.interrupt("where to?")?;
        Ok(Trip::update().city(city))
    }
    let graph = Graph::<Trip>::builder("ask").node("ask", ask).edge(START, "ask");
    let thread = graph.compile().unwrap().runner().store(MemoryStore::new()).break_before("ask").thread("t");
    let end = thread.run(Trip::update()).await.unwrap();
    assert_eq!((end.status, end.interrupts().len(), end.report.breakpoints.len()), (Status::Paused, 0, 1));
    let end = thread.proceed().await.unwrap();
    assert_eq!((end.status, end.interrupts().len(), end.report.breakpoints.len()), (Status::Paused, 1, 0));
    let end = thread.resume("Oslo").await.unwrap();
    assert_eq!((end.status, end.state.city.as_str()), (Status::Done, "Oslo"));
}

#[tokio::test]
async fn a_replay_from_before_a_question_asks_it_again_under_another_id() {
    async fn ask(ctx: Ctx) -> Result<behaviour_tests::TripUpdate, NodeError> {
        let city: String = ctx.interrupt("where to?")?;
        Ok(Trip::update().city(city))
    }
    let graph = Graph::<Trip>::builder("ask").node("ask", ask).edge(START, "ask");
    let thread = graph.compile().unwrap().runner().store(MemoryStore::new()).thread("t");
    let first = thread.run(Trip::update()).await.unwrap().interrupts()[0].id;
    thread.resume("Oslo").await.unwrap();
    let history = thread.history(&Filter::default()).await.unwrap();
    let input = history.last().unwrap().id;
    let end = thread.at(input).proceed().await.unwrap();
    assert_eq!(end.status, Status::Paused);
    assert_ne!(end.interrupts()[0].id, first);
    assert_eq!(thread.resume("Bergen").await.unwrap().state.city, "Bergen");
    // The old question, answered in another way on a branch of its own.
    let asked = history[history.len() - 2].id;
    let end = thread.at(asked).resume("Tromsø").await.unwrap();
    assert_eq!((end.status, end.state.city.as_str()), (Status::Done, "Tromsø"));
    assert_eq!(thread.at(history[0].id).state().await.unwrap().state.city, "Oslo");
}
