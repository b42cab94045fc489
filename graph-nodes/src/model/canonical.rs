//! JSON text that is the same for equal values, and a hash of it that is the same everywhere.

use serde_json::Value;

use crate::fnv::Fnv;

/// The value with object keys sorted by code point and without white space, whatever order they were inserted in and
/// whatever features `serde_json` was built with.
pub(crate) fn canonical(value: &Value) -> String {
    let mut text = String::new();
    write(value, &mut text);
    text
}

/// As 16 hexadecimal digits.
pub(super) fn hash(text: &str) -> String {
    format!("{:016x}", Fnv::of(text).get())
}

fn write(value: &Value, text: &mut String) {
    match value {
        Value::Array(items) => {
            text.push('[');
            for (n, item) in items.iter().enumerate() {
                if n > 0 {
                    text.push(',');
                }
                write(item, text);
            }
            text.push(']');
        }
        Value::Object(map) => {
            let mut entries: Vec<_> = map.iter().collect();
            entries.sort_unstable_by_key(|(key, _)| *key);
            text.push('{');
            for (n, (key, item)) in entries.into_iter().enumerate() {
                if n > 0 {
                    text.push(',');
                }
                text.push_str(&Value::from(key.as_str()).to_string());
                text.push(':');
                write(item, text);
            }
            text.push('}');
        }
        leaf => text.push_str(&leaf.to_string()),
    }
}
