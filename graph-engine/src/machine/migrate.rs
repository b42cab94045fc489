//! A checkpoint of an older version of the state becomes one of this version, in memory.

use std::borrow::Cow;

use serde_json::Value;

use super::Machine;
use super::fields::merge_again;
use crate::state::{Encoding, State, StoredFields};
use crate::store::Segments;

impl<S: State> Machine<S> {
    /// Lets the graph's migration change the fields of a checkpoint. Returns old and new names of nodes.
    pub(super) fn migrate(&mut self, from: u32, segments: &mut Segments) -> Result<Vec<(String, String)>, String> {
        let graph = self.graph.clone();
        let version = &graph.inner().version;
        if from > version.number {
            return Err(format!(
                "it was stored by version {from} of the state's schema, and this program has version {}; run the newer \
                 program",
                version.number
            ));
        }
        if !version.migrates(from) {
            return Ok(Vec::new());
        }
        let mut stored = StoredFields::default();
        for segment in segments.iter() {
            let json: Value = serde_json::from_slice(segment.bytes)
                .map_err(|e| format!("field `{}` can't be read from JSON: {e}", segment.name))?;
            stored.add(segment.name, segment.encoding, json);
        }
        for segment in segments.iter().filter(|segment| segment.encoding == Encoding::Writes) {
            stored.reduced(segment.name, self.reduced(segment.name, segments));
        }
        version
            .migrate(from, &mut stored)
            .map_err(|cause| format!("the migration from version {from} of the state's schema failed: {cause}"))?;
        let nodes = std::mem::take(&mut stored.nodes);
        for name in std::mem::take(&mut stored.removed) {
            segments.remove(&name);
            self.changes.remove(name);
        }
        for (name, value) in stored.changed() {
            segments.remove(&name);
            let mut put = |encoding, json: &Value| {
                segments.push(&name, encoding, 0..0, json.to_string().as_bytes());
            };
            put(Encoding::Base, &value.base);
            if !value.writes.is_empty() {
                put(Encoding::Writes, &Value::Array(value.writes));
            }
            self.changes.rewrite(&self.shared.state, &name);
        }
        Ok(nodes)
    }

    /// The value of a field with stored writes, by today's reducer, if it can read all of them.
    fn reduced(&self, name: &str, segments: &Segments) -> Option<Value> {
        let mut state = self.graph.inner().initial.clone();
        let field = state.fields().iter().position(|field| field.name == name)?;
        for segment in segments.iter().filter(|segment| segment.name == name) {
            match segment.encoding {
                Encoding::Writes => merge_again(&mut state, &segment).ok()?,
                encoding => state.decode(field, encoding, segment.bytes).ok()?,
            }
        }
        let mut json = Vec::new();
        state.encode(field, None, &mut json).ok()?;
        serde_json::from_slice(&json).ok()
    }
}

/// The new name of a node.
pub(super) fn rename<'a>(name: Cow<'a, str>, nodes: &[(String, String)]) -> Cow<'a, str> {
    nodes.iter().fold(name, |name, (from, to)| if *from == name { Cow::Owned(to.clone()) } else { name })
}
