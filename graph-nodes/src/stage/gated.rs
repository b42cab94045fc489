//! The vertex that asks and judges.

use std::fmt;

use graph_engine::{Node, NodeError, NodeInfo, NodeKind, Outcome, State, Task, async_trait};

use super::gated_sink::NodeSink;
use super::round::Prepared;
use super::settle::Wait;
use super::{AgentNode, GateNode, StageError};
use crate::gate::{Decision, Progress, Release, Streaming, ask, decide_in_time, trace};
use crate::model::Request;

/// An agent and its gate in one vertex: asks a model, judges what it says, and stays to ask again. Routes, events, the
/// book and what is kept are those of the [`AgentNode`] and the [`GateNode`] it is made of, and so are their builders.
///
/// Take it to [stream](Self::streaming) a text before it is whole. Take two vertices to lose nothing: here a cancelled
/// turn loses the response that is being judged, tokens included, while two vertices have it in the draft. A finished
/// attempt is in the book before the wait begins, in both forms. For the same reason `proceed` after a failure asks the
/// model once more here, and judges the same response again there.
///
/// The policy of the agent isn't needed: the gate's counts. The model is told of the schema of a structured
/// [output](GateNode::output).
///
/// ```
/// use graph_engine::{Graph, Log, START, State};
/// use graph_nodes::gate::{GatePolicy, Length, Streaming, Validators};
/// use graph_nodes::message::Message;
/// use graph_nodes::model::{ScriptedModel, Turn};
/// use graph_nodes::stage::{AgentNode, Draft, GateBook, GateNode, GatedNode, Seat};
///
/// #[derive(State, Clone, Default)]
/// struct Trip {
///     #[state(append)]
///     history: Log<Message>,
///     draft: Option<Draft>,
///     book: GateBook,
/// }
///
/// # let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build()?;
/// # runtime.block_on(async {
/// let seat = Seat { history: Trip::HISTORY, draft: Trip::DRAFT, book: Trip::BOOK };
/// let model = ScriptedModel::new([Turn::text("No."), Turn::text("A room is free. It is quiet.")]);
/// let agent = AgentNode::new("explore", seat).with_model(model);
/// let gate = GateNode::new("explore", seat, GatePolicy::new(), Validators::new().with(Length::at_least(9)));
/// let graph = Graph::<Trip>::builder("trip")
///     .node("talk", GatedNode::new(agent, gate).streaming(Streaming::every_sentence()))
///     .edge(START, "talk")
///     .compile()?;
///
/// let end = graph.runner().thread("guest-7").run(seat.user("Is there a room?")).await?;
/// assert_eq!(end.reply_as::<String>()?.as_deref(), Some("A room is free. It is quiet."));
/// assert_eq!(end.state.book.totals("explore").attempts, 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Alone, without a graph: a history goes in, an accepted text comes out.
///
/// ```
/// # use graph_engine::{Log, State};
/// # use graph_nodes::message::Message;
/// # use graph_nodes::stage::{AgentNode, Draft, GateBook, GateNode, GatedNode, Seat};
/// # #[derive(State, Clone, Default)]
/// # struct Trip { #[state(append)] history: Log<Message>, draft: Option<Draft>, book: GateBook }
/// use graph_engine::Move;
/// use graph_engine::testing::node_once;
/// use graph_nodes::gate::{GatePolicy, Validators};
/// use graph_nodes::model::{ScriptedModel, Turn};
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().build()?.block_on(async {
/// let seat = Seat { history: Trip::HISTORY, draft: Trip::DRAFT, book: Trip::BOOK };
/// let agent = AgentNode::new("explore", seat).with_model(ScriptedModel::new([Turn::text("Bern in May.")]));
/// let gate = GateNode::new("explore", seat, GatePolicy::new(), Validators::new());
///
/// let mut trip = Trip::default();
/// trip.apply(seat.user("Where shall I go?"));
/// let outcome = node_once(GatedNode::new(agent, gate)).state(trip).run().await.unwrap();
/// assert_eq!(outcome.to_move(), Move::Direct("Bern in May.".into()));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use = "a gated agent does nothing until it is a node"]
pub struct GatedNode<S: State> {
    agent: AgentNode<S>,
    gate: GateNode<S>,
    streaming: Streaming,
}

impl<S: State> GatedNode<S> {
    /// Both in one vertex; all output is held back.
    pub fn new(agent: AgentNode<S>, gate: GateNode<S>) -> Self {
        Self { agent, gate, streaming: Streaming::HoldAll }
    }

    /// Sets when text is shown, as tokens. What has to be taken back is told by
    /// [`StageEvent::Retracted`](super::StageEvent::Retracted). Calls never run before the whole response is accepted.
    pub fn streaming(mut self, streaming: Streaming) -> Self {
        self.streaming = streaming;
        self
    }

    /// Finds what would fail the first turn; `compile()` asks this too.
    ///
    /// # Errors
    /// Those of [`GateNode::check_agent`] but for the deadline.
    pub fn check(&self) -> Result<(), StageError> {
        self.gate.check_but_streaming()?;
        self.gate.check_pair(&self.agent)
    }

    fn with_schema(&self, request: Request) -> Request {
        match self.gate.effective.structured() {
            Some(structured) if request.response_schema.is_none() => structured.request(request),
            _ => request,
        }
    }
}

#[async_trait]
impl<S: State> Node<S> for GatedNode<S> {
    async fn run(&self, task: &Task<S>) -> Result<Outcome<S>, NodeError> {
        let (state, ctx) = (task.state(), task.ctx());
        let Self { agent, gate, .. } = self;
        self.check().map_err(StageError::fatal)?;
        let (model, request, book, told) = match agent.prepare(task)? {
            Prepared::Ask { model, request, book, told } => (model, self.with_schema(request), book, told),
            Prepared::OutOfCalls(outcome) => return Ok(outcome),
        };
        tokio::time::sleep(told.wait).await;
        let seen = book.seen(&agent.seat, state);
        let state = seen.as_ref().unwrap_or(state);
        let mut book = book.into_owned();
        let ledger = book.ledger_mut(&gate.stage);
        let before = ledger.started();
        let mut sink = NodeSink { ctx: &ctx, stage: &gate.stage, failed: None };
        let mut release =
            Release::new(self.streaming, &gate.policy, &gate.effective, state, request.response_schema.is_some());
        let limit = gate.policy.remaining(ledger);
        let outcome = ask(&*model, request, limit, &mut release, &mut Progress::begin(), &mut sink).await;
        ledger.judge += release.spent;
        let rejected = outcome.result.clone();
        let decided = decide_in_time(&gate.policy, &gate.effective, ledger, outcome, state).await;
        trace::attempts(&gate.stage, ledger, before);

        let attempt = ledger.started();
        let shown = match &decided {
            Ok(Decision::Accept { response, .. }) => {
                response.text.len() - release.rest(&response.text, attempt, &mut sink).await.len()
            }
            _ => {
                let codes = ledger.attempts.last().map(crate::gate::Attempt::codes).unwrap_or_default();
                release.retract(attempt, codes, &mut sink).await;
                0
            }
        };
        if let Some(error) = sink.failed {
            return Err(error);
        }
        let decision = decided.map_err(|reason| StageError::Gate { stage: gate.stage.clone(), reason }.fatal())?;
        gate.follow(&ctx, state, book, rejected, decision, Wait::There { shown }).await
    }

    fn describe(&self) -> NodeInfo {
        let mut info = NodeInfo::new(NodeKind::Agent);
        let (agent, gate) = (self.agent.describe(), self.gate.describe());
        info.needs = agent.needs;
        info.no_retry = Some("it counts the attempts and asks again itself");
        info.named_targets = gate.named_targets;
        for target in agent.named_targets {
            if !info.named_targets.contains(&target) {
                info.named_targets.push(target);
            }
        }
        info.stay = true;
        info.direct = gate.direct;
        info.writes = gate.writes;
        info.problems.extend(self.check().err().map(|problem| problem.to_string()));
        info
    }
}

impl<S: State> fmt::Debug for GatedNode<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GatedNode")
            .field("agent", &self.agent)
            .field("gate", &self.gate)
            .field("streaming", &self.streaming)
            .finish()
    }
}
