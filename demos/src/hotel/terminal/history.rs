//! The checkpoints of a conversation, as a list for people.

use super::Failure;
use super::threads::Kept;
use crate::hotel::clean::clean_line;
use crate::hotel::state::Hotel;
use graph_engine::{CheckpointInfo, CheckpointKind, Filter, Thread, ThreadState};
use jiff::Timestamp;
use std::io::Write;

/// The most letters of a sentence in a list.
const SHOWN: usize = 60;

/// All checkpoints, the oldest first: an entry keeps its number while the conversation goes on.
pub(super) async fn entries(thread: &Thread<Hotel>, kept: &Kept) -> Result<Vec<CheckpointInfo>, Failure> {
    let mut found = thread.history(&Filter::default()).await?;
    if found.is_empty() {
        return Err(kept.unknown(Some(thread.id())).await);
    }
    found.reverse();
    Ok(found)
}

/// The checkpoint of the entry with this number.
pub(super) async fn entry(thread: &Thread<Hotel>, kept: &Kept, number: usize) -> Result<CheckpointInfo, Failure> {
    let all = entries(thread, kept).await?;
    let count = all.len();
    let found = number.checked_sub(1).and_then(|at| all.into_iter().nth(at));
    found.ok_or_else(|| Failure::UnknownEntry { thread: thread.id().clone(), number, count })
}

/// Writes the list.
pub(super) async fn list(thread: &Thread<Hotel>, kept: &Kept, out: &mut (impl Write + ?Sized)) -> Result<(), Failure> {
    let all = entries(thread, kept).await?;
    writeln!(out, "Checkpoints of `{}` in {kept}, the oldest first:", thread.id())?;
    writeln!(out, "{:>4} {:>5} {:<8} {:<20} {:<32} next", "n", "step", "kind", "time", "id")?;
    for (at, info) in all.iter().enumerate() {
        let state = thread.at(info.id).state().await?;
        let (number, kind, id) = (at + 1, info.kind.as_str(), info.id.to_string());
        writeln!(
            out,
            "{number:>4} {:>5} {kind:<8} {:<20} {id:<32} {}",
            info.step,
            time(info.time_ms),
            next(info, &state)
        )?;
    }
    Ok(())
}

/// The time of day, to the second.
fn time(ms: u64) -> String {
    let time = i64::try_from(ms / 1000).ok().and_then(|seconds| Timestamp::from_second(seconds).ok());
    time.map_or_else(|| "?".to_owned(), |time| time.to_string())
}

/// What would run next, and why.
fn next(info: &CheckpointInfo, state: &ThreadState<Hotel>) -> String {
    let names: Vec<&str> = state.next.iter().map(|name| name.as_str()).collect();
    let mut text = match &names[..] {
        [] if state.completed => "nothing: complete".to_owned(),
        [] => "nothing: waits for the guest".to_owned(),
        names => names.join(", "),
    };
    if !state.interrupts.is_empty() {
        text.push_str(", after a yes or no");
    }
    if let (CheckpointKind::Input, Some(said)) = (info.kind, state.state.last_said()) {
        let said = clean_line(&said);
        let short: String = said.chars().take(SHOWN).collect();
        let more = if short.len() < said.len() { ".." } else { "" };
        text.push_str(&format!(" (said: {short}{more})"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_shown_to_the_second() {
        assert_eq!(time(1_781_092_800_999), "2026-06-10T12:00:00Z");
        assert_eq!(time(u64::MAX), "?");
    }
}
