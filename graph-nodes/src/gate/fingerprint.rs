//! A short mark of a response's content.

use std::fmt;

use serde::{Deserialize, Serialize};

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
        let mut hash = Fnv::new();
        hash.part(&response.text);
        hash.part(response.refusal.as_deref().unwrap_or_default());
        for call in &response.calls {
            hash.part(&call.name);
            hash.part(call.arguments.raw());
        }
        Self(format!("{:016x}", hash.0))
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// FNV-1a with 64 bits: the standard library's hasher may change between
/// versions, and this mark is stored.
struct Fnv(u64);

impl Fnv {
    fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }

    fn part(&mut self, text: &str) {
        self.bytes(text.as_bytes());
        // The length after each part keeps parts apart.
        self.bytes(&(text.len() as u64).to_le_bytes());
    }

    fn bytes(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}
