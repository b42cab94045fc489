//! One stage `explore` of a small state, with two nodes that it can leave to.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures_util::StreamExt;
use graph_engine::{
    EventKind, Graph, Level, Lint, Log, Runner, START, State, Thread, Turn as EngineTurn, TurnEnd, TurnError,
};
use graph_nodes::gate::{GatePolicy, Validators, Verdict};
use graph_nodes::message::{CallStatus, Message, ToolCall, check_history};
use graph_nodes::model::{ChatModel, ScriptedModel, Turn};
use graph_nodes::stage::{AgentNode, Draft, GateBook, GateNode, Seat, StageError, StageEvent, ToolsNode};
use graph_nodes::tool::{FnTool, ToolBox, ToolError, ToolReply, tool};

#[derive(State, Clone, Debug, Default)]
pub(crate) struct Trip {
    pub(crate) city: String,
    #[state(append)]
    pub(crate) notes: Vec<String>,
    #[state(append)]
    pub(crate) history: Log<Message>,
    pub(crate) draft: Option<Draft>,
    pub(crate) book: GateBook,
}

pub(crate) fn seat() -> Seat<Trip> {
    Seat { history: Trip::HISTORY, draft: Trip::DRAFT, book: Trip::BOOK }
}

async fn present() -> TripUpdate {
    Trip::update().notes(["present"])
}

async fn handoff() -> TripUpdate {
    Trip::update().notes(["handoff"])
}

/// What a test changes of the stage.
pub(crate) struct Stage {
    pub(crate) policy: GatePolicy,
    pub(crate) validators: Validators<Trip>,
    pub(crate) tools: ToolBox<Trip>,
    pub(crate) offered: Vec<&'static str>,
    pub(crate) agent: fn(AgentNode<Trip>) -> AgentNode<Trip>,
    pub(crate) gate: fn(GateNode<Trip>) -> GateNode<Trip>,
    pub(crate) run: fn(ToolsNode<Trip>) -> ToolsNode<Trip>,
}

impl Default for Stage {
    fn default() -> Self {
        Self {
            policy: GatePolicy::new(),
            validators: Validators::new(),
            tools: ToolBox::default(),
            offered: Vec::new(),
            agent: |agent| agent,
            gate: |gate| gate,
            run: |run| run,
        }
    }
}

impl Stage {
    pub(crate) fn policy(policy: GatePolicy) -> Self {
        Self { policy, ..Self::default() }
    }

    pub(crate) fn tools(tools: impl IntoIterator<Item = FnTool<Trip>>) -> Self {
        let tools = tools.into_iter().fold(ToolBox::builder(), |all, tool| all.tool(tool)).build().unwrap();
        Self { tools, ..Self::default() }
    }

    pub(crate) fn validators(mut self, validators: Validators<Trip>) -> Self {
        self.validators = validators;
        self
    }

    pub(crate) fn graph(self) -> Graph<Trip> {
        let names: Vec<String> = match self.offered.as_slice() {
            [] => self.tools.names().into_iter().map(str::to_owned).collect(),
            names => names.iter().map(ToString::to_string).collect(),
        };
        let agent = AgentNode::new("explore", seat())
            .prompt(|trip: &Trip| format!("Plan a trip to `{}`.", trip.city))
            .policy(&self.policy)
            .tools(self.tools.clone())
            .with_tools(names.clone());
        let gate = GateNode::new("explore", seat(), self.policy, self.validators)
            .calls("tools")
            .escalate("blocked", "handoff");
        let run = ToolsNode::new("explore", seat(), self.tools, names).then("agent").targets(["present", "handoff"]);
        let (agent, gate, run) = ((self.agent)(agent), (self.gate)(gate), (self.run)(run));
        Graph::<Trip>::builder("trip")
            .cluster("explore", "agent", |stage| {
                stage.node("agent", agent).node("gate", gate).node("tools", run).edge("agent", "gate")
            })
            .node("present", present)
            .node("handoff", handoff)
            .edge(START, "agent")
            // What `compile()` would refuse must also be refused by the vertices themselves.
            .lint(Lint::NodeProblem, Level::Warn)
            .compile()
            .unwrap()
    }

    pub(crate) fn runner(self, model: &ScriptedModel) -> Runner<Trip> {
        let model: Arc<dyn ChatModel> = Arc::new(model.clone());
        self.graph().runner().provide_arc(model)
    }

    /// One turn in which the user says hi.
    pub(crate) async fn turn(self, turns: impl IntoIterator<Item = Turn>) -> Ran {
        let model = ScriptedModel::new(turns);
        let thread = self.runner(&model).thread("t");
        let (end, events) = watch(say(&thread)).await;
        Ran { end, events, model }
    }
}

pub(crate) fn say(thread: &Thread<Trip>) -> EngineTurn<Trip> {
    thread.run(seat().user("hi"))
}

/// A turn that is over.
pub(crate) struct Ran {
    end: Result<TurnEnd<Trip>, TurnError>,
    pub(crate) events: Vec<EventKind<Trip>>,
    pub(crate) model: ScriptedModel,
}

impl Ran {
    pub(crate) fn end(&self) -> &TurnEnd<Trip> {
        self.end.as_ref().unwrap()
    }

    pub(crate) fn state(&self) -> &Trip {
        &self.end().state
    }

    pub(crate) fn error(&self) -> &TurnError {
        self.end.as_ref().unwrap_err()
    }

    pub(crate) fn stage_error(&self) -> &StageError {
        stage_error(self.error())
    }

    pub(crate) fn asked(&self) -> usize {
        self.model.requests().len()
    }

    pub(crate) fn reply(&self) -> Option<&str> {
        self.end().reply().and_then(|reply| reply.as_str())
    }

    pub(crate) fn stage_events(&self) -> Vec<StageEvent> {
        let custom = self.events.iter().filter_map(|event| match event {
            EventKind::Custom(value) => serde_json::from_value(value.clone()).ok(),
            _ => None,
        });
        custom.collect()
    }

    pub(crate) fn tokens(&self) -> Vec<&str> {
        let tokens = self.events.iter().filter_map(|event| match event {
            EventKind::Token(text) => Some(text.as_str()),
            _ => None,
        });
        tokens.collect()
    }
}

pub(crate) fn stage_error(error: &TurnError) -> &StageError {
    error.failures()[0].source.downcast_ref().expect("a stage error")
}

/// Runs a turn and keeps everything it tells.
pub(crate) async fn watch(turn: EngineTurn<Trip>) -> (Result<TurnEnd<Trip>, TurnError>, Vec<EventKind<Trip>>) {
    let mut stream = turn.stream();
    let mut events = Vec::new();
    while let Some(event) = stream.next().await {
        events.push(event.kind);
    }
    (stream.end().await, events)
}

/// The history as `role: text`, after checking its rules.
pub(crate) fn transcript(trip: &Trip) -> Vec<String> {
    assert_eq!(check_history(trip.history.iter()), Ok(()));
    trip.history.iter().map(line).collect()
}

fn line(message: &Message) -> String {
    let calls: Vec<&str> = message.calls().iter().map(|call| call.id.as_str()).collect();
    match (message.call_id(), message.status()) {
        (Some(id), Some(CallStatus::Ok)) => format!("tool {id}: {}", message.text()),
        (Some(id), _) => format!("tool {id} failed: {}", message.text()),
        _ if calls.is_empty() => format!("{}: {}", message.role(), message.text()),
        _ => format!("{} calls {}: {}", message.role(), calls.join(" "), message.text()),
    }
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
pub(crate) struct NoArgs {}

/// A tool without arguments that always answers the same.
pub(crate) fn fixed(
    name: &str,
    answer: impl Fn() -> Result<ToolReply<Trip>, ToolError> + Send + Sync + 'static,
) -> FnTool<Trip> {
    tool::<Trip, NoArgs>(name, "A tool.", move |_, _| {
        let answer = answer();
        async move { answer }
    })
}

/// A tool that counts how often it runs.
pub(crate) fn counted(name: &str) -> (FnTool<Trip>, Arc<AtomicUsize>) {
    let count = Arc::new(AtomicUsize::new(0));
    let counter = count.clone();
    let tool = fixed(name, move || {
        counter.fetch_add(1, Ordering::Relaxed);
        Ok("done".into())
    });
    (tool, count)
}

pub(crate) fn call(id: &str, name: &str) -> ToolCall {
    ToolCall::from_text(id, name, "{}")
}

pub(crate) fn calls<const N: usize>(calls: [(&str, &str); N]) -> Turn {
    Turn::calls(calls.map(|(id, name)| call(id, name)))
}

/// Rejects every text but `good`, without quoting it; lets calls through.
pub(crate) fn only_good() -> Validators<Trip> {
    Validators::new().with_fn("only_good", |response, _: &Trip| match response.text.as_str() {
        "good" => Verdict::Accept,
        _ => Verdict::retry("not_good", "say `good`"),
    })
}

pub(crate) fn attempts(n: u32) -> GatePolicy {
    GatePolicy::new().with_max_attempts(std::num::NonZeroU32::new(n).unwrap())
}
