//! The last steps of a turn.

use crate::message::Message;
use crate::model::{Request, ToolChoice};

/// Super-steps of one model call whose tools run: the agent, its gate, the tools.
const ROUND: u64 = 3;

/// The most steps that are announced.
const ANNOUNCED: u64 = 3;

/// Makes an [agent](super::AgentNode::finalize) come to an end before the step limit of its turn does.
///
/// A step is one call of the model and what follows from it, which are three super-steps: the agent, its gate, the
/// tools. The last step needs two, because no tools run after it. When 3, 2 or 1 steps are left, the model is told so
/// at the end of the request (the note isn't kept); in the last one no tools are offered.
///
/// ```
/// use graph_nodes::stage::FinalizePolicy;
///
/// let policy = FinalizePolicy::default();
/// assert_eq!((policy.reserve_steps, policy.tools_off), (2, true));
/// // Super-steps after the agent's own: gate, tools, agent, gate; then two in reserve.
/// assert_eq!(policy.steps_left(6), 2);
/// assert_eq!(policy.steps_left(5), 1);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FinalizePolicy {
    /// Super-steps that are kept for what comes after the last step: 2 for one rejected answer, more for nodes behind
    /// the stage. Default 2.
    pub reserve_steps: u64,
    /// Whether no tools are offered in the last step. Default true.
    pub tools_off: bool,
}

impl Default for FinalizePolicy {
    fn default() -> Self {
        Self { reserve_steps: 2, tools_off: true }
    }
}

impl FinalizePolicy {
    /// Two super-steps in reserve, and no tools in the last step.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets how many super-steps are kept.
    #[must_use]
    pub fn with_reserve_steps(mut self, super_steps: u64) -> Self {
        self.reserve_steps = super_steps;
        self
    }

    /// Sets whether no tools are offered in the last step.
    #[must_use]
    pub fn with_tools_off(mut self, off: bool) -> Self {
        self.tools_off = off;
        self
    }

    /// How many times the model can be asked, this time included, when so many super-steps
    /// [remain](graph_engine::Ctx::remaining_steps) after the agent's own; at least 1.
    #[must_use]
    pub fn steps_left(&self, remaining: u64) -> u64 {
        // The gate of the last step is the one super-step that it needs after the agent's.
        1 + remaining.saturating_sub(self.reserve_steps).saturating_sub(1) / ROUND
    }

    /// The request as it is with so many super-steps left.
    pub(super) fn apply(&self, mut request: Request, remaining: u64) -> Request {
        let left = self.steps_left(remaining);
        if left == 1 && self.tools_off && !request.tools.is_empty() {
            request.tools.clear();
            request.tool_choice = ToolChoice::None;
        }
        request
    }

    /// What the model is told.
    pub(super) fn note(&self, remaining: u64) -> Option<Message> {
        match self.steps_left(remaining) {
            1 => Some(Message::system("1 step left: answer now, with what you have.")),
            left @ ..=ANNOUNCED => Some(Message::system(format!("{left} steps left: come to an end."))),
            _ => None,
        }
    }
}
