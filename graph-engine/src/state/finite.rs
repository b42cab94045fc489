//! Finds what JSON can't hold in any serialisable value: a float that is not finite, which it would store as `null` and
//! say nothing, and more levels than a reader goes down into.

use std::fmt;

use serde::Serialize;
use serde::ser;

/// Lists and objects inside of each other. A reader of JSON stops at 127, and what is stored stands within others.
pub(crate) const MOST_LEVELS: u32 = 100;

/// What keeps a value from being stored.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Unfit {
    /// The first float that is NaN or infinite.
    Float(f64),
    /// It has more than [`MOST_LEVELS`].
    Deep,
}

impl fmt::Display for Unfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Float(float) => write!(f, "it holds a float that is not finite ({float}), which JSON can't store"),
            Self::Deep => write!(
                f,
                "it has more than {MOST_LEVELS} levels of lists and objects inside of each other, which could not be read \
                 again"
            ),
        }
    }
}

/// What keeps the value from being stored as JSON and read again.
pub(super) fn unfit<T: Serialize + ?Sized>(value: &T) -> Option<Unfit> {
    // Any other error is left to the real serialiser, which reports it better.
    value.serialize(Search(MOST_LEVELS)).err().and_then(|found| found.0)
}

/// How many levels there may still be.
#[derive(Clone, Copy)]
struct Search(u32);

impl Search {
    fn down(self, levels: u32) -> Result<Self, Found> {
        self.0.checked_sub(levels).map(Self).ok_or(Found(Some(Unfit::Deep)))
    }
}

#[derive(Debug)]
struct Found(Option<Unfit>);

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
        if value.is_finite() { Ok(()) } else { Err(Found(Some(Unfit::Float(value)))) }
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
        value.serialize(self.down(1)?)
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Self, Found> {
        self.down(1)
    }

    fn serialize_tuple(self, _: usize) -> Result<Self, Found> {
        self.down(1)
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Self, Found> {
        self.down(1)
    }

    fn serialize_tuple_variant(self, _: &'static str, _: u32, _: &'static str, _: usize) -> Result<Self, Found> {
        self.down(2)
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Self, Found> {
        self.down(1)
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Self, Found> {
        self.down(1)
    }

    fn serialize_struct_variant(self, _: &'static str, _: u32, _: &'static str, _: usize) -> Result<Self, Found> {
        self.down(2)
    }
}

macro_rules! compound {
    ($($trait:ident::$method:ident($($key:ty)?)),* $(,)?) => {
        $(impl ser::$trait for Search {
            type Ok = ();
            type Error = Found;
            fn $method<T: Serialize + ?Sized>(&mut self, $(_: $key,)? value: &T) -> Result<(), Found> {
                value.serialize(*self)
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
        key.serialize(*self)
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Found> {
        value.serialize(*self)
    }

    fn end(self) -> Result<(), Found> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn float<T: Serialize>(value: &T) -> Option<f64> {
        match unfit(value) {
            Some(Unfit::Float(float)) => Some(float),
            Some(Unfit::Deep) => panic!("it is not deep"),
            None => None,
        }
    }

    #[derive(Serialize)]
    enum Shape {
        Unit,
        New(f32),
        Tuple(u8, f64),
        Struct { inner: Option<Vec<f64>> },
    }

    #[test]
    fn finds_floats_at_any_depth_and_nothing_else() {
        assert_eq!(float(&(1, "x", Some(1.5), [0.1, 0.2])), None);
        assert_eq!(float(&Shape::Unit), None);
        assert_eq!(float(&Shape::New(f32::INFINITY)), Some(f64::INFINITY));
        assert_eq!(float(&Shape::Tuple(1, f64::NEG_INFINITY)), Some(f64::NEG_INFINITY));
        assert_eq!(float(&Shape::Struct { inner: None }), None);
        assert!(float(&Shape::Struct { inner: Some(vec![1.0, f64::NAN]) }).is_some_and(f64::is_nan));
        assert_eq!(float(&BTreeMap::from([("a", BTreeMap::from([(1, f64::INFINITY)]))])), Some(f64::INFINITY));
    }

    #[derive(Serialize, serde::Deserialize)]
    enum Tree {
        Leaf,
        New(Box<Tree>),
        Tuple(u8, Box<Tree>),
        Struct { inner: Option<Vec<Tree>> },
    }

    /// The tree with so many more nodes, of all shapes in turn.
    fn grown(nodes: usize) -> Tree {
        (0..nodes).fold(Tree::Leaf, |tree, n| match n % 3 {
            0 => Tree::New(Box::new(tree)),
            1 => Tree::Tuple(1, Box::new(tree)),
            _ => Tree::Struct { inner: Some(vec![tree]) },
        })
    }

    #[test]
    fn levels_are_counted_as_a_reader_counts_them() {
        // Three nodes have 1, 2 and 3 levels.
        assert_eq!((unfit(&grown(50)), unfit(&grown(51))), (None, Some(Unfit::Deep)));
        let list = |levels: usize| (1..levels).fold(serde_json::json!([]), |list, _| serde_json::json!([list]));
        assert_eq!((unfit(&list(100)), unfit(&list(101))), (None, Some(Unfit::Deep)));
        // What passes is read again, also within other levels.
        let text = serde_json::to_string(&[[[[[[grown(50)]]]]]]).unwrap();
        assert!(serde_json::from_str::<[[[[[[Tree; 1]; 1]; 1]; 1]; 1]; 1]>(&text).is_ok());
    }
}
