//! A short mark of a response's content.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::fnv::Fnv;
use crate::model::Response;

/// A mark that is the same for responses that say the same: text, refusal, and
/// the names and arguments of the calls count; ids, reasoning and tokens don't.
/// Stable over versions and platforms.
///
/// ```
/// use graph_nodes::gate::Fingerprint;
/// use graph_nodes::message::ToolCall;
/// use graph_nodes::model::Response;
///
/// let one = Response::from_calls([ToolCall::from_text("id-1", "f", "{}")]);
/// let other = Response::from_calls([ToolCall::from_text("id-2", "f", "{}")]);
/// assert_eq!(Fingerprint::of(&one), Fingerprint::of(&other));
/// assert_eq!(Fingerprint::of(&Response::from_text("")).to_string(), "88201fb960ff6465");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Fingerprint(String);

impl Fingerprint {
    /// The mark of a response.
    pub fn of(response: &Response) -> Self {
        let mut hash = Fnv::default();
        part(&mut hash, &response.text);
        part(&mut hash, response.refusal.as_deref().unwrap_or_default());
        for call in &response.calls {
            part(&mut hash, &call.name);
            part(&mut hash, call.arguments.raw());
        }
        Self(format!("{:016x}", hash.get()))
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

fn part(hash: &mut Fnv, text: &str) {
    hash.add(text.as_bytes());
    // The length after each part keeps parts apart.
    hash.add(&(text.len() as u64).to_le_bytes());
}
