//! Values as JSON, in one pass that also finds what JSON can't hold: a float that is not finite, and more levels than a
//! reader goes down into.
//!
//! The bytes are those of `serde_json`, which still writes numbers and whatever is rare.

use std::fmt;

use serde::ser::{self, Impossible, Serialize, Serializer};

use super::finite::{MOST_LEVELS, Unfit};
use super::text::write_text;

/// Appends the value as JSON; what was appended before an error is left there.
pub(super) fn write<T: Serialize + ?Sized>(value: &T, out: &mut Vec<u8>) -> Result<(), Unwritten> {
    value.serialize(Writer { out, levels: MOST_LEVELS })
}

/// Why a value was not written.
#[derive(Debug)]
pub(super) enum Unwritten {
    Unfit(Unfit),
    Json(serde_json::Error),
    /// It is no text, where only a text was asked for.
    NoText,
}

impl fmt::Display for Unwritten {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unfit(unfit) => unfit.fmt(f),
            Self::Json(error) => error.fmt(f),
            Self::NoText => f.write_str("it is no text"),
        }
    }
}

impl std::error::Error for Unwritten {}

impl ser::Error for Unwritten {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self::Json(ser::Error::custom(message))
    }
}

impl From<serde_json::Error> for Unwritten {
    fn from(error: serde_json::Error) -> Self {
        Self::Json(error)
    }
}

/// Writes one value.
struct Writer<'o> {
    out: &'o mut Vec<u8>,
    /// How many levels there may still be.
    levels: u32,
}

impl<'o> Writer<'o> {
    /// What JSON itself writes of a value without parts.
    fn plain<T: Serialize + ?Sized>(self, value: &T) -> Result<(), Unwritten> {
        Ok(serde_json::to_writer(self.out, value)?)
    }

    fn float(self, value: f64, written: &impl Serialize) -> Result<(), Unwritten> {
        if value.is_finite() { self.plain(written) } else { Err(Unwritten::Unfit(Unfit::Float(value))) }
    }

    fn fixed(self, text: &[u8]) -> Result<(), Unwritten> {
        self.out.extend_from_slice(text);
        Ok(())
    }

    /// Begins what has parts.
    fn parts(self, levels: u32, begin: u8, end: &'static [u8]) -> Result<Parts<'o>, Unwritten> {
        let levels = self.levels.checked_sub(levels).ok_or(Unwritten::Unfit(Unfit::Deep))?;
        self.out.push(begin);
        Ok(Parts { out: self.out, levels, end, first: true })
    }

    /// `{"variant":`, then what it holds.
    fn variant(self, name: &str) -> Self {
        self.out.push(b'{');
        write_text(name, self.out);
        self.out.push(b':');
        self
    }
}

/// The names under which `serde_json` hands over text that is JSON already.
const RAW: [&str; 2] = ["$serde_json::private::RawValue", "$serde_json::private::Number"];

macro_rules! plain {
    ($($method:ident: $type:ty),* $(,)?) => {
        $(fn $method(self, value: $type) -> Result<(), Unwritten> { self.plain(&value) })*
    };
}

impl<'o> Serializer for Writer<'o> {
    type Ok = ();
    type Error = Unwritten;
    type SerializeSeq = Parts<'o>;
    type SerializeTuple = Parts<'o>;
    type SerializeTupleStruct = Parts<'o>;
    type SerializeTupleVariant = Parts<'o>;
    type SerializeMap = Parts<'o>;
    type SerializeStruct = Fields<'o>;
    type SerializeStructVariant = Parts<'o>;

    plain! {
        serialize_bool: bool,
        serialize_i8: i8,
        serialize_i16: i16,
        serialize_i32: i32,
        serialize_i64: i64,
        serialize_i128: i128,
        serialize_u8: u8,
        serialize_u16: u16,
        serialize_u32: u32,
        serialize_u64: u64,
        serialize_u128: u128,
        serialize_char: char,
    }

    fn serialize_f32(self, value: f32) -> Result<(), Unwritten> {
        self.float(value.into(), &value)
    }

    fn serialize_f64(self, value: f64) -> Result<(), Unwritten> {
        self.float(value, &value)
    }

    fn serialize_str(self, text: &str) -> Result<(), Unwritten> {
        write_text(text, self.out);
        Ok(())
    }

    fn serialize_bytes(self, bytes: &[u8]) -> Result<(), Unwritten> {
        self.plain(&Bytes(bytes))
    }

    fn serialize_none(self) -> Result<(), Unwritten> {
        self.fixed(b"null")
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), Unwritten> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<(), Unwritten> {
        self.fixed(b"null")
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<(), Unwritten> {
        self.fixed(b"null")
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, variant: &'static str) -> Result<(), Unwritten> {
        self.serialize_str(variant)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _: &'static str, value: &T) -> Result<(), Unwritten> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<(), Unwritten> {
        let levels = self.levels.checked_sub(1).ok_or(Unwritten::Unfit(Unfit::Deep))?;
        let Self { out, .. } = self.variant(variant);
        value.serialize(Writer { out: &mut *out, levels })?;
        out.push(b'}');
        Ok(())
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Parts<'o>, Unwritten> {
        self.parts(1, b'[', b"]")
    }

    fn serialize_tuple(self, _: usize) -> Result<Parts<'o>, Unwritten> {
        self.parts(1, b'[', b"]")
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Parts<'o>, Unwritten> {
        self.parts(1, b'[', b"]")
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Parts<'o>, Unwritten> {
        self.variant(variant).parts(2, b'[', b"]}")
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Parts<'o>, Unwritten> {
        self.parts(1, b'{', b"}")
    }

    fn serialize_struct(self, name: &'static str, _: usize) -> Result<Fields<'o>, Unwritten> {
        if RAW.contains(&name) {
            return Ok(Fields::Raw(self.out));
        }
        self.parts(1, b'{', b"}").map(Fields::Parts)
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Parts<'o>, Unwritten> {
        self.variant(variant).parts(2, b'{', b"}}")
    }
}

/// Bytes, which are a list of numbers.
struct Bytes<'b>(&'b [u8]);

impl Serialize for Bytes<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(self.0)
    }
}

/// The parts of a list or an object, one after the other.
struct Parts<'o> {
    out: &'o mut Vec<u8>,
    levels: u32,
    end: &'static [u8],
    first: bool,
}

impl Parts<'_> {
    fn comma(&mut self) {
        if !std::mem::replace(&mut self.first, false) {
            self.out.push(b',');
        }
    }

    fn value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Unwritten> {
        value.serialize(Writer { out: self.out, levels: self.levels })
    }

    fn element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Unwritten> {
        self.comma();
        self.value(value)
    }

    fn field<T: Serialize + ?Sized>(&mut self, name: &str, value: &T) -> Result<(), Unwritten> {
        self.comma();
        write_text(name, self.out);
        self.out.push(b':');
        self.value(value)
    }

    fn over(self) -> Result<(), Unwritten> {
        self.out.extend_from_slice(self.end);
        Ok(())
    }
}

macro_rules! elements {
    ($($trait:ident::$method:ident),* $(,)?) => {
        $(impl ser::$trait for Parts<'_> {
            type Ok = ();
            type Error = Unwritten;

            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Unwritten> {
                self.element(value)
            }

            fn end(self) -> Result<(), Unwritten> {
                self.over()
            }
        })*
    };
}

elements! {
    SerializeSeq::serialize_element,
    SerializeTuple::serialize_element,
    SerializeTupleStruct::serialize_field,
    SerializeTupleVariant::serialize_field,
}

impl ser::SerializeStructVariant for Parts<'_> {
    type Ok = ();
    type Error = Unwritten;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, name: &'static str, value: &T) -> Result<(), Unwritten> {
        self.field(name, value)
    }

    fn end(self) -> Result<(), Unwritten> {
        self.over()
    }
}

impl ser::SerializeMap for Parts<'_> {
    type Ok = ();
    type Error = Unwritten;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Unwritten> {
        self.comma();
        match key.serialize(Text { out: self.out, raw: false }) {
            Err(Unwritten::NoText) => {}
            written => return written,
        }
        // `{"key":null}` without all that stands around the key.
        let entry = serde_json::to_vec(&Entry(key))?;
        let key = entry.strip_prefix(b"{").and_then(|entry| entry.strip_suffix(b":null}"));
        self.out.extend_from_slice(key.unwrap_or_default());
        Ok(())
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Unwritten> {
        self.out.push(b':');
        self.value(value)
    }

    fn end(self) -> Result<(), Unwritten> {
        self.over()
    }
}

/// A map of one key, for keys that are no texts.
struct Entry<'k, K: ?Sized>(&'k K);

impl<K: Serialize + ?Sized> Serialize for Entry<'_, K> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map([(self.0, ())])
    }
}

/// The fields of a struct, or text that is JSON already.
enum Fields<'o> {
    Parts(Parts<'o>),
    Raw(&'o mut Vec<u8>),
}

impl ser::SerializeStruct for Fields<'_> {
    type Ok = ();
    type Error = Unwritten;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, name: &'static str, value: &T) -> Result<(), Unwritten> {
        match self {
            Self::Parts(parts) => parts.field(name, value),
            Self::Raw(out) => value.serialize(Text { out, raw: true }),
        }
    }

    fn end(self) -> Result<(), Unwritten> {
        match self {
            Self::Parts(parts) => parts.over(),
            Self::Raw(_) => Ok(()),
        }
    }
}

/// Writes a text and nothing else: as a JSON string, or as it is.
struct Text<'o> {
    out: &'o mut Vec<u8>,
    raw: bool,
}

macro_rules! no_text {
    ($($method:ident($($type:ty),*)),* $(,)?) => {
        $(fn $method(self, $(_: $type),*) -> Result<(), Unwritten> { Err(Unwritten::NoText) })*
    };
}

macro_rules! no_parts {
    ($($method:ident($($type:ty),*)),* $(,)?) => {
        $(fn $method(self, $(_: $type),*) -> Result<Impossible<(), Unwritten>, Unwritten> { Err(Unwritten::NoText) })*
    };
}

impl Serializer for Text<'_> {
    type Ok = ();
    type Error = Unwritten;
    type SerializeSeq = Impossible<(), Unwritten>;
    type SerializeTuple = Impossible<(), Unwritten>;
    type SerializeTupleStruct = Impossible<(), Unwritten>;
    type SerializeTupleVariant = Impossible<(), Unwritten>;
    type SerializeMap = Impossible<(), Unwritten>;
    type SerializeStruct = Impossible<(), Unwritten>;
    type SerializeStructVariant = Impossible<(), Unwritten>;

    no_text! {
        serialize_bool(bool),
        serialize_i8(i8),
        serialize_i16(i16),
        serialize_i32(i32),
        serialize_i64(i64),
        serialize_i128(i128),
        serialize_u8(u8),
        serialize_u16(u16),
        serialize_u32(u32),
        serialize_u64(u64),
        serialize_u128(u128),
        serialize_char(char),
        serialize_bytes(&[u8]),
        serialize_none(),
        serialize_unit(),
        serialize_unit_struct(&'static str),
    }

    no_parts! {
        serialize_seq(Option<usize>),
        serialize_tuple(usize),
        serialize_tuple_struct(&'static str, usize),
        serialize_tuple_variant(&'static str, u32, &'static str, usize),
        serialize_map(Option<usize>),
        serialize_struct(&'static str, usize),
        serialize_struct_variant(&'static str, u32, &'static str, usize),
    }

    fn serialize_f32(self, value: f32) -> Result<(), Unwritten> {
        self.serialize_f64(value.into())
    }

    fn serialize_f64(self, value: f64) -> Result<(), Unwritten> {
        Err(if value.is_finite() { Unwritten::NoText } else { Unwritten::Unfit(Unfit::Float(value)) })
    }

    fn serialize_str(self, text: &str) -> Result<(), Unwritten> {
        if self.raw {
            self.out.extend_from_slice(text.as_bytes())
        } else {
            write_text(text, self.out)
        }
        Ok(())
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, variant: &'static str) -> Result<(), Unwritten> {
        self.serialize_str(variant)
    }

    fn serialize_some<T: Serialize + ?Sized>(self, _: &T) -> Result<(), Unwritten> {
        Err(Unwritten::NoText)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _: &'static str, value: &T) -> Result<(), Unwritten> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: &T,
    ) -> Result<(), Unwritten> {
        Err(Unwritten::NoText)
    }
}

#[cfg(test)]
#[path = "writer_tests.rs"]
mod tests;
