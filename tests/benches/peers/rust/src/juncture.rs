//! juncture-core.

use std::sync::Arc;

use juncture_core::edge::{END, PathMap};
use juncture_core::graph::CompiledGraph;
use juncture_core::node::NodeFnUpdate;
use juncture_core::{RunnableConfig, StateGraph};
use juncture_derive::State;
use measure::{Asked, Times, message};
use serde_json::Value;

use crate::{Here, history, name};

#[derive(State, Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct Chat {
    n: u64,
    #[reducer(append)]
    messages: Vec<Value>,
    #[reducer(append)]
    out: Vec<u64>,
}

type Graph = StateGraph<Chat>;

fn rest(graph: &mut Graph, name: &str) {
    let rest = |_: &Chat| async { Ok(ChatUpdate::default()) };
    graph.add_node_simple(name, NodeFnUpdate(rest)).expect("a new name");
}

fn tick(graph: &mut Graph, name: &str) {
    let tick = |chat: &Chat| {
        let n = chat.n + 1;
        async move { Ok(ChatUpdate { n: Some(n), ..Default::default() }) }
    };
    graph.add_node_simple(name, NodeFnUpdate(tick)).expect("a new name");
}

fn say(graph: &mut Graph, name: &str) {
    let say = |chat: &Chat| {
        let n = chat.n;
        async move { Ok(ChatUpdate { n: Some(n + 1), messages: Some(vec![message(n)]), ..Default::default() }) }
    };
    graph.add_node_simple(name, NodeFnUpdate(say)).expect("a new name");
}

type Add = fn(&mut Graph, &str);

/// Says of which lifetime the answer is.
fn router(decide: impl Fn(&Chat) -> &str + Send + Sync + 'static) -> impl Fn(&Chat) -> &str + Send + Sync + 'static {
    decide
}

fn looping(limit: u64, add: Add) -> CompiledGraph<Chat> {
    let mut graph = Graph::new();
    add(&mut graph, "tick");
    graph.set_entry_point("tick");
    let again = router(move |chat| if chat.n < limit { "again" } else { "done" });
    graph.add_conditional_edges("tick", Arc::new(again), PathMap::from(&[("again", "tick"), ("done", END)]));
    graph.compile().expect("compiles")
}

fn chain(length: u64, add: Add) -> Graph {
    let mut graph = Graph::new();
    (0..length).for_each(|i| add(&mut graph, &name(i)));
    (1..length).for_each(|i| graph.add_edge(name(i - 1), name(i)));
    graph.set_entry_point(name(0));
    graph.set_finish_point(name(length - 1));
    graph
}

/// A source, so many nodes at once, a join.
fn fan(width: u64) -> CompiledGraph<Chat> {
    let mut graph = Graph::new();
    rest(&mut graph, "source");
    rest(&mut graph, "join");
    for i in 0..width {
        let node = move |_: &Chat| async move { Ok(ChatUpdate { out: Some(vec![i]), ..Default::default() }) };
        graph.add_node_simple(name(i), NodeFnUpdate(node)).expect("a new name");
        graph.add_edge("source", name(i));
        graph.add_edge(name(i), "join");
    }
    graph.set_entry_point("source");
    graph.set_finish_point("join");
    graph.compile().expect("compiles")
}

fn turn(here: &Here, graph: &CompiledGraph<Chat>, input: Chat) -> Chat {
    let mut config = RunnableConfig::new().with_thread_id("t".to_owned());
    config.recursion_limit = 1_000_000;
    here.run(graph.invoke_async(input, &config)).expect("ends").value
}

pub(crate) fn workload(here: &Here, asked: &Asked) -> Times {
    let n = asked.n;
    let counted = |graph: CompiledGraph<Chat>, units: u64| {
        asked.times(units, || assert_eq!(turn(here, &graph, Chat::default()).n, n))
    };
    match asked.workload.as_str() {
        "loop" => counted(looping(n, tick), n),
        "chain_run" => counted(chain(n, tick).compile().expect("compiles"), n),
        "invoke_small" => counted(chain(n, tick).compile().expect("compiles"), 1),
        "chain_compile" => asked.each(n, || chain(n, rest), |graph| graph.compile().expect("compiles")),
        "export_mermaid" => {
            let (graph, last) = (chain(n, rest).compile().expect("compiles"), name(n - 1));
            asked.times(n, || {
                let text = graph.to_mermaid();
                assert!(text.contains(&last));
                text
            })
        }
        "fanout" => {
            let graph = fan(n);
            asked.times(n, || assert_eq!(turn(here, &graph, Chat::default()).out.len() as u64, n))
        }
        "state_size" => {
            let (append, history) = (asked.variant.starts_with("append"), history(asked));
            let graph = looping(n, if append { say } else { tick });
            let length = history.len() as u64 + if append { n } else { 0 };
            let make = || Chat { messages: history.clone(), ..Default::default() };
            asked.each(n, make, |input| {
                let end = turn(here, &graph, input);
                assert_eq!((end.n, end.messages.len() as u64), (n, length));
                end
            })
        }
        other => panic!("no workload `{other}`"),
    }
}

pub(crate) fn cold(here: &Here) {
    let graph = chain(1, tick).compile().expect("compiles");
    assert_eq!(turn(here, &graph, Chat::default()).n, 1);
}
