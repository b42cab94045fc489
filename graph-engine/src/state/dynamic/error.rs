//! What is wrong with a schema, or with a read or write by name.

use super::JsonType;
use crate::state::Merge;

/// A schema that can't be.
///
/// ```
/// use graph_engine::{Schema, SchemaError, SchemaField};
///
/// let error = Schema::new([SchemaField::new("city"), SchemaField::new("city")]).unwrap_err();
/// assert!(matches!(error, SchemaError::Duplicate { field } if field == "city"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SchemaError {
    /// Two fields have one name.
    #[error("field `{field}` is declared twice; rename one of them")]
    Duplicate {
        /// The name.
        field: String,
    },
    /// A field has no name.
    #[error("a field has an empty name; name it")]
    NoName,
    /// A field's default is not of its type.
    #[error("the default of field `{field}` is of type {found}, but the field holds {expected}; make both the same")]
    WrongDefault {
        /// The field.
        field: String,
        /// What the field holds.
        expected: String,
        /// What the default is.
        found: &'static str,
    },
}

/// A field of a [`DynState`](crate::DynState) can't be read or written like this.
///
/// ```
/// use graph_engine::{DynState, FieldError, Schema, SchemaField};
///
/// let state = DynState::new(Schema::new([SchemaField::new("city")])?);
/// let error = state.update().set("town", "Oslo").unwrap_err();
/// assert!(matches!(&error, FieldError::Unknown { field, .. } if field == "town"));
/// assert_eq!(error.to_string(), "the state has no field `town`; its fields are `city`");
/// # Ok::<(), graph_engine::SchemaError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FieldError {
    /// The state has no such field.
    #[error("the state has no field `{field}`; its fields are {}", crate::name::quoted(known.iter().map(String::as_str)))]
    Unknown {
        /// The name that was asked for.
        field: String,
        /// All names that there are.
        known: Vec<String>,
    },
    /// The value is not of the field's type.
    #[error("field `{field}` holds {expected}, not {found}")]
    WrongType {
        /// The field.
        field: String,
        /// What it holds.
        expected: String,
        /// What was written, or found on reading.
        found: &'static str,
    },
    /// The write is not one of the field's merge rule.
    #[error("field `{field}` has the merge rule `{}`; write it with {}", rule.word(), rule_help(*rule))]
    WrongRule {
        /// The field.
        field: String,
        /// Its merge rule.
        rule: Merge,
    },
    /// A value has no form in JSON, or JSON is not the Rust type that was asked for.
    #[error("field `{field}` can't be converted: {reason}")]
    Convert {
        /// The field.
        field: String,
        /// What serde said.
        reason: String,
    },
}

fn rule_help(rule: Merge) -> &'static str {
    match rule {
        Merge::One | Merge::Any => "`set`",
        Merge::Append => "`append`, or replace it with `overwrite`",
        Merge::With => "`reduce`, or replace it with `overwrite`",
    }
}

/// What a field of this type holds, for messages.
pub(super) fn expected(kind: JsonType, optional: bool) -> String {
    if optional && kind != JsonType::Any { format!("{kind} or null") } else { kind.to_string() }
}
