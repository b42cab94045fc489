//! Row 8: 200 super-steps beside a history of messages, which they leave alone or append to.

use std::sync::Arc;

use async_trait::async_trait;
use graph_engine::{Graph, Log, Node, NodeError, Outcome, Route, Runner, START, State, Task};

use crate::Here;
use crate::measure::{Row, Target, Timed, times};

const STEPS: u64 = 200;
const RUNS: u64 = 200;

#[derive(Clone, serde::Serialize, serde::Deserialize)]
struct Message {
    role: String,
    id: u64,
    content: String,
}

/// A text of 100 bytes that no store can compress away.
pub(crate) fn letters(id: u64) -> String {
    let mut x = (id as u32).wrapping_mul(2_654_435_761).wrapping_add(12_345);
    let letter = |_| {
        x = x.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        char::from(b"abcdefghijklmnopqrstuvwxyz012345"[(x >> 27) as usize])
    };
    (0..100).map(letter).collect()
}

fn message(id: u64) -> Arc<Message> {
    let content = letters(id);
    let role = if id.is_multiple_of(2) { "user" } else { "assistant" };
    Arc::new(Message { role: role.to_owned(), id, content })
}

#[derive(State, Default, Clone)]
struct Chat {
    ticks: u64,
    #[state(append)]
    messages: Log<Shared>,
}

/// A message by pointer, as it travels within a process.
#[derive(Clone, serde::Serialize, serde::Deserialize)]
#[serde(from = "Message", into = "Message")]
struct Shared(Arc<Message>);

impl From<Message> for Shared {
    fn from(message: Message) -> Self {
        Self(Arc::new(message))
    }
}

impl From<Shared> for Message {
    fn from(shared: Shared) -> Self {
        (*shared.0).clone()
    }
}

struct Idle;
struct Append;

fn idle(chat: &Chat) -> ChatUpdate {
    Chat::update().ticks(chat.ticks + 1)
}

fn append(chat: &Chat) -> ChatUpdate {
    idle(chat).messages([Shared(message(chat.ticks))])
}

#[async_trait]
impl Node<Chat> for Idle {
    async fn run(&self, task: &Task<Chat>) -> Result<Outcome<Chat>, NodeError> {
        Ok(Outcome::of(idle(task.state())))
    }
}

#[async_trait]
impl Node<Chat> for Append {
    async fn run(&self, task: &Task<Chat>) -> Result<Outcome<Chat>, NodeError> {
        Ok(Outcome::of(append(task.state())))
    }
}

#[async_trait]
trait Bare {
    async fn run(&self, chat: &Chat) -> ChatUpdate;
}

#[async_trait]
impl Bare for Idle {
    async fn run(&self, chat: &Chat) -> ChatUpdate {
        idle(chat)
    }
}

#[async_trait]
impl Bare for Append {
    async fn run(&self, chat: &Chat) -> ChatUpdate {
        append(chat)
    }
}

#[derive(Route)]
enum Again {
    Tick,
    #[route(end)]
    End,
}

fn history(bytes: u64) -> Chat {
    Chat { ticks: 0, messages: (0..bytes / 100).map(|id| Shared(message(id))).collect() }
}

fn looping(bytes: u64, node: impl Node<Chat>) -> Runner<Chat> {
    let again = |chat: &Chat| if chat.ticks < STEPS { Again::Tick } else { Again::End };
    let graph =
        Graph::starting_from("chat", history(bytes)).node("tick", node).edge(START, "tick").route("tick", again);
    graph.compile().expect("compiles").runner().step_limit(STEPS + 1).timings(false)
}

fn engine<'a>(here: &'a Here, bytes: u64, node: impl Node<Chat>) -> Timed<'a> {
    let runner = looping(bytes, node);
    times(RUNS, move || crate::nodes::turn(here, &runner))
}

fn limit<'a>(here: &'a Here, bytes: u64, node: impl Bare + 'static) -> Timed<'a> {
    let (node, chat): (Box<dyn Bare>, Chat) = (Box::new(node), history(bytes));
    times(RUNS, move || {
        let mut chat = chat.clone();
        here.run(async {
            while chat.ticks < STEPS {
                let update = node.run(&chat).await;
                chat.apply(update);
            }
        });
    })
}

const SIZES: [(u64, &str); 3] = [(0, "0"), (10_000, "10 kB"), (1_000_000, "1 MB")];
const UNITS: (u64, u64) = (STEPS * RUNS, STEPS * RUNS);

pub(crate) fn rows(here: &Here) {
    for (bytes, size) in SIZES {
        let row = |name: &str, target| Row {
            name: name.to_owned(),
            unit: "super-step",
            units: UNITS,
            target: Target::Nanoseconds(target),
        };
        row(&format!("8 state_size:200, idle, {size}"), 80.0).pair(limit(here, bytes, Idle), engine(here, bytes, Idle));
        row(&format!("8 state_size:200, append, {size}"), 600.0)
            .pair(limit(here, bytes, Append), engine(here, bytes, Append));
    }
}

pub(crate) fn laws(here: &Here) {
    let law = |name: &str, target| Row {
        name: name.to_owned(),
        unit: "super-step",
        units: UNITS,
        target: Target::Ratio(target),
    };
    law("state size: idle, 0, 1 MB", 1.05).pair(engine(here, 0, Idle), engine(here, 1_000_000, Idle));
    law("state size: append, 0, 1 MB", 1.1).pair(engine(here, 0, Append), engine(here, 1_000_000, Append));
}
