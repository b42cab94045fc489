//! What is wrong with an argument, in words that a model can act on: where, what was expected, what was found.

use jsonschema::ValidationError;
use jsonschema::error::{TypeKind, ValidationErrorKind as Kind};
use serde_json::Value;

/// The most of a wrong value that is quoted, in characters.
const QUOTED: usize = 80;

/// The alternatives of one place that are told.
const ALTERNATIVES: usize = 4;

/// The places of a fault as JSON pointers (empty for all arguments), and what is wrong there.
pub(super) fn explain(error: &ValidationError<'_>) -> Vec<(String, String)> {
    let path = error.instance_path().to_string();
    let inside = |name: &str| format!("{path}/{}", name.replace('~', "~0").replace('/', "~1"));
    match error.kind() {
        Kind::Required { property } => {
            vec![(inside(property.as_str().unwrap_or_default()), "missing, but required".to_owned())]
        }
        Kind::AdditionalProperties { unexpected } | Kind::UnevaluatedProperties { unexpected } => {
            unexpected.iter().map(|name| (inside(name), "not known here; leave it out".to_owned())).collect()
        }
        Kind::AnyOf { context } | Kind::OneOfNotValid { context } => vec![(path.clone(), alternatives(&path, context))],
        _ => vec![(path, expected(error))],
    }
}

/// A fault with its place.
pub(super) fn placed(path: &str, what: &str) -> String {
    if path.is_empty() { what.to_owned() } else { format!("at `{path}`: {what}") }
}

/// The whole message for arguments that fit the schema but not their Rust type.
pub(super) fn unreadable(tool: &str, faults: &str) -> String {
    format!("the arguments of `{tool}` can't be read ({faults}); correct them and call again")
}

fn expected(error: &ValidationError<'_>) -> String {
    let found = || quoted(error.instance());
    match error.kind() {
        Kind::Type { kind } => format!("expected {}, found {}", kinds(kind), found()),
        Kind::Enum { options } => {
            let options: Vec<String> = options.as_array().into_iter().flatten().map(Value::to_string).collect();
            format!("expected one of {}, found {}", options.join(", "), found())
        }
        Kind::Constant { expected_value } => format!("expected {expected_value}, found {}", found()),
        Kind::Minimum { limit } => format!("expected at least {limit}, found {}", found()),
        Kind::Maximum { limit } => format!("expected at most {limit}, found {}", found()),
        Kind::ExclusiveMinimum { limit } => format!("expected more than {limit}, found {}", found()),
        Kind::ExclusiveMaximum { limit } => format!("expected less than {limit}, found {}", found()),
        Kind::MinLength { limit } => format!("expected at least {}, found {}", of(*limit, "character"), found()),
        Kind::MaxLength { limit } => format!("expected at most {}, found {}", of(*limit, "character"), found()),
        Kind::MinItems { limit } => format!("expected at least {}, found {}", of(*limit, "item"), items(error)),
        Kind::MaxItems { limit } => format!("expected at most {}, found {}", of(*limit, "item"), items(error)),
        Kind::UniqueItems => format!("expected items that differ, found {}", found()),
        Kind::Pattern { pattern } => format!("expected a text that matches `{pattern}`, found {}", found()),
        Kind::MultipleOf { multiple_of } => format!("expected a multiple of {multiple_of}, found {}", found()),
        Kind::Format { format } => format!("expected the format `{format}`, found {}", found()),
        // What is left names its keyword and the value by itself.
        _ => cut(&error.to_string()),
    }
}

/// What each alternative expects; a type that allows null is the commonest.
fn alternatives(path: &str, context: &[Vec<ValidationError<'static>>]) -> String {
    let mut each: Vec<String> = context
        .iter()
        .map(|errors| {
            let faults = errors.iter().flat_map(explain).map(|(place, what)| {
                let inside = place.strip_prefix(path).unwrap_or(&place);
                placed(inside, &what)
            });
            faults.collect::<Vec<_>>().join(" and ")
        })
        .collect();
    let left = each.len().saturating_sub(ALTERNATIVES);
    each.truncate(ALTERNATIVES);
    let more = if left == 0 { String::new() } else { format!(", or {left} more") };
    format!("none of the alternatives fits: ({}){more}", each.join(") or ("))
}

fn kinds(kind: &TypeKind) -> String {
    match kind {
        TypeKind::Single(kind) => article(&kind.to_string()),
        TypeKind::Multiple(kinds) => {
            let kinds: Vec<String> = kinds.iter().map(|kind| article(&kind.to_string())).collect();
            kinds.join(" or ")
        }
    }
}

fn article(kind: &str) -> String {
    match kind {
        "null" => kind.to_owned(),
        kind if kind.starts_with(['a', 'i', 'o']) => format!("an {kind}"),
        kind => format!("a {kind}"),
    }
}

fn of(limit: u64, what: &str) -> String {
    if limit == 1 { format!("1 {what}") } else { format!("{limit} {what}s") }
}

fn items(error: &ValidationError<'_>) -> String {
    error.instance().as_array().map_or(0, Vec::len).to_string()
}

/// A value with its type where the type is not seen at once.
fn quoted(value: &Value) -> String {
    let text = cut(&value.to_string());
    match value {
        Value::String(_) => format!("the text {text}"),
        Value::Array(_) => format!("the list {text}"),
        Value::Object(_) => format!("the object {text}"),
        _ => text,
    }
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(QUOTED) {
        Some((at, _)) => format!("{}..", &text[..at]),
        None => text.to_owned(),
    }
}
