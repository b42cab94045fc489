//! JSON schemas: of Rust types, and what they say of a value.

use std::collections::BTreeSet;

use jsonschema::Validator;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::Value;

/// How many faults are told. A large answer may have as many as it has items.
pub(crate) const MOST_FAULTS: usize = 20;

/// The longest path that is told in full, in characters: keys are the model's.
const LONGEST_PATH: usize = 120;

/// Parts in place, no name of the dialect.
pub(crate) fn settings() -> SchemaSettings {
    SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    })
}

/// The schema of a type, without the Rust name.
pub(crate) fn schema_of<T: JsonSchema>() -> Value {
    let mut schema = settings().into_generator().into_root_schema_for::<T>();
    schema.remove("title");
    if schema.get("type").and_then(Value::as_str) == Some("object") && schema.get("properties").is_none() {
        // Some providers refuse an object that doesn't say which properties it has, even if it has none.
        schema.insert("properties".to_owned(), Value::Object(serde_json::Map::new()));
    }
    schema.to_value()
}

/// A compiled schema.
pub(crate) struct Schema(Validator);

impl Schema {
    /// The error is the place in the schema, as a JSON pointer, and what is wrong there.
    pub(crate) fn compile(schema: &Value) -> Result<Self, (String, String)> {
        let compiled = jsonschema::validator_for(schema);
        compiled.map(Self).map_err(|error| (error.instance_path().to_string(), error.to_string()))
    }

    /// What is wrong with a value, sorted by path, so that it is the same in every run. Quotes nothing of the value
    /// but its keys.
    pub(crate) fn faults(&self, value: &Value) -> Vec<String> {
        let mut first = BTreeSet::new();
        let mut more = 0_usize;
        for error in self.0.iter_errors(value) {
            let path = clip(&error.instance_path().to_string(), LONGEST_PATH);
            let what = clip(&error.masked().to_string(), 2 * LONGEST_PATH);
            first.insert(if path.is_empty() { what } else { format!("at `{path}`: {what}") });
            if first.len() > MOST_FAULTS {
                first.pop_last();
                more += 1;
            }
        }
        let mut faults: Vec<String> = first.into_iter().collect();
        if more > 0 {
            faults.push(format!("and {more} more"));
        }
        faults
    }
}

/// At most so many characters of a text that somebody else wrote; says how many are left out.
pub(crate) fn clip(text: &str, most: usize) -> String {
    // As many bytes are at most as many characters: most texts need no count.
    let end = if text.len() <= most { None } else { text.char_indices().nth(most).map(|(at, _)| at) };
    match end {
        None => text.to_owned(),
        Some(end) => format!("{}.. ({} more characters)", &text[..end], text[end..].chars().count()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn faults_are_sorted_bounded_and_quote_no_value() {
        let schema = Schema::compile(&json!({"type": "array", "items": {"type": "string"}})).ok().unwrap();
        assert_eq!(schema.faults(&json!(["a", 7])), ["at `/1`: value is not of type \"string\""]);
        let faults = schema.faults(&json!(vec![1; 1_000]));
        assert_eq!((faults.len(), faults[20].as_str()), (21, "and 980 more"));
    }

    #[test]
    fn a_long_text_is_cut_between_characters() {
        assert_eq!(clip("grüße", 5), "grüße");
        assert_eq!(clip("grüße", 3), "grü.. (2 more characters)");
    }
}
