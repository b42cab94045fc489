//! What the code of `#[derive(State)]` calls; not a public interface.
//!
//! Every bound that a field's type must meet is asked for by one constructor here, so that a missing one is one
//! short error at the field's type and not one for each use. The tables are constants of function pointers: after
//! inlining nothing of them is left.

use std::borrow::Cow;

use serde_json::value::RawValue;

use super::append::{Append, PersistAppend};
use super::codec::{CodecError, Encoding, Persist, decode_field, encode_field};
use super::deltas::Deltas;
use super::write::{Added, Reduced};

/// A stored value.
#[expect(missing_debug_implementations, reason = "only generated code sees it")]
pub struct Codec<T> {
    pub encode: fn(&str, &T, &mut Vec<u8>) -> Result<(), CodecError>,
    pub decode: fn(&str, &[u8]) -> Result<T, CodecError>,
}

#[must_use]
pub const fn codec<T: Persist>() -> Codec<T> {
    Codec { encode: encode_field, decode: decode_field }
}

/// A stored `with` field: its value and its writes.
#[expect(missing_debug_implementations, reason = "only generated code sees it")]
pub struct ReducedCodec<T, I> {
    pub value: Codec<T>,
    pub write: Codec<Reduced<T, I>>,
}

#[must_use]
pub const fn reduced_codec<T: Persist, I: Persist>() -> ReducedCodec<T, I> {
    ReducedCodec { value: codec(), write: Codec { encode: encode_field, decode: decode_field } }
}

/// The writes of an `append` field.
#[expect(missing_debug_implementations, reason = "only generated code sees it")]
pub struct AppendOps<T> {
    pub empty: fn() -> Added<T>,
    pub put: fn(&mut Option<Added<T>>, T),
    pub then: fn(&mut Added<T>, Added<T>),
    pub apply: fn(Added<T>, &mut T),
}

#[must_use]
pub const fn append_ops<T: Append>() -> AppendOps<T> {
    AppendOps { empty: Added::default, put, then: Added::then, apply: Added::apply }
}

fn put<T: Append>(write: &mut Option<Added<T>>, items: T) {
    write.get_or_insert_default().push_all(items);
}

/// What the setter of an `append` field takes.
#[diagnostic::on_unimplemented(
    message = "`{Self}` are not items of `{T}`",
    label = "not a list of its items",
    note = "the setter of an `append` field takes several items, such as an array of them"
)]
pub trait ItemsOf<T> {
    fn push_to(self, write: &mut Added<T>);
}

impl<T: Append, I: IntoIterator<Item = T::Item>> ItemsOf<T> for I {
    fn push_to(self, write: &mut Added<T>) {
        write.items.push_all(self);
    }
}

/// [`PersistAppend::encode`].
pub type EncodeSince<T> = fn(&T, &str, Option<u64>, &mut Vec<u8>) -> Result<Encoding, CodecError>;

/// [`PersistAppend::decode_deltas`].
pub type DecodeDeltas<T> = fn(&mut T, &str, Deltas<'_>) -> Result<(), CodecError>;

/// The value of an `append` field, as a base or a delta, and its writes.
#[expect(missing_debug_implementations, reason = "only generated code sees it")]
pub struct AppendCodec<T> {
    pub marked: bool,
    pub mark: fn(&T) -> u64,
    pub encode: EncodeSince<T>,
    pub decode: fn(&mut T, &str, Encoding, &[u8]) -> Result<(), CodecError>,
    pub decode_deltas: DecodeDeltas<T>,
    pub write: Codec<Added<T>>,
}

/// [`PersistAppend`], asked of the item: where `T` is no [`Append`], rustc says that alone, because the item is not
/// known then.
#[diagnostic::on_unimplemented(
    message = "`{T}` can't be stored in a checkpoint",
    label = "its items need `Serialize` and `Deserialize`",
    note = "derive serde's traits for the items, or mark the field `#[state(append, transient)]`"
)]
pub trait StoredItem<T>: Sized {
    const CODEC: AppendCodec<T>;
}

#[diagnostic::do_not_recommend]
impl<T: PersistAppend<Item = I>, I> StoredItem<T> for I {
    const CODEC: AppendCodec<T> = AppendCodec {
        marked: T::MARKED,
        mark: T::mark,
        encode: T::encode,
        decode: T::decode,
        decode_deltas: T::decode_deltas,
        write: Codec { encode: encode_added, decode: decode_added },
    };
}

/// A stored `append` field.
#[expect(missing_debug_implementations, reason = "only generated code sees it")]
pub struct StoredAppend<T> {
    pub ops: AppendOps<T>,
    pub codec: AppendCodec<T>,
}

#[must_use]
pub const fn stored_append<T, I>() -> StoredAppend<T>
where
    T: Append<Item = I>,
    I: StoredItem<T>,
{
    StoredAppend { ops: append_ops(), codec: I::CODEC }
}

fn encode_added<T: PersistAppend>(field: &str, write: &Added<T>, out: &mut Vec<u8>) -> Result<(), CodecError> {
    out.extend_from_slice(if write.overwrite {
        b"{\"overwrite\":true,\"items\":"
    } else {
        b"{\"overwrite\":false,\"items\":"
    });
    write.items.encode(field, None, out)?;
    out.push(b'}');
    Ok(())
}

fn decode_added<T: PersistAppend>(field: &str, bytes: &[u8]) -> Result<Added<T>, CodecError> {
    let Added { overwrite, items: json } = decode_field::<Added<Box<RawValue>>>(field, bytes)?;
    let mut items = T::default();
    items.decode(field, Encoding::Base, json.get().as_bytes())?;
    Ok(Added { overwrite, items })
}

/// Reads deltas one after the other.
///
/// # Errors
/// [`CodecError`] of the first one that can't be read.
pub fn decode_each(deltas: Deltas<'_>, decode: impl FnMut(&[u8]) -> Result<(), CodecError>) -> Result<(), CodecError> {
    deltas.iter().try_for_each(decode)
}

/// The second write after the first.
pub fn compose<W>(first: &mut Option<W>, later: Option<W>, then: fn(&mut W, W)) {
    match (first, later) {
        (_, None) => {}
        (Some(first), Some(later)) => then(first, later),
        (first, later) => *first = later,
    }
}

/// What an update writes to one field, to be copied if it can be.
#[expect(missing_debug_implementations, reason = "only generated code sees it")]
pub struct WriteOf<'a, W>(pub &'a W);

impl<W: Clone> WriteOf<'_, W> {
    #[must_use]
    pub fn copied(&self) -> Option<W> {
        Some(self.0.clone())
    }
}

/// What is not [`Clone`] has only this.
pub trait Uncopied<W> {
    fn copied(&self) -> Option<W>;
}

impl<W> Uncopied<W> for WriteOf<'_, W> {
    fn copied(&self) -> Option<W> {
        None
    }
}

/// Writes one field of an update as a member of a JSON object.
///
/// # Errors
/// [`CodecError`] if the value can't be stored.
pub fn encode_write<W>(
    field: &str,
    write: &Option<W>,
    encode: fn(&str, &W, &mut Vec<u8>) -> Result<(), CodecError>,
    out: &mut Vec<u8>,
) -> Result<(), CodecError> {
    let Some(write) = write else { return Ok(()) };
    if out.last() != Some(&b'{') {
        out.push(b',');
    }
    out.push(b'"');
    out.extend_from_slice(field.as_bytes());
    out.extend_from_slice(b"\":");
    encode(field, write, out)
}

/// Writes the write of one field alone, if there is one.
///
/// # Errors
/// [`CodecError`] if the value can't be stored.
pub fn encode_one<W>(
    field: &str,
    write: &Option<W>,
    encode: fn(&str, &W, &mut Vec<u8>) -> Result<(), CodecError>,
    out: &mut Vec<u8>,
) -> Result<(), CodecError> {
    write.as_ref().map_or(Ok(()), |write| encode(field, write, out))
}

/// Gives each member of an update's JSON object to `read`, which says whether it knows the field.
///
/// # Errors
/// [`CodecError`] of `read`, of bytes that are no object, and of a field that nobody knows.
pub fn decode_writes(
    bytes: &[u8],
    mut read: impl FnMut(&str, &[u8]) -> Result<bool, CodecError>,
) -> Result<(), CodecError> {
    let writes: std::collections::BTreeMap<Cow<'_, str>, &RawValue> =
        serde_json::from_slice(bytes).map_err(|e| CodecError::decode("(update)", e))?;
    for (field, json) in writes {
        if !read(&field, json.get().as_bytes())? {
            return Err(CodecError::UnknownField { field: field.into_owned() });
        }
    }
    Ok(())
}

/// What the setter of an `Option<String>` field takes.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an optional text",
    label = "not a text",
    note = "a field of type `Option<String>` takes `&str`, `String`, `Option<String>` or `None`"
)]
pub trait IntoOptionalText {
    fn into_optional_text(self) -> Option<String>;
}

impl IntoOptionalText for Option<String> {
    fn into_optional_text(self) -> Option<String> {
        self
    }
}

/// One impl for each: a blanket one over `Into<String>` would overlap with `Option`.
macro_rules! texts {
    ($($type:ty),*) => {
        $(
            impl IntoOptionalText for $type {
                fn into_optional_text(self) -> Option<String> {
                    Some(self.into())
                }
            }
        )*
    };
}

texts!(String, &str, &String, Box<str>, Cow<'_, str>, char);
