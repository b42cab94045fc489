//! Finds a float that is not finite in any serialisable value. JSON would store it as `null` and say nothing.

use std::fmt;

use serde::Serialize;
use serde::ser;

/// The first float of the value that is NaN or infinite.
pub(super) fn first_not_finite<T: Serialize + ?Sized>(value: &T) -> Option<f64> {
    // Any other error is left to the real serialiser, which reports it better.
    value.serialize(Search).err().and_then(|found| found.0)
}

struct Search;

#[derive(Debug)]
struct Found(Option<f64>);

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.0)
    }
}

impl std::error::Error for Found {}

impl ser::Error for Found {
    fn custom<T: fmt::Display>(_: T) -> Self {
        Self(None)
    }
}

macro_rules! nothing {
    ($($method:ident: $type:ty),* $(,)?) => {
        $(fn $method(self, _: $type) -> Result<(), Found> { Ok(()) })*
    };
}

impl ser::Serializer for Search {
    type Ok = ();
    type Error = Found;
    type SerializeSeq = Self;
    type SerializeTuple = Self;
    type SerializeTupleStruct = Self;
    type SerializeTupleVariant = Self;
    type SerializeMap = Self;
    type SerializeStruct = Self;
    type SerializeStructVariant = Self;

    nothing! {
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
        serialize_str: &str,
        serialize_bytes: &[u8],
        serialize_unit_struct: &'static str,
    }

    fn serialize_f32(self, value: f32) -> Result<(), Found> {
        self.serialize_f64(value.into())
    }

    fn serialize_f64(self, value: f64) -> Result<(), Found> {
        if value.is_finite() { Ok(()) } else { Err(Found(Some(value))) }
    }

    fn serialize_none(self) -> Result<(), Found> {
        Ok(())
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), Found> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<(), Found> {
        Ok(())
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, _: &'static str) -> Result<(), Found> {
        Ok(())
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _: &'static str, value: &T) -> Result<(), Found> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        value: &T,
    ) -> Result<(), Found> {
        value.serialize(self)
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Self, Found> {
        Ok(self)
    }

    fn serialize_tuple(self, _: usize) -> Result<Self, Found> {
        Ok(self)
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Self, Found> {
        Ok(self)
    }

    fn serialize_tuple_variant(self, _: &'static str, _: u32, _: &'static str, _: usize) -> Result<Self, Found> {
        Ok(self)
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Self, Found> {
        Ok(self)
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Self, Found> {
        Ok(self)
    }

    fn serialize_struct_variant(self, _: &'static str, _: u32, _: &'static str, _: usize) -> Result<Self, Found> {
        Ok(self)
    }
}

macro_rules! compound {
    ($($trait:ident::$method:ident($($key:ty)?)),* $(,)?) => {
        $(impl ser::$trait for Search {
            type Ok = ();
            type Error = Found;
            fn $method<T: Serialize + ?Sized>(&mut self, $(_: $key,)? value: &T) -> Result<(), Found> {
                value.serialize(Search)
            }
            fn end(self) -> Result<(), Found> {
                Ok(())
            }
        })*
    };
}

compound! {
    SerializeSeq::serialize_element(),
    SerializeTuple::serialize_element(),
    SerializeTupleStruct::serialize_field(),
    SerializeTupleVariant::serialize_field(),
    SerializeStruct::serialize_field(&'static str),
    SerializeStructVariant::serialize_field(&'static str),
}

impl ser::SerializeMap for Search {
    type Ok = ();
    type Error = Found;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Found> {
        key.serialize(Search)
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Found> {
        value.serialize(Search)
    }

    fn end(self) -> Result<(), Found> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[derive(Serialize)]
    enum Shape {
        Unit,
        New(f32),
        Tuple(u8, f64),
        Struct { inner: Option<Vec<f64>> },
    }

    #[test]
    fn finds_floats_at_any_depth_and_nothing_else() {
        assert_eq!(first_not_finite(&(1, "x", Some(1.5), [0.1, 0.2])), None);
        assert_eq!(first_not_finite(&Shape::Unit), None);
        assert_eq!(first_not_finite(&Shape::New(f32::INFINITY)), Some(f64::INFINITY));
        assert_eq!(first_not_finite(&Shape::Tuple(1, f64::NEG_INFINITY)), Some(f64::NEG_INFINITY));
        assert_eq!(first_not_finite(&Shape::Struct { inner: None }), None);
        assert!(first_not_finite(&Shape::Struct { inner: Some(vec![1.0, f64::NAN]) }).is_some_and(f64::is_nan));
        assert_eq!(
            first_not_finite(&BTreeMap::from([("a", BTreeMap::from([(1, f64::INFINITY)]))])),
            Some(f64::INFINITY)
        );
    }
}
