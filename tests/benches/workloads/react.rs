//! `lg_react_agent`: an agent that calls one tool so often, with an argument of 3.6 kB and a result of 36 kB, then answers.

use async_trait::async_trait;
use graph_engine::{Graph, Log, Node, NodeError, Outcome, Route, Runner, START, State, Task};
use serde_json::json;

use super::hotel::{Call, Said};

#[derive(State, Clone, Default)]
pub(crate) struct Talk {
    #[state(append)]
    pub(crate) messages: Log<Said>,
}

/// What the model says after so many of the tool's answers.
pub(crate) fn answers<'a>(rounds: u64, before: impl Iterator<Item = &'a Said>) -> Said {
    let done = before.filter(|said| matches!(said, Said::Tool(..))).count() as u64;
    if done < rounds {
        let query = format!("{:036x}", done.wrapping_mul(0x9e37_79b9_7f4a_7c15)).repeat(100);
        return Said::Ai(String::new(), vec![Call { id: done, name: "lookup".into(), args: json!({"query": query}) }]);
    }
    Said::Ai("done. ".repeat(100), Vec::new())
}

/// What the tool says.
pub(crate) fn looked_up(call: &Call) -> Said {
    let query = call.args["query"].as_str().expect("a query");
    Said::Tool(call.id, format!("answer to {query};").repeat(10))
}

/// The calls of the newest message.
pub(crate) fn calls(last: Option<&Said>) -> &[Call] {
    match last {
        Some(Said::Ai(_, calls)) => calls,
        _ => &[],
    }
}

struct Agent(u64);
struct Tools;

#[async_trait]
impl Node<Talk> for Agent {
    async fn run(&self, task: &Task<Talk>) -> Result<Outcome<Talk>, NodeError> {
        Ok(Outcome::of(Talk::update().messages([answers(self.0, task.state().messages.iter())])))
    }
}

#[async_trait]
impl Node<Talk> for Tools {
    async fn run(&self, task: &Task<Talk>) -> Result<Outcome<Talk>, NodeError> {
        let calls = calls(task.state().messages.last());
        Ok(Outcome::of(Talk::update().messages(calls.iter().map(looked_up))))
    }
}

#[derive(Route)]
enum Called {
    Tools,
    #[route(end)]
    End,
}

/// An agent of so many rounds.
pub(crate) fn react_agent(rounds: u64) -> Runner<Talk> {
    let called = |talk: &Talk| if calls(talk.messages.last()).is_empty() { Called::End } else { Called::Tools };
    let graph = Graph::builder("react")
        .node("agent", Agent(rounds))
        .node("tools", Tools)
        .edge(START, "agent")
        .route("agent", called)
        .edge("tools", "agent");
    graph.compile().expect("compiles").runner().step_limit(u64::MAX).timings(false)
}
