//! Stages, connected to a conversation.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use graph_engine::{Builder, Field, Graph, Name, NodeError, START, State};
use serde_json::{Map, Value};

use super::hooks::Hooks;
use super::stage::Kind;
use super::vertices::Parts;
use super::{Catalogue, Cursor, FlowError, FlowProblem, Stage};
use crate::gate::GatePolicy;
use crate::stage::Seat;
use crate::tool::{ToolBox, ToolBoxWarning};

/// Stages, connected to a conversation: the graph of an agent that leads a person through them.
///
/// A turn begins in the stage where the last one ended, or in the first one. Tools, gates and logic go to another stage
/// by its name. The [`Cursor`] field is written by nobody but the vertices that stages begin with. A thread that a
/// stage or a tool has finished is complete: a later turn is refused with
/// [`RunError::Completed`](graph_engine::RunError::Completed), without any model call.
///
/// Everything that is wrong with the description is found when it is built, at once.
///
/// ```
/// use graph_engine::{Log, MemoryStore, State};
/// use graph_nodes::flow::{Cursor, Flow, Stage};
/// use graph_nodes::message::{Message, ToolCall};
/// use graph_nodes::model::{ChatModel, ScriptedModel, Turn};
/// use graph_nodes::stage::{Draft, GateBook, Seat};
/// use graph_nodes::tool::{ToolBox, ToolReply, tool};
///
/// #[derive(State, Clone, Default)]
/// struct Trip {
///     city: String,
///     #[state(append)]
///     history: Log<Message>,
///     draft: Option<Draft>,
///     book: GateBook,
///     cursor: Cursor,
/// }
///
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// struct Capture {
///     city: String,
/// }
///
/// # let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
/// # runtime.block_on(async {
/// let capture = tool::<Trip, Capture>("capture_city", "Saves the city.", |args: Capture, _| async move {
///     Ok(ToolReply::text("saved").update(Trip::update().city(args.city)).go("present"))
/// });
/// let seat = Seat { history: Trip::HISTORY, draft: Trip::DRAFT, book: Trip::BOOK };
/// let graph = Flow::new("trip", seat, Trip::CURSOR)
///     .tools(ToolBox::builder().tool(capture).build()?)
///     .stage(Stage::new("explore").prompt(|_| "Where to?".into()).tools(["capture_city"]).leads_to(["present"]))
///     .stage(Stage::new("present").prompt(|trip: &Trip| format!("Present {}.", trip.city)))
///     .build()?;
///
/// let model = ScriptedModel::new([
///     Turn::calls([ToolCall::from_text("c1", "capture_city", r#"{"city": "Oslo"}"#)]),
///     Turn::text("Oslo has fjords."),
///     Turn::text("And museums."),
/// ]);
/// let runner = graph.runner().store(MemoryStore::new()).provide_arc::<dyn ChatModel>(std::sync::Arc::new(model));
/// let thread = runner.thread("guest-7");
/// let end = thread.run(seat.user("To Oslo, please.")).await?;
/// assert_eq!(end.reply_as::<String>()?.as_deref(), Some("Oslo has fjords."));
/// let end = thread.run(seat.user("What else?")).await?;
/// assert_eq!(end.reply_as::<String>()?.as_deref(), Some("And museums."));
/// assert_eq!(end.state.cursor.path().map(|stage| stage.as_str()).collect::<Vec<_>>(), ["explore", "present"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use = "a flow does nothing until it is built"]
pub struct Flow<S: State> {
    name: Name,
    seat: Seat<S>,
    cursor: Field<S, Cursor>,
    tools: ToolBox<S>,
    catalogue: Catalogue,
    model: Option<String>,
    parameters: Map<String, Value>,
    policy: GatePolicy,
    start: Option<Name>,
    stages: Vec<Stage<S>>,
    more: Vec<Describe<S>>,
}

type Describe<S> = Box<dyn FnOnce(Builder<S>) -> Builder<S>>;

impl<S: State> Flow<S> {
    /// A flow without stages. Its seat says where the conversation, the draft and the book are; its cursor, where the
    /// conversation stands.
    pub fn new(name: impl Into<Name>, seat: Seat<S>, cursor: Field<S, Cursor>) -> Self {
        Self {
            name: name.into(),
            seat,
            cursor,
            tools: ToolBox::default(),
            catalogue: Catalogue::new(),
            model: None,
            parameters: Map::new(),
            policy: GatePolicy::new(),
            start: None,
            stages: Vec::new(),
            more: Vec::new(),
        }
    }

    /// All tools of the flow; each stage says which of them its model is offered.
    pub fn tools(mut self, tools: ToolBox<S>) -> Self {
        self.tools = tools;
        self
    }

    /// The models that stages may name.
    pub fn catalogue(mut self, catalogue: Catalogue) -> Self {
        self.catalogue = catalogue;
        self
    }

    /// The model of the catalogue that stages ask, unless they name another one (default: what the runner provides as a
    /// `dyn ChatModel`).
    pub fn model(mut self, name: impl Into<String>) -> Self {
        self.model = Some(name.into());
        self
    }

    /// Sets a parameter for the models of all stages, unless a stage sets it otherwise.
    pub fn parameter(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        self.parameters.insert(name.into(), value.into());
        self
    }

    /// The policy of gates whose stage has none of its own.
    pub fn policy(mut self, policy: GatePolicy) -> Self {
        self.policy = policy;
        self
    }

    /// The stage in which a new thread begins (default: the first one that was added).
    pub fn start(mut self, stage: impl Into<Name>) -> Self {
        self.start = Some(stage.into());
        self
    }

    /// Adds a stage.
    pub fn stage(mut self, stage: Stage<S>) -> Self {
        self.stages.push(stage);
        self
    }

    /// Adds to the graph what is no stage: nodes that gates and tools lead to, policies, input checks.
    pub fn with(mut self, describe: impl FnOnce(Builder<S>) -> Builder<S> + 'static) -> Self {
        self.more.push(Box::new(describe));
        self
    }

    /// What is odd about the tools, and no error: a group that runs in no stage, because none offers all of its tools.
    #[must_use]
    pub fn warnings(&self) -> Vec<ToolBoxWarning> {
        let offered = self.stages.iter().filter_map(|stage| match &stage.kind {
            Kind::Model(stage) => self.tools.expose(&stage.tools).ok(),
            Kind::Logic(_) | Kind::End(_) => None,
        });
        let odd: Vec<Vec<ToolBoxWarning>> = offered.map(|tools| tools.warnings()).collect();
        let everywhere = |warning: &ToolBoxWarning| {
            let ToolBoxWarning::UnreachableGroup { group, .. } = warning;
            let same = |other: &ToolBoxWarning| matches!(other, ToolBoxWarning::UnreachableGroup { group: other, .. } if other == group);
            odd.iter().all(|warnings| warnings.iter().any(same))
        };
        odd.first().into_iter().flatten().filter(|warning| everywhere(warning)).cloned().collect()
    }

    /// The graph.
    ///
    /// # Errors
    /// [`FlowError`] with everything that is wrong.
    pub fn build(self) -> Result<Graph<S>, FlowError>
    where
        S: Default,
    {
        let name = self.name.clone();
        self.build_on(Graph::builder(name))
    }

    /// The graph, on a builder of one's own: for a state without `Default`, or with nodes of its own.
    ///
    /// # Errors
    /// [`FlowError`] with everything that is wrong.
    pub fn build_on(self, mut builder: Builder<S>) -> Result<Graph<S>, FlowError> {
        let mut problems = self.problems();
        let names: Vec<Name> = self.stages.iter().map(|stage| stage.name.clone()).collect();
        let hooks: BTreeMap<Name, Hooks<S>> = self
            .stages
            .iter()
            .filter(|stage| !stage.hooks.is_empty())
            .map(|stage| (stage.name.clone(), stage.hooks.clone()))
            .collect();
        let parts = Parts {
            seat: self.seat,
            cursor: self.cursor,
            tools: &self.tools,
            catalogue: &self.catalogue,
            model: self.model.as_deref(),
            parameters: &self.parameters,
            policy: &self.policy,
            hooks: hooks.into(),
        };
        let (cursor, start) = (self.cursor, self.start.or_else(|| names.first().cloned()).unwrap_or_default());
        let known = names.clone();
        builder = builder.route_named(START, &names, move |state: &S| match cursor.get(state).stage() {
            None => Ok(start.clone()),
            Some(stage) if known.contains(stage) => Ok(stage.clone()),
            Some(stage) => Err(NodeError::fatal(format!(
                "the thread stands in stage `{stage}`, which the flow doesn't have any more; write its cursor with the input"
            ))),
        });
        for stage in self.stages {
            builder = parts.add(builder, stage, &mut problems);
        }
        if !problems.is_empty() {
            return Err(FlowError::Problems(problems));
        }
        for describe in self.more {
            builder = describe(builder);
        }
        let graph = builder.compile()?;
        match past_beginnings(&graph, &names) {
            problems if problems.is_empty() => Ok(graph),
            problems => Err(FlowError::Problems(problems)),
        }
    }

    /// What is wrong with the flow as a whole, and with what its stages were told.
    fn problems(&self) -> Vec<FlowProblem> {
        let mut problems: Vec<FlowProblem> = self.catalogue.problems().collect();
        if self.stages.is_empty() {
            problems.push(FlowProblem::NoStages);
        }
        let mut seen = BTreeSet::new();
        for stage in &self.stages {
            if !seen.insert(&stage.name) {
                problems.push(FlowProblem::DuplicateStage { stage: stage.name.clone() });
            }
        }
        if let Some(start) = &self.start
            && !seen.contains(start)
        {
            let known = seen.into_iter().cloned().collect();
            problems.push(FlowProblem::UnknownStart { stage: start.clone(), known });
        }
        for Stage { name, hooks, misplaced, kind } in &self.stages {
            let bad = hooks.all().filter_map(|hook| hook.problem());
            problems.extend(bad.map(|reason| FlowProblem::Hook { stage: name.clone(), reason }));
            for what in misplaced {
                let problem = FlowProblem::NoModelStage { stage: name.clone(), what };
                if !problems.contains(&problem) {
                    problems.push(problem);
                }
            }
            if let Kind::Model(stage) = kind
                && let Some(reason) = stage.compaction.as_ref().and_then(|compaction| compaction.problem())
            {
                problems.push(FlowProblem::Compaction { stage: name.clone(), reason });
            }
        }
        problems
    }
}

/// Ways into a stage that don't lead to its first vertex, so that neither the cursor nor a hook would know of them.
fn past_beginnings<S: State>(graph: &Graph<S>, stages: &[Name]) -> Vec<FlowProblem> {
    let topology = graph.topology();
    let mut problems = Vec::new();
    for cluster in topology.clusters.iter().filter(|cluster| stages.contains(&cluster.name)) {
        let is_inside = |vertex: &Name| cluster.members.contains(vertex);
        for edge in &topology.edges {
            if edge.to != cluster.name && is_inside(&edge.to) && !is_inside(&edge.from) {
                let (stage, from, to) = (cluster.name.clone(), edge.from.clone(), edge.to.clone());
                let problem = FlowProblem::PastBeginning { stage, from, to };
                if !problems.contains(&problem) {
                    problems.push(problem);
                }
            }
        }
    }
    problems
}

impl<S: State> fmt::Debug for Flow<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Flow").field("name", &self.name).field("stages", &self.stages).finish_non_exhaustive()
    }
}
