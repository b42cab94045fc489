//! What keeps a model from calling in vain.

use std::num::NonZeroU32;

/// What keeps a model from calling in vain, for one [`ToolsNode`](super::ToolsNode). Nothing is on by default; what
/// they count is in the [`ToolLedger`](super::ToolLedger) of the stage and lasts for one turn.
///
/// ```
/// use std::num::NonZeroU32;
///
/// use graph_nodes::stage::Guards;
///
/// assert_eq!(Guards::all(), Guards::new().with_breaker(NonZeroU32::new(3).unwrap()).with_repeats_intercepted());
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Guards {
    /// After how many failures in a row a tool isn't asked any more.
    pub breaker: Option<NonZeroU32>,
    /// Whether a call that succeeded already isn't executed again.
    pub repeats_intercepted: bool,
}

impl Guards {
    /// No guards.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Every guard with its usual value: a tool isn't asked any more after 3 failures in a row, and repeats are
    /// intercepted.
    #[must_use]
    pub fn all() -> Self {
        Self { breaker: NonZeroU32::new(3), repeats_intercepted: true }
    }

    /// A tool that failed so often in a row isn't executed any more in this turn: its calls are answered with an
    /// error, the other tools go on. A success sets the count back. When that is so of all tools that are offered and
    /// the model would be asked again, the way is
    /// [`ToolsNode::all_broken`](super::ToolsNode::all_broken).
    #[must_use]
    pub fn with_breaker(mut self, failures: NonZeroU32) -> Self {
        self.breaker = Some(failures);
        self
    }

    /// A call that succeeded already in this turn, of the same tool with the same arguments (in any order of the
    /// keys), isn't executed again: it is answered with the first 200 characters of that result. Neighbours that run
    /// together and are the same are executed once. A success of a tool that isn't
    /// [read-only](crate::tool::Tool::read_only) makes all earlier results old, in all stages of the seat, and what was
    /// read beside it is not kept. One that led elsewhere may do so again. A repeat is never a failure.
    #[must_use]
    pub fn with_repeats_intercepted(mut self) -> Self {
        self.repeats_intercepted = true;
        self
    }
}
