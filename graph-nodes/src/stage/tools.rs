//! The vertex that runs tools.

use std::collections::BTreeSet;
use std::fmt;
use std::num::{NonZeroU32, NonZeroUsize};
use std::time::Duration;

use graph_engine::{Ctx, Name, Node, NodeError, NodeInfo, NodeKind, Outcome, State, Task, async_trait};

use super::dispatch::Dispatch;
use super::effects::Effects;
use super::{Draft, GateBook, Guards, Held, RequireEvidence, Seat, SeveralCalls, StageError, StageEvent, ToolLedger};
use crate::message::Message;
use crate::model::Response;
use crate::tool::{ToolBox, ToolBoxError, ToolBoxWarning, ToolRoute};

/// Runs the calls of an accepted response and answers every one of them.
///
/// If the calls name exactly the tools of a [group](crate::tool::GroupHandler), its handler gets all of them;
/// otherwise each call goes to its own tool. Neighbours whose tools say that they are
/// [safe beside others](crate::tool::Tool::concurrency_safe) run at the same time, the others alone. Nothing is
/// spawned, and answers and updates are in request order whatever ends first.
///
/// The assistant message and all its tool messages enter the history in one update, in the order of the calls:
///
/// | what happened to a call | its tool message |
/// | --- | --- |
/// | the handler replied | the reply, status ok |
/// | the handler failed or panicked | the error; of a panic only that there was one |
/// | there is no such tool, or not in this stage | an error that lists what is offered |
/// | the arguments are no object or don't fit the schema | an error that names each place and what was expected |
/// | it took longer than [`call_timeout`](Self::call_timeout) | an error that it may work later; its neighbours are not touched |
/// | more calls than [`max_calls`](Self::max_calls) or [`max_calls_per_turn`](Self::max_calls_per_turn) | an error; it is not executed |
/// | [`several`](Self::several) calls, and another one was chosen | an error; it is not executed |
/// | a [guard](Self::guards) kept it from running | an error, or the earlier result |
/// | an earlier call of the response finished the thread | an error; it is not executed |
/// | a person was asked and said no, or nobody answered in time | that it was declined, with the reason; status declined |
///
/// Updates are composed in request order, those of tools whose route is not followed too. Of several routes finish
/// beats all, then the first go or direct, then stay; the others are recorded in
/// [`GateBook::conflicts`](super::GateBook::conflicts) and emitted. A tool's stay asks the stage's model again, like
/// no route at all: it is a normal round and not an attempt, so no stay of the cluster is counted.
///
/// Everything takes effect in one update, with this order in the history: the assistant message, the tool messages,
/// [messages](crate::tool::ToolReply::message) of the replies, the reply of a direct or finish as words of the
/// assistant. What the tools write comes after that. The next node sees all of it.
///
/// A turn that is cancelled while calls run keeps nothing of the response, no answer and no update: `proceed` runs
/// the same calls again (with the same [idempotency keys](crate::tool::Call::idempotency_key)), `abandon` and new
/// input drop them. So no state ever holds a call that is half answered.
///
/// # Confirmation
/// A tool may want a person's yes: [`FnTool::confirm`](crate::tool::FnTool::confirm) before its handler runs,
/// [`Call::confirm`](crate::tool::Call::confirm) or [`Call::interrupt`](crate::tool::Call::interrupt) inside of it. Then
/// the turn pauses, and only that call waits:
///
/// - the others run, and their answers are kept: no handler whose call is answered runs again. History, updates and routes
///   come in one update once every call is answered, so no state holds a call without its answer;
/// - all questions of the response are open at once, in the order of the calls, and may be answered one by one or
///   together;
/// - a call that can't run beside others isn't overtaken by its like: while it waits, later ones that aren't
///   [safe beside others](crate::tool::Tool::concurrency_safe) wait too. Those that are safe run;
/// - the calls of a group are one question that lists all of them, also when only one of their tools wants a yes;
/// - every call counts once in the ledger and its limits, however often the vertex ran. A declined call counts neither as
///   executed nor as a failure.
///
/// It needs a runner with a store; without one the first question fails the task.
///
/// The [module](super) shows a whole stage.
///
/// ```
/// # use graph_engine::{Log, State};
/// # use graph_nodes::message::Message;
/// # use graph_nodes::stage::{Draft, GateBook, Seat, ToolsNode};
/// # use graph_nodes::tool::ToolBox;
/// # #[derive(State, Clone, Default)]
/// # struct Trip { #[state(append)] history: Log<Message>, draft: Option<Draft>, book: GateBook }
/// # let seat = Seat { history: Trip::HISTORY, draft: Trip::DRAFT, book: Trip::BOOK };
/// # let tools = ToolBox::default();
/// let tools = ToolsNode::new("explore", seat, tools, ["capture_criteria"])
///     .then("explore_agent")
///     .targets(["present_agent"])
///     .max_calls(10);
/// # let _ = tools;
/// ```
///
/// Alone, without a graph: a draft goes in, an update and a move come out.
///
/// ```
/// # use graph_engine::{Log, Move, State};
/// # use graph_nodes::message::{Message, ToolCall};
/// # use graph_nodes::stage::{Draft, GateBook, Held, Seat, ToolsNode};
/// # #[derive(State, Clone, Default)]
/// # struct Trip { city: String, #[state(append)] history: Log<Message>, draft: Option<Draft>, book: GateBook }
/// # #[derive(serde::Deserialize, schemars::JsonSchema)]
/// # struct City { city: String }
/// use graph_engine::testing::node_once;
/// use graph_nodes::model::Response;
/// use graph_nodes::tool::{ToolBox, ToolReply, tool};
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().build()?.block_on(async {
/// let save = tool::<Trip, City>("save", "Saves the city.", |args: City, _| async move {
///     Ok(ToolReply::text("saved").update(Trip::update().city(args.city)))
/// });
/// let seat = Seat { history: Trip::HISTORY, draft: Trip::DRAFT, book: Trip::BOOK };
/// let tools = ToolsNode::new("explore", seat, ToolBox::builder().tool(save).build()?, ["save"]).then("agent");
///
/// let response = Response::from_calls([ToolCall::from_text("c1", "save", r#"{"city": "Oslo"}"#)]);
/// let draft = Draft { stage: "explore".into(), held: Held::Calls(Box::new(response)) };
/// let outcome = node_once(tools).state(Trip { draft: Some(draft), ..Trip::default() }).run().await.unwrap();
/// assert_eq!(outcome.to_move(), Move::Go(vec!["agent".into()]));
/// let mut trip = Trip::default();
/// trip.apply(outcome.update);
/// assert_eq!((trip.city.as_str(), trip.history.last().unwrap().text().as_str()), ("Oslo", "saved"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use = "a vertex does nothing until it is a node"]
pub struct ToolsNode<S: State> {
    pub(super) stage: Name,
    pub(super) seat: Seat<S>,
    pub(super) tools: Result<ToolBox<S>, ToolBoxError>,
    pub(super) then: Option<Name>,
    targets: Vec<Name>,
    pub(super) several: SeveralCalls,
    pub(super) max_calls: usize,
    pub(super) max_calls_per_turn: Option<u32>,
    pub(super) sequential: bool,
    /// How many calls of a batch run at once.
    pub(super) concurrency: usize,
    pub(super) call_timeout: Option<Duration>,
    pub(super) guards: Guards,
    pub(super) all_broken: Option<Name>,
}

impl<S: State> ToolsNode<S> {
    /// The tools of a stage: of the box only these may be called. A name that is no tool's is an error
    /// of `compile()`.
    pub fn new<N: AsRef<str>>(
        stage: impl Into<Name>,
        seat: Seat<S>,
        tools: ToolBox<S>,
        names: impl IntoIterator<Item = N>,
    ) -> Self {
        Self {
            stage: stage.into(),
            seat,
            tools: tools.expose(names),
            then: None,
            targets: Vec::new(),
            several: SeveralCalls::default(),
            max_calls: usize::MAX,
            max_calls_per_turn: None,
            sequential: false,
            concurrency: usize::MAX,
            call_timeout: None,
            guards: Guards::default(),
            all_broken: None,
        }
    }

    /// Where to go when no tool routes: the agent again (default: along the declared edges).
    pub fn then(mut self, node: impl Into<Name>) -> Self {
        self.then = Some(node.into());
        self
    }

    /// Where tools may go.
    pub fn targets<N: Into<Name>>(mut self, nodes: impl IntoIterator<Item = N>) -> Self {
        self.targets.extend(nodes.into_iter().map(Into::into));
        self
    }

    /// Which calls of one response are executed (default: all).
    pub fn several(mut self, policy: SeveralCalls) -> Self {
        self.several = policy;
        self
    }

    /// How many calls of one response are executed (default: all). A group runs whole or not at all.
    pub fn max_calls(mut self, max: usize) -> Self {
        self.max_calls = max;
        self
    }

    /// How many calls of this stage are executed in one turn (default: all). Calls that are wrong, repeated or kept
    /// from running don't count.
    pub fn max_calls_per_turn(mut self, max: NonZeroU32) -> Self {
        self.max_calls_per_turn = Some(max.get());
        self
    }

    /// Runs one call after another, whatever the tools say of themselves.
    pub fn sequential(mut self) -> Self {
        self.sequential = true;
        self
    }

    /// How many calls run at the same time (default: all that may).
    pub fn max_concurrency(mut self, max: NonZeroUsize) -> Self {
        self.concurrency = max.get();
        self
    }

    /// How long one call, or the handler of a group, may take (default: as long as it likes). One that takes longer is
    /// dropped at its next await and answered with an error; the others go on.
    pub fn call_timeout(mut self, limit: Duration) -> Self {
        self.call_timeout = Some(limit);
        self
    }

    /// What keeps the model from calling in vain (default: nothing).
    pub fn guards(mut self, guards: Guards) -> Self {
        self.guards = guards;
        self
    }

    /// Where to go when the [breaker](Guards::with_breaker) holds back every tool that is offered and the model would
    /// be asked again (default: the turn fails with [`StageError::AllToolsBroken`]).
    pub fn all_broken(mut self, node: impl Into<Name>) -> Self {
        self.all_broken = Some(node.into());
        self
    }

    /// What is odd about the tools of this stage: groups that can't match.
    #[must_use]
    pub fn warnings(&self) -> Vec<ToolBoxWarning> {
        self.tools.as_ref().map(ToolBox::warnings).unwrap_or_default()
    }

    fn response_of(&self, state: &S) -> Result<Response, StageError> {
        let found = match self.seat.draft.get(state) {
            None => "no draft".to_owned(),
            Some(Draft { stage, .. }) if *stage != self.stage => format!("a draft of stage `{stage}`"),
            Some(Draft { held: Held::Calls(response), .. }) => return Ok(Response::clone(response)),
            Some(_) => "a draft without accepted calls".to_owned(),
        };
        Err(StageError::NoDraft { stage: self.stage.clone(), vertex: "tools vertex", found })
    }

    /// Where it may go, each once.
    fn nodes(&self) -> Vec<&Name> {
        let mut nodes = Vec::new();
        for node in self.then.iter().chain(&self.targets).chain(&self.all_broken) {
            if !nodes.contains(&node) {
                nodes.push(node);
            }
        }
        nodes
    }

    pub(super) fn check_route(&self, tool: &str, route: &ToolRoute) -> Result<(), StageError> {
        let ToolRoute::Go(target) = route else { return Ok(()) };
        if self.then.iter().chain(&self.targets).any(|node| node == target) {
            return Ok(());
        }
        Err(StageError::UnknownTarget {
            stage: self.stage.clone(),
            tool: tool.to_owned(),
            target: target.clone(),
            known: self.then.iter().chain(&self.targets).map(ToString::to_string).collect(),
        })
    }

    /// Gives new ids to calls whose ids the history holds already. The history is looked through once, and only if
    /// there is such a call its ids are collected.
    async fn rename(&self, ctx: &Ctx, state: &S, response: &mut Response) -> Result<(), NodeError> {
        let ids = || self.seat.history.get(state).iter().flat_map(Message::calls).map(|call| &*call.id);
        let own: BTreeSet<&str> = response.calls.iter().map(|call| &*call.id).collect();
        if own.len() == response.calls.len() && !ids().any(|id| own.contains(id)) {
            return Ok(());
        }
        let taken: BTreeSet<&str> = ids().collect();
        let ids = response.rename_taken_ids(|id| taken.contains(id));
        if !ids.is_empty() && ctx.is_observed() {
            ctx.emit(StageEvent::Renamed { stage: self.stage.clone(), ids }).await?;
        }
        Ok(())
    }

    /// The ledger of this turn, taken out of the book.
    fn ledger_of(&self, book: &mut GateBook, turn: &Name) -> ToolLedger {
        let kept = book.tools.remove(&self.stage).filter(|ledger| ledger.turn == *turn);
        let mut ledger = kept.unwrap_or_else(|| ToolLedger::of_turn(turn));
        // The round that led here has just ended, and with it its count of reminders.
        let reminded = book.last_round(&self.stage).map_or(0, |round| round.ledger.count(&RequireEvidence::<S>::CODE));
        ledger.reminders = ledger.reminders.saturating_add(reminded);
        ledger
    }
}

#[async_trait]
impl<S: State> Node<S> for ToolsNode<S> {
    async fn run(&self, task: &Task<S>) -> Result<Outcome<S>, NodeError> {
        let (state, ctx) = (task.state(), task.ctx());
        let tools = self.tools.as_ref();
        let tools =
            tools.map_err(|reason| StageError::Tools { stage: self.stage.clone(), reason: reason.clone() }.fatal())?;
        let mut response = self.response_of(state).map_err(StageError::fatal)?;
        self.rename(&ctx, state, &mut response).await?;
        let mut book = self.seat.book.get(state).clone();
        // A turn that answers a question goes on with what the turn that asked has counted.
        let since = Dispatch::<S>::since(&ctx).await?;
        let mut ledger = self.ledger_of(&mut book, since.as_ref().unwrap_or(ctx.turn()));
        ledger.turn = ctx.turn().clone();
        let dispatch = Dispatch { node: self, tools, task, ctx: &ctx, since: since.as_ref() };
        let answers = dispatch.run(&response, &mut ledger).await?;
        ledger.tell(book.tools.values_mut());
        let Effects { outcome, conflict } = self.effects(&response, answers, book, ledger)?;
        if let Some(conflict) = conflict {
            ctx.emit(StageEvent::RouteConflict(conflict)).await?;
        }
        Ok(outcome)
    }

    fn describe(&self) -> NodeInfo {
        let mut info = NodeInfo::new(NodeKind::Tools);
        info.named_targets = self.nodes().into_iter().cloned().collect();
        (info.direct, info.finish) = (true, true);
        if let Err(reason) = &self.tools {
            let problem = StageError::Tools { stage: self.stage.clone(), reason: reason.clone() };
            info.problems.push(problem.to_string());
        }
        if let Ok(tools) = &self.tools {
            let needs = tools.entries().flat_map(|entry| entry.tool.needs());
            for need in needs.chain(tools.groups().flat_map(|group| group.needs())) {
                if !info.needs.contains(&need) {
                    info.needs.push(need);
                }
            }
        }
        info
    }
}

impl<S: State> fmt::Debug for ToolsNode<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolsNode")
            .field("stage", &self.stage)
            .field("tools", &self.tools)
            .field("then", &self.then)
            .field("targets", &self.targets)
            .finish_non_exhaustive()
    }
}
