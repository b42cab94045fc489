//! E20: run, proceed or abandon from any checkpoint makes a new branch; the old one stays, the head is the new one.

use std::future::ready;

use behaviour_tests::{Runs, TestStore, Trip, TripUpdate};
use graph_engine::{
    CheckpointId, CheckpointInfo, CheckpointKind, Ctx, Filter, Graph, MemoryStore, Name, RunError, Runner, START,
    Status, Thread,
};

fn chain(runs: &Runs) -> Graph<Trip> {
    Graph::<Trip>::builder("chain")
        .node("a", runs.node("a"))
        .node("b", runs.node("b"))
        .node("c", runs.node("c"))
        .edge(START, "a")
        .edge("a", "b")
        .edge("b", "c")
        .compile()
        .unwrap()
}

fn thread(runs: &Runs) -> Thread<Trip> {
    chain(runs).runner().store(MemoryStore::new()).thread("t")
}

async fn history(thread: &Thread<Trip>) -> Vec<CheckpointInfo> {
    thread.history(&Filter::default()).await.unwrap()
}

async fn log(thread: &Thread<Trip>, at: CheckpointId) -> Vec<String> {
    thread.at(at).state().await.unwrap().state.log.clone()
}

#[tokio::test]
async fn a_chain_of_three_nodes_makes_a_checkpoint_for_the_input_and_one_for_each_step_newest_first() {
    let thread = thread(&Runs::new());
    thread.run(Trip::update().log(["in"])).await.unwrap();
    let history = history(&thread).await;
    let kinds: Vec<_> = history.iter().map(|info| (info.kind.as_str(), info.step)).collect();
    assert_eq!(kinds, [("step", 3), ("step", 2), ("step", 1), ("input", 0)]);
    let next = async |at: usize| thread.at(history[at].id).state().await;
    let seen = |state: graph_engine::ThreadState<Trip>| (state.state.log.clone(), state.next);
    assert_eq!(seen(next(3).await.unwrap()), (vec!["in".into()], vec!["a".into()]));
    assert_eq!(seen(next(1).await.unwrap()), (["in", "a", "b"].map(String::from).to_vec(), vec!["c".into()]));
    assert_eq!(seen(next(0).await.unwrap()), (["in", "a", "b", "c"].map(String::from).to_vec(), vec![]));
    for pair in history.windows(2) {
        assert_eq!(pair[0].parent, Some(pair[1].id));
    }
}

#[tokio::test]
async fn a_replay_from_the_middle_runs_the_later_nodes_only_and_keeps_the_old_branch() {
    let runs = Runs::new();
    let thread = thread(&runs);
    thread.run(Trip::update()).await.unwrap();
    let old = history(&thread).await;
    drop(runs.take());
    // After `a`.
    let end = thread.at(old[2].id).proceed().await.unwrap();
    assert_eq!((end.status, &end.state.log[..]), (Status::Done, &["a", "b", "c"].map(String::from)[..]));
    assert_eq!(runs.take(), ["b", "c"]);
    let new = history(&thread).await;
    assert_eq!(new.len(), 7);
    assert_eq!(new[3..], old[..]);
    assert_eq!((new[2].kind, new[2].parent, new[2].step), (CheckpointKind::Fork, Some(old[2].id), 1));
    assert_eq!((new[1].kind, new[0].kind), (CheckpointKind::Step, CheckpointKind::Step));
}

#[tokio::test]
async fn after_a_replay_the_head_is_the_new_branch() {
    let runs = Runs::new();
    let thread = thread(&runs);
    thread.run(Trip::update()).await.unwrap();
    let old = history(&thread).await;
    thread.at(old[1].id).proceed().await.unwrap();
    let state = thread.state().await.unwrap();
    assert_ne!(state.checkpoint, Some(old[0].id));
    assert_eq!(state.checkpoint, Some(history(&thread).await[0].id));
    // Another turn follows it.
    thread.run(Trip::update().log(["in"])).await.unwrap();
    let next = history(&thread).await;
    assert_eq!(next[3].parent, state.checkpoint);
}

#[tokio::test]
async fn from_the_final_checkpoint_there_is_nothing_to_proceed_with_and_nothing_changes() {
    let thread = thread(&Runs::new());
    thread.run(Trip::update()).await.unwrap();
    let old = history(&thread).await;
    let failed = thread.at(old[0].id).proceed().await.unwrap_err();
    assert!(matches!(*failed.error, RunError::NothingToProceed { .. }), "{failed}");
    assert_eq!(history(&thread).await, old);
}

#[tokio::test]
async fn new_input_from_an_earlier_turn_begins_a_branch_that_knows_nothing_of_the_later_ones() {
    let thread = thread(&Runs::new());
    thread.run(Trip::update().city("Oslo")).await.unwrap();
    let first = history(&thread).await[0].id;
    thread.run(Trip::update().city("Bergen").log(["second"])).await.unwrap();
    let second = history(&thread).await[0].id;
    let end = thread.at(first).run(Trip::update().last("x")).await.unwrap();
    assert_eq!((end.state.city.as_str(), end.state.log.join(" ")), ("Oslo", "a b c a b c".to_owned()));
    assert_eq!(log(&thread, second).await.join(" "), "a b c second a b c");
    let head = history(&thread).await;
    assert_eq!((head[3].kind, head[3].parent, head[3].step), (CheckpointKind::Fork, Some(first), 3));
}

#[tokio::test]
async fn input_at_a_checkpoint_with_unfinished_tasks_is_refused_until_they_are_abandoned_there() {
    let thread = thread(&Runs::new());
    thread.run(Trip::update()).await.unwrap();
    let old = history(&thread).await;
    let middle = thread.at(old[2].id);
    let failed = middle.run(Trip::update()).await.unwrap_err();
    assert!(matches!(&*failed.error, RunError::Unfinished { pending, .. } if pending[..] == ["b"]), "{failed}");
    assert_eq!(history(&thread).await, old);
    middle.abandon().await.unwrap();
    let branch = history(&thread).await;
    assert_eq!((branch[0].kind, branch[0].parent), (CheckpointKind::Fork, Some(old[2].id)));
    let end = thread.run(Trip::update()).await.unwrap();
    assert_eq!(end.state.log.join(" "), "a a b c");
}

#[tokio::test]
async fn abandoning_where_nothing_is_left_changes_nothing() {
    let thread = thread(&Runs::new());
    thread.run(Trip::update()).await.unwrap();
    let old = history(&thread).await;
    thread.at(old[0].id).abandon().await.unwrap();
    assert_eq!(history(&thread).await, old);
}

#[tokio::test]
async fn an_unknown_checkpoint_and_one_of_another_thread_are_errors_before_anything_runs() {
    let runs = Runs::new();
    let thread = thread(&runs);
    thread.run(Trip::update()).await.unwrap();
    let runner = chain(&runs).runner().store(MemoryStore::new());
    let other = runner.thread("other");
    other.run(Trip::update()).await.unwrap();
    drop(runs.take());
    let foreign = history(&thread).await[1].id;
    for error in [
        *other.at(foreign).proceed().await.unwrap_err().error,
        *other.at(foreign).run(Trip::update()).await.unwrap_err().error,
        other.at(foreign).abandon().await.unwrap_err(),
        other.at(foreign).state().await.unwrap_err(),
        other.at(foreign).edit(Trip::update()).await.unwrap_err(),
        other.at(foreign).fork("third").await.unwrap_err(),
        other.diff(foreign, foreign).await.unwrap_err(),
        other.replay(foreign, foreign).await.unwrap_err(),
    ] {
        assert!(matches!(&error, RunError::UnknownCheckpoint { id, .. } if *id == foreign), "{error}");
    }
    assert!(runs.take().is_empty());
}

/// `a` and `b` side by side; `b` fails the first time.
fn halves(runs: &Runs) -> Graph<Trip> {
    Graph::<Trip>::builder("halves")
        .node("a", runs.node("a"))
        .node("b", runs.failing(1, "b"))
        .edge(START, "a")
        .edge(START, "b")
        .compile()
        .unwrap()
}

#[tokio::test]
async fn a_branch_does_not_apply_what_the_old_one_has_saved_since() {
    let runs = Runs::new();
    let store = TestStore::lasting();
    let thread = halves(&runs).runner().store(store.clone()).thread("t");
    thread.run(Trip::update()).await.unwrap_err();
    let input = history(&thread).await[1].clone();
    assert_eq!(input.kind, CheckpointKind::Input);
    // From before the step both run again.
    thread.at(input.id).proceed().await.unwrap();
    assert_eq!(runs.take(), ["a", "b", "a", "b"]);
}

#[tokio::test]
async fn a_branch_keeps_what_its_checkpoint_itself_holds_of_finished_tasks() {
    let runs = Runs::new();
    let thread = halves(&runs).runner().store(MemoryStore::new()).thread("t");
    thread.run(Trip::update()).await.unwrap_err();
    let pending = history(&thread).await[0].clone();
    assert_eq!(pending.kind, CheckpointKind::Pending);
    thread.proceed().await.unwrap();
    let end = thread.at(pending.id).proceed().await.unwrap();
    assert_eq!((runs.take().join(" "), end.state.log.join(" ")), ("a b b b".to_owned(), "a b".to_owned()));
}

#[tokio::test]
async fn the_tasks_of_a_branch_have_keys_of_their_own_and_retries_of_one_branch_share_theirs() {
    let keys = Runs::new();
    let noted = keys.clone();
    let say = move |ctx: Ctx| {
        noted.hit(&ctx.idempotency_key());
        ready(Trip::update())
    };
    let graph = Graph::<Trip>::builder("g").node("a", say).edge(START, "a").compile().unwrap();
    let thread = graph.runner().store(MemoryStore::new()).thread("t");
    thread.run(Trip::update()).await.unwrap();
    let input = history(&thread).await[1].id;
    thread.at(input).proceed().await.unwrap();
    thread.at(input).proceed().await.unwrap();
    let keys = keys.take();
    assert_eq!(keys.len(), 3);
    assert!(keys[0] != keys[1] && keys[1] != keys[2] && keys[0] != keys[2], "{keys:?}");
}

#[tokio::test]
async fn an_edited_checkpoint_lets_the_later_nodes_run_on_the_changed_state() {
    let thread = thread(&Runs::new());
    thread.run(Trip::update()).await.unwrap();
    let old = history(&thread).await;
    let state = thread.at(old[2].id).edit(Trip::update().log(["F"])).await.unwrap();
    assert_eq!(state.next, [Name::from("b")]);
    let end = thread.proceed().await.unwrap();
    assert_eq!(end.state.log.join(" "), "a F b c");
    assert_eq!(log(&thread, old[0].id).await.join(" "), "a b c");
}

#[tokio::test]
async fn the_filters_of_a_history_are_exact() {
    let runner = chain(&Runs::new()).runner().store(MemoryStore::new());
    let thread = runner.thread("t");
    thread.run(Trip::update()).tag("tenant", "acme").tag("kind", "first").await.unwrap();
    thread.run(Trip::update()).tag("tenant", "acme corp").await.unwrap();
    let count = async |filter: Filter| thread.history(&filter).await.unwrap().len();
    assert_eq!(count(Filter::default().tag("tenant", "acme")).await, 4);
    assert_eq!(count(Filter::default().tag("tenant", "acme corp")).await, 4);
    assert_eq!(count(Filter::default().tag("tenant", "ac")).await, 0);
    assert_eq!(count(Filter::default().tag("tenant", "acme").tag("kind", "first")).await, 4);
    assert_eq!(count(Filter::default().tag("tenant", "acme corp").tag("kind", "first")).await, 0);
    assert_eq!(count(Filter::default().tag("unknown", "")).await, 0);
    assert_eq!(count(Filter::default().steps(2..=4)).await, 4);
    let all = thread.history(&Filter::default()).await.unwrap();
    assert_eq!(thread.history(&Filter::default().before(all[2].id).limit(2)).await.unwrap(), all[3..5]);
}

#[tokio::test]
async fn without_a_store_there_is_no_time_to_travel_in() {
    let runner: Runner<Trip> = chain(&Runs::new()).runner();
    let thread = runner.thread("t");
    let at = thread.at(CheckpointId::default());
    for (error, wanted) in [
        (*at.run(Trip::update()).await.unwrap_err().error, "at"),
        (at.edit(Trip::update()).await.unwrap_err(), "edit"),
        (at.fork("u").await.unwrap_err(), "fork"),
        (thread.fork("u").await.unwrap_err(), "fork"),
    ] {
        assert!(matches!(&error, RunError::NoStore { operation, .. } if *operation == wanted), "{error}");
    }
}

#[tokio::test]
async fn a_busy_thread_takes_neither_branch_nor_edit() {
    let slow = Graph::<Trip>::builder("slow").node("a", Runs::new().slow(50, "a")).edge(START, "a").compile().unwrap();
    let thread = slow.runner().store(MemoryStore::new()).thread("t");
    thread.run(Trip::update()).await.unwrap();
    let head = history(&thread).await[0].id;
    let turn = tokio::spawn(thread.run(Trip::update()).into_future());
    tokio::task::yield_now().await;
    let edited: Result<_, RunError> = thread.edit(TripUpdate::default()).as_node("a").await;
    for error in [edited.unwrap_err(), *thread.at(head).run(Trip::update()).await.unwrap_err().error] {
        assert!(matches!(error, RunError::Busy { .. }), "{error}");
    }
    turn.await.unwrap().unwrap();
}
