//! Conflicts and the fold of updates in task order.

use std::collections::{BTreeMap, BTreeSet};

use super::model::{Model, Task};
use crate::simulation::state::{FIELDS, OWNER};

/// A conflict: the first field, its writers, and all tasks whose results are dropped.
pub(super) struct Conflict {
    pub(super) field: &'static str,
    pub(super) writers: Vec<usize>,
    pub(super) dropped: BTreeSet<usize>,
}

/// Fields that several tasks write although only one may.
pub(super) fn conflict(tasks: &[Task]) -> Option<Conflict> {
    let mut writers: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
    let mut overwritten = BTreeSet::new();
    for (rank, task) in tasks.iter().enumerate() {
        for op in task.done.iter().flat_map(|(ops, _)| ops) {
            let (field, overwrites) = op.target();
            writers.entry(field).or_default().insert(rank);
            if overwrites {
                overwritten.insert(field);
            }
        }
    }
    writers.retain(|field, ranks| ranks.len() > 1 && (*field == OWNER || overwritten.contains(field)));
    let (field, ranks) = writers.first_key_value()?;
    Some(Conflict {
        field: FIELDS[*field],
        writers: ranks.iter().copied().collect(),
        dropped: writers.values().flatten().copied().collect(),
    })
}

/// All updates in task order, or nothing at all.
pub(super) fn merge(model: &mut Model) -> Result<(), &'static str> {
    let mut facts = model.facts.clone();
    for task in &model.tasks {
        for op in task.done.iter().flat_map(|(ops, _)| ops) {
            facts.apply(op)?;
        }
    }
    model.facts = facts;
    for task in model.tasks.clone() {
        if let Some((ops, _)) = &task.done {
            model.note(Some(task.node), ops);
        }
    }
    // What was merged is not merged again when only the routing is left to do.
    for task in &mut model.tasks {
        if let Some((ops, _)) = &mut task.done {
            ops.clear();
        }
    }
    Ok(())
}
