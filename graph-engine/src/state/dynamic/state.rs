//! The trait `State` over a schema that is read at run time.

use std::fmt;
use std::sync::Arc;

use serde::de::{DeserializeOwned, Error};
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::Value;

use super::update::Write;
use super::{DynStaged, DynUpdate, FieldError, Schema};
use crate::state::codec::{decode_field, encode_field};
use crate::state::derived::decode_writes;
use crate::state::{
    Added, CodecError, Encoding, FieldSet, FieldSpec, Merge, PersistAppend, ReduceError, Reduced, State,
};

/// A state whose fields are described at run time. The same rules hold as for a derived one: merge rules, write
/// conflicts, transient fields, deltas of `append` fields.
///
/// Cloning it copies one pointer a field. A value is changed in place when no clone shares it; an `append` field that a
/// clone still shares is copied once.
///
/// ```
/// use graph_engine::{DynState, Schema, SchemaField, State};
/// use serde_json::json;
///
/// let schema = Schema::new([SchemaField::new("city"), SchemaField::new("notes").append()])?;
/// let mut trip = DynState::new(schema);
/// trip.apply(trip.update().set("city", "Oslo")?.append("notes", ["by train"])?);
/// assert_eq!(trip.get("city")?, "Oslo");
/// assert_eq!(trip.read::<Vec<String>>("notes")?, ["by train"]);
/// assert_eq!(serde_json::to_value(&trip)?, json!({ "city": "Oslo", "notes": ["by train"] }));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct DynState {
    schema: Arc<Schema>,
    /// One for each field of the schema. That of an `append` field is always a list.
    values: Box<[Arc<Value>]>,
}

impl DynState {
    /// A state in which every field has its default.
    #[must_use]
    pub fn new(schema: Arc<Schema>) -> Self {
        let values = schema.fields().iter().map(|field| field.default.clone()).collect();
        Self { schema, values }
    }

    /// The fields and their rules.
    #[must_use]
    pub fn schema(&self) -> &Arc<Schema> {
        &self.schema
    }

    /// An empty update of this state.
    pub fn update(&self) -> DynUpdate {
        self.schema.update()
    }

    /// The value of a field.
    ///
    /// # Errors
    /// [`FieldError::Unknown`].
    pub fn get(&self, field: &str) -> Result<&Value, FieldError> {
        self.schema.position(field).map(|at| &*self.values[at])
    }

    /// The value of the field at a position, which the schema must have given.
    pub(crate) fn at(&self, position: usize) -> &Value {
        &self.values[position]
    }

    /// The value of a field as a Rust type.
    ///
    /// # Errors
    /// [`FieldError::Unknown`], and [`FieldError::Convert`] if the value is no `T`.
    pub fn read<T: DeserializeOwned>(&self, field: &str) -> Result<T, FieldError> {
        let convert = |e: serde_json::Error| FieldError::Convert { field: field.to_owned(), reason: e.to_string() };
        T::deserialize(self.get(field)?).map_err(convert)
    }

    /// The update's schema is another one, so that its positions mean other fields here.
    fn is_foreign(&self, update: &DynUpdate) -> bool {
        update.mixed || update.schema.as_ref().is_some_and(|schema| !schema.agrees_with(&self.schema))
    }

    fn fields_where(&self, update: &DynUpdate, wanted: fn(&Write) -> bool) -> FieldSet {
        if self.is_foreign(update) {
            return FieldSet::EMPTY;
        }
        let fields = update.writes.iter().filter(|(_, write)| wanted(write));
        fields.fold(FieldSet::EMPTY, |set, (at, _)| set | FieldSet::of(*at))
    }

    fn set(&mut self, field: usize, value: Value) {
        let slot = &mut self.values[field];
        match Arc::get_mut(slot) {
            Some(own) => *own = value,
            None => *slot = Arc::new(value),
        }
    }

    /// Changes the list of an `append` field, in place when nothing shares it.
    fn change_list(&mut self, field: usize, change: impl FnOnce(&mut Vec<Value>)) {
        let value = Arc::make_mut(&mut self.values[field]);
        let mut list = match value.take() {
            Value::Array(list) => list,
            // Never so: a schema, a write and a stored value are checked to be lists.
            _ => Vec::new(),
        };
        change(&mut list);
        *value = Value::Array(list);
    }

    fn list(&self, field: usize) -> Option<&Vec<Value>> {
        let spec = self.schema.specs().get(field)?;
        if spec.merge != Merge::Append || spec.transient {
            return None;
        }
        self.values[field].as_array()
    }
}

#[diagnostic::do_not_recommend]
impl State for DynState {
    type Update = DynUpdate;
    type Staged = DynStaged;

    fn fields(&self) -> &[FieldSpec] {
        self.schema.specs()
    }

    fn written(&self, update: &DynUpdate) -> FieldSet {
        self.fields_where(update, |_| true)
    }

    fn overwritten(&self, update: &DynUpdate) -> FieldSet {
        self.fields_where(update, |write| match write {
            Write::Set(_) => false,
            Write::Add(write) => write.overwrite,
            Write::Reduce(write) => write.overwrite.is_some(),
        })
    }

    fn stage(&self, staged: &mut DynStaged, update: &mut DynUpdate) -> Result<(), ReduceError> {
        if self.is_foreign(update) {
            let field = update.fields().next().unwrap_or_default().to_owned();
            return Err(ReduceError::new(field, "the update was made for another schema; make it by `state.update()`"));
        }
        let mut writes = std::mem::take(&mut update.writes);
        let reduced = writes.extract_if(.., |(_, write)| matches!(write, Write::Reduce(_)));
        let reduced: Vec<(usize, Write)> = reduced.collect();
        update.writes = writes;
        for (at, write) in reduced {
            let (field, Write::Reduce(write)) = (&self.schema.fields()[at], write) else { continue };
            let Some(reduce) = &field.reducer else { continue };
            let before = staged.0.iter().position(|(other, _)| *other == at);
            let current = before.map_or(&*self.values[at], |place| &staged.0[place].1);
            let refused = |cause| ReduceError::new(field.name(), cause);
            if let Some(value) = write.fold(current, &**reduce).map_err(refused)? {
                field.check_value(&value).map_err(|wrong| ReduceError::new(field.name(), wrong))?;
                match before {
                    Some(place) => staged.0[place].1 = value,
                    None => staged.0.push((at, value)),
                }
            }
        }
        Ok(())
    }

    fn apply(&mut self, update: DynUpdate) {
        if self.is_foreign(&update) {
            return;
        }
        for (at, write) in update.writes {
            match write {
                Write::Set(value) => self.set(at, value),
                Write::Add(write) => self.change_list(at, |list| write.apply(list)),
                // `stage` has taken these out.
                Write::Reduce(_) => {}
            }
        }
    }

    fn settle(&mut self, staged: DynStaged) {
        staged.0.into_iter().for_each(|(at, value)| self.set(at, value));
    }

    fn reset_transient(&mut self) {
        for (value, field) in self.values.iter_mut().zip(self.schema.fields()) {
            if field.spec.transient {
                *value = field.default.clone();
            }
        }
    }

    fn compose(first: DynUpdate, later: DynUpdate) -> DynUpdate {
        first.then(later)
    }

    fn mark(&self, field: usize) -> u64 {
        self.list(field).map_or(0, PersistAppend::mark)
    }

    fn encode(&self, field: usize, since: Option<u64>, out: &mut Vec<u8>) -> Result<Encoding, CodecError> {
        let Some(declared) = self.schema.fields().get(field).filter(|field| !field.spec.transient) else {
            // A transient field, which the engine never asks for.
            out.extend_from_slice(b"null");
            return Ok(Encoding::Base);
        };
        match self.list(field) {
            Some(list) => list.encode(declared.name(), since, out),
            None => encode_field(declared.name(), &*self.values[field], out).map(|()| Encoding::Base),
        }
    }

    fn decode(&mut self, field: usize, encoding: Encoding, bytes: &[u8]) -> Result<(), CodecError> {
        let schema = self.schema.clone();
        let Some(declared) = schema.fields().get(field).filter(|field| !field.spec.transient) else { return Ok(()) };
        let value: Value = decode_field(declared.name(), bytes)?;
        declared.check_value(&value).map_err(|wrong| wrong_stored(declared.name(), &wrong))?;
        match (declared.spec.merge, encoding, value) {
            (Merge::Append, Encoding::Delta, Value::Array(items)) => {
                self.change_list(field, |list| list.extend(items));
            }
            (_, _, value) => self.set(field, value),
        }
        Ok(())
    }

    fn stored_by_writes(&self) -> FieldSet {
        let fields = self.schema.specs().iter().enumerate();
        let reduced = fields.filter(|(_, field)| field.merge == Merge::With && !field.transient);
        reduced.fold(FieldSet::EMPTY, |set, (at, _)| set | FieldSet::of(at))
    }

    fn encode_write(&self, field: usize, update: &DynUpdate, out: &mut Vec<u8>) -> Result<(), CodecError> {
        match (self.schema.specs().get(field), update.get(field).filter(|_| !self.is_foreign(update))) {
            (Some(spec), Some(write)) => encode_write(&spec.name, write, out),
            _ => Ok(()),
        }
    }

    fn encode_update(&self, update: &DynUpdate, out: &mut Vec<u8>) -> Result<(), CodecError> {
        out.push(b'{');
        let foreign = self.is_foreign(update);
        for (at, field) in self.schema.fields().iter().enumerate().filter(|(_, field)| !field.spec.transient) {
            let Some(write) = update.get(at).filter(|_| !foreign) else { continue };
            if out.last() != Some(&b'{') {
                out.push(b',');
            }
            encode_field(field.name(), field.name(), out)?;
            out.push(b':');
            encode_write(field.name(), write, out)?;
        }
        out.push(b'}');
        Ok(())
    }

    fn copy_update(&self, update: &DynUpdate) -> Option<DynUpdate> {
        let mut copy = self.update();
        if !self.is_foreign(update) {
            let stored = update.writes.iter().filter(|(at, _)| !self.schema.specs()[*at].transient);
            copy.writes.extend(stored.cloned());
        }
        Some(copy)
    }

    fn decode_update(&self, bytes: &[u8]) -> Result<DynUpdate, CodecError> {
        let mut update = self.update();
        decode_writes(bytes, |name, json| {
            let Ok(at) = self.schema.position(name) else { return Ok(false) };
            let field = &self.schema.fields()[at];
            if field.spec.transient {
                return Ok(false);
            }
            let wrong = |wrong| wrong_stored(name, &wrong);
            let write = match field.spec.merge {
                Merge::One | Merge::Any => {
                    let value: Value = decode_field(name, json)?;
                    field.check_value(&value).map_err(wrong)?;
                    Write::Set(value)
                }
                Merge::Append => {
                    let write: Added<Vec<Value>> = decode_field(name, json)?;
                    write.items.iter().try_for_each(|item| field.check_item(item)).map_err(wrong)?;
                    Write::Add(write)
                }
                Merge::With => {
                    let write: Reduced<Value> = decode_field(name, json)?;
                    write.overwrite.iter().try_for_each(|value| field.check_value(value)).map_err(wrong)?;
                    Write::Reduce(write)
                }
            };
            update.insert(at, write);
            Ok(true)
        })?;
        Ok(update)
    }
}

fn encode_write(field: &str, write: &Write, out: &mut Vec<u8>) -> Result<(), CodecError> {
    match write {
        Write::Set(value) => encode_field(field, value, out),
        Write::Add(write) => encode_field(field, write, out),
        Write::Reduce(write) => encode_field(field, write, out),
    }
}

fn wrong_stored(field: &str, wrong: &FieldError) -> CodecError {
    CodecError::decode(field, serde_json::Error::custom(wrong))
}

/// Equal fields with equal values.
impl PartialEq for DynState {
    fn eq(&self, other: &Self) -> bool {
        self.schema.agrees_with(&other.schema) && self.values == other.values
    }
}

/// Every field as a member of one object, transient fields too.
impl Serialize for DynState {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.values.len()))?;
        for (spec, value) in self.schema.specs().iter().zip(&self.values) {
            map.serialize_entry(&spec.name, &**value)?;
        }
        map.end()
    }
}

impl fmt::Debug for DynState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.schema.specs().iter().map(|spec| &spec.name).zip(self.values.iter())).finish()
    }
}
