//! A schema as a part of a larger one.

use serde_json::{Map, Value, json};

/// Keys whose values are data and no schemas.
const DATA: &[&str] = &["const", "enum", "default", "examples"];

/// Keys whose values are schemas by names that the author of the schema chose, be they `default` or `$ref`.
const NAMED: &[&str] = &["properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies"];

/// Puts a schema into a larger one. One that refers to its own parts goes to the definitions of the larger one under
/// the name, because such a reference is counted from the top.
pub(super) fn place(schema: &Value, name: &str, definitions: &mut Map<String, Value>) -> Value {
    let mut schema = schema.clone();
    if let Value::Object(map) = &mut schema {
        map.remove("$schema");
        // With an address of its own its references would be counted from itself, and not from the top.
        map.remove("$id");
    }
    if !rename(&mut schema, &format!("#/$defs/{name}")) {
        return schema;
    }
    definitions.insert(name.to_owned(), schema);
    json!({ "$ref": format!("#/$defs/{name}") })
}

/// Lets references to the top mean this place; says whether there was one. A reference to an anchor (`#name`) is none:
/// it means the same anywhere in the text.
fn rename(schema: &mut Value, top: &str) -> bool {
    match schema {
        Value::Array(items) => rename_all(items, top),
        Value::Object(map) => map.iter_mut().fold(false, |found, (key, value)| match value {
            Value::String(reference) if key == "$ref" && (reference == "#" || reference.starts_with("#/")) => {
                reference.replace_range(..1, top);
                true
            }
            Value::Object(named) if NAMED.contains(&key.as_str()) => rename_all(named.values_mut(), top) | found,
            _ if DATA.contains(&key.as_str()) => found,
            value => rename(value, top) | found,
        }),
        _ => false,
    }
}

fn rename_all<'v>(schemas: impl IntoIterator<Item = &'v mut Value>, top: &str) -> bool {
    schemas.into_iter().fold(false, |found, schema| rename(schema, top) | found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_schema_without_references_stays_where_it_is() {
        let mut definitions = Map::new();
        let schema =
            json!({"$schema": "x", "type": "object", "properties": {"$ref": {"type": "string", "const": "#/a"}}});
        let placed = place(&schema, "call_0", &mut definitions);
        assert_eq!(placed, json!({"type": "object", "properties": {"$ref": {"type": "string", "const": "#/a"}}}));
        assert!(definitions.is_empty());
    }

    #[test]
    fn references_are_counted_from_the_new_top() {
        let mut definitions = Map::new();
        let schema = json!({
            "properties": {"city": {"$ref": "#/$defs/City"}, "next": {"$ref": "#"}, "far": {"$ref": "http://x/y"}},
            "$defs": {"City": {"type": "string", "default": {"$ref": "#/data"}}},
        });
        assert_eq!(place(&schema, "call_1", &mut definitions), json!({"$ref": "#/$defs/call_1"}));
        assert_eq!(
            Value::from(definitions),
            json!({"call_1": {
                "properties": {
                    "city": {"$ref": "#/$defs/call_1/$defs/City"},
                    "next": {"$ref": "#/$defs/call_1"},
                    "far": {"$ref": "http://x/y"},
                },
                "$defs": {"City": {"type": "string", "default": {"$ref": "#/data"}}},
            }}),
        );
    }

    #[test]
    fn names_of_properties_are_no_keywords() {
        let city = || json!({"$ref": "#/$defs/City"});
        let schema = json!({
            "$id": "http://x/y",
            "properties": {"default": city(), "enum": city(), "const": city(), "examples": city(), "other": {"const": city()}},
            "$defs": {"default": {"items": [city(), {"$ref": "#city"}]}, "City": {"$anchor": "city"}},
        });
        let mut definitions = Map::new();
        place(&schema, "call_0", &mut definitions);
        let renamed = || json!({"$ref": "#/$defs/call_0/$defs/City"});
        assert_eq!(
            definitions["call_0"],
            json!({
                "properties": {
                    "default": renamed(), "enum": renamed(), "const": renamed(), "examples": renamed(),
                    "other": {"const": city()},
                },
                "$defs": {"default": {"items": [renamed(), {"$ref": "#city"}]}, "City": {"$anchor": "city"}},
            }),
        );
    }
}
