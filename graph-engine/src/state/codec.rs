//! Fields as JSON, for checkpoints: a base holds the whole value, a delta what was added since a mark, writes what
//! tasks wrote.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{DeserializeOwned, Deserializer, SeqAccess, Visitor};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::deltas::Deltas;
use super::finite::{MOST_LEVELS, Unfit, unfit};

/// How stored bytes become the value of a field: they replace it, or something is added to it.
///
/// ```
/// use graph_engine::Encoding;
///
/// assert_eq!(serde_json::to_string(&Encoding::Delta)?, "\"delta\"");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Encoding {
    /// The whole value.
    Base,
    /// What came after the mark of the last commit.
    Delta,
    /// A list of the writes since the last commit, in the order of their tasks, each in the form that it has in a stored
    /// update ([`Added`](crate::Added), [`Reduced`](crate::Reduced)). Reading merges them again.
    Writes,
    /// The field is gone: a migration took it out of the state. The bytes are `null`.
    Removed,
}

impl Encoding {
    /// Whether nothing that was stored of the field before matters any more. Everything else is added to it.
    #[must_use]
    pub const fn is_whole(self) -> bool {
        matches!(self, Self::Base | Self::Removed)
    }

    /// A number for it that stores keep; it never changes.
    #[must_use]
    pub const fn code(self) -> u8 {
        match self {
            Self::Base => 0,
            Self::Delta => 1,
            Self::Writes => 2,
            Self::Removed => 3,
        }
    }

    /// The reverse of [`code`](Self::code); `None` for a number that none has.
    #[must_use]
    pub const fn from_code(code: u8) -> Option<Self> {
        match code {
            0 => Some(Self::Base),
            1 => Some(Self::Delta),
            2 => Some(Self::Writes),
            3 => Some(Self::Removed),
            _ => None,
        }
    }
}

/// A value can't be written as a checkpoint or read from one.
///
/// ```
/// use graph_engine::State;
///
/// #[derive(State, Clone, Default)]
/// struct Trip {
///     price: f64,
/// }
///
/// let trip = Trip { price: f64::NAN };
/// let error = trip.encode(0, None, &mut Vec::new()).unwrap_err();
/// assert!(error.to_string().starts_with("field `price` holds a float that is not finite (NaN)"));
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CodecError {
    /// A float is not finite; JSON has no form for it and would silently store `null`.
    #[error(
        "field `{field}` holds a float that is not finite ({value}), which JSON can't store; use an `Option`, or mark the \
         field `#[state(transient)]`"
    )]
    NotFinite {
        /// The field's name.
        field: String,
        /// The float.
        value: f64,
    },
    /// The value has lists and objects inside of each other, more than could be read again.
    #[error(
        "field `{field}` has more than {MOST_LEVELS} levels of lists and objects inside of each other, which could not be \
         read again; store it flat, or as a text"
    )]
    TooDeep {
        /// The field's name.
        field: String,
    },
    /// The value's own serialisation failed.
    #[error("field `{field}` can't be written as JSON: {cause}")]
    Encode {
        /// The field's name.
        field: String,
        /// What serde said.
        cause: serde_json::Error,
    },
    /// The stored bytes are not a value of the field's type.
    #[error("field `{field}` can't be read from JSON: {cause}; its type changed since it was stored")]
    Decode {
        /// The field's name.
        field: String,
        /// What serde said.
        cause: serde_json::Error,
    },
    /// What is sent to a node can't be written.
    #[error("the payload for `{node}` can't be written as JSON: {reason}")]
    Payload {
        /// The node that it is for.
        node: String,
        /// What keeps it from being written.
        reason: String,
    },
    /// The update names a field that the state doesn't have.
    #[error("the stored update writes field `{field}`, which the state doesn't have any more")]
    UnknownField {
        /// The name as stored.
        field: String,
    },
}

impl CodecError {
    /// Bytes that can't be read.
    #[must_use]
    pub fn decode(field: &str, cause: serde_json::Error) -> Self {
        Self::Decode { field: field.to_owned(), cause }
    }
}

/// What a stored field's type needs: serde in both directions. Implemented for every such type.
///
/// ```
/// fn store<T: graph_engine::Persist>(_: T) {}
/// store(vec![1, 2, 3]);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't be stored in a checkpoint",
    label = "needs `Serialize` and `Deserialize`",
    note = "derive serde's `Serialize` and `Deserialize` for `{Self}`, or mark the field `#[state(transient)]`"
)]
pub trait Persist: Serialize + DeserializeOwned {}

#[diagnostic::do_not_recommend]
impl<T: Serialize + DeserializeOwned> Persist for T {}

/// Appends the value as JSON to `out`.
///
/// # Errors
/// [`CodecError::NotFinite`] and [`CodecError::Encode`], with the field's name.
pub(super) fn encode_field<T: Serialize + ?Sized>(field: &str, value: &T, out: &mut Vec<u8>) -> Result<(), CodecError> {
    match unfit(value) {
        Some(Unfit::Float(value)) => return Err(CodecError::NotFinite { field: field.to_owned(), value }),
        Some(Unfit::Deep) => return Err(CodecError::TooDeep { field: field.to_owned() }),
        None => {}
    }
    serde_json::to_writer(out, value).map_err(|cause| CodecError::Encode { field: field.to_owned(), cause })
}

/// A value as JSON; a float that is not finite is refused instead of becoming `null`.
pub(crate) fn to_json<T: Serialize>(value: T) -> Result<serde_json::Value, String> {
    match unfit(&value) {
        Some(unfit) => Err(unfit.to_string()),
        None => serde_json::to_value(value).map_err(|e| e.to_string()),
    }
}

/// The same as text, for what is stored again as it is.
pub(crate) fn json_of<T: Serialize>(value: &T) -> Result<Box<RawValue>, String> {
    match unfit(value) {
        Some(unfit) => Err(unfit.to_string()),
        None => serde_json::value::to_raw_value(value).map_err(|e| e.to_string()),
    }
}

/// Reads a value from JSON.
///
/// # Errors
/// [`CodecError::Decode`], with the field's name.
pub(super) fn decode_field<T: DeserializeOwned>(field: &str, bytes: &[u8]) -> Result<T, CodecError> {
    read_json(bytes).map_err(|cause| CodecError::decode(field, cause))
}

/// Reads a list from JSON, one item after the other: a list for each of many deltas would be made only to be emptied.
///
/// # Errors
/// [`CodecError::Decode`], with the field's name. Items before the one that can't be read were given away.
pub(super) fn decode_items<T: DeserializeOwned>(
    field: &str,
    bytes: &[u8],
    mut each: impl FnMut(T),
) -> Result<(), CodecError> {
    let read = match std::str::from_utf8(bytes) {
        Ok(text) => return read_items(field, text, &mut each),
        // The error says where.
        Err(_) => serde_json::from_slice::<Vec<T>>(bytes).map(|items| items.into_iter().for_each(each)),
    };
    read.map_err(|cause| CodecError::decode(field, cause))
}

/// The same of many lists one behind the other: that they are text is looked at once.
///
/// # Errors
/// That of the first list that can't be read, as [`decode_items`] has it.
pub(super) fn decode_lists<T: DeserializeOwned>(
    field: &str,
    lists: Deltas<'_>,
    mut each: impl FnMut(T),
) -> Result<(), CodecError> {
    match lists.texts() {
        Some(mut texts) => texts.try_for_each(|text| read_items(field, text, &mut each)),
        None => lists.iter().try_for_each(|list| decode_items(field, list, &mut each)),
    }
}

fn read_items<T: DeserializeOwned>(field: &str, text: &str, each: &mut impl FnMut(T)) -> Result<(), CodecError> {
    let mut reader = serde_json::Deserializer::from_str(text);
    let read = reader.deserialize_seq(Items(each, PhantomData)).and_then(|()| reader.end());
    read.map_err(|cause| CodecError::decode(field, cause))
}

struct Items<T, E>(E, PhantomData<T>);

impl<'de, T: Deserialize<'de>, E: FnMut(T)> Visitor<'de> for Items<T, E> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a sequence")
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut items: A) -> Result<(), A::Error> {
        while let Some(item) = items.next_element()? {
            (self.0)(item);
        }
        Ok(())
    }
}

/// Reads JSON. That it is text is looked at once, and not again for every string in it.
pub(crate) fn read_json<'de, T: Deserialize<'de>>(bytes: &'de [u8]) -> serde_json::Result<T> {
    match std::str::from_utf8(bytes) {
        Ok(text) => serde_json::from_str(text),
        // The error says where.
        Err(_) => serde_json::from_slice(bytes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_float_is_read_exactly_as_it_was_written() {
        // Every exponent, with a fraction that uses all bits.
        for exponent in 1..2046_u64 {
            let fraction = (exponent.wrapping_mul(0x9e37_79b9_7f4a_7c15)) >> 12;
            let written = f64::from_bits((exponent << 52) | fraction);
            let mut out = Vec::new();
            encode_field("price", &written, &mut out).unwrap();
            let read: f64 = decode_field("price", &out).unwrap();
            assert_eq!(read.to_bits(), written.to_bits(), "{written:e}");
        }
    }
}
