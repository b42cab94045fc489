//! E13: the limit of super-steps is exact on run and proceed, names what would run next, and begins anew each turn.

use std::future::ready;

use behaviour_tests::{Trip, TripUpdate, note};
use graph_engine::{Ctx, Graph, In, MemoryStore, Next, Route, RunError, START, Status};

#[derive(Route)]
enum Loop {
    Again,
    #[route(end)]
    End,
}

/// Runs `again` so many times.
fn times(steps: usize) -> Graph<Trip> {
    async fn again(ctx: Ctx) -> TripUpdate {
        Trip::update().log([ctx.remaining_steps().to_string()])
    }
    Graph::<Trip>::builder("g")
        .node("again", again)
        .edge(START, "again")
        .route("again", move |trip: &Trip| if trip.log.len() < steps { Loop::Again } else { Loop::End })
        .compile()
        .unwrap()
}

#[tokio::test]
async fn a_turn_may_make_exactly_100_super_steps() {
    let end = times(100).runner().thread("t").run(Trip::update()).await.unwrap();
    assert_eq!((end.report.steps, end.report.tasks), (100, 100));
    let error = times(101).runner().thread("t").run(Trip::update()).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "thread `t`, super-step 100: the turn has not ended after 100 super-steps; next would be `again`; raise the \
         limit with `Runner::step_limit`; the state of this turn is lost, because the runner has no store"
    );
    assert_eq!(error.report.steps, 100);
}

#[tokio::test]
async fn the_limit_can_be_set_and_is_at_least_one() {
    for (limit, steps) in [(1, 1), (2, 2), (7, 7), (0, 1), (1_000, 1_000)] {
        let runner = |steps| times(steps).runner().step_limit(limit);
        assert_eq!(runner(steps).thread("t").run(Trip::update()).await.unwrap().status, Status::Done);
        let error = runner(steps + 1).thread("t").run(Trip::update()).await.unwrap_err();
        assert!(matches!(*error.error, RunError::StepLimit { limit: l, step: s, .. } if l == s && l == steps as u64));
    }
}

#[tokio::test]
async fn proceeding_gives_a_new_count() {
    let thread = times(7).runner().step_limit(3).store(MemoryStore::new()).thread("t");
    let error = thread.run(Trip::update()).await.unwrap_err();
    assert!(matches!(*error.error, RunError::StepLimit { step: 3, limit: 3, .. }));
    let error = thread.proceed().await.unwrap_err();
    assert!(matches!(*error.error, RunError::StepLimit { step: 6, limit: 3, .. }));
    assert_eq!(error.report.steps, 3);
    let end = thread.proceed().await.unwrap();
    assert_eq!(end.report.steps, 1);
    assert_eq!(end.state.log, ["2", "1", "0", "2", "1", "0", "2"], "the steps that remain after each");
}

#[tokio::test]
async fn a_new_turn_has_a_new_count() {
    let runner = times(3).runner().step_limit(3).store(MemoryStore::new());
    let thread = runner.thread("t");
    assert_eq!(thread.run(Trip::update()).await.unwrap().report.steps, 3);
    let end = thread.run(Trip::update().overwrite_log(Vec::new())).await.unwrap();
    assert_eq!((end.report.steps, end.state.log.join(" ")), (3, "2 1 0".to_owned()));
    assert_eq!(thread.state().await.unwrap().step, 6);
}

#[derive(Route)]
enum Each {
    Each(u32),
}

#[tokio::test]
async fn the_error_names_each_pending_node_once() {
    async fn each(In(item): In<u32>) -> TripUpdate {
        Trip::update().total((*item).into())
    }
    let graph = Graph::<Trip>::builder("g")
        .node("send", || ready(Next::fan_out([1, 2, 3].map(Each::Each))))
        .node("each", each)
        .node("a", note("a"))
        .node("b", note("b"))
        .edge(START, "send")
        .edge(START, "a")
        .edge("a", "b")
        .compile()
        .unwrap();
    let thread = graph.runner().store(MemoryStore::new()).step_limit(1).thread("t");
    let error = thread.run(Trip::update()).await.unwrap_err();
    let RunError::StepLimit { pending, .. } = &*error else { panic!("{error}") };
    assert_eq!(pending, &["b", "each"], "the names of nodes, not one for every task");
    assert_eq!(thread.state().await.unwrap().next, ["b", "each"]);
}

#[tokio::test]
async fn a_step_that_failed_and_proceeds_is_one_step() {
    let runs = behaviour_tests::Runs::new();
    let graph = Graph::<Trip>::builder("g")
        .node("a", runs.failing(3, "a"))
        .node("b", runs.node("b"))
        .edge(START, "a")
        .edge("a", "b")
        .compile()
        .unwrap();
    let thread = graph.runner().store(MemoryStore::new()).step_limit(1).thread("t");
    let mut turn = thread.run(Trip::update()).await;
    for _ in 0..3 {
        assert!(matches!(*turn.unwrap_err().error, RunError::Step { step: 0, .. }));
        turn = thread.proceed().await;
    }
    assert!(matches!(*turn.unwrap_err().error, RunError::StepLimit { step: 1, .. }));
    assert_eq!(thread.proceed().await.unwrap().state.log, ["a", "b"]);
}
