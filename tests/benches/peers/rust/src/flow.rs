//! graph-flow. It has no super-steps and no history: its store holds the newest state of a session.

use std::sync::Arc;

use async_trait::async_trait;
use graph_flow::fanout::FanOutTask;
use graph_flow::{
    Context, ExecutionStatus, FlowRunner, Graph, GraphBuilder, InMemorySessionStorage, NextAction, Result, Session,
    SessionStorage, Task, TaskResult,
};
use measure::{Asked, Times, message};
use serde_json::Value;

use crate::{Here, history, name};

/// Counts up, and says something if it should.
struct Tick {
    id: String,
    says: bool,
    next: NextAction,
}

fn number(context: &Context) -> u64 {
    context.get("n").unwrap_or(0)
}

fn messages(context: &Context) -> Vec<Value> {
    context.get("messages").unwrap_or_default()
}

#[async_trait]
impl Task for Tick {
    fn id(&self) -> &str {
        &self.id
    }

    async fn run(&self, context: Context) -> Result<TaskResult> {
        let n = number(&context);
        context.set("n", n + 1)?;
        if self.says {
            let mut messages = messages(&context);
            messages.push(message(n));
            context.set("messages", messages)?;
        }
        Ok(TaskResult::new(None, self.next.clone()))
    }
}

/// The last task.
struct Last;

#[async_trait]
impl Task for Last {
    fn id(&self) -> &str {
        "last"
    }

    async fn run(&self, _: Context) -> Result<TaskResult> {
        Ok(TaskResult::new(None, NextAction::End))
    }
}

/// A branch, which writes a value of its own.
struct Branch(String, u64);

#[async_trait]
impl Task for Branch {
    fn id(&self) -> &str {
        &self.0
    }

    async fn run(&self, context: Context) -> Result<TaskResult> {
        context.set(format!("out.{}", self.0), self.1)?;
        Ok(TaskResult::new(None, NextAction::End))
    }
}

fn builder() -> GraphBuilder {
    GraphBuilder::new("graph").with_max_execution_steps(1_000_000_000)
}

fn looping(limit: u64, says: bool, next: NextAction) -> Graph {
    let again = move |context: &Context| number(context) < limit;
    let tick = Tick { id: "tick".to_owned(), says, next };
    let graph = builder().add_task(Arc::new(tick)).add_task(Arc::new(Last));
    graph.add_conditional_edge("tick", again, "tick", "last").set_start_task("tick").build().expect("builds")
}

fn chain(length: u64, next: NextAction) -> GraphBuilder {
    let node = |i| Arc::new(Tick { id: name(i), says: false, next: next.clone() });
    let graph = (0..length).fold(builder(), |graph, i| graph.add_task(node(i))).add_task(Arc::new(Last));
    let graph = (1..length).fold(graph, |graph, i| graph.add_edge(name(i - 1), name(i)));
    graph.add_edge(name(length - 1), "last").set_start_task(name(0))
}

fn fan(width: u64) -> Graph {
    let branches = (0..width).map(|i| Arc::new(Branch(name(i), i)) as Arc<dyn Task>).collect();
    let graph = builder().add_task(FanOutTask::new("fan", branches)).add_task(Arc::new(Last));
    graph.add_edge("fan", "last").set_start_task("fan").build().expect("builds")
}

fn session(id: &str, start: &str) -> Session {
    Session::new_from_task(id.to_owned(), start)
}

/// Runs a session without a store to its end.
async fn run(graph: &Graph, mut session: Session) -> Session {
    while !matches!(graph.execute_session(&mut session).await.expect("runs").status, ExecutionStatus::Completed) {}
    session
}

/// Runs a stored session to its end, a task at a time, which stores it after each.
async fn run_stored(graph: &Arc<Graph>, store: &Arc<InMemorySessionStorage>, session: Session) -> Session {
    let (runner, id) = (FlowRunner::new(graph.clone(), store.clone()), session.id.clone());
    store.save(session).await.expect("saves");
    while !matches!(runner.run(&id).await.expect("runs").status, ExecutionStatus::Completed) {}
    store.get(&id).await.expect("loads").expect("is there")
}

pub(crate) fn workload(here: &Here, asked: &Asked) -> Times {
    let (n, at_once) = (asked.n, NextAction::ContinueAndExecute);
    let counted = |graph: Graph, start: &'static str, units: u64| {
        asked.times(units, || assert_eq!(number(&here.run(run(&graph, session("t", start))).context), n))
    };
    match asked.workload.as_str() {
        "loop" => counted(looping(n, false, at_once), "tick", n),
        "chain_run" => counted(chain(n, at_once).build().expect("builds"), "n0", n),
        "invoke_small" => counted(chain(n, at_once).build().expect("builds"), "n0", 1),
        "chain_compile" => asked.each(n, || chain(n, at_once.clone()), |graph| graph.build().expect("builds")),
        "fanout" => {
            let graph = fan(n);
            asked.times(n, || {
                let end = here.run(run(&graph, session("t", "fan")));
                assert_eq!(end.context.get::<u64>(&format!("out.{}", name(n - 1))), Some(n - 1));
            })
        }
        "state_size" => {
            let (append, history) = (asked.variant.starts_with("append"), history(asked));
            let graph = looping(n, append, at_once);
            let length = history.len() as u64 + if append { n } else { 0 };
            let make = || {
                let session = session("t", "tick");
                session.context.set("messages", &history).expect("JSON");
                session
            };
            let (times, end) = asked.each_kept(n, make, |session| here.run(run(&graph, session)));
            // To count messages is to parse all of them, so it is no part of the time.
            assert_eq!((number(&end.context), messages(&end.context).len() as u64), (n, length));
            times
        }
        "ckpt_loop" => {
            let grow = asked.variant.ends_with("grow");
            let graph = Arc::new(looping(n, grow, NextAction::Continue));
            let store = || Arc::new(InMemorySessionStorage::new());
            let work = |store| here.run(run_stored(&graph, &store, session("t", "tick")));
            let (times, end) = asked.each_kept(n, store, work);
            let length = messages(&end.context).len() as u64;
            assert_eq!((number(&end.context), length), (n, if grow { n } else { 0 }));
            times
        }
        "threads" => {
            let graph = Arc::new(chain(5, NextAction::Continue).build().expect("builds"));
            asked.each(
                n,
                || Arc::new(InMemorySessionStorage::new()),
                |store| {
                    let each = |i: u64| run_stored(&graph, &store, session(&i.to_string(), "n0"));
                    let each = (0..n).map(each).collect::<Vec<_>>();
                    let ends = here.run(futures_util::future::join_all(each));
                    assert!(ends.iter().all(|end| number(&end.context) == 5));
                },
            )
        }
        other => panic!("no workload `{other}`"),
    }
}

pub(crate) fn cold(here: &Here) {
    let graph = chain(1, NextAction::ContinueAndExecute).build().expect("builds");
    assert_eq!(number(&here.run(run(&graph, session("t", "n0"))).context), 1);
}
