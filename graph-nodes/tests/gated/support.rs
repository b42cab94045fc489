//! A gated call with everything it tells, and a small state for the vertex.

use std::num::NonZeroU32;

use futures_util::StreamExt;
use graph_engine::{EventKind, Graph, Log, Runner, START, State, Turn as EngineTurn, TurnEnd, TurnError};
use graph_nodes::gate::{
    GateLedger, GatePolicy, Gated, GatedAnswer, GatedError, GatedEvent, GatedFailure, Validators, Verdict,
};
use graph_nodes::message::{Message, ToolCall};
use graph_nodes::model::{Request, ScriptedModel, Turn};
use graph_nodes::stage::{AgentNode, Draft, GateBook, GateNode, GatedNode, Seat, StageError, StageEvent};

pub(crate) fn attempts(n: u32) -> GatePolicy {
    GatePolicy::new().with_max_attempts(NonZeroU32::new(n).unwrap())
}

pub(crate) fn ask() -> Request {
    Request::new([Message::user("hi")])
}

/// Turns of different texts, so that rejecting them isn't a lack of progress.
pub(crate) fn poem(lines: usize) -> Vec<Turn> {
    (1..=lines).map(|line| Turn::text(format!("line {line}"))).collect()
}

pub(crate) fn only_good<S: Sync + 'static>() -> Validators<S> {
    Validators::new().with_fn("only_good", |response, _: &S| match response.text.as_str() {
        "good" => Verdict::Accept,
        _ => Verdict::retry("not_good", "say `good`"),
    })
}

pub(crate) fn call(id: &str, name: &str, arguments: &str) -> ToolCall {
    ToolCall::from_text(id, name, arguments)
}

/// A round that is over.
pub(crate) struct Ran {
    pub(crate) end: Result<GatedAnswer, GatedFailure>,
    pub(crate) events: Vec<GatedEvent>,
    pub(crate) model: ScriptedModel,
}

impl Ran {
    pub(crate) fn text(&self) -> &str {
        &self.end.as_ref().unwrap().response.text
    }

    pub(crate) fn error(&self) -> &GatedError {
        &self.end.as_ref().unwrap_err().error
    }

    pub(crate) fn ledger(&self) -> &GateLedger {
        match &self.end {
            Ok(answer) => &answer.ledger,
            Err(failure) => &failure.ledger,
        }
    }

    pub(crate) fn asked(&self) -> usize {
        self.model.requests().len()
    }

    pub(crate) fn counters(&self) -> Vec<(&str, u32)> {
        self.ledger().counters.iter().map(|(code, count)| (code.as_str(), *count)).collect()
    }
}

pub(crate) async fn run(policy: GatePolicy, validators: Validators<()>, turns: impl IntoIterator<Item = Turn>) -> Ran {
    run_with(policy, validators, turns, |gated| gated, ask()).await
}

pub(crate) async fn run_with(
    policy: GatePolicy,
    validators: Validators<()>,
    turns: impl IntoIterator<Item = Turn>,
    change: impl FnOnce(Gated<()>) -> Gated<()>,
    request: Request,
) -> Ran {
    let model = ScriptedModel::new(turns);
    let gated = change(Gated::new(model.clone(), policy, validators));
    let mut events = Vec::new();
    let end = gated.run(request, &(), |event| events.push(event)).await;
    Ran { end, events, model }
}

/// What one check says of one response: the codes and what the model is told.
pub(crate) async fn judged(validators: Validators<()>, turn: Turn) -> (Vec<String>, String) {
    let ran = run(attempts(1), validators, [turn]).await;
    let last = ran.ledger().attempts.last().unwrap();
    let told = last.reasons.iter().filter_map(|reason| reason.message.clone()).collect::<Vec<_>>().join("\n");
    (last.codes().iter().map(ToString::to_string).collect(), told)
}

#[derive(State, Clone, Debug, Default)]
pub(crate) struct Trip {
    pub(crate) price: u32,
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

pub(crate) fn agent(model: &ScriptedModel) -> AgentNode<Trip> {
    AgentNode::new("explore", seat()).with_model(model.clone())
}

pub(crate) fn gate(policy: GatePolicy, validators: Validators<Trip>) -> GateNode<Trip> {
    GateNode::new("explore", seat(), policy, validators)
}

async fn handoff() -> TripUpdate {
    Trip::update().notes(["handoff"])
}

/// One vertex that asks and judges, and a node that it may leave to.
pub(crate) fn runner(node: GatedNode<Trip>) -> Runner<Trip> {
    let graph = Graph::<Trip>::builder("trip").node("talk", node).node("handoff", handoff).edge(START, "talk");
    graph.lint(graph_engine::Lint::Unreachable, graph_engine::Level::Ignore).compile().unwrap().runner()
}

/// A turn that is over, with what it told.
pub(crate) struct Turned {
    pub(crate) end: Result<TurnEnd<Trip>, TurnError>,
    pub(crate) events: Vec<EventKind<Trip>>,
}

pub(crate) async fn watch(turn: EngineTurn<Trip>) -> Turned {
    let mut stream = turn.stream();
    let mut events = Vec::new();
    while let Some(event) = stream.next().await {
        events.push(event.kind);
    }
    Turned { end: stream.end().await, events }
}

pub(crate) async fn turn(node: GatedNode<Trip>) -> Turned {
    watch(runner(node).thread("t").run(seat().user("hi"))).await
}

impl Turned {
    pub(crate) fn state(&self) -> &Trip {
        &self.end.as_ref().unwrap().state
    }

    pub(crate) fn reply(&self) -> Option<&str> {
        self.end.as_ref().unwrap().reply().and_then(|reply| reply.as_str())
    }

    pub(crate) fn stage_error(&self) -> &StageError {
        self.end.as_ref().unwrap_err().failures()[0].source.downcast_ref().expect("a stage error")
    }

    pub(crate) fn tokens(&self) -> Vec<&str> {
        let mut tokens = Vec::new();
        for event in &self.events {
            if let EventKind::Token(text) = event {
                tokens.push(text.as_str());
            }
        }
        tokens
    }

    pub(crate) fn stage_events(&self) -> Vec<StageEvent> {
        let custom = |event: &EventKind<Trip>| match event {
            EventKind::Custom(value) => serde_json::from_value(value.clone()).ok(),
            _ => None,
        };
        self.events.iter().filter_map(custom).collect()
    }
}
