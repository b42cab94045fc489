//! A panic of a node, an extractor or a destructor is a fatal failure of its task; siblings and process live on.

use behaviour_tests::{Runs, Trip, TripUpdate};
use graph_engine::{FaultKind, FromTask, Graph, MemoryStore, NodeError, NodeInfo, Parallel, START, Task};

/// `n` beside a sibling; gives the failure's text and how often the sibling ran after a `proceed`.
async fn fails<M>(node: impl graph_engine::IntoNode<Trip, M> + Clone) -> (String, FaultKind, usize) {
    let mut last = None;
    for parallel in [Parallel::Joined, Parallel::Spawned] {
        let runs = Runs::new();
        let graph = Graph::<Trip>::builder("g")
            .node("n", node.clone())
            .node("sibling", runs.node("sibling"))
            .edge(START, "n")
            .edge(START, "sibling")
            .compile()
            .unwrap();
        let thread = graph.runner().parallel(parallel).store(MemoryStore::new()).thread("t");
        thread.run(Trip::update()).await.unwrap_err();
        let error = thread.proceed().await.unwrap_err();
        let failure = &error.failures()[0];
        let this = (failure.source.to_string(), failure.kind, runs.count("sibling"));
        assert!(last.is_none() || last.as_ref() == Some(&this));
        last = Some(this);
    }
    last.unwrap()
}

fn panicked(text: &str) -> (String, FaultKind, usize) {
    (format!("it panicked: {text}"), FaultKind::Panicked, 1)
}

#[tokio::test]
async fn a_panic_before_the_first_await_fails_the_task() {
    async fn node() -> TripUpdate {
        panic!("at once")
    }
    assert_eq!(fails(node).await, panicked("at once"));
}

#[tokio::test]
async fn a_panic_after_an_await_fails_the_task() {
    async fn node() -> TripUpdate {
        tokio::task::yield_now().await;
        let who = "me";
        panic!("formatted by {who}")
    }
    assert_eq!(fails(node).await, panicked("formatted by me"));
}

#[tokio::test]
async fn a_panic_while_the_future_is_made_fails_the_task() {
    fn node() -> std::future::Ready<TripUpdate> {
        panic!("no future")
    }
    assert_eq!(fails(node).await, panicked("no future"));
}

#[derive(Clone)]
struct Broken;

impl FromTask<Trip> for Broken {
    fn describe(_: &mut NodeInfo) {}

    fn from_task(_: &Task<Trip>) -> Result<Self, NodeError> {
        panic!("nothing to take")
    }
}

#[tokio::test]
async fn a_panic_of_an_extractor_fails_the_task() {
    async fn node(_: Broken) -> TripUpdate {
        Trip::update()
    }
    assert_eq!(fails(node).await, panicked("nothing to take"));
}

#[tokio::test]
async fn a_panic_with_a_value_that_is_no_text_fails_the_task() {
    async fn node() -> TripUpdate {
        std::panic::panic_any(7_u32)
    }
    let (text, kind, siblings) = fails(node).await;
    assert!(text.starts_with("it panicked: "), "{text}");
    assert_eq!((kind, siblings), (FaultKind::Panicked, 1));
}

#[tokio::test]
async fn a_failing_extractor_fails_the_task() {
    #[derive(Clone)]
    struct Never;
    impl FromTask<Trip> for Never {
        fn describe(_: &mut NodeInfo) {}

        fn from_task(_: &Task<Trip>) -> Result<Self, NodeError> {
            Err(NodeError::fatal("not today"))
        }
    }
    async fn node(_: Never) -> TripUpdate {
        Trip::update()
    }
    assert_eq!(fails(node).await, ("not today".to_owned(), FaultKind::Fatal, 1));
}

#[tokio::test]
async fn the_thread_is_not_left_busy_by_a_panic() {
    async fn node() -> TripUpdate {
        panic!("again")
    }
    let graph = Graph::<Trip>::builder("g").node("n", node).edge(START, "n").compile().unwrap();
    let thread = graph.runner().store(MemoryStore::new()).thread("t");
    thread.run(Trip::update()).await.unwrap_err();
    thread.abandon().await.unwrap();
    let error = thread.run(Trip::update()).await.unwrap_err();
    assert_eq!(error.failures()[0].kind, FaultKind::Panicked);
}
