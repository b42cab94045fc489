//! Whole runs by hand: packets into a chain of three nodes, an agent and its tool, a wide state.

use async_trait::async_trait;
use futures_util::future::join_all;

use crate::workloads::hotel::Said;
use crate::workloads::react::{answers, calls, looked_up};
use crate::workloads::subgraph::{extended, is_long, prepared, written};

/// A packet on its way.
#[derive(Default)]
struct Line {
    topic: String,
    line: String,
}

#[async_trait]
trait Step: Send + Sync {
    async fn run(&self, line: &Line) -> Line;
}

struct Prepare;
struct Write;
struct Extend;

#[async_trait]
impl Step for Prepare {
    async fn run(&self, line: &Line) -> Line {
        Line { topic: prepared(&line.topic), ..Line::default() }
    }
}

#[async_trait]
impl Step for Write {
    async fn run(&self, line: &Line) -> Line {
        Line { line: written(&line.topic), ..Line::default() }
    }
}

#[async_trait]
impl Step for Extend {
    async fn run(&self, line: &Line) -> Line {
        Line { line: extended(&line.line), ..Line::default() }
    }
}

/// A line for each topic, all at once.
pub(crate) async fn fanout_to_subgraph(topics: &[String]) -> Vec<String> {
    let steps: [Box<dyn Step>; 3] = [Box::new(Prepare), Box::new(Write), Box::new(Extend)];
    let [prepare, write, extend] = &steps;
    join_all(topics.iter().map(async |topic| {
        let mut line = Line { topic: topic.clone(), ..Line::default() };
        line.topic = prepare.run(&line).await.topic;
        line.line = write.run(&line).await.line;
        while !is_long(&line.line) {
            line.line = extend.run(&line).await.line;
        }
        line.line
    }))
    .await
}

#[async_trait]
trait Talker: Send + Sync {
    async fn run(&self, said: &[Said]) -> Vec<Said>;
}

struct Agent(u64);
struct Tools;

#[async_trait]
impl Talker for Agent {
    async fn run(&self, said: &[Said]) -> Vec<Said> {
        vec![answers(self.0, said.iter())]
    }
}

#[async_trait]
impl Talker for Tools {
    async fn run(&self, said: &[Said]) -> Vec<Said> {
        calls(said.last()).iter().map(looked_up).collect()
    }
}

/// So many rounds of agent and tool, and an answer.
pub(crate) async fn react_agent(rounds: u64) -> Vec<Said> {
    let (agent, tools): (Box<dyn Talker>, Box<dyn Talker>) = (Box::new(Agent(rounds)), Box::new(Tools));
    let mut said = vec![Said::Human("hello".to_owned())];
    loop {
        let more = agent.run(&said).await;
        said.extend(more);
        if calls(said.last()).is_empty() {
            return said;
        }
        let more = tools.run(&said).await;
        said.extend(more);
    }
}
