//! Sessions as a seed of this project had them: revisions, deletion, configuration.

use std::sync::Arc;
use std::time::Duration;

use behaviour_tests::{Trip, TripUpdate, after, note};
use graph_engine::testing::conformance::Store;
use graph_engine::{
    CheckpointId, Commit, Ctx, Filter, Graph, MemoryStore, NodeError, Place, Res, RunError, START, StoreError,
    ThreadFilter,
};
use graph_engine_sqlite::{SqliteOptions, Synchronous};
use tempfile::TempDir;

/// An empty store of each kind.
fn stores() -> [(Store, Option<TempDir>); 2] {
    let folder = tempfile::tempdir().unwrap();
    let sqlite = SqliteOptions::new().synchronous(Synchronous::Off).open(folder.path().join("threads.sqlite")).unwrap();
    [(Arc::new(MemoryStore::new()), None), (Arc::new(sqlite), Some(folder))]
}

fn save(parent: Option<CheckpointId>, turn: &str, step: u64) -> Commit {
    let mut commit = Commit::default();
    commit.id = CheckpointId::derive("t", "", parent, turn, step);
    (commit.parent, commit.turn, commit.step) = (parent, turn.into(), step);
    commit.bytes = format!("{{\"by\":\"{turn}\"}}").into_bytes();
    commit
}

fn input(text: &str) -> TripUpdate {
    Trip::update().log([text.to_owned()])
}

#[tokio::test]
async fn p1_of_two_saves_from_one_revision_one_is_done_and_the_other_is_a_conflict() {
    for (store, _folder) in stores() {
        let place = Place::thread("t");
        let base = save(None, "base", 0);
        store.commit(&place, &base).await.unwrap();
        let (one, two) = (save(Some(base.id), "one", 1), save(Some(base.id), "two", 1));
        store.commit(&place, &one).await.unwrap();
        let lost = store.commit(&place, &two).await.unwrap_err();
        assert!(matches!(&lost, StoreError::Conflict { thread, .. } if thread == "t"), "{lost}");
        let head = store.load(&place, None).await.unwrap().unwrap();
        assert_eq!((head.info.id, head.position), (one.id, br#"{"by":"one"}"#.to_vec()));
        assert_eq!(store.list(&place, &Filter::default()).await.unwrap().len(), 2, "nothing of the other is left");
        store.commit(&place, &one).await.expect("the same save again is harmless");
    }
}

#[tokio::test(start_paused = true)]
async fn p2_a_deletion_beside_a_turn_is_refused_here_and_elsewhere_it_wins_and_the_turn_is_told() {
    let store = MemoryStore::new();
    let graph = || {
        let graph = Graph::<Trip>::builder("g").node("a", after(1_000, "a")).node("b", note("b"));
        graph.edge(START, "a").edge("a", "b").compile().unwrap().runner().store(store.clone())
    };
    let (here, elsewhere) = (graph(), graph());
    let turn = tokio::spawn(here.thread("t").run(input("in")).into_future());
    tokio::time::sleep(Duration::from_millis(500)).await;
    let refused = here.thread("t").delete().await.unwrap_err();
    assert!(matches!(refused, RunError::Busy { .. }), "{refused}");
    assert!(elsewhere.thread("t").delete().await.unwrap());
    let told = turn.await.unwrap().unwrap_err();
    let RunError::Store { cause: StoreError::Conflict { thread, .. }, .. } = &*told.error else { panic!("{told}") };
    assert_eq!(thread, "t");
    assert_eq!((store.bytes("t"), here.threads(&ThreadFilter::default()).await.unwrap().len()), (0, 0));
    assert!(!elsewhere.thread("t").delete().await.unwrap(), "there is nothing left to delete");
    assert_eq!(here.thread("t").run(input("new")).await.unwrap().state.log, ["new", "a", "b"], "the id is free again");
}

/// What a session is configured with.
struct Tone(&'static str);

#[tokio::test]
async fn p6_what_a_turn_is_given_counts_for_that_turn_and_what_was_written_stays_however_the_graph_begins_later() {
    let tone =
        |tone: Res<Tone>| std::future::ready(Ok::<TripUpdate, NodeError>(Trip::update().log([tone.0.to_owned()])));
    let store = MemoryStore::new();
    let thread = |city: &str, total: i64| {
        let begin = Trip { city: city.to_owned(), total, ..Trip::default() };
        let graph = Graph::starting_from("g", begin).node("tone", tone).edge(START, "tone").compile().unwrap();
        graph.runner().store(store.clone()).provide(Tone("plain")).thread("t")
    };
    let one_more = || Trip::update().total(1);
    let first = thread("Oslo", 5).run(one_more()).with(Tone("formal")).await.unwrap();
    assert_eq!((first.state.city.as_str(), first.state.total), ("Oslo", 6));
    let second = thread("Bergen", 100).run(one_more()).with(Tone("casual")).await.unwrap();
    assert_eq!(second.state.total, 7, "what was written counts, not how the graph begins today");
    assert_eq!(second.state.city, "Bergen", "nobody has written it yet");
    let third = thread("Oslo", 5).run(Trip::update()).await.unwrap();
    assert_eq!(third.state.log, ["formal", "casual", "plain"], "each turn has what it was given");
}

#[tokio::test]
async fn p2_a_thread_that_was_deleted_elsewhere_while_it_waited_is_new_here() {
    let ask = |ctx: Ctx| async move { Ok::<_, NodeError>(Trip::update().log([ctx.interrupt::<String>("well?")?])) };
    let store = MemoryStore::new();
    let runner = || {
        let graph = Graph::<Trip>::builder("g").node("ask", ask).edge(START, "ask").compile().unwrap();
        graph.runner().store(store.clone())
    };
    let (here, elsewhere) = (runner().thread("t"), runner().thread("t"));
    here.run(input("old")).await.unwrap();
    assert!(elsewhere.delete().await.unwrap());
    let stale = here.resume("yes").await.unwrap_err();
    assert!(matches!(&*stale.error, RunError::NothingToAnswer { .. }), "{stale}");
    assert_eq!(store.bytes("t"), 0);
    here.run(input("new")).await.unwrap();
    assert_eq!(here.resume("yes").await.unwrap().state.log, ["new", "yes"]);
}
