//! Whether a task may run again within its turn.

/// What may call a node again for the same task, within one turn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Again {
    /// Its retry policy.
    pub(crate) by_policy: bool,
    /// The node is not itself the child graph that it may run: a layer around one may run it more than once.
    pub(crate) by_node: bool,
}
