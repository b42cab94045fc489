//! The text of every error of a turn, and what it says to do next with and without a store.

use std::error::Error;

use behaviour_tests::{Runs, TestStore, Trip, note};
use graph_engine::{
    CheckpointId, FaultKind, Graph, MemoryStore, NodeError, Persist, RunError, START, State, StoreError, TaskId,
    TaskRef, WaitingJoin,
};

fn task(node: &str, rank: u32) -> TaskRef {
    TaskRef { node: node.into(), id: TaskId { step: 3, rank } }
}

/// Each error with its text and its advice.
fn every_error() -> Vec<(RunError, &'static str, Option<&'static str>)> {
    let thread = || "guest-7".into();
    vec![
        (
            RunError::WriteConflict {
                thread: thread(),
                step: 3,
                field: "city".into(),
                tasks: vec![task("a", 0), task("b", 1)],
            },
            "thread `guest-7`, super-step 3: field `city` was written by `a` (task 3.0) and `b` (task 3.1); nothing \
             of the step was applied; let one node write it, or give the field a merge rule such as \
             `#[state(append)]`",
            Some("`proceed` runs exactly these tasks again"),
        ),
        (
            RunError::Router { thread: thread(), step: 3, node: "a".into(), cause: "no idea".into() },
            "thread `guest-7`, super-step 3: the router of `a` failed: no idea",
            Some("the step's updates are kept, `proceed` only routes again"),
        ),
        (
            RunError::Merge { thread: thread(), step: 3, cause: "13".into() },
            "thread `guest-7`, super-step 3: merging failed: 13; nothing of the step was applied",
            Some("`proceed` runs the step again from the last checkpoint"),
        ),
        (
            RunError::Input { thread: thread(), cause: "13".into() },
            "thread `guest-7`: the input was refused: 13; nothing of it was kept, correct it and send it again",
            None,
        ),
        (
            RunError::Entry { thread: thread(), cause: "no idea".into() },
            "thread `guest-7`: the router of START failed: no idea; nothing of the input was kept, send it again once \
             the router can decide",
            None,
        ),
        (
            RunError::StepLimit { thread: thread(), limit: 100, step: 103, pending: vec!["a".into(), "b".into()] },
            "thread `guest-7`, super-step 103: the turn has not ended after 100 super-steps; next would be `a`, `b`; \
             raise the limit with `Runner::step_limit`",
            Some("`proceed` goes on with a new count"),
        ),
        (
            RunError::StayLimit { thread: thread(), step: 3, node: "a".into(), cluster: Some("c".into()), limit: 10 },
            "thread `guest-7`, super-step 3: `a` stayed more than 10 times since cluster `c` was entered; raise the limit \
             with `Runner::stay_limit`",
            Some("`proceed` goes on with a new count"),
        ),
        (
            RunError::StayLimit { thread: thread(), step: 3, node: "a".into(), cluster: None, limit: 10 },
            "thread `guest-7`, super-step 3: `a` stayed more than 10 times since it was entered; raise the limit with \
             `Runner::stay_limit`",
            Some("`proceed` goes on with a new count"),
        ),
        (
            RunError::Unfinished { thread: thread(), pending: vec!["a".into(), "b".into()], open: Vec::new() },
            "thread `guest-7` has unfinished tasks: `a`, `b`; `proceed` runs them, `abandon` drops them, then send the \
             input again",
            None,
        ),
        (RunError::Completed { thread: thread() }, "thread `guest-7` is completed; begin a new thread", None),
        (RunError::Busy { thread: thread() }, "thread `guest-7` is busy with another turn; await that one first", None),
        (
            RunError::NothingToProceed { thread: thread() },
            "thread `guest-7` has nothing to proceed with; send it input with `run`",
            None,
        ),
        (
            RunError::NoStore { thread: thread(), operation: "proceed" },
            "thread `guest-7`: `proceed` needs a checkpoint store; give the runner one with `Runner::store`",
            None,
        ),
        (
            RunError::MissingResource { thread: thread(), node: "a".into(), resource: "shop::Catalogue" },
            "thread `guest-7`: node `a` asks for a resource of type `shop::Catalogue`, which nobody provides; call \
             `Runner::provide` or `Turn::with`",
            None,
        ),
        (
            RunError::Encode { thread: thread(), step: 3, cause: not_finite() },
            "thread `guest-7`, super-step 3: field `price` holds a float that is not finite (inf), which JSON can't \
             store; use an `Option`, or mark the field `#[state(transient)]`; the last checkpoint is intact",
            None,
        ),
        (
            RunError::Restore { thread: thread(), checkpoint: CheckpointId::default(), why: "it has format 9".into() },
            "thread `guest-7`: checkpoint 00000000000000000000000000000000 can't be read into this graph: it has format 9; \
             use the graph and state that made it, read an older one with `state_at`, or `delete` the thread",
            None,
        ),
        (
            RunError::Store { thread: thread(), cause: StoreError::unavailable("no route") },
            "thread `guest-7`: the checkpoint store is unavailable: no route; repeating the call is harmless",
            None,
        ),
        (
            RunError::Internal { thread: thread(), what: "it forgot".into() },
            "thread `guest-7`: the engine broke its own rules: it forgot; please report this",
            None,
        ),
    ]
}

fn not_finite() -> graph_engine::CodecError {
    #[derive(State, Clone, Default)]
    struct Priced {
        price: f64,
    }
    let state = Priced { price: f64::INFINITY };
    state.encode(Priced::PRICE.index(), None, &mut Vec::new()).unwrap_err()
}

#[test]
fn the_text_of_every_error_and_its_advice() {
    for (error, text, advice) in every_error() {
        assert_eq!(error.to_string(), text);
        assert_eq!(error.next(true), advice);
        let lost = "the state of this turn is lost, because the runner has no store";
        assert_eq!(error.next(false), advice.map(|_| lost));
    }
}

#[test]
fn every_text_begins_with_the_thread_and_has_no_full_stop() {
    for (error, text, _) in every_error() {
        assert!(text.starts_with("thread `guest-7`"), "{text}");
        assert!(!text.ends_with('.'), "{text}");
        assert!(error.source().is_none(), "{text}: what another one said is part of the text, and is said once");
    }
}

/// Fails once with two tasks.
fn failing() -> Graph<Trip> {
    Graph::<Trip>::builder("g")
        .node("a", Runs::new().failing(1, "a"))
        .node("b", note("b"))
        .edge(START, "a")
        .edge(START, "b")
        .compile()
        .unwrap()
}

#[tokio::test]
async fn the_advice_of_a_turn_depends_on_its_store() {
    let failed = "thread `t`, super-step 0: `a` (task 0.0) failed after 1 attempt: no luck at run 0";
    let error = failing().runner().thread("t").run(Trip::update()).await.unwrap_err();
    assert_eq!(error.to_string(), format!("{failed}; the state of this turn is lost, because the runner has no store"));
    assert_eq!(error.error.to_string(), failed);
    assert!(!error.stored);
    let error = failing().runner().store(MemoryStore::new()).thread("t").run(Trip::update()).await.unwrap_err();
    assert_eq!(error.to_string(), format!("{failed}; `proceed` runs only what failed, `abandon` drops it"));
    assert!(error.stored);
}

#[tokio::test]
async fn a_failed_turn_is_a_standard_error_with_its_report() {
    let error = failing().runner().thread("t").run(Trip::update()).await.unwrap_err();
    assert_eq!((error.report.steps, error.report.tasks, error.report.attempts), (0, 2, 2));
    let boxed: Box<dyn Error + Send + Sync> = error.into();
    assert!(boxed.to_string().starts_with("thread `t`, super-step 0"));
    let store = TestStore::new();
    store.fail_commit_after(0);
    let error = failing().runner().store(store).thread("t").run(Trip::update()).await.unwrap_err();
    assert!(matches!(&*error, RunError::Store { cause: StoreError::Unavailable { .. }, .. }), "{error}");
}

#[test]
fn a_node_error_reads_like_its_source() {
    let fatal = NodeError::fatal("no map");
    assert_eq!((fatal.to_string(), fatal.kind(), fatal.is_retryable()), ("no map".to_owned(), FaultKind::Fatal, false));
    let number: NodeError = "x".parse::<u32>().unwrap_err().into();
    assert_eq!((number.to_string(), number.is_retryable()), ("invalid digit found in string".to_owned(), true));
    assert!(number.source().is::<std::num::ParseIntError>());
    assert_eq!(format!("{fatal:?}"), "NodeError { kind: Fatal, source: \"no map\" }");
}

#[test]
fn codec_errors_name_the_field() {
    fn decode<T: Persist>(_: T, json: &str) -> String {
        let error = serde_json::from_str::<T>(json).map(|_| ()).unwrap_err();
        graph_engine::CodecError::decode("city", error).to_string()
    }
    assert_eq!(
        decode(1_u32, "\"x\""),
        "field `city` can't be read from JSON: invalid type: string \"x\", expected u32 at line 1 column 3; its type \
         changed since it was stored"
    );
    let unknown = Trip::default().decode_update(b"{\"nothing\":1}").unwrap_err();
    assert_eq!(unknown.to_string(), "the stored update writes field `nothing`, which the state doesn't have any more");
}

#[test]
fn a_report_says_everything_in_one_line() {
    let mut report = graph_engine::RunReport::default();
    (report.steps, report.tasks, report.attempts, report.stays, report.copies) = (1, 2, 3, 4, 5);
    report.waiting_joins = vec![WaitingJoin::new("both", ["left", "right"])];
    report.warnings = vec!["something is odd".into()];
    assert_eq!(
        report.to_string(),
        "1 super-steps, 2 tasks, 3 attempts, 4 stays, 5 copies of the state; join `both` waits for `left`, `right`; \
         something is odd"
    );
    let json = serde_json::to_string(&report).unwrap();
    assert_eq!(serde_json::from_str::<graph_engine::RunReport>(&json).unwrap(), report);
}
