//! Ids of checkpoints, derived from what they follow.

use std::fmt;

use serde::de::{self, Deserializer, Visitor};
use serde::{Deserialize, Serialize, Serializer};

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
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
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

impl CheckpointId {
    /// Gives its text to somebody, without an allocation.
    pub(crate) fn with_text<T>(self, see: impl FnOnce(&str) -> T) -> T {
        see(Digits::of(self).as_str())
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

/// The text of an id, without an allocation.
struct Digits([u8; 32]);

/// The 32 digits of a number, the most significant first.
pub(crate) fn digits(number: u128) -> [u8; 32] {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    let mut digits = [0; 32];
    for (pair, byte) in digits.chunks_exact_mut(2).zip(number.to_be_bytes()) {
        pair[0] = HEX[usize::from(byte >> 4)];
        pair[1] = HEX[usize::from(byte & 15)];
    }
    digits
}

impl Digits {
    fn of(id: CheckpointId) -> Self {
        Self(digits(id.0))
    }

    fn as_str(&self) -> &str {
        // Digits are ASCII.
        std::str::from_utf8(&self.0).unwrap_or_default()
    }
}

impl fmt::Display for CheckpointId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(Digits::of(*self).as_str())
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
        let digit = |byte: u8| char::from(byte).to_digit(16);
        let read = |id: u128, byte: u8| Some(id << 4 | u128::from(digit(byte)?));
        let id = if text.len() == 32 { text.bytes().try_fold(0, read) } else { None };
        id.map(Self).ok_or_else(|| format!("`{text}` is not a checkpoint id; it has 32 hexadecimal digits"))
    }
}

impl Serialize for CheckpointId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(Digits::of(*self).as_str())
    }
}

impl<'de> Deserialize<'de> for CheckpointId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Text;

        impl Visitor<'_> for Text {
            type Value = CheckpointId;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<CheckpointId, E> {
                text.parse().map_err(E::custom)
            }
        }

        deserializer.deserialize_str(Text)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_32_digits_as_text_and_as_json() {
        for bits in [0, 1, 0xfe, u128::MAX, 0x0123_4567_89ab_cdef_0011_2233_4455_6677] {
            let id = CheckpointId(bits);
            assert_eq!(id.to_string(), format!("{bits:032x}"));
            assert_eq!(id.to_string().to_uppercase().parse(), Ok(id));
            let json = serde_json::to_string(&id).unwrap();
            assert_eq!(json, format!("\"{bits:032x}\""));
            assert_eq!(serde_json::from_str::<CheckpointId>(&json).unwrap(), id);
            assert_eq!(serde_json::from_value::<CheckpointId>(serde_json::to_value(id).unwrap()).unwrap(), id);
        }
        for wrong in [
            "",
            "+0000000000000000000000000000001",
            "g0000000000000000000000000000001",
            "00",
            "é000000000000000000000000000001",
        ] {
            assert!(wrong.parse::<CheckpointId>().unwrap_err().contains("32 hexadecimal digits"), "{wrong}");
            assert!(serde_json::from_value::<CheckpointId>(wrong.into()).is_err());
        }
    }
}
