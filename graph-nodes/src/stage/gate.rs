//! The vertex that accepts or rejects.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use graph_engine::{Name, Node, NodeError, NodeInfo, NodeKind, Outcome, State, Task, async_trait};

use super::settle::Way;
use super::{Accepted, Correction, Seat, StageError, StageEvent};
use crate::gate::{Decision, Exhaustion, GateError, GatePolicy, Validators, decide};

/// Accepts or rejects what the agent of its stage got from the model, before any effect of it; the only one that
/// counts, waits and asks again.
///
/// | decision | what happens |
/// | --- | --- |
/// | accepted text | enters the history, is emitted as a token, then the [direct reply or the next node](Self::accepted) |
/// | accepted calls | wait in the draft for the [tools](Self::calls); text beside them is emitted |
/// | rejected | after the backoff the cluster stays, with a [`Correction`] as feedback |
/// | escalated, refused | along the [edge](Self::escalate); its node finds the reason in [`GateBook::last_round`](super::GateBook::last_round) |
/// | exhausted, the agent has a [fallback model](super::AgentNode::fallback_model) that the [policy](crate::gate::Exhaustion::FallbackModel) wants | at once the cluster stays, with a [`Correction`] that names it; what is said of its response is final |
/// | exhausted, the [best](crate::gate::Exhaustion::AcceptBest) is wanted | as accepted; the round ends with [`RoundEnd::AcceptedBest`](super::RoundEnd::AcceptedBest) |
/// | exhausted | to [that node](Self::exhausted), else the turn fails with [`StageError::Exhausted`] |
/// | fatal | the turn fails with [`StageError::Fatal`] |
///
/// Cancelling the turn ends the wait at once: no further attempt is made, and because nothing of the gate's run is
/// applied, `proceed` judges the same response again. Without [`calls`](Self::calls) a response with tool calls is
/// rejected with the code `unknown_tool`.
///
/// The [module](super) shows a whole stage.
///
/// ```
/// # use graph_engine::{Log, State};
/// # use graph_nodes::message::Message;
/// # use graph_nodes::stage::{Draft, GateBook, GateNode, Seat};
/// # #[derive(State, Clone, Default)]
/// # struct Trip { #[state(append)] history: Log<Message>, draft: Option<Draft>, book: GateBook }
/// # let seat = Seat { history: Trip::HISTORY, draft: Trip::DRAFT, book: Trip::BOOK };
/// use graph_nodes::gate::{GatePolicy, NonEmptyText, Validators};
/// use graph_nodes::stage::Accepted;
///
/// let gate = GateNode::new("explore", seat, GatePolicy::new(), Validators::new().with(NonEmptyText))
///     .calls("explore_tools")
///     .accepted(Accepted::Direct)
///     .escalate("blocked", "handoff")
///     .exhausted("handoff");
/// # let _ = gate;
/// ```
#[must_use = "a gate does nothing until it is a node"]
pub struct GateNode<S: State> {
    pub(super) stage: Name,
    pub(super) seat: Seat<S>,
    pub(super) policy: GatePolicy,
    validators: Validators<S>,
    /// The validators; as long as nobody runs calls, such that refuse every call.
    effective: Validators<S>,
    pub(super) calls: Option<Name>,
    pub(super) accepted: Accepted,
    pub(super) edges: BTreeMap<String, Name>,
    pub(super) exhausted: Option<Name>,
}

impl<S: State> GateNode<S> {
    /// The gate of a stage; an accepted text is the direct reply.
    pub fn new(stage: impl Into<Name>, seat: Seat<S>, policy: GatePolicy, validators: Validators<S>) -> Self {
        Self {
            stage: stage.into(),
            seat,
            policy,
            effective: validators.without_calls(),
            validators,
            calls: None,
            accepted: Accepted::default(),
            edges: BTreeMap::new(),
            exhausted: None,
        }
    }

    /// The node that runs the calls of an accepted response: the [`ToolsNode`](super::ToolsNode) of the stage.
    pub fn calls(mut self, node: impl Into<Name>) -> Self {
        self.calls = Some(node.into());
        self.effective = self.validators.clone();
        self
    }

    /// Where an accepted text leads (default: it is the direct reply).
    pub fn accepted(mut self, accepted: impl Into<Accepted>) -> Self {
        self.accepted = accepted.into();
        self
    }

    /// Where an edge leads that a validator, a refusal (`blocked`, see
    /// [`GatePolicy::blocked_edge`]) or [`Exhaustion::Escalate`](crate::gate::Exhaustion::Escalate) names.
    pub fn escalate(mut self, edge: impl Into<String>, node: impl Into<Name>) -> Self {
        self.edges.insert(edge.into(), node.into());
        self
    }

    /// Where to go when a limit of the policy is reached (default: the turn fails).
    pub fn exhausted(mut self, node: impl Into<Name>) -> Self {
        self.exhausted = Some(node.into());
        self
    }

    /// Finds what would fail the first turn: a policy that accepts the best response, without a score. `compile()` asks
    /// this too.
    ///
    /// # Errors
    /// [`StageError::Gate`] with [`GateError::NoScore`].
    pub fn check(&self) -> Result<(), StageError> {
        match self.policy.exhaustion {
            Exhaustion::AcceptBest if !self.validators.has_score() => {
                Err(StageError::Gate { stage: self.stage.clone(), reason: GateError::NoScore })
            }
            _ => Ok(()),
        }
    }
}

#[async_trait]
impl<S: State> Node<S> for GateNode<S> {
    async fn run(&self, task: &Task<S>) -> Result<Outcome<S>, NodeError> {
        let (state, ctx) = (task.state(), task.ctx());
        let outcome = self.outcome_of(state).map_err(StageError::fatal)?;
        let rejected = outcome.result.clone();
        let mut book = self.seat.book.get(state).clone();
        let ledger = book.ledger_mut(&self.stage);
        let decision = decide(&self.policy, &self.effective, ledger, outcome, state)
            .await
            .map_err(|reason| StageError::Gate { stage: self.stage.clone(), reason }.fatal())?;
        match decision {
            Decision::Accept { response, modified, best, .. } => {
                self.accept(&ctx, book, *response, modified, best).await
            }
            Decision::Retry { feedback, backoff, attempt, max, is_last } => {
                let (stage, mode) = (self.stage.clone(), self.policy.feedback);
                let correction = Correction { stage, feedback, mode, attempt, max, is_last, fallback: false };
                self.retry(&ctx, book, rejected, backoff, correction).await
            }
            Decision::Fallback { feedback, by, attempt, max } => {
                let (stage, mode) = (self.stage.clone(), self.policy.feedback);
                let correction = Correction { stage, feedback, mode, attempt, max, is_last: true, fallback: true };
                if ctx.is_observed() {
                    ctx.emit(StageEvent::Fallback { stage: self.stage.clone(), by }).await?;
                }
                self.retry(&ctx, book, rejected, Duration::ZERO, correction).await
            }
            Decision::Escalate { edge, code, reason, exhausted } => {
                self.escalated(book, Way { edge, code, reason, exhausted })
            }
            Decision::Exhausted(failure) => self.out_of_attempts(book, failure),
            Decision::Fatal { code, reason } => {
                let ledger = Box::new(std::mem::take(book.ledger_mut(&self.stage)));
                Err(StageError::Fatal { stage: self.stage.clone(), code, reason, ledger }.fatal())
            }
            Decision::Cancelled => Err(StageError::Cancelled { stage: self.stage.clone() }.fatal()),
        }
    }

    fn describe(&self) -> NodeInfo {
        let mut info = NodeInfo::new(NodeKind::Gate);
        let go = match &self.accepted {
            Accepted::Direct => None,
            Accepted::Go(node) => Some(node),
        };
        let targets = self.calls.iter().chain(go).chain(self.edges.values()).chain(&self.exhausted);
        for target in targets {
            if !info.named_targets.contains(target) {
                info.named_targets.push(target.clone());
            }
        }
        info.problems.extend(self.check().err().map(|problem| problem.to_string()));
        info.stay = true;
        info.direct = self.accepted == Accepted::Direct;
        info.writes = Some(self.seat.draft.set() | self.seat.book.set() | self.seat.history.set());
        info
    }
}

impl<S: State> fmt::Debug for GateNode<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GateNode")
            .field("stage", &self.stage)
            .field("policy", &self.policy)
            .field("validators", &self.validators)
            .finish_non_exhaustive()
    }
}
