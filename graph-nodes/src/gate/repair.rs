//! Syntax that models get wrong around JSON, set right.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What was repaired of structured output. Only syntax around the data: no bracket is closed, no quote added.
///
/// ```
/// use graph_nodes::gate::Repair;
///
/// assert_eq!(serde_json::to_string(&Repair::CodeFence).unwrap(), r#""code_fence""#);
/// assert_eq!(Repair::TrailingCommas.to_string(), "trailing commas");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Repair {
    /// The fence of a code block around the whole text was taken away.
    CodeFence,
    /// Commas before a closing bracket were taken away.
    TrailingCommas,
}

impl fmt::Display for Repair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::CodeFence => "code fence",
            Self::TrailingCommas => "trailing commas",
        })
    }
}

/// The repaired text, and what was done; none if there is nothing to repair. One pass each, whatever the text is.
pub(super) fn repair(text: &str) -> Option<(String, Vec<Repair>)> {
    let mut done = Vec::new();
    let inner = without_fence(text);
    if inner.is_some() {
        done.push(Repair::CodeFence);
    }
    let inner = inner.unwrap_or(text);
    let plain = without_trailing_commas(inner);
    if plain.len() < inner.len() {
        done.push(Repair::TrailingCommas);
    }
    (!done.is_empty()).then_some((plain, done))
}

/// What stands between the two lines of a fence that spans the whole text.
fn without_fence(text: &str) -> Option<&str> {
    let (info, rest) = text.trim().strip_prefix("```")?.split_once('\n')?;
    let body = rest.strip_suffix("```")?;
    (!info.contains('`')).then(|| body.trim())
}

fn without_trailing_commas(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let (mut in_string, mut escaped) = (false, false);
    // Where the last comma stands in `plain`, as long as only white space came after it.
    let mut comma = None;
    for c in text.chars() {
        if in_string {
            in_string = escaped || c != '"';
            escaped = !escaped && c == '\\';
        } else {
            match (c, comma) {
                ('}' | ']', Some(at)) => {
                    plain.remove(at);
                    comma = None;
                }
                (',', _) => comma = Some(plain.len()),
                (c, _) if c.is_ascii_whitespace() => {}
                _ => comma = None,
            }
            in_string = c == '"';
        }
        plain.push(c);
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    fn repaired(text: &str) -> Option<String> {
        repair(text).map(|(text, _)| text)
    }

    #[test]
    fn fences_and_trailing_commas_go() {
        assert_eq!(
            repair("```json\n{\"a\": [1, 2, ], }\n```\n").unwrap(),
            (r#"{"a": [1, 2 ] }"#.to_owned(), vec![Repair::CodeFence, Repair::TrailingCommas],)
        );
        assert_eq!(repaired("```\n[]```").as_deref(), Some("[]"));
    }

    #[test]
    fn what_is_within_a_string_stays() {
        assert_eq!(repaired(r#"{"a": ",}", "b": "\",]"}"#), None);
        assert_eq!(repaired(r#"{"a": ",}",}"#).as_deref(), Some(r#"{"a": ",}"}"#));
    }

    #[test]
    fn nothing_is_closed_completed_or_cut_out() {
        for text in [r#"{"a": 1"#, "{'a': 1}", "Here: ```json\n{}\n```", "```json {}```", "{}", "", "```"] {
            assert_eq!(repaired(text), None, "{text}");
        }
    }
}
