//! A tool's schema, compiled once, and what it says of arguments.

use std::collections::BTreeSet;
use std::fmt;

use jsonschema::Validator;
use serde_json::{Map, Value};

use super::args_fault::{explain, placed};
use crate::schema::MOST_FAULTS;

/// Why a schema can't describe the arguments of a tool.
///
/// ```
/// use graph_nodes::tool::{SchemaError, ToolBox, ToolBoxError, tool};
/// # use graph_engine::State;
/// # #[derive(State, Clone, Default)]
/// # struct Trip { city: String }
///
/// let list = tool::<Trip, Vec<u32>>("sum", "Adds numbers.", |_, _| async { Err("never called".into()) });
/// let error = ToolBox::builder().tool(list).build().unwrap_err();
/// let ToolBoxError::BadSchema { reason, .. } = error else { panic!("{error}") };
/// assert_eq!(reason, SchemaError::NotAnObject { found: "`array`".into() });
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SchemaError {
    /// Arguments are always an object, and this schema describes something else.
    #[error("it describes {found}, but arguments are one JSON object; make it `\"type\": \"object\"`")]
    NotAnObject {
        /// What it describes.
        found: String,
    },
    /// The schema breaks the rules of JSON Schema.
    #[error("it is no JSON schema, {}: {message}; correct it", Place(place))]
    Invalid {
        /// Where in the schema, as a JSON pointer; empty for the schema as a whole.
        place: String,
        /// What is wrong.
        message: String,
    },
}

/// A place in a schema, as part of a message.
struct Place<'a>(&'a str);

impl fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            "" => f.write_str("as a whole"),
            place => write!(f, "at `{place}`"),
        }
    }
}

/// A compiled schema of arguments.
pub(crate) struct ArgsSchema(Validator);

impl ArgsSchema {
    pub(crate) fn compile(schema: &Value) -> Result<Self, SchemaError> {
        let found = match (schema.as_object(), schema.get("type")) {
            (None, _) => Some(format!("`{schema}`")),
            (Some(_), None) => Some("no type".to_owned()),
            (Some(_), Some(Value::String(kind))) if kind == "object" => None,
            (Some(_), Some(Value::String(kind))) => Some(format!("`{kind}`")),
            (Some(_), Some(kind)) => Some(format!("`{kind}`")),
        };
        if let Some(found) = found {
            return Err(SchemaError::NotAnObject { found });
        }
        let compiled = jsonschema::validator_for(schema);
        compiled.map(Self).map_err(|error| SchemaError::Invalid {
            // What is checked here against its own schema is the schema.
            place: error.instance_path().to_string(),
            message: error.to_string(),
        })
    }

    /// What is wrong with the arguments, for the model; sorted, so that it is the same in every run.
    pub(crate) fn check(&self, tool: &str, arguments: &Map<String, Value>) -> Result<(), String> {
        let instance = Value::Object(arguments.clone());
        let (mut first, mut more) = (BTreeSet::new(), 0_usize);
        for fault in self.0.iter_errors(&instance).flat_map(|error| explain(&error)) {
            first.insert(fault);
            if first.len() > MOST_FAULTS {
                first.pop_last();
                more += 1;
            }
        }
        if first.is_empty() {
            return Ok(());
        }
        let mut faults: Vec<String> = first.into_iter().map(|(path, what)| placed(&path, &what)).collect();
        if more > 0 {
            faults.push(format!("and {more} more"));
        }
        Err(format!(
            "the arguments of `{tool}` don't fit its schema: {}; correct them and call again",
            faults.join("; ")
        ))
    }
}

impl fmt::Debug for ArgsSchema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ArgsSchema").finish_non_exhaustive()
    }
}
