//! E12: a deferred node waits until nothing else would run.

use std::future::ready;

use behaviour_tests::{Runs, Trip, TripUpdate, note};
use graph_engine::{Command, Graph, In, MemoryStore, Next, NodeExt, Route, RunError, START};

fn chain() -> graph_engine::Builder<Trip> {
    Graph::<Trip>::builder("g")
        .node("a", note("a"))
        .node("b", note("b"))
        .node("c", note("c"))
        .edge("a", "b")
        .edge("b", "c")
        .edge(START, "a")
}

#[tokio::test]
async fn a_deferred_node_runs_last_and_once() {
    let graph = chain()
        .node("end", note("end").deferred())
        .edge(START, "end")
        .edge("a", "end")
        .edge("c", "end")
        .compile()
        .unwrap();
    let end = graph.runner().thread("t").run(Trip::update()).await.unwrap();
    assert_eq!(end.state.log, ["a", "b", "c", "end"]);
    assert_eq!(end.report.tasks, 4);
}

#[tokio::test]
async fn deferred_nodes_run_together_and_may_lead_on() {
    let graph = chain()
        .node("y", note("y").deferred())
        .node("x", note("x").deferred())
        .node("after", note("after"))
        .edge(START, "y")
        .edge("b", "x")
        .join(["x", "y"], "after")
        .compile()
        .unwrap();
    let end = graph.runner().thread("t").run(Trip::update()).await.unwrap();
    assert_eq!(end.state.log, ["a", "b", "c", "x", "y", "after"]);
    assert_eq!(end.report.steps, 5);
}

#[tokio::test]
async fn what_a_deferred_node_defers_waits_again() {
    let graph = chain()
        .node("x", note("x").deferred())
        .node("last", note("last").deferred())
        .node("more", note("more"))
        .node("most", note("most"))
        .edge(START, "x")
        .edge("x", "last")
        .edge("x", "more")
        .edge("more", "most")
        .compile()
        .unwrap();
    let end = graph.runner().thread("t").run(Trip::update()).await.unwrap();
    assert_eq!(end.state.log, ["a", "b", "c", "x", "more", "most", "last"]);
}

#[derive(Route)]
enum Each {
    Each(u32),
}

#[tokio::test]
async fn sends_to_a_deferred_node_wait_and_stay_in_order() {
    async fn each(In(item): In<u32>) -> TripUpdate {
        Trip::update().log([item.to_string()])
    }
    let graph = chain()
        .node("send", || ready(Next::fan_out([3, 1, 2].map(Each::Each))))
        .node("each", each.deferred())
        .edge(START, "send")
        .compile()
        .unwrap();
    let end = graph.runner().thread("t").run(Trip::update()).await.unwrap();
    assert_eq!(end.state.log, ["a", "b", "c", "3", "1", "2"]);
}

#[derive(Route)]
#[route(stay)]
enum Again {}

#[tokio::test]
async fn a_deferred_node_that_stays_waits_again() {
    let runs = Runs::new();
    let picky = {
        let runs = runs.clone();
        move || {
            let next = if runs.hit("picky") == 0 { Command::<Trip, Again>::stay(()) } else { Command::declared() };
            ready(next.with(Trip::update().log(["picky".to_owned()])))
        }
    };
    let graph = Graph::<Trip>::builder("g")
        .node("picky", picky.deferred())
        .node("other", note("other").deferred())
        .node("x", note("x"))
        .node("y", note("y"))
        .edge(START, "picky")
        .edge(START, "other")
        .edge("other", "x")
        .edge("x", "y")
        .compile()
        .unwrap();
    let end = graph.runner().thread("t").run(Trip::update()).await.unwrap();
    assert_eq!(end.state.log, ["other", "picky", "x", "y", "picky"]);
}

#[tokio::test]
async fn deferred_tasks_are_pending_and_survive_a_store() {
    let graph = chain().node("end", note("end").deferred()).edge(START, "end").compile().unwrap();
    let thread = graph.runner().store(MemoryStore::new()).step_limit(1).thread("t");
    let error = thread.run(Trip::update()).await.unwrap_err();
    let RunError::StepLimit { pending, .. } = &*error else { panic!("{error}") };
    assert_eq!(pending, &["b", "end"]);
    assert_eq!(thread.state().await.unwrap().next, ["b", "end"]);
    thread.proceed().await.unwrap_err();
    thread.proceed().await.unwrap_err();
    assert_eq!(thread.state().await.unwrap().next, ["end"]);
    assert_eq!(thread.proceed().await.unwrap().state.log, ["a", "b", "c", "end"]);
}

#[tokio::test]
async fn only_deferred_nodes_run_at_once() {
    let graph = Graph::<Trip>::builder("g").node("end", note("end").deferred()).edge(START, "end").compile().unwrap();
    let end = graph.runner().thread("t").run(Trip::update()).await.unwrap();
    assert_eq!((end.state.log.len(), end.report.steps), (1, 1));
}

#[tokio::test]
async fn abandoning_drops_deferred_tasks() {
    let graph = chain().node("end", note("end").deferred()).edge(START, "end").compile().unwrap();
    let thread = graph.runner().store(MemoryStore::new()).step_limit(1).thread("t");
    thread.run(Trip::update()).await.unwrap_err();
    thread.abandon().await.unwrap();
    assert_eq!(thread.state().await.unwrap().next, [""; 0]);
}
