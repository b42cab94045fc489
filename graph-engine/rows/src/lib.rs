//! How a store keeps what the engine gives it: a byte that says how, then JSON as it is or as MessagePack.
//!
//! The engine gives stores JSON and wants the very same bytes back. [`encode`] makes a row of them, [`decode`] undoes it,
//! whichever format the row was written in, so a store may change its format at any time.
//!
//! ```
//! use graph_engine_rows::{Format, decode, encode};
//!
//! let json = br#"{"role":"user","text":"Oslo"}"#;
//! let (plain, packed) = (encode(Format::Json, json), encode(Format::MessagePack, json));
//! assert!(packed.len() < plain.len());
//! assert_eq!((decode(&plain).unwrap(), decode(&packed).unwrap()), (json.to_vec(), json.to_vec()));
//! ```
//!
//! # The first byte
//! Its upper half is the version of this layout, 1 until now; its lower half is the format: 0 for bytes as they are, 1
//! for MessagePack. What another version wrote is refused and never guessed at.

mod error;
mod packed;

use std::borrow::Cow;

pub use error::RowError;

/// How new rows are written. Rows of both formats can always be read.
///
/// ```
/// use graph_engine_rows::Format;
///
/// assert_eq!(Format::default(), Format::Json);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Format {
    /// JSON: readable with any tool.
    #[default]
    Json,
    /// MessagePack with named maps, where that is shorter and gives back the same bytes; else JSON.
    MessagePack,
}

/// The version of this layout.
const VERSION: u8 = 1;

const PLAIN: u8 = VERSION << 4;
const PACKED: u8 = VERSION << 4 | 1;

/// A row of these bytes.
///
/// As MessagePack goes only what comes back byte for byte: an integer of 30 digits, `1e2`, a key that is there twice or
/// a space between two items are kept as they are, and so is anything that is no JSON.
///
/// ```
/// use graph_engine_rows::{Format, decode, encode};
///
/// let long = encode(Format::MessagePack, b"[123456789012345678901234567890]");
/// assert_eq!(decode(&long).unwrap(), b"[123456789012345678901234567890]");
/// assert_eq!(encode(Format::Json, b""), [0x10]);
/// ```
#[must_use]
pub fn encode(format: Format, json: &[u8]) -> Vec<u8> {
    let mut row = Vec::with_capacity(json.len() + 1);
    encode_into(format, json, &mut row);
    row
}

/// The same behind what is in a buffer already.
///
/// ```
/// use graph_engine_rows::{Format, encode_into};
///
/// let mut rows = Vec::new();
/// encode_into(Format::Json, b"1", &mut rows);
/// encode_into(Format::Json, b"2", &mut rows);
/// assert_eq!(rows, b"\x101\x102");
/// ```
pub fn encode_into(format: Format, json: &[u8], rows: &mut Vec<u8>) {
    let packed = match format {
        Format::Json => None,
        Format::MessagePack => packed::pack(json),
    };
    let (tag, bytes) = packed.as_deref().map_or((PLAIN, json), |packed| (PACKED, packed));
    rows.push(tag);
    rows.extend_from_slice(bytes);
}

/// The bytes of which a row was made.
///
/// # Errors
/// A row that is empty, of another version or format, or whose MessagePack is damaged. JSON is given back unread.
///
/// ```
/// use graph_engine_rows::{RowError, decode};
///
/// assert_eq!(decode(&[0x20, b'1']), Err(RowError::Version(2)));
/// ```
pub fn decode(row: &[u8]) -> Result<Vec<u8>, RowError> {
    decode_ref(row).map(Cow::into_owned)
}

/// The same, borrowed from the row where it stands there as it is.
///
/// # Errors
/// Those of [`decode`].
///
/// ```
/// use std::borrow::Cow;
///
/// use graph_engine_rows::{Format, decode_ref, encode};
///
/// assert!(matches!(decode_ref(&encode(Format::Json, b"[1]")), Ok(Cow::Borrowed(b"[1]"))));
/// ```
pub fn decode_ref(row: &[u8]) -> Result<Cow<'_, [u8]>, RowError> {
    match row.split_first() {
        Some((&PLAIN, json)) => Ok(Cow::Borrowed(json)),
        Some((&PACKED, packed)) => packed::unpack(packed).map(Cow::Owned).map_err(RowError::Damaged),
        Some((tag, _)) if tag >> 4 == VERSION => Err(RowError::Format(tag & 0x0f)),
        Some((tag, _)) => Err(RowError::Version(tag >> 4)),
        None => Err(RowError::Empty),
    }
}
