//! What is written, beside what `serde_json` writes.

use std::collections::{BTreeMap, HashMap};

use serde::ser::{SerializeMap, SerializeSeq};
use serde_json::json;
use serde_json::value::RawValue;

use super::*;
use crate::state::finite::unfit;

fn written<T: Serialize + ?Sized>(value: &T) -> Result<String, String> {
    let mut out = b"before".to_vec();
    write(value, &mut out).map_err(|error| error.to_string())?;
    Ok(String::from_utf8(out.split_off(6)).unwrap())
}

fn same<T: Serialize + ?Sized>(value: &T) {
    assert_eq!(written(value).unwrap(), serde_json::to_string(value).unwrap());
}

#[derive(Serialize)]
struct Unit;

#[derive(Serialize)]
struct New(&'static str);

#[derive(Serialize)]
struct Pair(u8, f32);

#[derive(Serialize, Default)]
struct Named {
    #[serde(rename = "a \"b\"\n")]
    odd: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    gone: Option<u8>,
    #[serde(flatten)]
    more: BTreeMap<String, u8>,
}

#[derive(Serialize, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Key {
    One,
    New(u8),
}

#[derive(Serialize)]
enum Shape {
    Unit,
    New(f64),
    Tuple(u8, &'static str),
    Struct { inner: Option<Vec<Unit>>, none: Option<u8> },
}

#[derive(Serialize)]
#[serde(tag = "kind", content = "of")]
enum Tagged {
    Text(String),
    Named { at: u8 },
}

#[test]
fn every_shape_is_written_as_by_serde_json() {
    same(&(true, false, 'x', '"', "", "text", ()));
    same(&(i8::MIN, i16::MIN, i32::MIN, i64::MIN, i128::MIN));
    same(&(u8::MAX, u16::MAX, u32::MAX, u64::MAX, u128::MAX));
    same(&(0.1_f32, 1e300, -0.0, 1.0, f64::MIN_POSITIVE));
    same(&(Unit, New("n"), Pair(1, 2.5), Some(Some(3)), None::<u8>));
    same(&[Shape::Unit, Shape::New(1.5), Shape::Tuple(1, "\t"), Shape::Struct { inner: None, none: Some(1) }]);
    same(&Shape::Struct { inner: Some(vec![Unit, Unit]), none: None });
    same(&[Tagged::Text("x".into()), Tagged::Named { at: 1 }]);
    same(&Named::default());
    same(&Named { gone: Some(1), more: BTreeMap::from([("x".into(), 1), ("y\\".into(), 2)]), ..Named::default() });
    same(&(Vec::<u8>::new(), BTreeMap::<String, u8>::new(), [(); 0]));
    same(&json!({"a": [1, -2, 1.5, null, true, "é\u{1}"], "b": {}, "c": [], "": {"d": [[]]}}));
    same(&Bytes(b"\x00ab\xff"));
    same(&Bytes(b""));
    same(&format_args!("{}-{}", 1, "\"x\""));
}

#[test]
fn keys_are_texts_whatever_they_were() {
    same(&BTreeMap::from([("a\n", 1), ("", 2)]));
    same(&BTreeMap::from([(1_i64, "x"), (-2, "y")]));
    same(&BTreeMap::from([(true, 1), (false, 2)]));
    same(&BTreeMap::from([('c', 1), ('"', 2)]));
    same(&HashMap::from([(Key::One, 1)]));
    same(&BTreeMap::from([(Some("x"), 1)]));
    same(&BTreeMap::from([(u128::MAX, 1)]));
    let wrong = BTreeMap::from([(vec![1], 1)]);
    assert_eq!(written(&wrong).unwrap_err(), serde_json::to_string(&wrong).unwrap_err().to_string());
    let wrong = HashMap::from([(Key::New(1), 1)]);
    assert_eq!(written(&wrong).unwrap_err(), serde_json::to_string(&wrong).unwrap_err().to_string());
}

#[test]
fn json_that_is_there_already_stays_as_it_is() {
    let raw: Box<RawValue> = serde_json::from_str(" {\"a\" :  1.50}").unwrap();
    assert_eq!(written(&[&raw, &raw]).unwrap(), "[{\"a\" :  1.50},{\"a\" :  1.50}]");
    same(&json!([18_446_744_073_709_551_615_u64, -1, 0.1]));
}

struct Odd;

impl Serialize for Odd {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut list = serializer.serialize_seq(None)?;
        list.serialize_element(&1)?;
        list.serialize_element(&Refused)?;
        list.end()
    }
}

struct Refused;

impl Serialize for Refused {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_key("k")?;
        map.serialize_value(&1)?;
        Err(ser::Error::custom("not today"))
    }
}

#[test]
fn what_json_cannot_hold_is_found_as_before_and_what_a_value_says_itself_is_told() {
    assert_eq!(written(&Odd).unwrap_err(), serde_json::to_string(&Odd).unwrap_err().to_string());
    let list = |levels: usize| (1..levels).fold(json!([]), |list, _| json!([list]));
    let values = [json!(1), list(100), list(101), json!({"a": list(99)}), json!({"a": list(100)})];
    for value in &values {
        assert_eq!(written(value).err(), unfit(value).map(|unfit| unfit.to_string()));
    }
    for float in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        assert_eq!(written(&[Some(float)]).err(), unfit(&float).map(|unfit| unfit.to_string()));
        let (new, map) = (Shape::New(float), HashMap::from([("a", float)]));
        assert_eq!(written(&(new, map)).err(), unfit(&float).map(|unfit| unfit.to_string()));
    }
}
