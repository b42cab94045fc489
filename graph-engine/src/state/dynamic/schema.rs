//! The fields of a state that is described at run time.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use serde_json::Value;

use super::error::expected;
use super::update::DynUpdate;
use super::{FieldError, JsonType, SchemaError};
use crate::error::BoxError;
use crate::name::Name;
use crate::state::{FieldSpec, Merge};

/// A reducer over JSON values.
pub(crate) type ReducerFn = Arc<dyn Fn(&Value, Value) -> Result<Value, BoxError> + Send + Sync>;

/// One field of a [`Schema`]: name, merge rule, type, default.
///
/// A field without a default begins as `null` (an `append` field as an empty list). `null` may be written to it as
/// well, whatever its type: it is optional. A field with another default never becomes `null`, unless its type is `any`.
///
/// ```
/// use graph_engine::{JsonType, SchemaField};
/// use serde_json::{Value, json};
///
/// fn sum(total: &Value, item: Value) -> Result<Value, String> {
///     Ok(json!(total.as_i64().unwrap_or(0) + item.as_i64().ok_or("not a number")?))
/// }
///
/// let notes = SchemaField::new("notes").append().typed(JsonType::Text);
/// let total = SchemaField::new("total").reduced("sum", sum).typed(JsonType::Integer).default_value(json!(0));
/// assert_eq!((notes.name(), total.name()), ("notes", "total"));
/// ```
#[derive(Clone)]
pub struct SchemaField {
    pub(super) spec: FieldSpec,
    pub(super) kind: JsonType,
    pub(super) default: Arc<Value>,
    pub(super) reducer: Option<ReducerFn>,
}

impl SchemaField {
    /// A stored field of any type with one writer a super-step, which begins as `null`.
    #[must_use]
    pub fn new(name: impl Into<String>) -> Self {
        let spec = FieldSpec { name: name.into().into(), ..FieldSpec::new("", Merge::One) };
        Self { spec, kind: JsonType::Any, default: Arc::default(), reducer: None }
    }

    /// Any number of tasks may write it; the last one in task order wins.
    #[must_use]
    pub fn any(self) -> Self {
        self.merge(Merge::Any)
    }

    /// Tasks add items to its list.
    #[must_use]
    pub fn append(self) -> Self {
        self.merge(Merge::Append)
    }

    /// Items are folded by a reducer, which has a name for diagrams and specs.
    #[must_use]
    pub fn reduced<E: Into<BoxError>>(
        self,
        name: impl Into<String>,
        reduce: impl Fn(&Value, Value) -> Result<Value, E> + Send + Sync + 'static,
    ) -> Self {
        self.reduced_by(name.into(), Arc::new(move |value, item| reduce(value, item).map_err(Into::into)))
    }

    pub(crate) fn reduced_by(mut self, name: String, reduce: ReducerFn) -> Self {
        self = self.merge(Merge::With);
        self.spec.reducer = Some(name.into());
        self.reducer = Some(reduce);
        self
    }

    pub(crate) fn merge(mut self, merge: Merge) -> Self {
        self.spec.merge = merge;
        if merge == Merge::Append && self.default.is_null() {
            self.default = Arc::new(Value::Array(Vec::new()));
        }
        self
    }

    /// Limits what may be written: the value, or each item of an `append` field.
    #[must_use]
    pub fn typed(mut self, kind: JsonType) -> Self {
        self.kind = kind;
        self
    }

    /// The value before the first write. `null` is the same as none.
    #[must_use]
    pub fn default_value(mut self, value: Value) -> Self {
        self.default = Arc::new(value);
        self.merge_default()
    }

    fn merge_default(self) -> Self {
        let merge = self.spec.merge;
        self.merge(merge)
    }

    /// Lives for one turn: its default at the start of every run, never stored.
    #[must_use]
    pub fn transient(mut self) -> Self {
        self.spec.transient = true;
        self
    }

    /// The field's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.spec.name
    }

    /// Whether the default is of the field's type.
    pub(crate) fn check(&self) -> Result<(), SchemaError> {
        if self.spec.name.is_empty() {
            return Err(SchemaError::NoName);
        }
        self.check_value(&self.default).map_err(|wrong| {
            let FieldError::WrongType { field, expected, found } = wrong else { return SchemaError::NoName };
            SchemaError::WrongDefault { field, expected, found }
        })
    }

    /// Whether a value may be the field's whole value.
    ///
    /// # Errors
    /// [`FieldError::WrongType`].
    pub(super) fn check_value(&self, value: &Value) -> Result<(), FieldError> {
        if self.spec.merge != Merge::Append {
            let optional = self.default.is_null();
            let fits = self.kind.admits(value) || (optional && value.is_null());
            return if fits { Ok(()) } else { Err(self.wrong_type(expected(self.kind, optional), value)) };
        }
        match value {
            Value::Array(items) => items.iter().try_for_each(|item| self.check_item(item)),
            other => Err(self.wrong_type("a list".to_owned(), other)),
        }
    }

    /// Whether a value may be added to the field's list.
    pub(super) fn check_item(&self, item: &Value) -> Result<(), FieldError> {
        if self.kind.admits(item) { Ok(()) } else { Err(self.wrong_type(format!("items of type {}", self.kind), item)) }
    }

    fn wrong_type(&self, expected: String, value: &Value) -> FieldError {
        FieldError::WrongType { field: self.name().to_owned(), expected, found: JsonType::word_for(value) }
    }
}

impl fmt::Debug for SchemaField {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SchemaField").field("spec", &self.spec).field("kind", &self.kind).finish_non_exhaustive()
    }
}

/// All fields of a [`DynState`](crate::DynState), in the order of their indices. Shared by all states of a graph.
///
/// A graph runs with at most 64 fields; `compile()` says so.
///
/// ```
/// use graph_engine::{Schema, SchemaField};
///
/// let schema = Schema::new([SchemaField::new("city"), SchemaField::new("notes").append()])?;
/// let update = schema.update().set("city", "Oslo")?.append("notes", ["by train"])?;
/// assert_eq!(format!("{update:?}"), "DynUpdate(city, notes)");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Default)]
pub struct Schema {
    fields: Vec<SchemaField>,
    specs: Vec<FieldSpec>,
    index: BTreeMap<Name, usize>,
}

impl Schema {
    /// A schema of these fields.
    ///
    /// # Errors
    /// [`SchemaError`] if two fields have one name, or a default is not of its field's type.
    pub fn new(fields: impl IntoIterator<Item = SchemaField>) -> Result<Arc<Self>, SchemaError> {
        let fields: Vec<SchemaField> = fields.into_iter().collect();
        let mut index = BTreeMap::new();
        for (at, field) in fields.iter().enumerate() {
            field.check()?;
            if index.insert(Name::from(field.name()), at).is_some() {
                return Err(SchemaError::Duplicate { field: field.name().to_owned() });
            }
        }
        let specs = fields.iter().map(|field| field.spec.clone()).collect();
        Ok(Arc::new(Self { fields, specs, index }))
    }

    /// The fields as the engine sees them.
    #[must_use]
    pub fn specs(&self) -> &[FieldSpec] {
        &self.specs
    }

    /// The position of a field.
    ///
    /// # Errors
    /// [`FieldError::Unknown`], which lists the names that there are.
    pub fn position(&self, name: &str) -> Result<usize, FieldError> {
        self.index.get(name).copied().ok_or_else(|| FieldError::Unknown {
            field: name.to_owned(),
            known: self.specs.iter().map(|field| field.name.to_string()).collect(),
        })
    }

    /// An empty update of a state with this schema.
    pub fn update(self: &Arc<Self>) -> DynUpdate {
        DynUpdate::of(self.clone())
    }

    pub(super) fn fields(&self) -> &[SchemaField] {
        &self.fields
    }

    /// Whether an update of the other schema means the same here.
    pub(super) fn agrees_with(self: &Arc<Self>, other: &Arc<Self>) -> bool {
        let same = |own: &SchemaField, other: &SchemaField| {
            own.spec == other.spec && own.kind == other.kind && own.default.is_null() == other.default.is_null()
        };
        Arc::ptr_eq(self, other)
            || (self.fields.len() == other.fields.len()
                && self.fields.iter().zip(&other.fields).all(|(own, other)| same(own, other)))
    }
}

impl fmt::Debug for Schema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(&self.fields).finish()
    }
}
