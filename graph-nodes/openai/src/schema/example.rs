//! Earlier calls, replies and results in the form in which the model has to answer.

use graph_nodes::message::CallStatus;
use serde::Serialize;
use serde_json::value::RawValue;

#[derive(Serialize)]
struct CallJson<'a> {
    name: &'a str,
    arguments: &'a RawValue,
}

#[derive(Serialize)]
struct ReplyJson<T> {
    reply: T,
}

#[derive(Serialize)]
struct ResultJson<'a, T> {
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<T>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<T>,
}

/// A call. The arguments are a JSON object.
pub(crate) fn call_json(name: &str, arguments: &str) -> String {
    let empty = RawValue::NULL;
    text(&CallJson { name, arguments: serde_json::from_str(arguments).unwrap_or(empty) })
}

/// A reply: a JSON value as it is where values are asked for, else a text.
pub(crate) fn reply_json(reply: &str, is_value: bool) -> String {
    match serde_json::from_str::<&RawValue>(reply) {
        Ok(reply) if is_value => text(&ReplyJson { reply }),
        _ => text(&ReplyJson { reply }),
    }
}

/// What a tool answered: an object or a list as it is, else a text.
pub(crate) fn result_json(name: Option<&str>, answer: &str, status: CallStatus) -> String {
    let is_error = status != CallStatus::Ok;
    match serde_json::from_str::<&RawValue>(answer) {
        Ok(value) if answer.trim_start().starts_with(['{', '[']) => told(name, value, is_error),
        _ => told(name, answer, is_error),
    }
}

fn told<T: Serialize>(name: Option<&str>, answer: T, is_error: bool) -> String {
    let (result, error) = if is_error { (None, Some(answer)) } else { (Some(answer), None) };
    text(&ResultJson { name, result, error })
}

fn text(value: &impl Serialize) -> String {
    // Structs of texts and JSON values: neither of the two ways for this to fail, keys that are no texts and numbers
    // that are no JSON.
    serde_json::to_string(value).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_replies_and_results() {
        assert_eq!(call_json("search", r#"{"b": 1,"a":2}"#), r#"{"name":"search","arguments":{"b": 1,"a":2}}"#);
        assert_eq!(reply_json("7 \"rooms\"", false), r#"{"reply":"7 \"rooms\""}"#);
        assert_eq!(reply_json("7", false), r#"{"reply":"7"}"#);
        assert_eq!(reply_json(r#"{"rooms":7}"#, true), r#"{"reply":{"rooms":7}}"#);
        assert_eq!(reply_json("no JSON", true), r#"{"reply":"no JSON"}"#);
        assert_eq!(
            result_json(Some("search"), "two hotels", CallStatus::Ok),
            r#"{"name":"search","result":"two hotels"}"#
        );
        assert_eq!(result_json(None, "[1,2]", CallStatus::Ok), r#"{"result":[1,2]}"#);
        assert_eq!(result_json(Some("f"), "7", CallStatus::Error), r#"{"name":"f","error":"7"}"#);
    }
}
