//! The vertex that runs tools.

use std::collections::BTreeSet;
use std::fmt;

use graph_engine::{Ctx, Name, Node, NodeError, NodeInfo, NodeKind, Outcome, State, Task, async_trait};

use super::conflict::{RouteOf, choose};
use super::correction::text_of;
use super::dispatch::{Answered, Dispatch};
use super::{Draft, Held, Seat, StageError, StageEvent};
use crate::message::{Message, ToolCall, check_history};
use crate::model::Response;
use crate::tool::{ToolBox, ToolBoxError, ToolRoute};

/// Runs the calls of an accepted response one after another, in request order, and answers every one of them.
///
/// The assistant message and all its tool messages enter the history in one update, in the order of the calls:
///
/// | what happened to a call | its tool message |
/// | --- | --- |
/// | the handler replied | the reply, status ok |
/// | the handler failed or panicked | the error; of a panic only that there was one |
/// | there is no such tool, or not in this stage | an error that lists what is offered |
/// | the arguments are no object or don't fit the schema | an error that names each place and what was expected |
/// | more calls than [`max_calls`](Self::max_calls) | an error; it is not executed |
/// | an earlier call of the response finished the thread | an error; it is not executed |
///
/// Updates are composed in request order, those of tools whose route is not followed too. Of several routes finish
/// beats all, then the first go or direct, then stay; the others are recorded in
/// [`GateBook::conflicts`](super::GateBook::conflicts) and emitted. A tool's stay asks the stage's model again, like
/// no route at all: it is a normal round and not an attempt, so no stay of the cluster is counted. The reply of a
/// direct or finish enters the history after the tool messages, as words of the assistant.
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
#[must_use = "a vertex does nothing until it is a node"]
pub struct ToolsNode<S: State> {
    stage: Name,
    seat: Seat<S>,
    tools: Result<ToolBox<S>, ToolBoxError>,
    then: Option<Name>,
    targets: Vec<Name>,
    max_calls: usize,
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
        let tools = tools.expose(names);
        Self { stage: stage.into(), seat, tools, then: None, targets: Vec::new(), max_calls: usize::MAX }
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

    /// How many calls of one response are executed (default: all).
    pub fn max_calls(mut self, max: usize) -> Self {
        self.max_calls = max;
        self
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

    fn check_route(&self, call: &ToolCall, route: &ToolRoute) -> Result<(), StageError> {
        let ToolRoute::Go(target) = route else { return Ok(()) };
        let known = || self.then.iter().chain(&self.targets);
        if known().any(|name| name == target) {
            return Ok(());
        }
        Err(StageError::UnknownTarget {
            stage: self.stage.clone(),
            tool: call.name.clone(),
            target: target.clone(),
            known: known().map(ToString::to_string).collect(),
        })
    }

    /// Runs the calls in order and answers all of them.
    async fn run_all(&self, dispatch: &Dispatch<'_, S>, response: &Response) -> Result<Vec<Answered<S>>, NodeError> {
        let cut = response.executable_calls().err();
        let mut finished: Option<&str> = None;
        let mut all = Vec::with_capacity(response.calls.len());
        for (at, call) in response.calls.iter().enumerate() {
            let answered = if let Some(cut) = cut {
                dispatch.refuse(call, cut.to_string()).await?
            } else if let Some(tool) = finished {
                dispatch.refuse(call, format!("not executed: `{tool}` ended the conversation")).await?
            } else if at >= self.max_calls {
                let (max, calls) = (self.max_calls, if self.max_calls == 1 { "call" } else { "calls" });
                let why =
                    format!("not executed: the limit is {max} {calls} in one response; call it again in the next one");
                dispatch.refuse(call, why).await?
            } else {
                dispatch.run(call).await?
            };
            if let Some(route) = &answered.route {
                self.check_route(call, route).map_err(StageError::fatal)?;
                finished = matches!(route, ToolRoute::Finish(_)).then_some(&*call.name).or(finished);
            }
            all.push(answered);
        }
        Ok(all)
    }

    async fn rename(&self, ctx: &Ctx, state: &S, response: &mut Response) -> Result<(), NodeError> {
        let taken: BTreeSet<&str> =
            self.seat.history.get(state).iter().flat_map(Message::calls).map(|call| &*call.id).collect();
        let ids = response.rename_taken_ids(|id| taken.contains(id));
        if !ids.is_empty() && ctx.is_observed() {
            ctx.emit(StageEvent::Renamed { stage: self.stage.clone(), ids }).await?;
        }
        Ok(())
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
        let dispatch = Dispatch { stage: &self.stage, tools, task, ctx: &ctx };
        let answered = self.run_all(&dispatch, &response).await?;

        let mut messages = vec![response.to_message()];
        let mut written = S::Update::default();
        let mut routes = Vec::new();
        for (Answered { message, update, route }, call) in answered.into_iter().zip(&response.calls) {
            messages.push(message);
            if let Some(update) = update {
                written = S::compose(written, update);
            }
            routes.extend(route.map(|route| RouteOf { call_id: call.id.clone(), tool: call.name.clone(), route }));
        }
        let (route, conflict) = choose(&self.stage, routes);
        if let Some(ToolRoute::Direct(reply) | ToolRoute::Finish(reply)) = &route {
            messages.push(Message::assistant(text_of(reply)));
        }
        debug_assert_eq!(check_history(&messages), Ok(()), "stage `{}`", self.stage);

        let mut update = S::Update::default();
        self.seat.history.put(&mut update, messages.into_iter().collect());
        self.seat.draft.put(&mut update, None);
        if let Some(conflict) = conflict {
            let mut book = self.seat.book.get(state).clone();
            book.conflict(conflict.clone());
            self.seat.book.put(&mut update, book);
            ctx.emit(StageEvent::RouteConflict(conflict)).await?;
        }
        let outcome = Outcome::of(S::compose(update, written));
        Ok(match route {
            Some(ToolRoute::Finish(reply)) => outcome.finish(reply),
            Some(ToolRoute::Direct(reply)) => outcome.direct(reply),
            Some(ToolRoute::Go(node)) => outcome.go(node),
            Some(ToolRoute::Stay) | None => match &self.then {
                Some(node) => outcome.go(node),
                None => outcome,
            },
        })
    }

    fn describe(&self) -> NodeInfo {
        let mut info = NodeInfo::new(NodeKind::Tools);
        for target in self.then.iter().chain(&self.targets) {
            if !info.named_targets.contains(target) {
                info.named_targets.push(target.clone());
            }
        }
        (info.direct, info.finish) = (true, true);
        if let Err(reason) = &self.tools {
            let problem = StageError::Tools { stage: self.stage.clone(), reason: reason.clone() };
            info.problems.push(problem.to_string());
        }
        if let Ok(tools) = &self.tools {
            for need in tools.entries().flat_map(|entry| entry.tool.needs()) {
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
