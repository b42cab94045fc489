//! Ids of checkpoints, derived from what they follow.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Identifies a checkpoint. It is derived from the thread, the namespace, the parent, the turn and the step, so a
/// repeated commit has the same id.
///
/// ```
/// use graph_engine::CheckpointId;
///
/// let first = CheckpointId::derive("guest-7", "", None, "turn-1", 0);
/// let next = CheckpointId::derive("guest-7", "", Some(first), "turn-1", 1);
/// assert_ne!(first, next);
/// assert_eq!(first.to_string().parse(), Ok(first));
/// ```
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct CheckpointId(u128);

impl CheckpointId {
    /// The id of a checkpoint.
    #[must_use]
    pub fn derive(thread: &str, namespace: &str, parent: Option<Self>, turn: &str, step: u64) -> Self {
        IdPrefix::new(thread, namespace, turn).id(parent, step)
    }

    /// The id as a store keeps it: 16 bytes, the most significant first.
    ///
    /// ```
    /// use graph_engine::CheckpointId;
    ///
    /// let id = CheckpointId::derive("guest-7", "", None, "turn-1", 0);
    /// assert_eq!(CheckpointId::from_bytes(id.to_bytes()), id);
    /// ```
    #[must_use]
    pub const fn to_bytes(self) -> [u8; 16] {
        self.0.to_be_bytes()
    }

    /// The id that has these bytes.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(u128::from_be_bytes(bytes))
    }
}

/// The part of an id that is the same for all commits of a turn.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct IdPrefix(Fnv);

impl IdPrefix {
    pub(crate) fn new(thread: &str, namespace: &str, turn: &str) -> Self {
        let texts = [thread, namespace, turn];
        Self(texts.into_iter().fold(Fnv::default(), |hash, text| hash.text(text.as_bytes())))
    }

    pub(crate) fn id(self, parent: Option<CheckpointId>, step: u64) -> CheckpointId {
        let parent = parent.map_or(0, |p| p.0);
        CheckpointId(self.0.feed(parent).feed(step.into()).folded())
    }
}

/// FNV-1a with 128 bits: stable over versions and machines. Ids only have to differ within one thread, and a collision
/// would be refused as a conflict.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fnv(u128);

impl Default for Fnv {
    fn default() -> Self {
        Self(0x6c62_272e_07bb_0142_62b8_2175_6295_c58d)
    }
}

impl Fnv {
    const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;

    /// Adds a text and its length.
    pub(crate) fn text(self, text: &[u8]) -> Self {
        text.iter().fold(self.feed(text.len() as u128), |hash, byte| hash.feed((*byte).into()))
    }

    fn feed(self, word: u128) -> Self {
        Self((self.0 ^ word).wrapping_mul(Self::PRIME))
    }

    /// The high bits of a product don't reach the low ones: they are folded once.
    pub(crate) fn folded(self) -> u128 {
        self.feed(self.0 >> 64).0
    }
}

impl fmt::Display for CheckpointId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

impl fmt::Debug for CheckpointId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::str::FromStr for CheckpointId {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        // `from_str_radix` would also take a sign.
        if text.len() != 32 || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(format!("`{text}` is not a checkpoint id; it has 32 hexadecimal digits"));
        }
        u128::from_str_radix(text, 16).map(Self).map_err(|e| format!("`{text}` is not a checkpoint id: {e}"))
    }
}

impl TryFrom<String> for CheckpointId {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<CheckpointId> for String {
    fn from(id: CheckpointId) -> Self {
        id.to_string()
    }
}
