//! The fields of a checkpoint as JSON, for a migration between two versions of a state.

use std::collections::BTreeMap;

use serde_json::Value;

use super::Encoding;

/// The fields of a checkpoint by name, as they are stored, for [`Builder::migrate`](crate::Builder::migrate).
///
/// What a migration doesn't touch is read as if there were none. What it changes is stored whole by the next commit, and
/// what it removes is gone from then on; the checkpoint itself stays as it is.
///
/// ```
/// use graph_engine::{BoxError, StoredFields};
/// use serde_json::{Value, json};
///
/// /// Version 2 keeps the price in cents, and calls the town a city.
/// fn migrate(from: u32, stored: &mut StoredFields) -> Result<(), BoxError> {
///     if from < 2 {
///         if let Some(price) = stored.get("price").and_then(Value::as_f64) {
///             stored.set("price", (price * 100.0).round() as u64);
///         }
///         stored.rename("town", "city");
///         stored.remove("draft");
///         stored.rename_node("search", "explore");
///     }
///     Ok(())
/// }
///
/// let mut stored = StoredFields::from_iter([("price", json!(12.5)), ("town", json!("Oslo")), ("draft", json!(1))]);
/// migrate(1, &mut stored)?;
/// assert_eq!((stored.get("price"), stored.get("city")), (Some(&json!(1250)), Some(&json!("Oslo"))));
/// assert_eq!(stored.names().collect::<Vec<_>>(), ["city", "price"]);
/// # Ok::<(), BoxError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct StoredFields {
    fields: BTreeMap<String, StoredValue>,
    /// Old and new names of nodes, in the order in which they were given.
    pub(crate) nodes: Vec<(String, String)>,
    /// Names that were there and are no more.
    pub(crate) removed: Vec<String>,
}

/// One field.
#[derive(Clone, Debug, Default)]
pub(crate) struct StoredValue {
    /// What it was when it was last stored whole, with what was added since and is no work for a reducer.
    pub(crate) base: Value,
    /// Writes since then, for the field's reducer.
    pub(crate) writes: Vec<Value>,
    /// What today's reducer makes of both, if it can.
    pub(crate) reduced: Option<Value>,
    /// The migration has changed it.
    pub(crate) changed: bool,
}

impl StoredFields {
    /// The names of all fields that are stored, in alphabetical order. A field that was never written isn't.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.fields.keys().map(String::as_str)
    }

    /// The value of a field. The writes of a field with a reducer are in it as far as today's reducer of that field can
    /// read them; [`parts`](Self::parts) has what is stored itself.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Value> {
        let stored = self.fields.get(name)?;
        Some(stored.reduced.as_ref().unwrap_or(&stored.base))
    }

    /// What is stored of a field: a value, and the writes since, each in the form of [`Reduced`](crate::Reduced). A
    /// migration of a field whose reducer has changed its meaning goes by these.
    #[must_use]
    pub fn parts(&self, name: &str) -> Option<(&Value, &[Value])> {
        self.fields.get(name).map(|stored| (&stored.base, &stored.writes[..]))
    }

    /// Gives a field a value, past everything that was stored of it.
    pub fn set(&mut self, name: impl Into<String>, value: impl Into<Value>) {
        let name = name.into();
        self.removed.retain(|removed| *removed != name);
        self.fields.insert(name, StoredValue { base: value.into(), changed: true, ..StoredValue::default() });
    }

    /// Takes a field out and returns its value.
    pub fn remove(&mut self, name: &str) -> Option<Value> {
        let stored = self.fields.remove(name)?;
        self.removed.push(name.to_owned());
        Some(stored.reduced.unwrap_or(stored.base))
    }

    /// Gives a field another name, with the writes that are for its reducer; a field that has that name is replaced.
    /// `false` if nothing is stored of it.
    pub fn rename(&mut self, from: &str, to: impl Into<String>) -> bool {
        let to = to.into();
        if from == to {
            return self.fields.contains_key(from);
        }
        let Some(stored) = self.fields.remove(from) else { return false };
        self.removed.push(from.to_owned());
        self.removed.retain(|removed| *removed != to);
        self.fields.insert(to, StoredValue { changed: true, ..stored });
        true
    }

    /// Gives a node another name wherever the thread would go to it: unfinished tasks, results of finished ones,
    /// arrivals at joins.
    pub fn rename_node(&mut self, from: impl Into<String>, to: impl Into<String>) {
        self.nodes.push((from.into(), to.into()));
    }

    /// Adds what was stored of a field after what is there of it.
    pub(crate) fn add(&mut self, name: &str, encoding: Encoding, json: Value) {
        match encoding {
            Encoding::Removed => {
                self.fields.remove(name);
            }
            Encoding::Base => {
                self.fields.insert(name.to_owned(), StoredValue { base: json, ..StoredValue::default() });
            }
            Encoding::Delta => add_items(&mut self.stored(name).base, json),
            Encoding::Writes => {
                let Value::Array(writes) = json else { return };
                for write in writes {
                    self.write(name, write);
                }
            }
        }
    }

    /// A write of an `append` field is carried out; one for a reducer is kept.
    fn write(&mut self, name: &str, mut write: Value) {
        let stored = self.stored(name);
        let overwrites = write.get("overwrite").and_then(Value::as_bool);
        match (overwrites, write.get_mut("items").map(Value::take)) {
            (Some(true), Some(items)) => stored.base = items,
            (Some(false), Some(items)) => add_items(&mut stored.base, items),
            (_, items) => {
                if let (Some(items), Some(write)) = (items, write.as_object_mut()) {
                    write.insert("items".to_owned(), items);
                }
                stored.writes.push(write);
            }
        }
    }

    fn stored(&mut self, name: &str) -> &mut StoredValue {
        self.fields.entry(name.to_owned()).or_default()
    }

    /// What today's reducer makes of a field.
    pub(crate) fn reduced(&mut self, name: &str, value: Option<Value>) {
        if let Some(stored) = self.fields.get_mut(name) {
            stored.reduced = value;
        }
    }

    /// What the migration has changed.
    pub(crate) fn changed(self) -> impl Iterator<Item = (String, StoredValue)> {
        self.fields.into_iter().filter(|(_, stored)| stored.changed)
    }
}

/// Fields by hand, for tests of a migration.
impl<N: Into<String>> FromIterator<(N, Value)> for StoredFields {
    fn from_iter<I: IntoIterator<Item = (N, Value)>>(fields: I) -> Self {
        let mut stored = Self::default();
        for (name, value) in fields {
            stored.add(&name.into(), Encoding::Base, value);
        }
        stored
    }
}

/// Items after those that are there: of a list, a text, or a map.
fn add_items(value: &mut Value, more: Value) {
    match (value, more) {
        (Value::Array(items), Value::Array(more)) => items.extend(more),
        (Value::String(text), Value::String(more)) => text.push_str(&more),
        (Value::Object(members), Value::Object(more)) => members.extend(more),
        (value, more) => *value = more,
    }
}
