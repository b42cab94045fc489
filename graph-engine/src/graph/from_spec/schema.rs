//! The fields of a spec as the schema of a state.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::spec::{GraphSpec, MistakeKind, Problems, Registry};
use crate::state::Merge;
use crate::state::dynamic::{Schema, SchemaError, SchemaField};

/// The schema of everything that is right; what is wrong with the fields is noted.
pub(super) fn schema(spec: &GraphSpec, registry: &Registry, problems: &mut Problems) -> Arc<Schema> {
    let (mut fields, mut seen) = (Vec::new(), BTreeSet::new());
    for (index, entry) in spec.fields.iter().enumerate() {
        let at = format!("/fields/{index}");
        let lost = |member: &str| problems.is_lost(&format!("{at}/{member}"));
        if problems.is_lost(&at) {
            continue;
        }
        let (no_name, no_merge, no_reducer) = (lost("name"), lost("merge"), lost("reducer"));
        let is_twice = !no_name && !seen.insert(&entry.name);
        if is_twice {
            let duplicate = SchemaError::Duplicate { field: entry.name.to_string() };
            problems.add(format!("{at}/name"), duplicate.into());
        }
        let bare = SchemaField::new(if no_name { "?" } else { entry.name.as_str() }).merge(entry.merge);
        let mut field = bare.clone().typed(entry.r#type);
        match (entry.merge, &entry.reducer) {
            (Merge::With, Some(name)) => match registry.find_reducer(name) {
                Some(reduce) => field = field.reduced_by(name.to_string(), reduce),
                None => {
                    let unknown = MistakeKind::unknown("reducer", name, registry.reducer_names());
                    problems.add(format!("{at}/reducer"), unknown);
                }
            },
            (Merge::With, None) if !no_reducer => {
                problems.add(at.clone(), MistakeKind::NoReducer { known: registry.reducer_names() });
            }
            (merge, Some(_)) if !no_merge => {
                problems.add(format!("{at}/reducer"), MistakeKind::NotReduced { merge: merge.word() });
            }
            _ => {}
        }
        field = field.default_value(entry.default.clone());
        if entry.transient {
            field = field.transient();
        }
        let checked = field.check();
        let mut is_named = !no_name && !is_twice;
        if let Err(wrong) = checked {
            let no_name = wrong == SchemaError::NoName;
            is_named &= !no_name;
            problems.add(format!("{at}/{}", if no_name { "name" } else { "default" }), wrong.into());
            // Its name is known all the same, so that nothing that uses it is wrong too.
            field = bare;
        }
        fields.extend(is_named.then_some(field));
    }
    Schema::new(fields).unwrap_or_else(|error| {
        problems.add("/fields", error.into());
        Arc::default()
    })
}
