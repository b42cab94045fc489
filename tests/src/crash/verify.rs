//! What must be true of a ledger, whatever was crashed.

use std::collections::{BTreeMap, BTreeSet};

use super::{Line, Work};

/// Compares the end of a disturbed thread with that of one that was never disturbed.
///
/// # Errors
/// What differs.
pub fn verify_state(disturbed: &Work, calm: &Work) -> Result<(), String> {
    if disturbed == calm { Ok(()) } else { Err(format!("the states differ:\n{disturbed:?}\n{calm:?}")) }
}

/// Checks what was done outside.
///
/// - Exactly what a calm run did was done, each thing at least once.
/// - What was done twice carries the same key both times.
/// - What was done before a step that somebody was told to be stored is never done again after a restart.
/// - A thread is never found before such a step.
///
/// # Errors
/// What is wrong.
pub fn verify(lines: &[Line], calm: &[Line]) -> Result<(), String> {
    let mut keys: BTreeMap<&str, &str> = BTreeMap::new();
    let (mut stored, mut restarted_at) = (0, 0);
    for line in lines {
        match line {
            Line::Start => restarted_at = stored,
            Line::At { step } if *step < stored => {
                return Err(format!("step {stored} was stored, but the thread was found at {step}"));
            }
            Line::At { .. } => {}
            Line::Stored { step } => stored = stored.max(*step),
            Line::Effect { key, step, what } => {
                if let Some(before) = keys.insert(what, key) {
                    if before != key {
                        return Err(format!("`{what}` was done under the keys {before} and {key}"));
                    }
                    if *step < restarted_at {
                        return Err(format!("`{what}` was done again, though step {restarted_at} was stored before"));
                    }
                }
            }
        }
    }
    let done: BTreeSet<&str> = keys.keys().copied().collect();
    let wanted: BTreeSet<&str> = calm
        .iter()
        .filter_map(|line| match line {
            Line::Effect { what, .. } => Some(what.as_str()),
            _ => None,
        })
        .collect();
    if done == wanted { Ok(()) } else { Err(format!("done {done:?}\nwanted {wanted:?}")) }
}
