//! Scripted graphs that are crashed: what they do outside goes to a ledger, what they were told is durable goes there
//! too, and whoever starts them again must end like somebody who was never disturbed.

mod fault_store;
mod ledger;
mod scripts;
mod verify;
mod work;

pub use fault_store::{FaultStore, When};
pub use ledger::{Ledger, Line};
pub use scripts::{SCRIPTS, Script};
pub use verify::{verify, verify_state};
pub use work::{Work, WorkUpdate};

use futures_util::StreamExt;
use graph_engine::{EventKind, Interrupt, Mode, Runner, StreamOptions, Thread, Turn, TurnError};
use serde_json::Value;

/// Turns of each script.
pub const TURNS: u32 = 3;

/// Goes on with a thread, wherever it stands, until all turns of the script are over.
///
/// # Panics
/// If a turn fails in a way that starting it again can't mend.
pub async fn finish(runner: &Runner<Work>, ledger: &Ledger) -> Work {
    let thread = runner.thread("t");
    loop {
        match go_on(&thread, ledger).await {
            Ok(None) => {}
            Ok(Some(work)) => return work,
            Err(error) => panic!("{error}"),
        }
    }
}

/// One turn of a thread, wherever it stands; the state once all turns of the script are over.
///
/// # Errors
/// What the turn, or the look at the thread, says.
pub async fn go_on(thread: &Thread<Work>, ledger: &Ledger) -> Result<Option<Work>, String> {
    match next_turn(thread, ledger).await? {
        Ok(turn) => acknowledged(turn, ledger).await.map(|()| None).map_err(|error| error.to_string()),
        Err(work) => Ok(Some(work)),
    }
}

/// The same with the turn driven in place, by nobody but whoever polls this; nobody is told of checkpoints.
///
/// # Errors
/// As [`go_on`].
pub async fn go_on_in_place(thread: &Thread<Work>, ledger: &Ledger) -> Result<Option<Work>, String> {
    match next_turn(thread, ledger).await? {
        Ok(turn) => turn.await.map(|_| None).map_err(|error| error.to_string()),
        Err(work) => Ok(Some(work)),
    }
}

/// What is to be done next, or how it all ended.
async fn next_turn(thread: &Thread<Work>, ledger: &Ledger) -> Result<Result<Turn<Work>, Work>, String> {
    let at = thread.state().await.map_err(|error| error.to_string())?;
    ledger.write(&Line::At { step: at.step });
    let turn = match &at.interrupts[..] {
        // One question at a time, so that the others survive an answer.
        [first, ..] => thread.resume_by_id([(first.id, answer(first))]),
        [] if !at.next.is_empty() => thread.proceed(),
        [] if at.state.inputs.len() < TURNS as usize => {
            let number = u32::try_from(at.state.inputs.len()).unwrap_or_default();
            thread.run(Work::update().inputs([number]).count(0_u32))
        }
        [] => return Ok(Err((*at.state).clone())),
    };
    Ok(Ok(turn))
}

/// Runs a turn and notes every checkpoint of which it tells.
async fn acknowledged(turn: Turn<Work>, ledger: &Ledger) -> Result<(), TurnError> {
    let mut events = turn.stream_with(StreamOptions::default().modes([Mode::Checkpoints]));
    while let Some(event) = events.next().await {
        if let EventKind::Checkpoint { .. } = event.kind {
            ledger.write(&Line::Stored { step: event.step });
        }
    }
    events.end().await.map(drop)
}

fn answer(interrupt: &Interrupt) -> Value {
    format!("answer to {}", interrupt.question).into()
}
