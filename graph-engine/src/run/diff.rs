//! What differs between two checkpoints of a thread, and who wrote it.

use std::fmt;

use serde_json::Value;

use super::hash::canonical;
use super::thread::Thread;
use crate::checkpoint_id::CheckpointId;
use crate::machine::{EDIT, Writings, WroteRow};
use crate::name::Name;
use crate::run_error::RunError;
use crate::state::State;
use crate::store::{CheckpointInfo, CheckpointStore};
use crate::task::START;

/// Who wrote a field.
///
/// ```
/// use graph_engine::WrittenBy;
///
/// assert_eq!(WrittenBy::Node("book".into()).to_string(), "`book`");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum WrittenBy {
    /// The input of a turn.
    Input,
    /// A write from outside that names no node.
    Edit,
    /// A node, or a write from outside in its place.
    Node(Name),
}

/// One field that differs.
///
/// ```
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// use graph_engine::{Filter, Graph, MemoryStore, START, State, WrittenBy};
///
/// #[derive(State, Clone, Default)]
/// struct Trip {
///     city: String,
/// }
///
/// async fn rest() {}
///
/// let graph = Graph::<Trip>::builder("trip").node("rest", rest).edge(START, "rest").compile().unwrap();
/// let thread = graph.runner().store(MemoryStore::new()).thread("guest-7");
/// let first = thread.edit(Trip::update()).await.unwrap().checkpoint.unwrap();
/// let second = thread.edit(Trip::update().city("Oslo")).in_place().await.unwrap().checkpoint.unwrap();
/// let change = &thread.diff(first, second).await.unwrap().changes[0];
/// assert_eq!((change.after.as_str(), &change.wrote[..]), (Some("Oslo"), &[WrittenBy::Edit][..]));
/// # });
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct FieldChange {
    /// The field.
    pub field: Name,
    /// Its value in the first checkpoint, as JSON.
    pub before: Value,
    /// Its value in the second one.
    pub after: Value,
    /// Who wrote it on the way from the common ancestor to the second checkpoint, in the order of their first write.
    pub wrote: Vec<WrittenBy>,
    /// Who wrote it on the way from the common ancestor to the first checkpoint: what the second one doesn't have.
    pub undone: Vec<WrittenBy>,
}

/// What differs between two checkpoints of a thread: made by [`Thread::diff`], and printed one field a line.
///
/// ```
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// use graph_engine::{Graph, MemoryStore, START, State};
///
/// #[derive(State, Clone, Default)]
/// struct Trip {
///     city: String,
/// }
///
/// async fn rest() {}
///
/// let graph = Graph::<Trip>::builder("trip").node("rest", rest).edge(START, "rest").compile().unwrap();
/// let thread = graph.runner().store(MemoryStore::new()).thread("guest-7");
/// let first = thread.edit(Trip::update()).await.unwrap().checkpoint.unwrap();
/// let second = thread.edit(Trip::update().city("Oslo")).in_place().await.unwrap().checkpoint.unwrap();
/// let diff = thread.diff(first, second).await.unwrap();
/// assert_eq!(diff.ancestor, Some(first));
/// assert_eq!(diff.to_string(), "city: \"\" -> \"Oslo\" (written by an edit)\n");
/// # });
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct StateDiff {
    /// The first checkpoint.
    pub from: CheckpointId,
    /// The second one.
    pub to: CheckpointId,
    /// The newest checkpoint that both follow, or one of them; `None` if that was pruned, and then writers from before
    /// the oldest stored checkpoints are unknown.
    pub ancestor: Option<CheckpointId>,
    /// The fields that differ, in the order of the state.
    pub changes: Vec<FieldChange>,
}

/// One write of the way: who, and which fields.
type Write = (WrittenBy, Vec<String>);

impl<S: State> Thread<S> {
    /// What differs between two checkpoints, and who wrote it on the way. They may be on different branches.
    ///
    /// # Errors
    /// [`RunError::NoStore`] without a store, [`RunError::UnknownCheckpoint`], and what the store says.
    ///
    /// ```
    /// use graph_engine::{Filter, Graph, MemoryStore, START, State};
    ///
    /// #[derive(State, Clone, Default)]
    /// struct Trip {
    ///     city: String,
    /// }
    ///
    /// async fn choose() -> TripUpdate {
    ///     Trip::update().city("Oslo")
    /// }
    ///
    /// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
    /// let graph = Graph::<Trip>::builder("trip").node("choose", choose).edge(START, "choose").compile().unwrap();
    /// let thread = graph.runner().store(MemoryStore::new()).thread("guest-7");
    /// thread.run(Trip::update().city("Bergen")).await.unwrap();
    /// let history = thread.history(&Filter::default()).await.unwrap();
    /// let diff = thread.diff(history[1].id, history[0].id).await.unwrap();
    /// assert_eq!(diff.to_string(), "city: \"Bergen\" -> \"Oslo\" (written by `choose`)\n");
    /// # });
    /// ```
    pub async fn diff(&self, from: CheckpointId, to: CheckpointId) -> Result<StateDiff, RunError> {
        let Some(store) = self.runner.checkpoints().map(|store| &**store) else {
            return Err(RunError::NoStore { thread: self.id.clone(), operation: "diff" });
        };
        let work = async {
            let (old, new) = (self.lineage(store, from, None).await?, self.lineage(store, to, Some(from)).await?);
            let ancestor = old.iter().map(|info| info.id).find(|id| new.iter().any(|info| info.id == *id));
            let undone = self.writes(store, &old, ancestor).await?;
            let wrote = self.writes(store, &new, ancestor).await?;
            let [before, after] = [self.state_at(Some(from)).await?, self.state_at(Some(to)).await?];
            let mut changes = self.changes(&*before.state, &*after.state, before.step)?;
            for change in &mut changes {
                (change.wrote, change.undone) = (writers_of(&wrote, &change.field), writers_of(&undone, &change.field));
            }
            Ok(StateDiff { from, to, ancestor, changes })
        };
        self.guarded(work).await
    }

    /// The fields in which two states differ.
    pub(super) fn changes(&self, before: &S, after: &S, step: u64) -> Result<Vec<FieldChange>, RunError> {
        let (mut old, mut new, mut changes) = (Vec::new(), Vec::new(), Vec::new());
        let failed = |cause| RunError::Encode { thread: self.id.clone(), step, cause };
        for (index, field) in before.fields().iter().enumerate().filter(|(_, field)| !field.transient) {
            canonical(before, index, &mut old).map_err(failed)?;
            canonical(after, index, &mut new).map_err(failed)?;
            if old == new {
                continue;
            }
            // Encoding has just made JSON of both.
            let value = |bytes: &[u8]| serde_json::from_slice::<Value>(bytes).unwrap_or_default();
            changes.push(FieldChange {
                field: (&*field.name).into(),
                before: value(&old),
                after: value(&new),
                wrote: Vec::new(),
                undone: Vec::new(),
            });
        }
        Ok(changes)
    }

    /// What was written after the ancestor, in order.
    async fn writes(
        &self,
        store: &dyn CheckpointStore,
        lineage: &[CheckpointInfo],
        ancestor: Option<CheckpointId>,
    ) -> Result<Vec<Write>, RunError> {
        let way: Vec<_> = lineage.iter().take_while(|info| Some(info.id) != ancestor).collect();
        let mut writes = Vec::new();
        for info in way.into_iter().rev() {
            let row = store.row(&self.place(), info.id).await.map_err(|cause| self.store_error(cause))?;
            let row = row.ok_or_else(|| RunError::UnknownCheckpoint { thread: self.id.clone(), id: info.id })?;
            let said = Writings::of(row.position()).map_err(|why| RunError::Restore {
                thread: self.id.clone(),
                checkpoint: info.id,
                why: format!("its position: {why}"),
            })?;
            writes.extend(said.earlier.iter().chain(&said.wrote).filter_map(write));
        }
        Ok(writes)
    }
}

fn write(row: &WroteRow<'_>) -> Option<Write> {
    let (writer, fields) = row.split_first()?;
    let writer = match &**writer {
        START => WrittenBy::Input,
        EDIT => WrittenBy::Edit,
        node => WrittenBy::Node(node.into()),
    };
    Some((writer, fields.iter().map(|field| field.clone().into_owned()).collect()))
}

fn writers_of(writes: &[Write], field: &Name) -> Vec<WrittenBy> {
    let mut writers = Vec::new();
    for (writer, fields) in writes {
        if fields.iter().any(|name| *field == name.as_str()) && !writers.contains(writer) {
            writers.push(writer.clone());
        }
    }
    writers
}

impl fmt::Display for WrittenBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Input => f.write_str("the input"),
            Self::Edit => f.write_str("an edit"),
            Self::Node(node) => write!(f, "`{node}`"),
        }
    }
}

impl fmt::Display for FieldChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} -> {}", self.field, self.before, self.after)?;
        let mut said = false;
        for (what, writers) in [("written by", &self.wrote), ("without what was written by", &self.undone)] {
            if writers.is_empty() {
                continue;
            }
            let names: Vec<String> = writers.iter().map(ToString::to_string).collect();
            let open = if std::mem::replace(&mut said, true) { "; " } else { " (" };
            write!(f, "{open}{what} {}", names.join(", "))?;
        }
        f.write_str(if said { ")" } else { "" })
    }
}

impl fmt::Display for StateDiff {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.changes.iter().try_for_each(|change| writeln!(f, "{change}"))
    }
}
