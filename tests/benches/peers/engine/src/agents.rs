//! The hotel, and packets into a child graph.

use graph_engine::{
    Graph, IntoNode, Log, Next, Node, NodeError, Outcome, Route, Runner, START, Snap, State, Subgraph, Task,
};
use graph_nodes::message::{Message, ToolCall};
use measure::{Asked, Times};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::state::Here;
use crate::stores::fresh;

#[derive(Clone, Copy, Default, PartialEq, Debug, Serialize, Deserialize)]
enum Phase {
    #[default]
    Explore,
    Present,
    Compare,
}

impl Phase {
    const ALL: [(&'static str, Self, &'static str); 3] = [
        ("explore", Self::Explore, "capture_choices"),
        ("present", Self::Present, "chosen_hotel"),
        ("compare", Self::Compare, "generate_comparison"),
    ];
}

#[derive(Clone, Serialize, Deserialize)]
struct Line {
    turn: u64,
    score: f64,
}

#[derive(State, Default, Clone)]
struct Hotel {
    #[state(append)]
    messages: Log<Message>,
    phase: Phase,
    #[state(append)]
    criteria: std::collections::BTreeMap<String, String>,
    hotel: String,
    #[state(append)]
    table: Vec<Line>,
    turn: u64,
    retries: u64,
    ok: bool,
}

fn last(hotel: &Hotel) -> &Message {
    hotel.messages.last().expect("the user has spoken")
}

/// What the scripted model says: a call, a text after its result, nonsense at the first try of turns 3 and 7.
struct Agent(usize);

#[async_trait::async_trait]
impl Node<Hotel> for Agent {
    async fn run(&self, task: &Task<Hotel>) -> Result<Outcome<Hotel>, NodeError> {
        let (hotel, (name, _, tool)) = (task.state(), Phase::ALL[self.0]);
        let said = if last(hotel).call_id().is_some() {
            Message::assistant(format!("{name}: reply for turn {} {}", hotel.turn, "w".repeat(180)))
        } else if matches!(hotel.turn, 3 | 7) && hotel.retries == 0 {
            Message::assistant("BAD")
        } else {
            let arguments = json!({"turn": hotel.turn, "city": "Lisbon", "nights": 3});
            Message::assistant("").with_calls([ToolCall::new(format!("call-{}", hotel.turn), tool, &arguments)])
        };
        Ok(Outcome::of(Hotel::update().messages([said])))
    }
}

async fn gate(hotel: Snap<Hotel>) -> HotelUpdate {
    let bad = last(&hotel).text() == "BAD";
    Hotel::update().ok(!bad).retries(if bad { hotel.retries + 1 } else { 0 })
}

async fn tools(hotel: Snap<Hotel>) -> Result<HotelUpdate, NodeError> {
    let (turn, call) = (hotel.turn, &last(&hotel).calls()[0]);
    let result = Message::tool(&*call.id, format!("ok {}", "r".repeat(80))).with_tool_name(&*call.name);
    let update = Hotel::update().messages([result]);
    Ok(match &*call.name {
        "capture_choices" => {
            let city = call.arguments.parsed().map_err(|fault| NodeError::from(fault.to_string()))?["city"].clone();
            let city = city.as_str().unwrap_or_default().to_owned();
            let phase = if turn == 4 { Phase::Present } else { Phase::Explore };
            update.criteria([(format!("k{turn}"), city)]).phase(phase)
        }
        "chosen_hotel" => {
            let phase = if turn == 7 { Phase::Compare } else { Phase::Present };
            update.hotel(format!("hotel-{turn}")).phase(phase)
        }
        _ => update.table([Line { turn, score: 4.5 }]),
    })
}

#[derive(Route)]
enum To {
    Explore,
    Present,
    Compare,
    Tools,
    #[route(end)]
    End,
}

fn stage(hotel: &Hotel) -> To {
    match hotel.phase {
        Phase::Explore => To::Explore,
        Phase::Present => To::Present,
        Phase::Compare => To::Compare,
    }
}

fn after_gate(hotel: &Hotel) -> To {
    match (hotel.ok, last(hotel).calls().is_empty()) {
        (false, _) => stage(hotel),
        (true, false) => To::Tools,
        (true, true) => To::End,
    }
}

fn hotel_graph() -> Runner<Hotel> {
    let mut builder = Graph::builder("hotel").node("gate", gate.into_node()).node("tools", tools.into_node());
    for (at, (name, ..)) in Phase::ALL.into_iter().enumerate() {
        builder = builder.node(name, Agent(at)).edge(name, "gate");
    }
    let builder = builder.route(START, stage).route("gate", after_gate).route("tools", stage);
    builder.compile().expect("compiles").runner().timings(false)
}

/// Without a store, the state of the turn before is the input of the next one.
fn again(state: &Hotel) -> HotelUpdate {
    let update = Hotel::update().messages(state.messages.iter().cloned()).phase(state.phase);
    update.criteria(state.criteria.clone()).hotel(state.hotel.clone()).table(state.table.clone())
}

pub(crate) fn hotel(here: &Here, asked: &Asked) -> Times {
    let (runner, stored) = (hotel_graph(), asked.variant != "none");
    asked.each(asked.n, fresh(asked, &runner), |(runner, path)| {
        let thread = runner.thread("t");
        let state = here.run(async {
            let mut state = Snap::from(Hotel::default());
            for turn in 1..=asked.n {
                let said =
                    Hotel::update().turn(turn).messages([Message::user(format!("turn {turn} {}", "q".repeat(60)))]);
                let input = if stored { said } else { again(&state).then(said) };
                state = thread.run(input).await.expect("ends").state;
            }
            state
        });
        assert_eq!((state.phase, state.messages.len() as u64), (Phase::Compare, 4 * asked.n + 2));
        assert_eq!((state.criteria.len(), &*state.hotel, state.table.len()), (4, "hotel-7", 3));
        (runner, path)
    })
}

#[derive(State, Default, Clone)]
struct Part {
    topic: String,
    lines: Vec<String>,
}

#[derive(State, Default, Clone)]
struct Whole {
    topics: Vec<String>,
    #[state(append)]
    lines: Log<String>,
}

async fn prepare(part: Snap<Part>) -> PartUpdate {
    Part::update().topic(format!("{} (ready)", part.topic))
}

async fn write(part: Snap<Part>) -> PartUpdate {
    Part::update().lines(vec![format!("on {}", part.topic)])
}

async fn extend(part: Snap<Part>) -> PartUpdate {
    Part::update().lines(vec![format!("{} +", part.lines[0])])
}

#[derive(Route)]
enum Extend {
    Extend,
    #[route(end)]
    End,
}

#[derive(Route)]
enum Each {
    One(String),
}

pub(crate) fn fanout_to_subgraph(here: &Here, asked: &Asked) -> Times {
    let full = |part: &Part| if part.lines[0].ends_with(&" +".repeat(10)) { Extend::End } else { Extend::Extend };
    let part = Graph::builder("part")
        .node("prepare", prepare)
        .node("write", write)
        .node("extend", extend)
        .edge(START, "prepare")
        .edge("prepare", "write")
        .edge("write", "extend")
        .route("extend", full)
        .compile()
        .expect("compiles");
    let one = Subgraph::for_each(
        &part,
        |_: &Whole, topic: String| Part::update().topic(topic),
        |part: &Part, _| Whole::update().lines(part.lines.clone()),
    );
    let graph = Graph::builder("whole")
        .node("one", one)
        .route(START, |whole: &Whole| Next::fan_out(whole.topics.iter().cloned().map(Each::One)))
        .compile()
        .expect("compiles");
    let runner = graph.runner().step_limit(100 * asked.n).timings(false);
    let topics = vec!["abcdefghij".repeat(100); asked.n as usize];
    asked.times(1, || {
        let input = Whole::update().topics(topics.clone());
        let end = here.run(async { runner.thread("t").run(input).await }).expect("ends");
        assert_eq!(end.state.lines.len() as u64, asked.n);
        assert!(end.state.lines.iter().all(|line| line.len() == 3 + 1_000 + 8 + 20));
    })
}
