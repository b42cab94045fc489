//! The JSON schema of an arguments type.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::Value;

/// The JSON schema of a type as models are told of it: parts are written in place instead of by reference (but for
/// types that contain themselves), and the type's Rust name is left out.
///
/// ```
/// use graph_nodes::tool::schema_of;
/// use schemars::JsonSchema;
/// use serde_json::json;
///
/// #[derive(JsonSchema)]
/// struct Args {
///     /// Where to stay.
///     city: String,
/// }
///
/// let expected = json!({
///     "type": "object",
///     "properties": {"city": {"type": "string", "description": "Where to stay."}},
///     "required": ["city"],
/// });
/// assert_eq!(schema_of::<Args>(), expected);
/// ```
#[must_use]
pub fn schema_of<T: JsonSchema>() -> Value {
    let mut schema = settings().into_generator().into_root_schema_for::<T>();
    schema.remove("title");
    schema.to_value()
}

/// Parts in place, no name of the dialect.
pub(super) fn settings() -> SchemaSettings {
    SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    })
}
