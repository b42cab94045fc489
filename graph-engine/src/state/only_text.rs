//! A serializer for what can only be a text: the key of an object, and JSON that is there already.

use serde::ser::{Impossible, Serialize, Serializer};

use super::finite::Unfit;
use super::text::write_text;
use super::writer::Unwritten;

/// Writes a text and nothing else: as a JSON string, or as it is.
pub(super) struct Text<'o> {
    pub(super) out: &'o mut Vec<u8>,
    pub(super) raw: bool,
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
