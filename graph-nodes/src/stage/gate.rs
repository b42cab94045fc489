//! The vertex that accepts or rejects.

use std::collections::BTreeMap;
use std::fmt;

use graph_engine::{Name, Node, NodeError, NodeInfo, NodeKind, Outcome, State, Task, async_trait};

use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use super::output::Output;
use super::settle::Wait;
use super::{Accepted, AgentNode, Seat, StageError};
use crate::gate::{
    CheckError, Exhaustion, GateError, GatePolicy, Streaming, StructuredOutput, Validators, decide_in_time, trace,
};

/// Accepts or rejects what the agent of its stage got from the model, before any effect of it; the only one that
/// counts, waits and asks again.
///
/// | decision | what happens |
/// | --- | --- |
/// | accepted text | enters the history, is emitted as a token, then the [direct reply or the next node](Self::accepted) |
/// | accepted calls | wait in the draft for the [tools](Self::calls); text beside them is emitted |
/// | rejected | after the backoff the cluster stays, with a [`Correction`](super::Correction) as feedback |
/// | escalated, refused | along the [edge](Self::escalate); its node finds the reason in [`GateBook::last_round`](super::GateBook::last_round) |
/// | exhausted, the agent has a [fallback model](super::AgentNode::fallback_model) that the [policy](crate::gate::Exhaustion::FallbackModel) wants | at once the cluster stays, with a [`Correction`](super::Correction) that names it; what is said of its response is final |
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
///
/// Alone, without a graph: a draft goes in, a verdict comes out as an update and a move.
///
/// ```
/// # use std::time::Duration;
/// # use graph_engine::{Log, Move, State};
/// # use graph_nodes::message::Message;
/// # use graph_nodes::stage::{Draft, GateBook, GateNode, Held, Seat};
/// # #[derive(State, Clone, Default)]
/// # struct Trip { #[state(append)] history: Log<Message>, draft: Option<Draft>, book: GateBook }
/// use graph_engine::testing::node_once;
/// use graph_nodes::gate::{GatePolicy, ModelOutcome, Validators};
/// use graph_nodes::model::Response;
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
/// let seat = Seat { history: Trip::HISTORY, draft: Trip::DRAFT, book: Trip::BOOK };
/// let gate = GateNode::new("explore", seat, GatePolicy::new(), Validators::new());
///
/// let outcome = ModelOutcome::new("m", Duration::from_secs(1), Ok(Response::from_text("Bern in May.")));
/// let held = Held::Outcome { outcome: Box::new(outcome), deadline: None, fallback: false };
/// let draft = Draft { stage: "explore".into(), held };
/// let outcome = node_once(gate).state(Trip { draft: Some(draft), ..Trip::default() }).run().await.unwrap();
/// assert_eq!(outcome.to_move(), Move::Direct("Bern in May.".into()));
/// assert_eq!(outcome.update.book.unwrap().totals("explore").accepted_attempts, 1);
/// # });
/// ```
#[must_use = "a gate does nothing until it is a node"]
pub struct GateNode<S: State> {
    pub(super) stage: Name,
    pub(super) seat: Seat<S>,
    pub(super) policy: GatePolicy,
    validators: Validators<S>,
    /// The validators; as long as nobody runs calls, such that refuse every call.
    pub(super) effective: Validators<S>,
    pub(super) output: Option<Result<Output<S>, CheckError>>,
    streaming: Streaming,
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
            output: None,
            streaming: Streaming::HoldAll,
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

    /// Reads an accepted text as a `T` and adds what the closure makes of it to the update. The text has to be JSON
    /// that is a `T`, or the response is rejected (codes `parse` and `schema`); with
    /// [`Validators::with_structured`] before, what is said there counts, a repair for example, and the text has to be
    /// a `T` besides. The model is told of the schema by [`StructuredOutput::request`] in
    /// [`AgentNode::request`](super::AgentNode::request).
    ///
    /// ```
    /// # use graph_engine::{Log, State};
    /// # use graph_nodes::message::Message;
    /// # use graph_nodes::stage::{AgentNode, Draft, GateBook, GateNode, Seat};
    /// # #[derive(State, Clone, Default)]
    /// # struct Trip { price: u32, #[state(append)] history: Log<Message>, draft: Option<Draft>, book: GateBook }
    /// # let seat = Seat { history: Trip::HISTORY, draft: Trip::DRAFT, book: Trip::BOOK };
    /// use graph_nodes::gate::{GatePolicy, StructuredOutput, Validators};
    ///
    /// #[derive(serde::Deserialize, schemars::JsonSchema)]
    /// struct Offer {
    ///     price: u32,
    /// }
    ///
    /// let offer = StructuredOutput::of::<Offer>()?;
    /// let agent = AgentNode::new("offer", seat).request(move |_, request| offer.request(request));
    /// let gate = GateNode::new("offer", seat, GatePolicy::new(), Validators::new())
    ///     .output::<Offer>(|offer, _| Trip::update().price(offer.price));
    /// assert!(gate.check_agent(&agent).is_ok());
    /// # Ok::<(), graph_nodes::gate::CheckError>(())
    /// ```
    pub fn output<T: JsonSchema + DeserializeOwned + 'static>(
        mut self,
        compose: impl Fn(T, &S) -> S::Update + Send + Sync + 'static,
    ) -> Self {
        let structured = match (self.validators.structured(), &self.output) {
            (Some(structured), None) => Ok(structured.clone().read_as::<T>()),
            // Another output said before what it has to be.
            _ => StructuredOutput::of::<T>(),
        };
        self.output = Some(structured.map(|structured| {
            self.validators = self.validators.clone().with_structured(structured.clone());
            self.effective = self.effective.clone().with_structured(structured);
            Output::new(compose)
        }));
        self
    }

    /// Asks for another way of streaming than holding all output back, which is refused: the response was asked for in
    /// another vertex. Only a [`GatedNode`](super::GatedNode) can do it.
    pub fn streaming(mut self, streaming: Streaming) -> Self {
        self.streaming = streaming;
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

    /// Finds what would fail the first turn: a policy that accepts the best response, without a score; a way of
    /// streaming that a vertex of its own can't do; a type for the output that describes itself by no schema.
    /// `compile()` asks this too.
    ///
    /// # Errors
    /// [`StageError::Gate`] with [`GateError::NoScore`], [`StageError::Streaming`], [`StageError::Check`].
    pub fn check(&self) -> Result<(), StageError> {
        match self.streaming {
            Streaming::HoldAll => self.check_but_streaming(),
            _ => Err(StageError::Streaming { stage: self.stage.clone() }),
        }
    }

    pub(super) fn check_but_streaming(&self) -> Result<(), StageError> {
        let stage = || self.stage.clone();
        if self.policy.exhaustion == Exhaustion::AcceptBest && !self.validators.has_score() {
            return Err(StageError::Gate { stage: stage(), reason: GateError::NoScore });
        }
        match &self.output {
            Some(Err(reason)) => Err(StageError::Check { stage: stage(), reason: reason.clone() }),
            _ => Ok(()),
        }
    }

    /// Finds what would fail the first turn of this gate behind this agent, for whoever puts stages together: both
    /// [`check`](Self::check)s, another stage, a fallback model that the policy wants and the agent hasn't, a deadline
    /// that it doesn't know.
    ///
    /// # Errors
    /// [`StageError::StagesDiffer`], [`StageError::NoFallback`], [`StageError::DeadlineDiffers`], and those of the two.
    ///
    /// ```
    /// # use graph_engine::{Log, State};
    /// # use graph_nodes::message::Message;
    /// # use graph_nodes::stage::{AgentNode, Draft, GateBook, GateNode, Seat, StageError};
    /// # #[derive(State, Clone, Default)]
    /// # struct Trip { #[state(append)] history: Log<Message>, draft: Option<Draft>, book: GateBook }
    /// # let seat = Seat { history: Trip::HISTORY, draft: Trip::DRAFT, book: Trip::BOOK };
    /// use graph_nodes::gate::{Exhaustion, GatePolicy, Validators};
    ///
    /// let policy = GatePolicy::new().with_exhaustion(Exhaustion::FallbackModel);
    /// let gate = GateNode::new("explore", seat, policy, Validators::new());
    /// let agent = AgentNode::new("explore", seat);
    /// assert!(matches!(gate.check_agent(&agent), Err(StageError::NoFallback { .. })));
    /// ```
    pub fn check_agent(&self, agent: &AgentNode<S>) -> Result<(), StageError> {
        self.check()?;
        self.check_pair(agent)?;
        match self.policy.deadline {
            Some(deadline) if Some(deadline) != agent.deadline => {
                Err(StageError::DeadlineDiffers { stage: self.stage.clone(), deadline, agent: agent.deadline })
            }
            _ => Ok(()),
        }
    }

    pub(super) fn check_pair(&self, agent: &AgentNode<S>) -> Result<(), StageError> {
        agent.check()?;
        if self.stage != agent.stage || !self.seat.is(&agent.seat) {
            return Err(StageError::StagesDiffer { stage: self.stage.clone(), agent: agent.stage.clone() });
        }
        if self.policy.exhaustion == Exhaustion::FallbackModel && agent.fallbacks.is_empty() {
            return Err(StageError::NoFallback { stage: self.stage.clone() });
        }
        Ok(())
    }
}

#[async_trait]
impl<S: State> Node<S> for GateNode<S> {
    async fn run(&self, task: &Task<S>) -> Result<Outcome<S>, NodeError> {
        let (state, ctx) = (task.state(), task.ctx());
        self.check().map_err(StageError::fatal)?;
        let outcome = self.outcome_of(state).map_err(StageError::fatal)?;
        let rejected = outcome.result.clone();
        let mut book = self.seat.book.get(state).clone();
        let ledger = book.ledger_mut(&self.stage);
        let before = ledger.started();
        let decided = decide_in_time(&self.policy, &self.effective, ledger, outcome, state).await;
        trace::attempts(&self.stage, ledger, before);
        let decision = decided.map_err(|reason| StageError::Gate { stage: self.stage.clone(), reason }.fatal())?;
        self.follow(&ctx, state, book, rejected, decision, Wait::Here).await
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
        // What an output writes is known to its closure alone.
        info.writes =
            self.output.is_none().then(|| self.seat.draft.set() | self.seat.book.set() | self.seat.history.set());
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
