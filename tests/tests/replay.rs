//! A stored stretch runs again beside its thread, and every super-step is compared.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use behaviour_tests::{Runs, Trip, TripUpdate};
use graph_engine::{
    CheckpointId, Ctx, Deviation, Durability, Filter, Graph, MemoryStore, NodeError, Res, Route, RunError, Runner,
    START, Snap, Status, Thread,
};
use serde_json::json;

/// A model that answers what it is told to.
struct Model(Vec<&'static str>);

async fn ask(model: Res<Model>, trip: Snap<Trip>) -> TripUpdate {
    let answer = model.0[trip.log.len() % model.0.len()];
    Trip::update().city(answer).log([answer.to_owned()])
}

async fn count(trip: Snap<Trip>) -> TripUpdate {
    Trip::update().total(i64::try_from(trip.log.len()).unwrap())
}

fn graph() -> Graph<Trip> {
    Graph::<Trip>::builder("trip")
        .node("ask", ask)
        .node("count", count)
        .edge(START, "ask")
        .edge("ask", "count")
        .compile()
        .unwrap()
}

fn with(store: &MemoryStore, answers: &[&'static str]) -> Runner<Trip> {
    graph().runner().store(store.clone()).provide(Model(answers.to_vec()))
}

async fn ids(thread: &Thread<Trip>) -> Vec<CheckpointId> {
    thread.history(&Filter::default()).await.unwrap().iter().map(|info| info.id).collect()
}

#[tokio::test]
async fn with_recorded_answers_every_step_of_many_turns_is_equal_and_nothing_changes() {
    let store = MemoryStore::new();
    let thread = with(&store, &["Oslo", "Bergen"]).thread("t");
    for input in ["one", "two", "three"] {
        thread.run(Trip::update().last(input)).await.unwrap();
    }
    let before = ids(&thread).await;
    let bytes = store.bytes("t");
    let replay =
        with(&store, &["Oslo", "Bergen"]).thread("t").replay(*before.last().unwrap(), before[0]).await.unwrap();
    assert_eq!(replay.deviation, None);
    assert_eq!(replay.steps.iter().map(|step| step.step).collect::<Vec<_>>(), [1, 2, 3, 4, 5, 6]);
    assert!(replay.steps.iter().all(|step| step.replayed == Some(step.recorded)));
    assert_eq!(replay.to_string(), "6 of 6 super-steps are equal");
    assert_eq!((ids(&thread).await, store.bytes("t")), (before, bytes));
}

#[tokio::test]
async fn the_first_step_that_differs_is_named_with_its_fields() {
    let store = MemoryStore::new();
    let thread = with(&store, &["Oslo", "Bergen"]).thread("t");
    for _ in 0..2 {
        thread.run(Trip::update()).await.unwrap();
    }
    let all = ids(&thread).await;
    let replay = with(&store, &["Oslo", "Tromsø"]).thread("t").replay(*all.last().unwrap(), all[0]).await.unwrap();
    assert_eq!(replay.steps.len(), 3);
    let Some(Deviation::Fields(fields)) = &replay.deviation else { panic!("{replay}") };
    let seen: Vec<_> = fields.iter().map(|change| (change.field.as_str(), &change.before, &change.after)).collect();
    let logs = [json!(["Oslo", "Bergen"]), json!(["Oslo", "Tromsø"])];
    assert_eq!(seen, [("city", &json!("Bergen"), &json!("Tromsø")), ("log", &logs[0], &logs[1])]);
    assert_eq!(replay.steps[2].checkpoint, all[1]);
    let text = "2 super-steps are equal, super-step 3 is not: city: \"Bergen\" -> \"Tromsø\", \
                log: [\"Oslo\",\"Bergen\"] -> [\"Oslo\",\"Tromsø\"]";
    assert_eq!(replay.to_string(), text);
}

#[tokio::test]
async fn a_stretch_may_begin_and_end_anywhere() {
    let store = MemoryStore::new();
    let thread = with(&store, &["Oslo"]).thread("t");
    for _ in 0..2 {
        thread.run(Trip::update()).await.unwrap();
    }
    let all = ids(&thread).await;
    // input, ask, count | input, ask, count: newest first.
    let steps = async |from: usize, to: usize| {
        let replay = thread.replay(all[from], all[to]).await.unwrap();
        assert_eq!(replay.deviation, None);
        replay.steps.iter().map(|step| step.step).collect::<Vec<_>>()
    };
    assert_eq!(steps(4, 3).await, [2]);
    assert_eq!(steps(4, 1).await, [2, 3]);
    assert_eq!(steps(3, 2).await, [0_u64; 0]);
    assert_eq!(steps(1, 1).await, [0_u64; 0]);
    let error = thread.replay(all[0], all[3]).await.unwrap_err();
    assert!(matches!(error, RunError::UnknownCheckpoint { id, .. } if id == all[0]), "{error}");
}

#[derive(Route)]
enum Way {
    B,
    #[route(end)]
    End,
}

async fn broken() -> Result<(), NodeError> {
    Err(NodeError::fatal("no answer is recorded"))
}

#[tokio::test]
async fn a_step_that_fails_or_ends_early_this_time_is_a_deviation() {
    let store = MemoryStore::new();
    let runs = Runs::new();
    let old = Graph::<Trip>::builder("g")
        .node("a", runs.node("a"))
        .node("b", runs.node("b"))
        .edge(START, "a")
        .edge("a", "b")
        .compile()
        .unwrap();
    let thread = old.runner().store(store.clone()).thread("t");
    thread.run(Trip::update()).await.unwrap();
    let all = ids(&thread).await;
    let failing =
        Graph::<Trip>::builder("g").node("a", runs.node("a")).node("b", broken).edge(START, "a").edge("a", "b");
    let failing = failing.compile().unwrap().runner().store(store.clone()).thread("t");
    let replay = failing.replay(all[2], all[0]).await.unwrap();
    assert_eq!((replay.steps.len(), replay.steps[1].replayed), (2, None));
    assert!(replay.to_string().contains("no answer is recorded"), "{replay}");
    let short = Graph::<Trip>::builder("g")
        .node("a", runs.node("a"))
        .node("b", runs.node("b"))
        .edge(START, "a")
        .route("a", |trip: &Trip| if trip.city.is_empty() { Way::End } else { Way::B });
    let short = short.compile().unwrap().runner().store(store).thread("t");
    let replay = short.replay(all[2], all[0]).await.unwrap();
    assert_eq!((replay.steps.len(), replay.deviation), (2, Some(Deviation::Ended(Status::Done))));
}

#[tokio::test]
async fn tasks_have_the_keys_of_the_first_time_and_a_running_turn_is_not_in_the_way() {
    let keys = Runs::new();
    let noted = keys.clone();
    let graph = Graph::<Trip>::builder("g")
        .node("pay", move |ctx: Ctx| {
            noted.hit(&ctx.idempotency_key());
            std::future::ready(Trip::update())
        })
        .node("slow", Runs::new().slow(20, "slow"))
        .edge(START, "pay")
        .edge("pay", "slow");
    let thread = graph.compile().unwrap().runner().store(MemoryStore::new()).thread("t");
    thread.run(Trip::update()).await.unwrap();
    let all = ids(&thread).await;
    let running = tokio::spawn(thread.run(Trip::update()).into_future());
    tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    assert_eq!(thread.replay(all[2], all[1]).await.unwrap().deviation, None);
    running.await.unwrap().unwrap();
    let keys = keys.take();
    assert_eq!((keys.len(), &keys[0]), (3, &keys[2]));
}

#[tokio::test]
async fn answers_edits_and_finished_tasks_come_from_the_record() {
    let calls = Arc::new(AtomicU64::new(0));
    let counted = calls.clone();
    let graph = Graph::<Trip>::builder("g")
        .node("ask", |ctx: Ctx| async move {
            let city: String = ctx.interrupt("where to?")?;
            Ok::<_, NodeError>(Trip::update().city(city))
        })
        .node("beside", move || {
            counted.fetch_add(1, Ordering::Relaxed);
            std::future::ready(Trip::update().log(["beside".to_owned()]))
        })
        .node("end", Runs::new().node("end"))
        .edge(START, "ask")
        .edge(START, "beside")
        .join(["ask", "beside"], "end");
    let thread = graph.compile().unwrap().runner().store(MemoryStore::new()).thread("t");
    thread.run(Trip::update()).await.unwrap();
    thread.edit(Trip::update().last("edited")).in_place().await.unwrap();
    thread.resume("Oslo").await.unwrap();
    assert_eq!(calls.load(Ordering::Relaxed), 1);
    let all = ids(&thread).await;
    let replay = thread.replay(*all.last().unwrap(), all[0]).await.unwrap();
    assert_eq!((replay.deviation.clone(), replay.steps.len()), (None, 2), "{replay}");
    assert_eq!(calls.load(Ordering::Relaxed), 1);
}

#[tokio::test]
async fn breakpoints_and_durability_of_the_runner_are_not_those_of_the_replay() {
    let store = MemoryStore::new();
    let thread = with(&store, &["Oslo"]).thread("t");
    thread.run(Trip::update()).await.unwrap();
    let all = ids(&thread).await;
    let other = with(&store, &["Oslo"]).break_before("count").durability(Durability::Exit).thread("t");
    let replay = other.replay(all[2], all[0]).await.unwrap();
    assert_eq!((replay.steps.len(), replay.deviation), (2, None));
}

#[tokio::test]
async fn a_turn_that_was_stored_as_a_whole_is_taken_from_the_record() {
    let store = MemoryStore::new();
    let thread = with(&store, &["Oslo"]).durability(Durability::Exit).thread("t");
    for _ in 0..2 {
        thread.run(Trip::update()).await.unwrap();
    }
    let all = ids(&thread).await;
    let replay = thread.replay(all[1], all[0]).await.unwrap();
    assert_eq!((replay.steps.len(), replay.deviation), (0, None));
}
