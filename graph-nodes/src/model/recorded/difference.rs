//! How a request differs from a recorded one, in one line.

use std::collections::BTreeSet;

use serde_json::Value;

/// How many characters of a value are shown.
const SHOWN: usize = 60;

/// One place in which two requests differ.
struct Difference<'a> {
    place: String,
    recorded: Option<&'a Value>,
    asked: Option<&'a Value>,
}

/// The recorded requests with their lines, and which of them are used up: what is said about the nearest one.
pub(super) fn nearest<'a>(recorded: impl Iterator<Item = (usize, &'a Value)>, asked: &Value) -> String {
    let found = recorded.map(|(line, request)| (line, differences(request, asked)));
    match found.min_by_key(|(_, differences)| differences.len()) {
        None => "the cassette is empty".to_owned(),
        Some((line, differences)) => match differences.as_slice() {
            [] => format!("line {line} is equal, but it was asked for already"),
            [first, more @ ..] => {
                let more = if more.is_empty() { String::new() } else { format!(", and {} more", more.len()) };
                let (recorded, asked) = (shown(first.recorded), shown(first.asked));
                format!("the nearest is line {line}: `{}` is {asked} instead of {recorded}{more}", first.place)
            }
        },
    }
}

fn differences<'a>(recorded: &'a Value, asked: &'a Value) -> Vec<Difference<'a>> {
    let mut found = Vec::new();
    compare("", Some(recorded), Some(asked), &mut found);
    found
}

/// Goes no deeper than the recorded request, which was read from text and so is not deep.
fn compare<'a>(place: &str, recorded: Option<&'a Value>, asked: Option<&'a Value>, found: &mut Vec<Difference<'a>>) {
    match (recorded, asked) {
        (Some(Value::Object(a)), Some(Value::Object(b))) => {
            for key in a.keys().chain(b.keys()).collect::<BTreeSet<_>>() {
                let inner = if place.is_empty() { key.clone() } else { format!("{place}.{key}") };
                compare(&inner, a.get(key), b.get(key), found);
            }
        }
        (Some(Value::Array(a)), Some(Value::Array(b))) => {
            for n in 0..a.len().max(b.len()) {
                compare(&format!("{place}[{n}]"), a.get(n), b.get(n), found);
            }
        }
        (recorded, asked) if recorded == asked => {}
        (recorded, asked) => found.push(Difference { place: place.to_owned(), recorded, asked }),
    }
}

fn shown(value: Option<&Value>) -> String {
    let Some(value) = value else { return "absent".to_owned() };
    let text = value.to_string();
    if text.chars().count() <= SHOWN {
        return format!("`{text}`");
    }
    format!("`{}..`", text.chars().take(SHOWN).collect::<String>())
}
