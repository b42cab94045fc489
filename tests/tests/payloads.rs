//! E11: a payload travels by pointer, is written only at a commit, and must be of the type that is asked for.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use behaviour_tests::{Runs, Trip, TripUpdate};
use graph_engine::{Ctx, FaultKind, Graph, In, MemoryStore, Next, NodeError, Outcome, Route, RunError, START};
use serde::{Deserialize, Serialize, Serializer};

static WRITTEN: AtomicUsize = AtomicUsize::new(0);

/// Counts how often it is serialised and can't be cloned.
#[derive(Deserialize)]
struct Counted(u32);

impl Serialize for Counted {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        WRITTEN.fetch_add(1, Ordering::SeqCst);
        serializer.serialize_newtype_struct("Counted", &self.0)
    }
}

#[derive(Route)]
enum ToCount {
    Count(Counted),
}

#[tokio::test]
async fn a_payload_is_serialised_only_at_a_commit_and_never_copied() {
    async fn count(In(item): In<Counted>) -> TripUpdate {
        Trip::update().total(item.0.into())
    }
    let graph = Graph::<Trip>::builder("g")
        .node("count", count)
        .route(START, |_: &Trip| Next::fan_out([1, 2, 4].map(|n| ToCount::Count(Counted(n)))))
        .compile()
        .unwrap();
    assert_eq!(graph.runner().thread("t").run(Trip::update()).await.unwrap().state.total, 7);
    assert_eq!(WRITTEN.load(Ordering::SeqCst), 0);
    let runner = graph.runner().store(MemoryStore::new());
    assert_eq!(runner.thread("t").run(Trip::update()).await.unwrap().state.total, 7);
    assert_eq!(WRITTEN.load(Ordering::SeqCst), 6, "each once for its floats, once for its bytes, at one commit");
}

#[derive(Route)]
enum Each {
    Each(Vec<String>),
}

#[tokio::test]
async fn payloads_survive_a_failure_in_a_store() {
    let runs = Runs::new();
    let each = {
        let runs = runs.clone();
        move |In(items): In<Vec<String>>| {
            let first = runs.hit(&items[0]) == 0;
            std::future::ready(match first && items[0] == "bad" {
                true => Err(NodeError::from("no")),
                false => Ok(Trip::update().log(items.to_vec())),
            })
        }
    };
    let graph = Graph::<Trip>::builder("g")
        .node("each", each)
        .route(START, |_: &Trip| {
            let lists = [vec!["good"], vec!["bad", "\u{0}\"\\🦀"], vec!["fine"]];
            Next::fan_out(lists.map(|list| Each::Each(list.into_iter().map(str::to_owned).collect())))
        })
        .compile()
        .unwrap();
    let thread = graph.runner().store(MemoryStore::new()).thread("t");
    thread.run(Trip::update()).await.unwrap_err();
    let end = thread.proceed().await.unwrap();
    assert_eq!(end.state.log, ["good", "bad", "\u{0}\"\\🦀", "fine"]);
    assert_eq!(["good", "bad", "fine"].map(|name| runs.count(name)), [1, 2, 1]);
}

#[tokio::test]
async fn a_null_payload_is_a_payload() {
    async fn each(In(item): In<Option<u32>>) -> TripUpdate {
        Trip::update().log([format!("{item:?}")])
    }
    async fn send() -> Outcome<Trip> {
        Outcome::default().fan_out("each", [None::<u32>, Some(1)])
    }
    let graph =
        Graph::<Trip>::builder("g").node("send", send).node("each", each).edge(START, "send").compile().unwrap();
    let thread = graph.runner().store(MemoryStore::new()).step_limit(1).thread("t");
    thread.run(Trip::update()).await.unwrap_err();
    assert_eq!(thread.proceed().await.unwrap().state.log, ["None", "Some(1)"]);
}

/// A dynamic sender, so that only the run finds the mismatch.
fn mismatch<T: Serialize + Send + Sync + 'static>(payload: fn() -> Option<T>) -> Graph<Trip> {
    async fn each(In(item): In<u32>) -> TripUpdate {
        Trip::update().log([item.to_string()])
    }
    let send = move || {
        let outcome = Outcome::<Trip>::default();
        std::future::ready(match payload() {
            Some(payload) => outcome.fan_out("each", [payload]),
            None => outcome.go("each"),
        })
    };
    Graph::<Trip>::builder("g").node("send", send).node("each", each).edge(START, "send").compile().unwrap()
}

#[tokio::test]
async fn a_payload_of_another_type_is_a_fatal_failure_that_names_both() {
    let error = mismatch(|| Some("text")).runner().thread("t").run(Trip::update()).await.unwrap_err();
    assert_eq!(
        error.failures()[0].to_string(),
        "`each` (task 1.0) failed after 1 attempt: the payload has type `&str`, but the node asks for type `u32`; \
         make both the same"
    );
    assert_eq!(error.failures()[0].kind, FaultKind::Fatal);
}

#[tokio::test]
async fn a_missing_payload_is_a_fatal_failure_that_names_it() {
    let error = mismatch::<u32>(|| None).runner().thread("t").run(Trip::update()).await.unwrap_err();
    assert_eq!(
        error.failures()[0].to_string(),
        "`each` (task 1.0) failed after 1 attempt: the node asks for a payload of type `u32`, but this task was reached \
         without one; send it with `fan_out`"
    );
    assert_eq!(error.failures()[0].kind, FaultKind::Fatal);
}

#[tokio::test]
async fn a_stored_payload_that_cannot_be_read_is_a_fatal_failure() {
    let graph = mismatch(|| Some("text"));
    let thread = graph.runner().store(MemoryStore::new()).step_limit(1).thread("t");
    thread.run(Trip::update()).await.unwrap_err();
    let sent = thread.state().await.unwrap().checkpoint.unwrap();
    let error = thread.proceed().await.unwrap_err();
    assert_eq!(
        error.failures()[0].to_string(),
        format!(
            "`each` (task 1.0) failed after 1 attempt: the stored payload of checkpoint {sent} has not the type `u32`: \
             invalid type: string \"text\", expected u32 at line 1 column 6"
        )
    );
}

struct Unwritable;

impl Serialize for Unwritable {
    fn serialize<S: Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
        Err(serde::ser::Error::custom("don't write me down"))
    }
}

#[tokio::test]
async fn a_payload_that_cannot_be_written_fails_the_commit_and_the_last_checkpoint_stands() {
    let graph = mismatch(|| Some(Unwritable));
    let thread = graph.runner().store(MemoryStore::new()).thread("t");
    let error = thread.run(Trip::update().city("Oslo")).await.unwrap_err();
    assert!(matches!(*error.error, RunError::Encode { .. }), "{error}");
    assert!(error.to_string().contains("don't write me down"), "{error}");
    let state = thread.state().await.unwrap();
    assert_eq!((state.step, &state.next[..]), (0, &["send".into()][..]));
}

#[tokio::test]
async fn a_float_that_is_not_finite_is_refused_in_a_payload() {
    async fn each(In(item): In<f64>) -> TripUpdate {
        Trip::update().log([item.to_string()])
    }
    async fn send() -> Outcome<Trip> {
        Outcome::default().fan_out("each", [f64::NAN])
    }
    let graph =
        Graph::<Trip>::builder("g").node("send", send).node("each", each).edge(START, "send").compile().unwrap();
    let thread = graph.runner().store(MemoryStore::new()).step_limit(1).thread("t");
    let error = thread.run(Trip::update()).await.unwrap_err();
    assert!(!matches!(*error.error, RunError::StepLimit { .. }), "it was stored as null: {error}");
}

#[tokio::test]
async fn a_reply_that_is_not_finite_is_refused() {
    #[derive(Route)]
    #[route(direct)]
    enum Reply {}
    let graph = Graph::<Trip>::builder("g")
        .node("n", || std::future::ready(Next::<Reply>::direct(f64::INFINITY)))
        .edge(START, "n")
        .compile()
        .unwrap();
    let ended = graph.runner().thread("t").run(Trip::update()).await;
    assert!(ended.is_err(), "the caller got {:?} for infinity", ended.unwrap().reply());
}

#[tokio::test]
async fn tasks_get_the_very_value_that_was_sent() {
    static SENT: AtomicUsize = AtomicUsize::new(0);
    #[derive(Serialize, Deserialize)]
    struct Big(Vec<u8>);
    async fn look(In(big): In<Big>, _: Ctx) -> TripUpdate {
        let same = SENT.load(Ordering::SeqCst) == big.0.as_ptr() as usize;
        Trip::update().log([format!("same: {same}, owners: {}", Arc::strong_count(&big))])
    }
    async fn send() -> Outcome<Trip> {
        let big = Big(vec![1; 1_000]);
        SENT.store(big.0.as_ptr() as usize, Ordering::SeqCst);
        Outcome::default().fan_out("look", [big])
    }
    let graph =
        Graph::<Trip>::builder("g").node("send", send).node("look", look).edge(START, "send").compile().unwrap();
    let end = graph.runner().thread("t").run(Trip::update()).await.unwrap();
    assert!(end.state.log[0].starts_with("same: true"), "{:?}", end.state.log);
}
