//! What makes two calls the same.

use serde_json::Value;

use crate::message::ToolCall;
use crate::model::canonical;

/// Longer ones are not remembered, so that the ledger stays small; such a call simply runs again.
const LONGEST: usize = 1024;

/// The tool and its arguments with sorted keys, so that the order in which a model writes them makes no difference.
/// None for faulty and for very long arguments.
pub(super) fn signature(call: &ToolCall) -> Option<String> {
    let arguments = call.arguments.parsed().ok()?;
    if call.arguments.raw().len() > 2 * LONGEST {
        return None;
    }
    let text = format!("{} {}", call.name, canonical(&Value::Object(arguments.clone())));
    (text.len() <= LONGEST).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(arguments: &str) -> Option<String> {
        signature(&ToolCall::from_text("c1", "f", arguments))
    }

    #[test]
    fn keys_are_sorted_at_every_depth_and_lists_are_not() {
        assert_eq!(
            of(r#"{"b": {"d": 1, "c": [2, 1]}, "a": "x"}"#).as_deref(),
            Some(r#"f {"a":"x","b":{"c":[2,1],"d":1}}"#)
        );
        assert_ne!(of(r#"{"a": [1, 2]}"#), of(r#"{"a": [2, 1]}"#));
    }

    #[test]
    fn faulty_and_long_arguments_have_none() {
        assert_eq!(of("[]"), None);
        assert_eq!(of(&format!(r#"{{"a": "{}"}}"#, "x".repeat(1024))), None);
        assert_eq!(of("").as_deref(), Some("f {}"));
    }
}
