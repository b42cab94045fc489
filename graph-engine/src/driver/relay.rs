//! Events of child graphs on their way to the readers of the turn around them.

use std::sync::Arc;

use super::event::{EventKind, Mode};
use super::hub::Waiting;
use crate::name::Name;
use crate::task_id::TaskId;

/// An event of a child graph, whatever its state is.
pub(crate) struct ChildEvent {
    pub(crate) origin: ChildOrigin,
    pub(crate) kind: EventKind<()>,
}

/// Where an event of a child graph comes from.
pub(crate) struct ChildOrigin {
    /// The node of the outermost graph in which it happened.
    pub(crate) outer: Name,
    pub(crate) namespace: Name,
    pub(crate) step: u64,
    pub(crate) task: Option<TaskId>,
    pub(crate) node: Option<Name>,
    pub(crate) attempt: u32,
    pub(crate) index: u32,
}

/// The readers of a turn, as child graphs know them.
pub(crate) trait Relay: Send + Sync {
    /// Whether somebody reads or has read.
    fn is_open(&self) -> bool;

    /// Whether a reader is left.
    fn is_read(&self) -> bool;

    /// Whether some reader asks for a mode that costs something to serve.
    fn asks(&self, mode: Mode) -> bool;

    /// Hands the event to those who ask for it; what comes back is to be awaited, because one of them has no room.
    fn relay(self: Arc<Self>, event: ChildEvent) -> Option<Waiting<'static>>;
}
