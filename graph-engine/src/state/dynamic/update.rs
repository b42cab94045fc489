//! A partial write of a state whose fields are known at run time.

use std::fmt;
use std::sync::Arc;

use serde::Serialize;
use serde_json::Value;

use super::schema::SchemaField;
use super::{FieldError, Schema};
use crate::state::{Added, Merge, Reduced, to_json};

/// A partial write of a [`DynState`](crate::DynState): what a node returns. Each write is checked at once: the field must
/// exist, the value must be of its type, and the write must be one of its merge rule.
///
/// An update belongs to the schema that made it. A state with another schema refuses it before anything is merged.
///
/// ```
/// use graph_engine::{DynState, Schema, SchemaField, State};
///
/// let mut state = DynState::new(Schema::new([SchemaField::new("city"), SchemaField::new("notes").append()])?);
/// let update = state.update().set("city", "Oslo")?.append("notes", ["by train", "in May"])?;
/// state.apply(update);
/// assert_eq!(state.get("notes")?.as_array().map(Vec::len), Some(2));
/// assert!(state.update().set("town", "Oslo").is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Default)]
#[must_use = "an update does nothing until a node returns it"]
pub struct DynUpdate {
    pub(super) schema: Option<Arc<Schema>>,
    /// It was composed of updates of different schemas.
    pub(super) mixed: bool,
    /// By position in the schema, ascending.
    pub(super) writes: Vec<(usize, Write)>,
}

#[derive(Clone)]
pub(super) enum Write {
    Set(Value),
    Add(Added<Vec<Value>>),
    Reduce(Reduced<Value>),
}

/// Values that reducers made and that are not in the state yet. Only the engine looks into it.
///
/// ```
/// use graph_engine::DynStaged;
///
/// assert_eq!(format!("{:?}", DynStaged::default()), "[]");
/// ```
#[derive(Default)]
pub struct DynStaged(pub(super) Vec<(usize, Value)>);

impl fmt::Debug for DynStaged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.iter().map(|(field, _)| field)).finish()
    }
}

impl DynUpdate {
    pub(super) fn of(schema: Arc<Schema>) -> Self {
        Self { schema: Some(schema), mixed: false, writes: Vec::new() }
    }

    /// Replaces the value of a `one` or `any` field.
    ///
    /// # Errors
    /// [`FieldError`], as for all writes: an unknown field, a value of the wrong type, another merge rule.
    pub fn set(self, field: &str, value: impl Serialize) -> Result<Self, FieldError> {
        self.by_rule(field, value, |rule| matches!(rule, Merge::One | Merge::Any))
    }

    /// Adds items to an `append` field, after earlier ones.
    ///
    /// # Errors
    /// [`FieldError`].
    pub fn append<T: Serialize>(self, field: &str, items: impl IntoIterator<Item = T>) -> Result<Self, FieldError> {
        let items: Vec<Value> =
            items.into_iter().map(|item| convert(field, item)).collect::<Result<_, FieldError>>()?;
        self.by_rule(field, items, |rule| rule == Merge::Append)
    }

    /// Gives an item to the reducer of a `with` field, after earlier ones.
    ///
    /// # Errors
    /// [`FieldError`].
    pub fn reduce(self, field: &str, item: impl Serialize) -> Result<Self, FieldError> {
        self.by_rule(field, item, |rule| rule == Merge::With)
    }

    /// Writes by the field's own rule: replaces, adds a list of items, or gives an item to the reducer.
    ///
    /// # Errors
    /// [`FieldError`].
    pub fn put(self, field: &str, value: impl Serialize) -> Result<Self, FieldError> {
        self.by_rule(field, value, |_| true)
    }

    /// Replaces the whole value, past the field's rule; what this update wrote to it before is gone. Only one task a
    /// super-step may write a field that it overwrites.
    ///
    /// # Errors
    /// [`FieldError`].
    pub fn overwrite(mut self, field: &str, value: impl Serialize) -> Result<Self, FieldError> {
        let schema = self.schema(field)?;
        let at = schema.position(field)?;
        let (declared, value) = (&schema.fields()[at], convert(field, value)?);
        declared.check_value(&value)?;
        let write = match (declared.spec.merge, value) {
            (Merge::Append, Value::Array(items)) => Write::Add(Added { overwrite: true, items }),
            (Merge::With, value) => Write::Reduce(Reduced { overwrite: Some(value), items: Vec::new() }),
            (_, value) => Write::Set(value),
        };
        self.insert(at, write);
        Ok(self)
    }

    /// This update and then the later one, as one update.
    pub fn then(mut self, later: Self) -> Self {
        self.mixed |= later.mixed;
        match (&self.schema, &later.schema) {
            (Some(own), Some(other)) => self.mixed |= !own.agrees_with(other),
            (None, _) => self.schema = later.schema,
            (Some(_), None) => {}
        }
        for (at, write) in later.writes {
            self.insert(at, write);
        }
        self
    }

    /// The names of the fields that it writes.
    pub fn fields(&self) -> impl Iterator<Item = &str> {
        let schema = self.schema.as_ref();
        self.writes.iter().filter_map(move |(at, _)| Some(schema?.fields().get(*at)?.name()))
    }

    fn by_rule(mut self, field: &str, value: impl Serialize, fits: fn(Merge) -> bool) -> Result<Self, FieldError> {
        let schema = self.schema(field)?;
        let at = schema.position(field)?;
        let declared = &schema.fields()[at];
        let rule = declared.spec.merge;
        if !fits(rule) {
            return Err(FieldError::WrongRule { field: field.to_owned(), rule });
        }
        let write = write_by_rule(declared, convert(field, value)?)?;
        self.insert(at, write);
        Ok(self)
    }

    /// Only an update by `Default` has no schema; it knows no field.
    fn schema(&self, field: &str) -> Result<Arc<Schema>, FieldError> {
        let none = || FieldError::Unknown { field: field.to_owned(), known: Vec::new() };
        self.schema.clone().ok_or_else(none)
    }

    pub(super) fn insert(&mut self, at: usize, write: Write) {
        match self.writes.binary_search_by_key(&at, |(at, _)| *at) {
            Err(place) => self.writes.insert(place, (at, write)),
            Ok(place) => match (&mut self.writes[place].1, write) {
                (Write::Add(first), Write::Add(later)) => first.then(later),
                (Write::Reduce(first), Write::Reduce(later)) => first.then(later),
                (first, later) => *first = later,
            },
        }
    }

    pub(super) fn get(&self, at: usize) -> Option<&Write> {
        self.writes.binary_search_by_key(&at, |(at, _)| *at).ok().map(|place| &self.writes[place].1)
    }
}

fn write_by_rule(field: &SchemaField, value: Value) -> Result<Write, FieldError> {
    match (field.spec.merge, value) {
        (Merge::With, item) => Ok(Write::Reduce(Reduced { overwrite: None, items: vec![item] })),
        (rule, value) => {
            field.check_value(&value)?;
            Ok(match (rule, value) {
                (Merge::Append, Value::Array(items)) => Write::Add(Added { overwrite: false, items }),
                (_, value) => Write::Set(value),
            })
        }
    }
}

fn convert(field: &str, value: impl Serialize) -> Result<Value, FieldError> {
    to_json(value).map_err(|reason| FieldError::Convert { field: field.to_owned(), reason })
}

/// Names only: values may be secrets.
impl fmt::Debug for DynUpdate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut written = f.debug_tuple("DynUpdate");
        for name in self.fields() {
            written.field(&format_args!("{name}"));
        }
        written.finish()
    }
}
