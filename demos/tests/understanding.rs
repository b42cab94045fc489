//! The utterance tables: how many sentences are understood to the letter.

use demos::hotel::understand::understand;
use jiff::civil::Date;
use serde_json::{Map, Value};
use std::path::Path;

/// One line of a table that was not understood as expected.
struct Wrong {
    line: usize,
    text: String,
    expected: String,
    found: String,
}

fn table(name: &str) -> (usize, Vec<Wrong>) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(name);
    let lines = std::fs::read_to_string(&path).expect("the table is in the repository");
    let mut count = 0;
    let mut wrong = Vec::new();
    for (index, line) in lines.lines().enumerate() {
        if line.trim().is_empty() {
            continue;
        }
        count += 1;
        // Without the parser's own message, which would quote the line.
        let Ok(row) = serde_json::from_str::<Map<String, Value>>(line) else {
            panic!("line {} of {name} is not a JSON object", index + 1);
        };
        let text = row["text"].as_str().unwrap_or_default().to_owned();
        let today: Date = row["today"].as_str().unwrap_or_default().parse().expect("a day");
        let mut expected = Map::new();
        expected.insert("slots".into(), row["slots"].clone());
        expected.insert("intent".into(), row["intent"].clone());
        let understood = understand(&text, today);
        let mut found = Map::new();
        found.insert("slots".into(), serde_json::to_value(&understood.slots).expect("slots are JSON"));
        found.insert("intent".into(), serde_json::to_value(understood.intent).expect("intents are JSON"));
        let (expected, found) = (canonical(&expected.into()), canonical(&found.into()));
        if expected != found {
            wrong.push(Wrong { line: index + 1, text, expected, found });
        }
    }
    (count, wrong)
}

/// JSON text with sorted keys in which 200 and 200.0 are the same.
fn canonical(value: &Value) -> String {
    match value {
        Value::Object(map) => {
            let mut parts: Vec<String> = map.iter().map(|(key, value)| format!("{key}:{}", canonical(value))).collect();
            parts.sort();
            format!("{{{}}}", parts.join(" "))
        }
        Value::Array(items) => {
            let parts: Vec<String> = items.iter().map(canonical).collect();
            format!("[{}]", parts.join(", "))
        }
        Value::Number(number) => format!("{}", number.as_f64().unwrap_or(f64::NAN)),
        other => other.to_string(),
    }
}

fn enough(count: usize, wrong: usize) -> bool {
    (count - wrong) * 100 >= count * 95
}

#[test]
fn the_open_table_is_understood() {
    let (count, wrong) = table("utterances.jsonl");
    assert!(count >= 85, "the open table has only {count} lines");
    let report: String = wrong
        .iter()
        .map(|wrong| {
            format!("line {}: {}\n  expected {}\n  found    {}\n", wrong.line, wrong.text, wrong.expected, wrong.found)
        })
        .collect();
    assert!(enough(count, wrong.len()), "{} of {count} right\n{report}", count - wrong.len());
    assert_eq!(report, "", "every line of the open table is expected to be right");
}

/// Reports line numbers only: the sentences are not known to those who write
/// the rules.
#[test]
fn the_blind_table_is_understood() {
    let (count, wrong) = table("utterances_blind.jsonl");
    let lines: Vec<usize> = wrong.iter().map(|wrong| wrong.line).collect();
    assert_eq!(count, 40);
    assert!(enough(count, wrong.len()), "{} of {count} right, wrong lines {lines:?}", count - wrong.len());
}
