//! What a plain function with durability says when it can't go on.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use graph_engine::{Entrypoint, MemoryStore, NodeError, TaskDiverged, Workflow, WorkflowError};

use crate::doc::{Entry, Section};

async fn diverged() -> TaskDiverged {
    let again = Arc::new(AtomicBool::new(false));
    let fickle = Entrypoint::new("trip", move |workflow: Workflow<bool>, (): ()| {
        let name = if again.swap(true, Ordering::Relaxed) { "rail" } else { "flight" };
        async move {
            workflow.task(name, || async { Ok::<_, NodeError>(1) }).await?;
            workflow.interrupt::<bool>("Book?")
        }
    });
    let thread = fickle.runner().expect("a name").store(MemoryStore::new()).thread("guest-7");
    thread.run(&()).await.expect("a question");
    let WorkflowError::Turn(failed) = thread.resume(true).await.expect_err("another task") else { panic!("a turn") };
    failed.failures()[0].source.downcast_ref::<TaskDiverged>().expect("its own type").clone()
}

pub(crate) async fn section() -> Section {
    let echo = || Entrypoint::new("trip", |_: Workflow<f64>, n: f64| async move { Ok(n) });
    let full = Entrypoint::new("trip", |_: Workflow<()>, (): ()| async { Err(NodeError::fatal("no room")) });
    let turn = full.runner().expect("a name").thread("guest-7").run(&()).await.expect_err("no room");
    let thread = echo().runner().expect("a name").thread("guest-7");
    let unread = thread.saved::<f64>().await.expect_err("no store");
    let input = thread.run(&f64::NAN).await.expect_err("no JSON");
    let kept = echo().runner().expect("a name").store(MemoryStore::new()).thread("guest-7");
    kept.run(&1.5).await.expect("an echo");
    let stored = kept.saved::<String>().await.expect_err("a number");
    let entry = |error: &WorkflowError, means| Entry::variant("WorkflowError", error, means);
    Section {
        title: "Plain functions",
        intro: "Given by runs of an `Entrypoint`. What its function and its tasks fail with are failures of a task.",
        entries: vec![
            entry(&turn, "The error of the turn behind it; `TurnError::failures` has what the function said."),
            entry(&unread, "The error of the thread behind it."),
            entry(&input, "A float that is not finite, or a map whose keys are no texts."),
            entry(&stored, "The output or the saved value, read as another type than the function's."),
            Entry::plain(
                "`TaskDiverged`",
                [diverged().await],
                "The source of the task's failure. Results are found by the order of the calls, so a resumed run must call \
                 the same tasks.",
            ),
        ],
    }
}
