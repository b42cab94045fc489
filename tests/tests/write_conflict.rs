//! E2: two tasks that write one single-writer field in one super-step fail the step, and nothing of it is applied.

use behaviour_tests::{Runs, Trip, TripUpdate, note};
use graph_engine::{Graph, In, MemoryStore, Next, Route, RunError, START};

/// Writes `city` in its first run only, appends its name in every run.
fn writer(runs: &Runs, name: &'static str) -> impl Fn() -> std::future::Ready<TripUpdate> + Clone + use<> {
    let runs = runs.clone();
    move || {
        let update = Trip::update().log([name.to_owned()]);
        std::future::ready(if runs.hit(name) == 0 { update.city(name) } else { update })
    }
}

/// `b`, `c` and `e` write the city at once; `a` and `d` don't.
fn five(runs: &Runs) -> Graph<Trip> {
    let mut builder =
        Graph::<Trip>::builder("five").node("last", runs.node("last")).join(["a", "b", "c", "d", "e"], "last");
    for name in ["a", "d"] {
        builder = builder.node(name, runs.node(name)).edge(START, name);
    }
    for name in ["b", "c", "e"] {
        builder = builder.node(name, writer(runs, name)).edge(START, name);
    }
    builder.compile().unwrap()
}

#[tokio::test]
async fn a_conflict_names_all_tasks_and_applies_nothing() {
    let runs = Runs::new();
    let store = MemoryStore::new();
    let thread = five(&runs).runner().store(store).thread("t");
    let error = thread.run(Trip::update().log(["in".to_owned()])).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "thread `t`, super-step 0: field `city` was written by `b` (task 0.1) and `c` (task 0.2) and `e` (task 0.4); \
         nothing of the step was applied; let one node write it, or give the field a merge rule such as \
         `#[state(append)]`; `proceed` runs exactly these tasks again"
    );
    assert!(matches!(*error.error, RunError::WriteConflict { step: 0, ref tasks, .. } if tasks.len() == 3));
    assert_eq!((error.report.steps, error.report.tasks), (0, 5));
    let state = thread.state().await.unwrap();
    assert_eq!(state.state.log, ["in"]);
    assert_eq!((state.state.city.as_str(), state.step), ("", 0));
}

#[tokio::test]
async fn proceeding_runs_exactly_the_conflicting_tasks_again_as_often_as_they_conflict() {
    let runs = Runs::new();
    let thread = five(&runs).runner().store(MemoryStore::new()).thread("t");
    thread.run(Trip::update()).await.unwrap_err();
    assert_eq!(runs.take().len(), 5);
    // The writers count from their first run again, so they conflict once more.
    let error = thread.proceed().await.unwrap_err();
    assert!(matches!(*error.error, RunError::WriteConflict { ref tasks, .. } if tasks.len() == 3));
    let mut ran = runs.take();
    ran.sort();
    assert_eq!(ran, ["b", "c", "e"]);
}

#[tokio::test]
async fn what_the_others_finished_survives_a_conflict() {
    let runs = Runs::new();
    let thread = five(&runs).runner().store(MemoryStore::new()).thread("t");
    thread.run(Trip::update()).await.unwrap_err();
    let end = thread.proceed().await.unwrap();
    assert_eq!(end.state.log, ["a", "b", "c", "d", "e", "last"]);
    assert_eq!(end.state.city, "");
    assert_eq!((end.report.steps, end.report.tasks), (2, 4));
    let counts = ["a", "b", "c", "d", "e", "last"].map(|name| runs.count(name));
    assert_eq!(counts, [1, 2, 2, 1, 2, 1]);
}

#[tokio::test]
async fn without_a_store_a_conflict_loses_the_turn_and_the_next_starts_anew() {
    let runs = Runs::new();
    let thread = five(&runs).runner().thread("t");
    thread.run(Trip::update().log(["lost".to_owned()])).await.unwrap_err();
    let end = thread.run(Trip::update()).await.unwrap();
    assert_eq!(end.state.log, ["a", "b", "c", "d", "e", "last"]);
    assert_eq!(runs.count("a"), 2);
}

#[tokio::test]
async fn tasks_of_two_conflicts_all_run_again() {
    #[derive(graph_engine::State, Clone, Default)]
    struct Two {
        x: u32,
        y: u32,
        #[state(append)]
        log: Vec<String>,
    }
    let runs = Runs::new();
    let writer = |name: &'static str, x: bool, y: bool| {
        let runs = runs.clone();
        move || {
            let mut update = Two::update().log([name.to_owned()]);
            if runs.hit(name) == 0 {
                update.x = x.then_some(1);
                update.y = y.then_some(1);
            }
            std::future::ready(update)
        }
    };
    let graph = Graph::<Two>::builder("two")
        .node("a", writer("a", true, false))
        .node("b", writer("b", true, true))
        .node("c", writer("c", false, true))
        .node("d", writer("d", false, false))
        .edge(START, "a")
        .edge(START, "b")
        .edge(START, "c")
        .edge(START, "d")
        .compile()
        .unwrap();
    let thread = graph.runner().store(MemoryStore::new()).thread("t");
    let error = thread.run(Two::update()).await.unwrap_err();
    let RunError::WriteConflict { field, tasks, .. } = &*error else { panic!("{error}") };
    let nodes: Vec<_> = tasks.iter().map(|task| task.node.as_str()).collect();
    assert_eq!((field.as_str(), nodes), ("x", vec!["a", "b"]));
    let end = thread.proceed().await.unwrap();
    assert_eq!(end.state.log, ["a", "b", "c", "d"]);
    assert_eq!(["a", "b", "c", "d"].map(|name| runs.count(name)), [2, 2, 2, 1]);
}

#[derive(Route)]
enum Each {
    Each(String),
}

#[tokio::test]
async fn tasks_of_one_node_conflict_too() {
    async fn each(In(city): In<String>) -> TripUpdate {
        Trip::update().city(city.to_string())
    }
    let graph = Graph::<Trip>::builder("g")
        .node("each", each)
        .route(START, |_: &Trip| Next::fan_out(["Oslo", "Rome"].map(|city| Each::Each(city.to_owned()))))
        .compile()
        .unwrap();
    let error = graph.runner().thread("t").run(Trip::update()).await.unwrap_err();
    let RunError::WriteConflict { tasks, .. } = &*error else { panic!("{error}") };
    assert_eq!(tasks.iter().map(ToString::to_string).collect::<Vec<_>>(), ["`each` (task 0.0)", "`each` (task 0.1)"]);
}

#[tokio::test]
async fn one_task_may_write_a_field_twice_and_tasks_of_different_steps_may_write_it() {
    async fn twice() -> TripUpdate {
        Trip::update().city("Oslo").then(Trip::update().city("Rome"))
    }
    async fn later() -> TripUpdate {
        Trip::update().city("Bergen")
    }
    let graph = Graph::<Trip>::builder("g")
        .node("later", later)
        .node("other", note("other"))
        .node("twice", twice)
        .edge(START, "twice")
        .edge(START, "other")
        .edge("twice", "later")
        .compile()
        .unwrap();
    let end = graph.runner().thread("t").run(Trip::update().city("input")).await.unwrap();
    assert_eq!(end.state.city, "Bergen");
}

#[tokio::test]
async fn equal_values_conflict_as_well() {
    async fn same() -> TripUpdate {
        Trip::update().city("Oslo")
    }
    let graph = Graph::<Trip>::builder("g")
        .node("a", same)
        .node("b", same)
        .edge(START, "a")
        .edge(START, "b")
        .compile()
        .unwrap();
    let error = graph.runner().thread("t").run(Trip::update()).await.unwrap_err();
    assert!(matches!(*error.error, RunError::WriteConflict { .. }));
}

#[tokio::test]
async fn any_fields_take_the_last_task_and_never_conflict() {
    let last = |name: &'static str| move || std::future::ready(Trip::update().last(name));
    let mut builder = Graph::<Trip>::builder("g");
    for name in ["c", "a", "b"] {
        builder = builder.node(name, last(name)).edge(START, name);
    }
    let end = builder.compile().unwrap().runner().thread("t").run(Trip::update()).await.unwrap();
    assert_eq!(end.state.last, "c");
}
