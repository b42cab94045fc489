//! What is wrong with an answer, or with a turn on a thread that waits for one.

use graph_engine::{Ctx, MemoryStore, NodeError, RunError, START};

use crate::doc::{Entry, Section};
use crate::trip::{Trip, TripUpdate, error_of, runner, trip};
use crate::turns::turn;

async fn city(ctx: Ctx) -> Result<TripUpdate, NodeError> {
    Ok(Trip::update().city(ctx.interrupt::<String>("where?")?))
}

async fn price(ctx: Ctx) -> Result<TripUpdate, NodeError> {
    Ok(Trip::update().price(ctx.interrupt::<f64>("how much?")?))
}

pub(crate) async fn section() -> Section {
    let graph = trip().node("ask", city).edge(START, "ask").node("price", price).edge(START, "price");
    let thread = runner(graph).store(MemoryStore::new()).thread("guest-7");
    let nothing = error_of(thread.resume("Oslo")).await;
    let paused = thread.run(Trip::update()).await.expect("it pauses");
    let price = paused.interrupts()[1].id;
    let waiting = error_of(thread.proceed()).await;
    let which = error_of(thread.resume("Oslo")).await;
    let unknown =
        error_of(thread.resume_by_id([("0".repeat(31) + "7").parse().expect("an id")].map(|id| (id, 1)))).await;
    let no_json = error_of(thread.resume(f64::NAN)).await;
    let bad = error_of(thread.resume_by_id([(price, "dear")])).await;
    let asked = Ctx::test().build().interrupt::<u32>("how many?").expect_err("nobody has answered");
    let kind = format!("`FaultKind::{:?}`", asked.kind());
    assert!(matches!(&*bad.error, RunError::BadAnswer { .. }));
    Section {
        title: "Questions and answers",
        intro: "A node asks with `Ctx::interrupt`, the turn ends as `Status::Paused`, and `resume` answers. A wrong \
                answer changes nothing: the question is still open.",
        entries: vec![
            turn(
                "No question is open: it was answered already, its time was over, or the thread never paused.",
                [nothing],
            ),
            turn("`proceed` runs what needs no answer, and here everything does.", [waiting]),
            turn("Their ids are in `TurnEnd::interrupts`, in the report and in `Thread::state`.", [which]),
            turn("The id is of another thread, or of a question that was answered or dropped.", [unknown]),
            turn("Answers travel as JSON.", [no_json]),
            turn(
                "The node reads the answer as a type that it isn't. What others were answered in the same call has been \
                 used.",
                [bad],
            ),
            Entry::plain(
                &kind,
                [asked],
                "What `Ctx::interrupt` gives as long as there is no answer. Hand it on with `?`; a node that catches it \
                 pauses all the same. No retry policy sees it.",
            ),
        ],
    }
}
