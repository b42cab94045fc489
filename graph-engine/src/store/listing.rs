//! Which checkpoints and threads a store lists, and what pruning keeps.

use std::ops::RangeInclusive;

use super::checkpoint::{CheckpointInfo, Tags};
use crate::checkpoint_id::CheckpointId;
use crate::name::Name;

/// Which checkpoints to list. The default passes all.
///
/// ```
/// use graph_engine::Filter;
///
/// let filter = Filter::default().limit(10).tag("tenant", "acme");
/// assert_eq!(filter.limit, Some(10));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Filter {
    /// Only those made before this one.
    pub before: Option<CheckpointId>,
    /// At most so many.
    pub limit: Option<usize>,
    /// Only those of this turn.
    pub turn: Option<Name>,
    /// Only those of these steps.
    pub steps: Option<RangeInclusive<u64>>,
    /// Only those that carry all of these tags.
    pub tags: Tags,
}

impl Filter {
    /// Only those made before this one.
    #[must_use]
    pub fn before(mut self, id: CheckpointId) -> Self {
        self.before = Some(id);
        self
    }

    /// At most so many.
    #[must_use]
    pub fn limit(mut self, limit: usize) -> Self {
        self.limit = Some(limit);
        self
    }

    /// Only those of this turn.
    #[must_use]
    pub fn turn(mut self, turn: impl Into<Name>) -> Self {
        self.turn = Some(turn.into());
        self
    }

    /// Only those of these steps.
    #[must_use]
    pub fn steps(mut self, steps: RangeInclusive<u64>) -> Self {
        self.steps = Some(steps);
        self
    }

    /// Only those with this tag.
    #[must_use]
    pub fn tag(mut self, key: impl Into<String>, value: impl Into<String>) -> Self {
        self.tags.insert(key.into(), value.into());
        self
    }

    /// Whether a checkpoint passes, `before` and `limit` aside.
    #[must_use]
    pub fn passes(&self, turn: &str, step: u64, tags: &Tags) -> bool {
        self.turn.as_ref().is_none_or(|wanted| wanted == turn)
            && self.steps.as_ref().is_none_or(|steps| steps.contains(&step))
            && self.tags.iter().all(|(key, value)| tags.get(key) == Some(value))
    }
}

/// What pruning keeps. The head is always kept.
///
/// ```
/// use graph_engine::Keep;
///
/// assert_ne!(Keep::Last(1), Keep::Since(0));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Keep {
    /// The newest so many of the head's chain.
    Last(usize),
    /// Those made at this time or later, in milliseconds since 1970.
    Since(u64),
}

/// Which threads to list. The default passes all.
///
/// ```
/// use graph_engine::ThreadFilter;
///
/// let filter = ThreadFilter::default().prefix("acme/").limit(50);
/// assert_eq!(filter.limit, Some(50));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ThreadFilter {
    /// Only those after this one, in the order of their bytes.
    pub after: Option<Name>,
    /// Only those whose id begins so.
    pub prefix: Option<String>,
    /// Only those with a question that expires at this time or before, in milliseconds since 1970.
    pub due_by: Option<u64>,
    /// At most so many.
    pub limit: Option<usize>,
}

impl ThreadFilter {
    /// Only those after this one, in the order of their bytes.
    #[must_use]
    pub fn after(mut self, thread: impl Into<Name>) -> Self {
        self.after = Some(thread.into());
        self
    }

    /// Only those whose id begins so.
    #[must_use]
    pub fn prefix(mut self, prefix: impl Into<String>) -> Self {
        self.prefix = Some(prefix.into());
        self
    }

    /// Only those with a question that expires at this time or before, in milliseconds since 1970.
    #[must_use]
    pub fn due_by(mut self, time_ms: u64) -> Self {
        self.due_by = Some(time_ms);
        self
    }

    /// At most so many.
    #[must_use]
    pub fn limit(mut self, limit: usize) -> Self {
        self.limit = Some(limit);
        self
    }

    /// Whether a thread passes, `limit` aside.
    #[must_use]
    pub fn passes(&self, thread: &str, due_ms: Option<u64>) -> bool {
        self.after.as_ref().is_none_or(|after| thread > after.as_str())
            && self.prefix.as_ref().is_none_or(|prefix| thread.starts_with(prefix))
            && self.due_by.is_none_or(|time| due_ms.is_some_and(|due| due <= time))
    }
}

/// What a list of threads says of each.
///
/// ```
/// use graph_engine::{CheckpointId, CheckpointInfo, ThreadInfo};
///
/// let id = CheckpointId::derive("guest-7", "", None, "turn", 4);
/// let info = ThreadInfo::new("guest-7", CheckpointInfo::new(id, None, "turn", 4));
/// assert_eq!(info.due_ms, None);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ThreadInfo {
    /// The thread.
    pub thread: Name,
    /// Its newest checkpoint.
    pub head: CheckpointInfo,
    /// When the first of its open questions expires, in milliseconds since 1970.
    pub due_ms: Option<u64>,
}

impl ThreadInfo {
    /// A thread without questions that expire.
    pub fn new(thread: impl Into<Name>, head: CheckpointInfo) -> Self {
        Self { thread: thread.into(), head, due_ms: None }
    }
}
