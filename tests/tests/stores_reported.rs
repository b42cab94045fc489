//! What was reported of other stores, on those of this project.

use std::sync::Arc;

use graph_engine::testing::conformance::{Store, delete, isolation, list, saved};
use graph_engine::{Filter, Graph, MemoryStore, NodeError, Place, RunError, START, State, StoreError};
use graph_engine_sqlite::{SqliteOptions, SqliteStore, Synchronous};
use tempfile::TempDir;
use tokio::sync::Notify;

#[derive(State, Clone, Default)]
struct Trip {
    #[state(append)]
    cities: Vec<String>,
}

fn file() -> (TempDir, SqliteOptions) {
    (tempfile::tempdir().unwrap(), SqliteOptions::new().synchronous(Synchronous::Off))
}

/// An empty store of each kind.
fn stores() -> [(Store, Option<TempDir>); 2] {
    let (folder, options) = file();
    let sqlite = options.open(folder.path().join("threads.sqlite")).unwrap();
    [(Arc::new(MemoryStore::new()), None), (Arc::new(sqlite), Some(folder))]
}

#[tokio::test]
async fn l89_results_are_saved_once_and_gone_with_the_next_checkpoint_filters_and_namespaces_hold() {
    for (store, _folder) in stores() {
        saved::the_first_result_of_a_task_and_key_stands(&store).await;
        store.delete("t").await.unwrap();
        saved::saved_results_belong_to_the_head(&store).await;
        store.delete("t").await.unwrap();
        list::filters_combine(&store).await;
        store.delete("t").await.unwrap();
        isolation::namespaces_are_apart(&store).await;
    }
}

#[tokio::test]
async fn d10_a_filter_by_tags_is_exact_and_never_ignored() {
    for (store, _folder) in stores() {
        list::tags_are_compared_exactly_and_never_ignored(&store).await;
    }
}

#[tokio::test]
async fn report_14_deleting_a_thread_frees_all_of_it() {
    for (store, _folder) in stores() {
        delete::deletion_leaves_nothing(&store).await;
    }
    let store = MemoryStore::new();
    let graph = Graph::<Trip>::builder("g").node("a", async || Trip::update().cities(["Oslo"])).edge(START, "a");
    let runner = graph.compile().unwrap().runner().store(store.clone());
    runner.thread("t").run(Trip::update()).await.unwrap();
    assert!(store.bytes("t") > 0);
    assert!(runner.thread("t").delete().await.unwrap());
    assert_eq!(store.bytes("t"), 0);
}

/// Opens one place as a process would.
type Open = Box<dyn Fn() -> Store>;

#[tokio::test]
async fn d9_of_two_runners_that_start_from_one_checkpoint_one_goes_on_and_the_other_is_told() {
    let (folder, options) = file();
    let (memory, path) = (MemoryStore::new(), folder.path().join("threads.sqlite"));
    let opens: [Open; 2] =
        [Box::new(move || Arc::new(memory.clone())), Box::new(move || Arc::new(options.clone().open(&path).unwrap()))];
    for open in opens {
        // The first one stands in the middle of its step until the second one is done.
        let (entered, go) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
        let runner = |name: &'static str, waits: bool| {
            let (entered, go) = (entered.clone(), go.clone());
            let node = move || {
                let (entered, go) = (entered.clone(), go.clone());
                async move {
                    if waits {
                        entered.notify_one();
                        go.notified().await;
                    }
                    Trip::update().cities([name])
                }
            };
            let graph = Graph::<Trip>::builder("g").node("a", node).edge(START, "a").compile().unwrap();
            graph.runner().store_arc(open())
        };
        let (one, two) = (runner("one", true), runner("two", false));
        let first = tokio::spawn(one.thread("t").run(Trip::update().cities(["Oslo"])).into_future());
        entered.notified().await;
        let won = two.thread("t").proceed().await.unwrap();
        go.notify_one();
        let lost = first.await.unwrap().unwrap_err();
        let RunError::Store { cause: StoreError::Conflict { thread, .. }, .. } = &*lost.error else { panic!("{lost}") };
        assert_eq!((thread.as_str(), &won.state.cities[..]), ("t", &["Oslo".to_owned(), "two".to_owned()][..]));
        for runner in [one, two] {
            let thread = runner.thread("t");
            assert_eq!(thread.state().await.unwrap().state.cities, ["Oslo", "two"]);
            let history = thread.history(&Filter::default()).await.unwrap();
            let steps: Vec<u64> = history.iter().map(|info| info.step).collect();
            assert_eq!(steps, [1, 0, 0], "the input, that it goes on, one step: nothing of the other one");
        }
    }
}

#[tokio::test]
async fn a_failed_turn_proceeds_in_another_process() {
    let (folder, options) = file();
    let path = folder.path().join("threads.sqlite");
    let runner = |fails: bool| {
        let flaky = move || async move {
            if fails { Err(NodeError::fatal("no room")) } else { Ok(Trip::update().cities(["Bergen"])) }
        };
        let graph = Graph::<Trip>::builder("g").node("plan", async || Trip::update().cities(["Oslo"]));
        let graph = graph.node("quote", flaky).node("book", async || Trip::update().cities(["Narvik"]));
        let graph = graph.edge(START, "plan").edge("plan", "quote").edge("plan", "book").compile().unwrap();
        graph.runner().store(options.clone().open(&path).unwrap())
    };
    let failed = runner(true);
    failed.thread("t").run(Trip::update()).await.unwrap_err();
    drop(failed);
    let end = runner(false).thread("t").proceed().await.unwrap();
    assert_eq!(end.state.cities, ["Oslo", "Narvik", "Bergen"], "`book` was not run again");
    let store = SqliteStore::open(&path).unwrap();
    let stored = graph_engine::CheckpointStore::load(&store, &Place::thread("t"), None).await.unwrap().unwrap();
    assert!(stored.saved.is_empty());
}
