//! `hotel`: explore, present, compare. Ten turns of agent, gate and tools; the model's answer is refused in turns 3 and 7,
//! the conversation moves on in turns 4 and 7, each turn calls one tool: 54 super-steps, 42 messages.

use std::borrow::Cow;
use std::collections::BTreeMap;

use async_trait::async_trait;
use graph_engine::{Graph, Log, Node, NodeError, Outcome, Route, Runner, START, Snap, State, Task};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

pub(crate) const TURNS: u64 = 10;
pub(crate) const STEPS: u64 = 54;
pub(crate) const MESSAGES: usize = 42;

#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Call {
    pub(crate) id: u64,
    pub(crate) name: Cow<'static, str>,
    pub(crate) args: Value,
}

/// A message.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) enum Said {
    Human(String),
    Ai(String, Vec<Call>),
    Tool(u64, String),
}

#[derive(Clone, Copy, Default, PartialEq, Debug, Serialize, Deserialize)]
pub(crate) enum Phase {
    #[default]
    Explore,
    Present,
    Compare,
}

#[derive(State, Clone, Default)]
pub(crate) struct Hotel {
    #[state(append)]
    pub(crate) messages: Log<Said>,
    pub(crate) phase: Phase,
    #[state(append)]
    criteria: BTreeMap<String, String>,
    hotel: String,
    #[state(append)]
    table: Log<(u64, f64)>,
    turn: u64,
    retries: u32,
    ok: bool,
}

const TOOLS: [&str; 3] = ["capture_choices", "chosen_hotel", "generate_comparison"];

/// What a guest says.
pub(crate) fn asks(turn: u64) -> Said {
    Said::Human(format!("turn {turn} {}", "q".repeat(60)))
}

/// What the model says.
pub(crate) fn answers(phase: Phase, turn: u64, retries: u32, last: Option<&Said>) -> Said {
    let tool = TOOLS[phase as usize];
    match last {
        Some(Said::Tool(..)) => Said::Ai(format!("{tool}: reply for turn {turn} {}", "w".repeat(180)), Vec::new()),
        _ if matches!(turn, 3 | 7) && retries == 0 => Said::Ai("BAD".to_owned(), Vec::new()),
        _ => {
            let args = json!({"turn": turn, "city": "Lisbon", "nights": 3});
            Said::Ai(String::new(), vec![Call { id: turn, name: tool.into(), args }])
        }
    }
}

/// Whether the gate refuses it.
pub(crate) fn is_bad(last: Option<&Said>) -> bool {
    matches!(last, Some(Said::Ai(text, _)) if text == "BAD")
}

/// What a tool says.
pub(crate) fn done(call: &Call) -> Said {
    Said::Tool(call.id, format!("ok {}", "r".repeat(80)))
}

struct Agent(Phase);
struct Gate;
struct Tools;

#[async_trait]
impl Node<Hotel> for Agent {
    async fn run(&self, task: &Task<Hotel>) -> Result<Outcome<Hotel>, NodeError> {
        let hotel = task.state();
        let said = answers(self.0, hotel.turn, hotel.retries, hotel.messages.last());
        Ok(Outcome::of(Hotel::update().messages([said])))
    }
}

#[async_trait]
impl Node<Hotel> for Gate {
    async fn run(&self, task: &Task<Hotel>) -> Result<Outcome<Hotel>, NodeError> {
        let hotel = task.state();
        let bad = is_bad(hotel.messages.last());
        Ok(Outcome::of(Hotel::update().ok(!bad).retries(if bad { hotel.retries + 1 } else { 0 })))
    }
}

#[async_trait]
impl Node<Hotel> for Tools {
    async fn run(&self, task: &Task<Hotel>) -> Result<Outcome<Hotel>, NodeError> {
        let hotel = task.state();
        let Some(Said::Ai(_, calls)) = hotel.messages.last() else { return Ok(Outcome::default()) };
        let (turn, mut update) = (hotel.turn, Hotel::update().messages(calls.iter().map(done)));
        for call in calls {
            update = match &*call.name {
                "capture_choices" => {
                    let city = call.args["city"].as_str().expect("a city").to_owned();
                    let update = update.criteria([(format!("k{turn}"), city)]);
                    if turn == 4 { update.phase(Phase::Present) } else { update }
                }
                "chosen_hotel" => {
                    let update = update.hotel(format!("hotel-{turn}"));
                    if turn == 7 { update.phase(Phase::Compare) } else { update }
                }
                _ => update.table([(turn, 4.5)]),
            };
        }
        Ok(Outcome::of(update))
    }
}

#[derive(Route)]
enum Agents {
    Explore,
    Present,
    Compare,
}

#[derive(Route)]
enum Judged {
    Explore,
    Present,
    Compare,
    Tools,
    #[route(end)]
    End,
}

pub(crate) fn hotel() -> Runner<Hotel> {
    let agent = |hotel: &Hotel| match hotel.phase {
        Phase::Explore => Agents::Explore,
        Phase::Present => Agents::Present,
        Phase::Compare => Agents::Compare,
    };
    let judged = |hotel: &Hotel| match (hotel.ok, hotel.phase) {
        (true, _) => match hotel.messages.last() {
            Some(Said::Ai(_, calls)) if !calls.is_empty() => Judged::Tools,
            _ => Judged::End,
        },
        (false, Phase::Explore) => Judged::Explore,
        (false, Phase::Present) => Judged::Present,
        (false, Phase::Compare) => Judged::Compare,
    };
    let mut graph = Graph::builder("hotel").node("gate", Gate).node("tools", Tools);
    for (name, phase) in [("explore", Phase::Explore), ("present", Phase::Present), ("compare", Phase::Compare)] {
        graph = graph.node(name, Agent(phase)).edge(name, "gate");
    }
    let graph = graph.route(START, agent).route("gate", judged).route("tools", agent);
    graph.compile().expect("compiles").runner().timings(false)
}

/// A conversation of ten turns on one thread of the runner's store.
pub(crate) async fn stored(runner: &Runner<Hotel>, thread: &str) {
    let (thread, mut steps, mut last) = (runner.thread(thread), 0, None);
    for turn in 1..=TURNS {
        let end = thread.run(Hotel::update().messages([asks(turn)]).turn(turn)).await.expect("it ends");
        steps += end.report.steps;
        last = Some(end.state);
    }
    check(steps, last.as_deref());
}

/// The same without a store: each turn is given what the last one left.
pub(crate) async fn carried(runner: &Runner<Hotel>) {
    let (mut steps, mut last): (u64, Option<Snap<Hotel>>) = (0, None);
    for turn in 1..=TURNS {
        let mut input = Hotel::update().turn(turn);
        input = match last.take() {
            None => input.messages([asks(turn)]),
            Some(before) => {
                let mut messages = before.messages.clone();
                messages.push(asks(turn));
                input
                    .overwrite_messages(messages)
                    .phase(before.phase)
                    .overwrite_criteria(before.criteria.clone())
                    .hotel(before.hotel.clone())
                    .overwrite_table(before.table.clone())
                    .retries(before.retries)
                    .ok(before.ok)
            }
        };
        let end = runner.thread("t").run(input).await.expect("it ends");
        steps += end.report.steps;
        last = Some(end.state);
    }
    check(steps, last.as_deref());
}

fn check(steps: u64, hotel: Option<&Hotel>) {
    let hotel = hotel.expect("ten turns");
    assert_eq!((steps, hotel.phase, hotel.messages.len()), (STEPS, Phase::Compare, MESSAGES));
}
