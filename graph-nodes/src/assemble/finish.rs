//! The end of a response: order, ids, faults.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::assembler::{AssemblyEvent, AssemblyPolicy};
use super::slot::Slot;
use super::warning::AssemblyWarning;
use crate::message::{ArgumentsError, CallFault, ToolCall};

/// The calls of one response.
///
/// ```
/// use graph_nodes::assemble::{Assembler, CallDelta};
///
/// let mut assembler = Assembler::new();
/// assembler.push(CallDelta::new().at(0).name("now"));
/// let assembly = assembler.finish().unwrap();
/// assert_eq!(assembly.calls[0].id, "call_auto_0");
/// assert!(assembly.calls[0].arguments.parsed().unwrap().is_empty());
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Assembly {
    /// The calls: by index (then arrival) when all have one, else by arrival.
    /// Ids are present and distinct; a call can be faulty.
    pub calls: Vec<ToolCall>,
    /// What was odd, in the order it was noticed.
    pub warnings: Vec<AssemblyWarning>,
    /// Starts that were not reported before the end.
    pub events: Vec<AssemblyEvent>,
}

/// Why the strict policy refused a response. Calls are numbered in order of arrival.
///
/// ```
/// use graph_nodes::assemble::AssemblyError;
///
/// assert_eq!(
///     AssemblyError::MissingId { call: 2 }.to_string(),
///     "call 2 has no id; ask the provider, or use the lenient policy",
/// );
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum AssemblyError {
    /// A call has no id.
    #[error("call {call} has no id; ask the provider, or use the lenient policy")]
    MissingId {
        /// The call.
        call: usize,
    },
    /// A call has the id of another call.
    #[error("call {call} has the id `{id}` of another call; ask the provider, or use the lenient policy")]
    DuplicateId {
        /// The second call.
        call: usize,
        /// The id.
        id: String,
    },
    /// A call has no name.
    #[error("call {call} has no name; ask the provider, or use the lenient policy")]
    MissingName {
        /// The call.
        call: usize,
    },
}

pub(super) fn finish(
    slots: Vec<Slot>,
    mut warnings: Vec<AssemblyWarning>,
    events: Vec<AssemblyEvent>,
    policy: AssemblyPolicy,
) -> Result<Assembly, AssemblyError> {
    // Every id a provider sent is taken, so that a made one never meets it.
    let sent: BTreeSet<String> = slots.iter().filter_map(|slot| slot.id.clone()).collect();
    let all_indexed = slots.iter().all(|slot| slot.index.is_some());
    let mut ordered: Vec<(usize, Slot)> = slots.into_iter().enumerate().collect();
    if all_indexed {
        // Stable: calls of one index stay in order of arrival.
        ordered.sort_by_key(|(_, slot)| slot.index);
    }

    let mut used = BTreeSet::new();
    let mut made = 0_usize;
    let mut calls = Vec::with_capacity(ordered.len());
    for (call, slot) in ordered {
        let id = match slot.id {
            Some(id) if used.insert(id.clone()) => id,
            other => {
                if policy == AssemblyPolicy::Strict {
                    return Err(match other {
                        Some(id) => AssemblyError::DuplicateId { call, id },
                        None => AssemblyError::MissingId { call },
                    });
                }
                let id = make_id(&mut made, &sent);
                warnings.push(match other {
                    Some(seen) => AssemblyWarning::DuplicateId { call, seen, id: id.clone() },
                    None => AssemblyWarning::SynthesizedId { call, id: id.clone() },
                });
                id
            }
        };
        let assembled = ToolCall::from_text(id, slot.name.unwrap_or_default(), slot.arguments);
        if policy == AssemblyPolicy::Strict && assembled.name.is_empty() {
            return Err(AssemblyError::MissingName { call });
        }
        warn_of_fault(call, &assembled, &mut warnings);
        calls.push(assembled);
    }
    Ok(Assembly { calls, warnings, events })
}

fn make_id(made: &mut usize, sent: &BTreeSet<String>) -> String {
    loop {
        let id = format!("call_auto_{made}");
        *made += 1;
        if !sent.contains(&id) {
            return id;
        }
    }
}

fn warn_of_fault(call: usize, assembled: &ToolCall, warnings: &mut Vec<AssemblyWarning>) {
    if assembled.name.is_empty() {
        warnings.push(AssemblyWarning::MissingName { call });
    }
    if let Err(error) = assembled.arguments.parsed() {
        let message = CallFault::from(error.clone()).to_string();
        warnings.push(match error {
            ArgumentsError::NotAnObject { .. } => AssemblyWarning::NotAnObject { call, message },
            _ => AssemblyWarning::ParseError { call, message },
        });
    }
}
