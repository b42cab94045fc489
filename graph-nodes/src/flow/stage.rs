//! One stage of a conversation, as its author describes it.

use std::fmt;
use std::sync::Arc;

use graph_engine::{BoxError, Field, IntoNode, Log, Name, NodeSpec, State};
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::Compaction;
use super::hooks::{Hook, Hooks};
use crate::gate::{GatePolicy, Streaming, StructuredOutput, Validators, Verdict};
use crate::message::Message;
use crate::model::{Request, Response, ToolChoice};
use crate::prompt::{Template, TemplateError};
use crate::stage::{Accepted, AgentNode, Example, FinalizePolicy, GateNode, Guards, SeveralCalls, ToolsNode};

/// One stage of a conversation: a model with its prompt, gate and tools; or logic without a model; or the end.
///
/// A stage is no vertex of its own. It expands to vertices inside a cluster that has its name:
///
/// | vertex | of | does |
/// | --- | --- | --- |
/// | `explore` | every stage | [moves the cursor and runs the hooks](super::EnterNode); where everybody goes who wants to enter |
/// | `explore_compact` | one with a [compaction](Self::compaction) | [makes the memory shorter](super::CompactNode) |
/// | `explore_agent` | one with a model | [asks the model](AgentNode) |
/// | `explore_gate` | one with a model, unless it [streams](Self::streaming) | [accepts or rejects](GateNode) |
/// | `explore_tools` | one with tools | [runs the calls](ToolsNode) |
/// | `explore_logic` | [`Stage::logic`] | the given node |
/// | `explore_end` | [`Stage::end`] | finishes the thread with a text |
///
/// ```
/// # use graph_engine::{Log, Snap, State};
/// # use graph_nodes::flow::Cursor;
/// # use graph_nodes::message::Message;
/// # use graph_nodes::stage::{Draft, GateBook};
/// use graph_nodes::flow::Stage;
/// use graph_nodes::gate::Verdict;
/// # #[derive(State, Clone, Default)]
/// # struct Trip { city: String, greeted: bool, #[state(append)] history: Log<Message>, draft: Option<Draft>, book: GateBook, cursor: Cursor }
///
/// async fn greet(trip: Snap<Trip>) -> TripUpdate {
///     Trip::update().greeted(!trip.city.is_empty())
/// }
///
/// let explore = Stage::<Trip>::new("explore")
///     .template("You plan trips{% if city %} to {{ city }}{% endif %}.", |trip: &Trip| serde_json::json!({"city": trip.city}))
///     .tools(["capture_city"])
///     .leads_to(["present"])
///     .check("names_month", |response, _| match response.text.contains("May") {
///         true => Verdict::Accept,
///         false => Verdict::retry("no_month", "name the month"),
///     })
///     .on_enter(greet);
/// # let _ = explore;
/// ```
#[must_use = "a stage does nothing until it is in a `Flow`"]
pub struct Stage<S: State> {
    pub(super) name: Name,
    pub(super) hooks: Hooks<S>,
    pub(super) kind: Kind<S>,
    /// What a stage without a model was told nevertheless.
    pub(super) misplaced: Vec<&'static str>,
}

pub(super) enum Kind<S: State> {
    Model(Box<ModelStage<S>>),
    Logic(Box<NodeSpec<S>>),
    End(Arc<dyn Fn(&S) -> String + Send + Sync>),
}

type Change<T> = Arc<dyn Fn(T) -> T + Send + Sync>;

/// What a stage with a model is told.
pub(super) struct ModelStage<S: State> {
    pub(super) prompt: Option<Prompt<S>>,
    pub(super) model: Option<String>,
    pub(super) fallback: Option<String>,
    pub(super) parameters: Map<String, Value>,
    pub(super) examples: Option<Examples<S>>,
    pub(super) choice: ToolChoice,
    pub(super) request: Option<Configure<S>>,
    pub(super) tools: Vec<String>,
    pub(super) leads_to: Vec<Name>,
    pub(super) policy: Option<GatePolicy>,
    pub(super) validators: Validators<S>,
    pub(super) streaming: Streaming,
    /// How structured output is asked for, when the checks don't say it.
    pub(super) output: Option<StructuredOutput>,
    pub(super) accepted: Accepted,
    pub(super) edges: Vec<(String, Name)>,
    pub(super) exhausted: Option<Name>,
    pub(super) memory: Option<Field<S, Log<Message>>>,
    pub(super) compaction: Option<Compaction>,
    pub(super) agent: Vec<Change<AgentNode<S>>>,
    pub(super) gate: Vec<Change<GateNode<S>>>,
    pub(super) run: Vec<Change<ToolsNode<S>>>,
}

type MakePrompt<S> = Arc<dyn Fn(&S) -> Result<String, BoxError> + Send + Sync>;

/// How the prompt is made, or why its template can't be used.
pub(super) type Prompt<S> = Result<MakePrompt<S>, TemplateError>;

pub(super) type Examples<S> = Arc<dyn Fn(&S) -> Vec<Example> + Send + Sync>;

pub(super) type Configure<S> = Arc<dyn Fn(&S, Request) -> Request + Send + Sync>;

impl<S: State> Default for ModelStage<S> {
    fn default() -> Self {
        Self {
            prompt: None,
            model: None,
            fallback: None,
            parameters: Map::new(),
            examples: None,
            choice: ToolChoice::Auto,
            request: None,
            tools: Vec::new(),
            leads_to: Vec::new(),
            policy: None,
            validators: Validators::new(),
            streaming: Streaming::HoldAll,
            output: None,
            accepted: Accepted::default(),
            edges: Vec::new(),
            exhausted: None,
            memory: None,
            compaction: None,
            agent: Vec::new(),
            gate: Vec::new(),
            run: Vec::new(),
        }
    }
}

impl<S: State> Stage<S> {
    /// A stage that asks a model.
    pub fn new(name: impl Into<Name>) -> Self {
        Self::of(name, Kind::Model(Box::default()))
    }

    /// A stage without a model: this node runs, and says where to go on. Going to the stage itself fails the turn;
    /// by way of another node it may come back.
    pub fn logic<M>(name: impl Into<Name>, node: impl IntoNode<S, M>) -> Self {
        Self::of(name, Kind::Logic(Box::new(node.into_node())))
    }

    /// The last stage: it finishes the thread with this text, which also enters the history.
    pub fn end(name: impl Into<Name>, text: impl Fn(&S) -> String + Send + Sync + 'static) -> Self {
        Self::of(name, Kind::End(Arc::new(text)))
    }

    fn of(name: impl Into<Name>, kind: Kind<S>) -> Self {
        Self { name: name.into(), hooks: Hooks::default(), kind, misplaced: Vec::new() }
    }

    /// The name.
    #[must_use]
    pub fn name(&self) -> &Name {
        &self.name
    }

    /// Runs this node's work when the stage is entered from another stage or in a new thread; it only writes.
    pub fn on_enter<M>(mut self, hook: impl IntoNode<S, M>) -> Self {
        self.hooks.enter = Some(Hook::new("on_enter", hook));
        self
    }

    /// Runs this node's work when the stage is left for another one, before that one's `on_enter`; it only writes.
    pub fn on_exit<M>(mut self, hook: impl IntoNode<S, M>) -> Self {
        self.hooks.exit = Some(Hook::new("on_exit", hook));
        self
    }

    /// Runs this node's work once in each later turn that begins in the stage, when the thread was loaded; it only
    /// writes.
    pub fn on_restore<M>(mut self, hook: impl IntoNode<S, M>) -> Self {
        self.hooks.restore = Some(Hook::new("on_restore", hook));
        self
    }

    fn told(mut self, what: &'static str, tell: impl FnOnce(&mut ModelStage<S>)) -> Self {
        match &mut self.kind {
            Kind::Model(stage) => tell(stage),
            Kind::Logic(_) | Kind::End(_) => self.misplaced.push(what),
        }
        self
    }

    /// Makes the system text before every model call; a pure function of the state. See [`AgentNode::prompt`].
    pub fn prompt(self, prompt: impl Fn(&S) -> String + Send + Sync + 'static) -> Self {
        self.told("prompt", |stage| stage.prompt = Some(Ok(Arc::new(move |state| Ok(prompt(state))))))
    }

    /// The same by a [`Template`] and the values for it. A template with a mistake is an error when the flow is built,
    /// a name that the values don't have fails the turn.
    pub fn template<V: Serialize>(
        self,
        source: impl Into<String>,
        values: impl Fn(&S) -> V + Send + Sync + 'static,
    ) -> Self {
        let template = Template::new(source);
        self.told("prompt", |stage| {
            stage.prompt = Some(
                template
                    .map(|template| -> MakePrompt<S> { Arc::new(move |state| Ok(template.render(values(state))?)) }),
            );
        })
    }

    /// Asks this model of the flow's [`Catalogue`](super::Catalogue) (default: the flow's model, else what the runner
    /// provides as a `dyn ChatModel`).
    pub fn model(self, name: impl Into<String>) -> Self {
        self.told("model", |stage| stage.model = Some(name.into()))
    }

    /// Asks this model of the catalogue once when a limit is reached and the policy says
    /// [`Exhaustion::FallbackModel`](crate::gate::Exhaustion::FallbackModel).
    pub fn fallback(self, name: impl Into<String>) -> Self {
        self.told("model", |stage| stage.fallback = Some(name.into()))
    }

    /// Sets a parameter of the model, in place of the flow's. One that the model's entry doesn't support is an error
    /// when the flow is built.
    pub fn parameter(self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        self.told("parameters", |stage| {
            stage.parameters.insert(name.into(), value.into());
        })
    }

    /// Shows the model these exchanges before every call, between the prompt and the history; they are never kept. See
    /// [`AgentNode::examples`].
    pub fn examples(self, examples: impl Fn(&S) -> Vec<Example> + Send + Sync + 'static) -> Self {
        self.told("examples", |stage| stage.examples = Some(Arc::new(examples)))
    }

    /// Whether the model may, must or must not call tools (default: it decides). A choice that the stage's tools don't
    /// allow is an error when the flow is built. See [`AgentNode::tool_choice`].
    pub fn tool_choice(self, choice: ToolChoice) -> Self {
        self.told("tools", |stage| stage.choice = choice)
    }

    /// Changes the request of a round's first attempt. See [`AgentNode::request`].
    pub fn request(self, configure: impl Fn(&S, Request) -> Request + Send + Sync + 'static) -> Self {
        self.told("request", |stage| stage.request = Some(Arc::new(configure)))
    }

    /// Offers these tools of the flow's tool box. One that there is not is an error when the flow is built.
    pub fn tools<N: Into<String>>(self, names: impl IntoIterator<Item = N>) -> Self {
        self.told("tools", |stage| stage.tools.extend(names.into_iter().map(Into::into)))
    }

    /// The stages and nodes that tools of this stage may go to.
    pub fn leads_to<N: Into<Name>>(self, names: impl IntoIterator<Item = N>) -> Self {
        self.told("tools", |stage| stage.leads_to.extend(names.into_iter().map(Into::into)))
    }

    /// How often, how long and for how many tokens the gate lets the model try (default: the flow's policy).
    pub fn policy(self, policy: GatePolicy) -> Self {
        self.told("gate", |stage| stage.policy = Some(policy))
    }

    /// The checks of the gate.
    pub fn validators(self, validators: Validators<S>) -> Self {
        self.told("gate", |stage| stage.validators = validators)
    }

    /// Adds a check to the gate.
    pub fn check(
        self,
        name: impl Into<String>,
        check: impl Fn(&Response, &S) -> Verdict + Send + Sync + 'static,
    ) -> Self {
        self.told("gate", |stage| stage.validators = std::mem::take(&mut stage.validators).with_fn(name, check))
    }

    /// Asks for structured output of the type, rejects what doesn't fit its schema, and composes what was accepted into
    /// the state. See [`GateNode::output`].
    ///
    /// ```
    /// # use graph_engine::{Log, State};
    /// # use graph_nodes::flow::{Cursor, Stage};
    /// # use graph_nodes::message::Message;
    /// # use graph_nodes::stage::{Draft, GateBook};
    /// # #[derive(State, Clone, Default)]
    /// # struct Trip { price: u32, #[state(append)] history: Log<Message>, draft: Option<Draft>, book: GateBook, cursor: Cursor }
    /// #[derive(serde::Deserialize, schemars::JsonSchema)]
    /// struct Offer {
    ///     price: u32,
    /// }
    ///
    /// let offer = Stage::<Trip>::new("offer")
    ///     .output(|offer: Offer, _| Trip::update().price(offer.price))
    ///     .then("present");
    /// # let _ = offer;
    /// ```
    pub fn output<T: JsonSchema + DeserializeOwned + 'static>(
        self,
        compose: impl Fn(T, &S) -> S::Update + Send + Sync + 'static,
    ) -> Self {
        let compose = Arc::new(compose);
        self.told("gate", |stage| {
            // A type that describes itself by no schema is what the gate finds.
            stage.output = StructuredOutput::of::<T>().ok();
            stage.gate.push(Arc::new(move |gate| {
                let compose = compose.clone();
                gate.output::<T>(move |output, state| compose(output, state))
            }));
        })
    }

    /// Shows text before the whole response is accepted. Agent and gate become one vertex then, `explore_agent`, because
    /// only that one can take back what was shown. See [`GatedNode`](crate::stage::GatedNode).
    pub fn streaming(self, streaming: Streaming) -> Self {
        self.told("gate", |stage| stage.streaming = streaming)
    }

    /// Which of several calls in one response run (default: all). What is left out is answered too.
    pub fn several(self, policy: SeveralCalls) -> Self {
        self.run(move |run| run.several(policy.clone()))
    }

    /// Guards the tools against failing and repeated calls (default: none).
    pub fn guards(self, guards: Guards) -> Self {
        self.run(move |run| run.guards(guards))
    }

    /// What the model is told, and no longer offered, when the turn's super-steps run out (default: nothing).
    pub fn finalize(self, policy: FinalizePolicy) -> Self {
        self.agent(move |agent| agent.finalize(policy))
    }

    /// Where an accepted text leads (default: it is the direct reply).
    pub fn then(self, node: impl Into<Name>) -> Self {
        self.told("gate", |stage| stage.accepted = Accepted::Go(node.into()))
    }

    /// Where an edge of the gate leads; `blocked` is the one of refusals.
    pub fn escalate(self, edge: impl Into<String>, node: impl Into<Name>) -> Self {
        self.told("gate", |stage| stage.edges.push((edge.into(), node.into())))
    }

    /// Where to go when no response was accepted (default: the turn fails).
    pub fn exhausted(self, node: impl Into<Name>) -> Self {
        self.told("gate", |stage| stage.exhausted = Some(node.into()))
    }

    /// Keeps the conversation of this stage in this field (default: the flow's history). Stages that name the same
    /// field share it; with a field of its own a stage sees only what was said in it.
    pub fn memory(self, history: Field<S, Log<Message>>) -> Self {
        self.told("memory", |stage| stage.memory = Some(history))
    }

    /// Keeps the memory short.
    pub fn compaction(self, compaction: Compaction) -> Self {
        self.told("memory", |stage| stage.compaction = Some(compaction))
    }

    /// Changes the vertex that asks the model, for what this type has no word for.
    pub fn agent(self, change: impl Fn(AgentNode<S>) -> AgentNode<S> + Send + Sync + 'static) -> Self {
        self.told("agent", |stage| stage.agent.push(Arc::new(change)))
    }

    /// Changes the gate, for what this type has no word for.
    pub fn gate(self, change: impl Fn(GateNode<S>) -> GateNode<S> + Send + Sync + 'static) -> Self {
        self.told("gate", |stage| stage.gate.push(Arc::new(change)))
    }

    /// Changes the vertex that runs tools, for what this type has no word for.
    pub fn run(self, change: impl Fn(ToolsNode<S>) -> ToolsNode<S> + Send + Sync + 'static) -> Self {
        self.told("tools", |stage| stage.run.push(Arc::new(change)))
    }
}

impl<S: State> fmt::Debug for Stage<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.kind {
            Kind::Model(_) => "model",
            Kind::Logic(_) => "logic",
            Kind::End(_) => "end",
        };
        f.debug_struct("Stage").field("name", &self.name).field("kind", &kind).field("hooks", &self.hooks).finish()
    }
}
