//! The vertex that asks a model.

use std::fmt;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use graph_engine::{BoxError, Name, Need, Node, NodeError, NodeInfo, NodeKind, Outcome, State, Task, async_trait};
use tokio::time::{Instant, timeout};

use super::correction::Told;
use super::round::{Prepared, RoundBook};
use super::{Correction, Draft, Example, FinalizePolicy, GateBook, Seat, StageError, request};
use crate::gate::{GatePolicy, ModelOutcome};
use crate::message::check_history;
use crate::model::{ChatModel, Request, ToolChoice};
use crate::tool::{ToolBox, ToolBoxError};

type Prompt<S> = Arc<dyn Fn(&S) -> Result<String, BoxError> + Send + Sync>;
type Examples<S> = Arc<dyn Fn(&S) -> Vec<Example> + Send + Sync>;
type Configure<S> = Arc<dyn Fn(&S, Request) -> Request + Send + Sync>;

/// Asks a model once, with the prompt, the examples, the history and the tools of its stage, and writes what comes back into the
/// draft.
///
/// The rest is the gate's business, which a static edge has to lead to: an error of the model is data in the draft and
/// never a failure of this vertex, so a retry policy on it is refused when the graph compiles. The history is checked
/// before it is sent. A cancelled turn cancels the call, and nothing of it is kept.
///
/// A stay of the gate is the next attempt of the same round. Everything else begins a new round: a draft or a round
/// that an earlier turn left open is counted in the book as abandoned, and overwritten. Feedback of other nodes that
/// stayed is told to the model as a system message.
///
/// A prompt that a tool's reply [set](crate::tool::ToolReply::prompt) takes the place of the usual one for one round.
///
/// The [module](super) shows a whole stage.
///
/// ```
/// # use graph_engine::{Log, State};
/// # use graph_nodes::message::Message;
/// # use graph_nodes::stage::{AgentNode, Draft, GateBook, Seat};
/// # #[derive(State, Clone, Default)]
/// # struct Trip { city: String, #[state(append)] history: Log<Message>, draft: Option<Draft>, book: GateBook }
/// # let seat = Seat { history: Trip::HISTORY, draft: Trip::DRAFT, book: Trip::BOOK };
/// let agent = AgentNode::new("explore", seat)
///     .prompt(|trip: &Trip| format!("You plan trips. The city is {}.", trip.city))
///     .request(|_, request| request.with_parameter("temperature", 0));
/// # let _ = agent;
/// ```
///
/// Alone, without a graph: a history goes in, a draft comes out.
///
/// ```
/// # use graph_engine::{Log, State};
/// # use graph_nodes::message::Message;
/// # use graph_nodes::stage::{AgentNode, Draft, GateBook, Held, Seat};
/// # #[derive(State, Clone, Default)]
/// # struct Trip { city: String, #[state(append)] history: Log<Message>, draft: Option<Draft>, book: GateBook }
/// use graph_engine::testing::node_once;
/// use graph_nodes::model::{ScriptedModel, Turn};
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().build()?.block_on(async {
/// let seat = Seat { history: Trip::HISTORY, draft: Trip::DRAFT, book: Trip::BOOK };
/// let agent = AgentNode::new("explore", seat).with_model(ScriptedModel::new([Turn::text("Bern in May.")]));
///
/// let mut trip = Trip::default();
/// trip.apply(seat.user("Where shall I go?"));
/// let outcome = node_once(agent).state(trip).run().await.unwrap();
/// let draft = outcome.update.draft.flatten().unwrap();
/// assert!(matches!(draft.held, Held::Outcome { .. }));
/// assert!(outcome.update.history.is_none());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use = "an agent does nothing until it is a node"]
pub struct AgentNode<S: State> {
    pub(super) stage: Name,
    pub(super) seat: Seat<S>,
    prompt: Option<Prompt<S>>,
    examples: Option<Examples<S>>,
    choice: ToolChoice,
    configure: Option<Configure<S>>,
    model: Source<S>,
    /// At most one, else the agent fails.
    pub(super) fallbacks: Vec<Source<S>>,
    tools: ToolBox<S>,
    names: Option<Vec<String>>,
    exposed: Result<ToolBox<S>, ToolBoxError>,
    pub(super) deadline: Option<Duration>,
    finalize: Option<FinalizePolicy>,
    max_model_calls: Option<NonZeroU32>,
    out_of_calls: Option<Name>,
}

/// Where the model comes from.
pub(super) enum Source<S: State> {
    Resource(Need, fn(&Task<S>) -> Option<Arc<dyn ChatModel>>),
    Fixed(Arc<dyn ChatModel>),
}

/// The type as users write it: its path within this crate is no public one.
fn type_name(need: &Need) -> &'static str {
    if *need == Need::of::<dyn ChatModel>() { "dyn ChatModel" } else { need.type_name() }
}

impl<S: State> Source<S> {
    fn resource<T: ChatModel>() -> Self {
        Self::Resource(Need::of::<T>(), |task| task.resource::<T>().map(|model| model as _))
    }

    fn name(&self) -> String {
        match self {
            Self::Resource(need, _) => type_name(need).to_owned(),
            Self::Fixed(model) => model.name().to_owned(),
        }
    }
}

impl<S: State> AgentNode<S> {
    /// The agent of a stage, without a prompt and tools; its model is the resource `dyn ChatModel`.
    pub fn new(stage: impl Into<Name>, seat: Seat<S>) -> Self {
        Self {
            stage: stage.into(),
            seat,
            prompt: None,
            examples: None,
            choice: ToolChoice::Auto,
            configure: None,
            model: Source::Resource(Need::of::<dyn ChatModel>(), |task| task.resource::<dyn ChatModel>()),
            fallbacks: Vec::new(),
            tools: ToolBox::default(),
            names: None,
            exposed: Ok(ToolBox::default()),
            deadline: None,
            finalize: None,
            max_model_calls: None,
            out_of_calls: None,
        }
    }

    /// Makes the system text before every model call. It stands in front of the history and isn't kept. It must be a
    /// pure function of the state, so that every attempt of a round says the same.
    pub fn prompt(mut self, prompt: impl Fn(&S) -> String + Send + Sync + 'static) -> Self {
        self.prompt = Some(Arc::new(move |state| Ok(prompt(state))));
        self
    }

    /// Like [`prompt`](Self::prompt) for a text that may fail to be made, such as one of a
    /// [`Template`](crate::prompt::Template). A failure is [`StageError::Prompt`], before any model is asked.
    pub fn try_prompt<E: Into<BoxError>>(
        mut self,
        prompt: impl Fn(&S) -> Result<String, E> + Send + Sync + 'static,
    ) -> Self {
        self.prompt = Some(Arc::new(move |state| prompt(state).map_err(Into::into)));
        self
    }

    /// Shows the model these exchanges before every call: they stand between the prompt and the history. They are in no
    /// history and no checkpoint. Like the prompt they must be a pure function of the state.
    ///
    /// ```
    /// # use graph_engine::{Log, State};
    /// # use graph_nodes::message::Message;
    /// # use graph_nodes::stage::{Draft, GateBook, Seat};
    /// # #[derive(State, Clone, Default)]
    /// # struct Trip { city: String, #[state(append)] history: Log<Message>, draft: Option<Draft>, book: GateBook }
    /// # let seat = Seat { history: Trip::HISTORY, draft: Trip::DRAFT, book: Trip::BOOK };
    /// use graph_nodes::stage::{AgentNode, Example};
    /// use serde_json::json;
    ///
    /// let agent = AgentNode::new("explore", seat)
    ///     .examples(|_| vec![Example::new("To Oslo!").call("capture_city", json!({"city": "Oslo"}), "saved")]);
    /// # let _ = agent;
    /// ```
    pub fn examples(mut self, examples: impl Fn(&S) -> Vec<Example> + Send + Sync + 'static) -> Self {
        self.examples = Some(Arc::new(examples));
        self
    }

    /// Whether the model may, must or must not call tools (default: it decides). A model or server may not keep to it,
    /// so a stage that relies on a call checks for one. [`FinalizePolicy`] comes before it in the last step.
    pub fn tool_choice(mut self, choice: ToolChoice) -> Self {
        self.choice = choice;
        self
    }

    /// Changes the request of the first attempt, on which corrections are put: parameters, structured output, tool
    /// choice.
    pub fn request(mut self, configure: impl Fn(&S, Request) -> Request + Send + Sync + 'static) -> Self {
        self.configure = Some(Arc::new(configure));
        self
    }

    /// Takes the model that is provided as a `T`, instead of the one that is provided as a `dyn ChatModel`.
    pub fn model<T: ChatModel>(mut self) -> Self {
        self.model = Source::resource::<T>();
        self
    }

    /// Takes this model, whatever is provided.
    pub fn with_model(mut self, model: impl ChatModel) -> Self {
        self.model = Source::Fixed(Arc::new(model));
        self
    }

    /// Asks this model once when a limit is reached and the gate's policy says
    /// [`Exhaustion::FallbackModel`](crate::gate::Exhaustion::FallbackModel). It is sent what the usual model would be
    /// sent: prompt, history, tools and the correction. There is one fallback model: a second one fails
    /// [`check`](Self::check), or else the first turn.
    ///
    /// ```
    /// # use graph_engine::{Log, State};
    /// # use graph_nodes::message::Message;
    /// # use graph_nodes::stage::{Draft, GateBook, Seat};
    /// # #[derive(State, Clone, Default)]
    /// # struct Trip { #[state(append)] history: Log<Message>, draft: Option<Draft>, book: GateBook }
    /// # let seat = Seat { history: Trip::HISTORY, draft: Trip::DRAFT, book: Trip::BOOK };
    /// use graph_nodes::gate::{Exhaustion, GatePolicy, Validators};
    /// use graph_nodes::model::{ScriptedModel, Turn};
    /// use graph_nodes::stage::{AgentNode, GateNode, StageError};
    ///
    /// let large = || ScriptedModel::new([Turn::text("Bern in May.")]).with_name("large");
    /// let agent = AgentNode::new("explore", seat).fallback_model(large());
    /// assert!(agent.check().is_ok());
    /// let policy = GatePolicy::new().with_exhaustion(Exhaustion::FallbackModel);
    /// let gate = GateNode::new("explore", seat, policy, Validators::new());
    /// # let _ = gate;
    ///
    /// let second = agent.fallback_model(large());
    /// assert!(matches!(second.check(), Err(StageError::SecondFallback { .. })));
    /// ```
    pub fn fallback_model(mut self, model: impl ChatModel) -> Self {
        self.fallbacks.push(Source::Fixed(Arc::new(model)));
        self
    }

    /// The same for the model that is provided as a `T`, which is found missing when a turn begins.
    pub fn fallback_resource<T: ChatModel>(mut self) -> Self {
        self.fallbacks.push(Source::resource::<T>());
        self
    }

    /// Finds what would fail the first turn: a tool that there is not, a choice of a tool that isn't offered, a second
    /// fallback model. `compile()` asks this too.
    ///
    /// # Errors
    /// [`StageError::Tools`], [`StageError::ToolChoice`], [`StageError::SecondFallback`].
    pub fn check(&self) -> Result<(), StageError> {
        let offered = self.offered()?.names();
        let is_possible = match &self.choice {
            ToolChoice::Auto | ToolChoice::None => true,
            ToolChoice::Required => !offered.is_empty(),
            ToolChoice::Named(tool) => offered.contains(&tool.as_str()),
        };
        if !is_possible {
            let offered = offered.into_iter().map(str::to_owned).collect();
            return Err(StageError::ToolChoice { stage: self.stage.clone(), choice: self.choice.clone(), offered });
        }
        if self.fallbacks.len() > 1 {
            let models = self.fallbacks.iter().map(Source::name).collect();
            return Err(StageError::SecondFallback { stage: self.stage.clone(), models });
        }
        Ok(())
    }

    /// Offers the tools that the box exposes.
    pub fn tools(mut self, tools: ToolBox<S>) -> Self {
        self.tools = tools;
        self.expose()
    }

    /// Offers only these tools of the box. A name that is no tool's is an error of `compile()`.
    pub fn with_tools<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        self.names = Some(names.into_iter().map(Into::into).collect());
        self.expose()
    }

    /// Tells the agent of its gate's deadline, so that it cuts a call that would pass it.
    pub fn policy(mut self, policy: &GatePolicy) -> Self {
        self.deadline = policy.deadline;
        self
    }

    /// Tells the model when the step limit of the turn comes near, and offers no tools in the last step (default: no).
    pub fn finalize(mut self, policy: FinalizePolicy) -> Self {
        self.finalize = Some(policy);
        self
    }

    /// How many times one turn may call the model in this stage, corrections included (default: as often as the step
    /// limit allows).
    pub fn max_model_calls(mut self, max: NonZeroU32) -> Self {
        self.max_model_calls = Some(max);
        self
    }

    /// Where to go when the limit of [`max_model_calls`](Self::max_model_calls) is reached (default: the turn fails
    /// with [`StageError::ModelCallLimit`]). A round that was open ends as abandoned.
    pub fn out_of_calls(mut self, node: impl Into<Name>) -> Self {
        self.out_of_calls = Some(node.into());
        self
    }

    fn give_up(&self, book: RoundBook<'_>) -> Result<Outcome<S>, StageError> {
        let Some(node) = &self.out_of_calls else {
            let limit = self.max_model_calls.map_or(0, NonZeroU32::get);
            return Err(StageError::ModelCallLimit { stage: self.stage.clone(), limit });
        };
        let mut update = S::Update::default();
        self.seat.draft.put(&mut update, None);
        self.seat.book.put(&mut update, book.give_up());
        Ok(Outcome::of(update).go(node))
    }

    fn expose(mut self) -> Self {
        self.exposed = match &self.names {
            Some(names) => self.tools.expose(names),
            None => Ok(self.tools.clone()),
        };
        self
    }

    pub(super) fn offered(&self) -> Result<&ToolBox<S>, StageError> {
        let exposed = self.exposed.as_ref();
        exposed.map_err(|reason| StageError::Tools { stage: self.stage.clone(), reason: reason.clone() })
    }

    /// The model of this attempt.
    fn model_of(&self, task: &Task<S>, told: &Told) -> Result<Arc<dyn ChatModel>, StageError> {
        let stage = || self.stage.clone();
        let source = match &told.correction {
            Some(Correction { fallback: true, .. }) => {
                self.fallbacks.first().ok_or_else(|| StageError::NoFallback { stage: stage() })?
            }
            _ => &self.model,
        };
        match source {
            Source::Fixed(model) => Ok(model.clone()),
            Source::Resource(need, find) => {
                find(task).ok_or_else(|| StageError::NoModel { stage: stage(), model: type_name(need) })
            }
        }
    }

    fn request_of(
        &self,
        state: &S,
        tools: &ToolBox<S>,
        told: &Told,
        prompt: Option<String>,
        left: u64,
    ) -> Result<Request, StageError> {
        let prompt = match (prompt, &self.prompt) {
            (None, Some(make)) => {
                Some(make(state).map_err(|reason| StageError::Prompt { stage: self.stage.clone(), reason })?)
            }
            (prompt, _) => prompt,
        };
        let examples = self.examples.as_ref().map(|examples| Example::messages(examples(state))).unwrap_or_default();
        let base = request::base(prompt, examples, self.seat.history.get(state), tools.specs(), self.choice.clone());
        let base = match &self.configure {
            Some(configure) => configure(state, base),
            None => base,
        };
        let base = match &self.finalize {
            Some(policy) => policy.apply(base, left),
            None => base,
        };
        let mut request = request::next(base, told, &self.stage, self.seat.draft.get(state).as_ref());
        request.messages.extend(self.finalize.and_then(|policy| policy.note(left)));
        Ok(request)
    }

    /// Everything before the model is asked: what it is asked, and the book with what changed in it.
    pub(super) fn prepare<'a>(&'a self, task: &'a Task<S>) -> Result<Prepared<'a, S>, NodeError> {
        let (state, ctx) = (task.state(), task.ctx());
        let told = Told::of(&ctx, &self.stage)?;
        let prepare = || -> Result<Prepared<'a, S>, StageError> {
            let tools = self.offered()?;
            let model = self.model_of(task, &told)?;
            check_history(self.seat.history.get(state).iter())
                .map_err(|reason| StageError::History { stage: self.stage.clone(), reason })?;
            let mut book = RoundBook::new(&self.seat, state, &self.stage);
            if told.correction.is_none() {
                book.begin(self.seat.draft.get(state).as_ref(), ctx.turn());
                book.take_prompt(ctx.node());
            }
            if !book.count(self.max_model_calls, ctx.turn()) {
                return Ok(Prepared::OutOfCalls(self.give_up(book)?));
            }
            let request = self.request_of(state, tools, &told, book.prompt(ctx.node()), ctx.remaining_steps())?;
            Ok(Prepared::Ask { model, request, book, told: Box::new(told) })
        };
        prepare().map_err(StageError::fatal)
    }

    /// How long the call may take.
    fn limit(&self, book: &GateBook) -> Option<Duration> {
        let elapsed = book.ledger(&self.stage).map_or(Duration::ZERO, |ledger| ledger.elapsed);
        self.deadline.map(|deadline| deadline.saturating_sub(elapsed))
    }
}

#[async_trait]
impl<S: State> Node<S> for AgentNode<S> {
    async fn run(&self, task: &Task<S>) -> Result<Outcome<S>, NodeError> {
        self.check().map_err(StageError::fatal)?;
        let (model, request, book) = match self.prepare(task)? {
            Prepared::Ask { model, request, book, .. } => (model, request, book),
            Prepared::OutOfCalls(outcome) => return Ok(outcome),
        };
        let limit = self.limit(book.get());
        let start = Instant::now();
        let call = model.complete(request);
        let called = match limit {
            None => Some(call.await),
            Some(limit) => timeout(limit, call).await.ok(),
        };
        let outcome = match called {
            Some(result) => ModelOutcome::new(model.name(), start.elapsed(), result),
            None => ModelOutcome::deadline(model.name(), start.elapsed()),
        };

        let mut update = S::Update::default();
        self.seat
            .draft
            .put(&mut update, Some(Draft::outcome(&self.stage, outcome, self.deadline, !self.fallbacks.is_empty())));
        if let Some(book) = book.changed() {
            self.seat.book.put(&mut update, book);
        }
        Ok(Outcome::of(update))
    }

    fn describe(&self) -> NodeInfo {
        let mut info = NodeInfo::new(NodeKind::Agent);
        info.no_retry = Some("its gate counts the attempts and asks again");
        info.writes = Some(self.seat.draft.set() | self.seat.book.set());
        info.named_targets.extend(self.out_of_calls.clone());
        info.problems.extend(self.check().err().map(|problem| problem.to_string()));
        for source in [&self.model].into_iter().chain(&self.fallbacks) {
            if let Source::Resource(need, _) = source
                && !info.needs.contains(need)
            {
                info.needs.push(*need);
            }
        }
        info
    }
}

impl<S: State> fmt::Debug for AgentNode<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AgentNode").field("stage", &self.stage).field("tools", &self.exposed).finish_non_exhaustive()
    }
}
