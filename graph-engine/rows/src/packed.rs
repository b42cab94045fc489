//! JSON as MessagePack and back, without losing the order of keys or the kind of a number.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Serialize, Serializer};

/// How deep values may be nested: what `serde_json` reads, so nothing is packed that could not be unpacked.
const DEPTH: usize = 128;

/// The MessagePack of a JSON text, if it is shorter and gives back the same text.
pub(crate) fn pack(json: &[u8]) -> Option<Vec<u8>> {
    let value: Value<'_> = serde_json::from_slice(json).ok()?;
    let packed = rmp_serde::to_vec(&value).ok()?;
    (packed.len() < json.len() && unpack(&packed).is_ok_and(|back| back == json)).then_some(packed)
}

/// The JSON of a MessagePack.
pub(crate) fn unpack(packed: &[u8]) -> Result<Vec<u8>, String> {
    let mut reader = rmp_serde::Deserializer::from_read_ref(packed);
    reader.set_max_depth(DEPTH * 2);
    let value = Value::deserialize(&mut reader).map_err(|e| e.to_string())?;
    let json = serde_json::to_vec(&value).map_err(|e| e.to_string())?;
    // `pack` writes one value, in its shortest form, and nothing behind it.
    match rmp_serde::to_vec(&value) {
        Ok(again) if again.len() == packed.len() => Ok(json),
        _ => Err("it is not as it was written".to_owned()),
    }
}

/// A JSON value that keeps its keys as they came, twice if they came twice.
enum Value<'a> {
    Null,
    Bool(bool),
    Unsigned(u64),
    Signed(i64),
    Float(f64),
    Text(std::borrow::Cow<'a, str>),
    List(Vec<Self>),
    Map(Vec<(Self, Self)>),
}

impl Serialize for Value<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null => to.serialize_unit(),
            Self::Bool(value) => to.serialize_bool(*value),
            Self::Unsigned(value) => to.serialize_u64(*value),
            Self::Signed(value) => to.serialize_i64(*value),
            Self::Float(value) => to.serialize_f64(*value),
            Self::Text(value) => to.serialize_str(value),
            Self::List(items) => to.collect_seq(items),
            Self::Map(entries) => to.collect_map(entries.iter().map(|(key, value)| (key, value))),
        }
    }
}

impl<'de> Deserialize<'de> for Value<'de> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(Reader)
    }
}

struct Reader;

/// A key is a text, and nothing else.
struct Key;

impl<'de> DeserializeSeed<'de> for Key {
    type Value = Value<'de>;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Self::Value, D::Error> {
        match from.deserialize_any(Reader)? {
            text @ Value::Text(_) => Ok(text),
            _ => Err(serde::de::Error::custom("a key is no text")),
        }
    }
}

impl<'de> Visitor<'de> for Reader {
    type Value = Value<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Self::Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Self::Value, E> {
        Ok(Value::Unsigned(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Self::Value, E> {
        Ok(Value::Signed(value))
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<Self::Value, E> {
        // JSON has no form for the others; serde_json would write `null` and say nothing.
        if value.is_finite() { Ok(Value::Float(value)) } else { Err(E::custom("a number is not finite")) }
    }

    fn visit_str<E>(self, value: &str) -> Result<Self::Value, E> {
        Ok(Value::Text(value.to_owned().into()))
    }

    fn visit_borrowed_str<E>(self, value: &'de str) -> Result<Self::Value, E> {
        Ok(Value::Text(value.into()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut from: A) -> Result<Self::Value, A::Error> {
        // Not with the capacity that a damaged row may claim.
        let mut items = Vec::new();
        while let Some(item) = from.next_element()? {
            items.push(item);
        }
        Ok(Value::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut from: A) -> Result<Self::Value, A::Error> {
        let mut entries = Vec::new();
        while let Some(key) = from.next_key_seed(Key)? {
            entries.push((key, from.next_value()?));
        }
        Ok(Value::Map(entries))
    }
}
