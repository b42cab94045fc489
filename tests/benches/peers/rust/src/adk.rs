//! adk-graph.

use std::path::PathBuf;

use adk_graph::checkpoint::{MemoryCheckpointer, SqliteCheckpointer};
use adk_graph::edge::{END, START};
use adk_graph::graph::{CompiledGraph, StateGraph};
use adk_graph::node::{ExecutionConfig, NodeOutput};
use adk_graph::state::{State, StateSchema};
use measure::{Asked, Times, message, stored_bytes};
use serde_json::{Value, json};

use crate::{Here, history, name};

fn number(state: &State) -> u64 {
    state.get("n").and_then(Value::as_u64).unwrap_or(0)
}

fn empty() -> StateGraph {
    StateGraph::new(StateSchema::builder().channel("n").list_channel("messages").list_channel("out").build())
}

fn rest(graph: StateGraph, name: &str) -> StateGraph {
    graph.add_node_fn(name, |_| async { Ok(NodeOutput::new()) })
}

fn tick(graph: StateGraph, name: &str) -> StateGraph {
    let tick = |task: adk_graph::node::NodeContext| async move {
        Ok(NodeOutput::new().with_update("n", json!(number(&task.state) + 1)))
    };
    graph.add_node_fn(name, tick)
}

fn say(graph: StateGraph, name: &str) -> StateGraph {
    let say = |task: adk_graph::node::NodeContext| async move {
        let n = number(&task.state);
        Ok(NodeOutput::new().with_update("n", json!(n + 1)).with_update("messages", json!([message(n)])))
    };
    graph.add_node_fn(name, say)
}

type Add = fn(StateGraph, &str) -> StateGraph;

fn looping(limit: u64, add: Add) -> CompiledGraph {
    let again = move |state: &State| if number(state) < limit { "tick".to_owned() } else { END.to_owned() };
    let graph = add(empty(), "tick").add_edge(START, "tick");
    graph.add_conditional_edges("tick", again, [("tick", "tick"), (END, END)]).compile().expect("compiles")
}

fn chain(length: u64, add: Add) -> StateGraph {
    let graph = (0..length).fold(empty(), |graph, i| add(graph, &name(i)));
    let graph = (1..length).fold(graph, |graph, i| graph.add_edge(&name(i - 1), &name(i)));
    graph.add_edge(START, &name(0)).add_edge(&name(length - 1), END)
}

/// So many nodes at once behind `from`, and a join.
fn fan(graph: StateGraph, from: &str, width: u64) -> StateGraph {
    let add = |graph: StateGraph, i: u64| {
        let node = move |_| async move { Ok(NodeOutput::new().with_update("out", json!(i))) };
        graph.add_node_fn(&name(i), node).add_edge(from, &name(i)).add_edge(&name(i), "join")
    };
    (0..width).fold(graph, add).add_edge("join", END)
}

fn small(asked: &Asked) -> CompiledGraph {
    let graph = match asked.variant.as_str() {
        "seq" => chain(asked.n, tick),
        _ => {
            let count = |task: adk_graph::node::NodeContext| async move {
                let length = task.state.get("out").and_then(Value::as_array).map_or(0, Vec::len);
                Ok(NodeOutput::new().with_update("n", json!(length)))
            };
            fan(empty().add_node_fn("join", count), START, asked.n)
        }
    };
    graph.compile().expect("compiles")
}

fn turn(here: &Here, graph: &CompiledGraph, thread: &str, input: State) -> State {
    let config = ExecutionConfig::new(thread).with_recursion_limit(1_000_000);
    here.run(graph.invoke(input, config)).expect("ends")
}

fn input(messages: Vec<Value>) -> State {
    let mut state = State::new();
    state.insert("n".into(), json!(0));
    state.insert("messages".into(), Value::Array(messages));
    state
}

fn with_store(here: &Here, asked: &Asked, graph: CompiledGraph, run: u64) -> (CompiledGraph, Option<PathBuf>) {
    if asked.variant.starts_with("memory") {
        return (graph.with_checkpointer(MemoryCheckpointer::new()), None);
    }
    let path = asked.fresh_file(run);
    let url = format!("sqlite://{}?mode=rwc", path.display());
    let store = here.run(SqliteCheckpointer::new(&url)).expect("opens");
    (graph.with_checkpointer(store), Some(path))
}

fn checkpoints(here: &Here, graph: &CompiledGraph, thread: &str) -> u64 {
    here.run(graph.checkpointer().expect("a store").list(thread)).expect("a list").len() as u64
}

fn ckpt_loop(here: &Here, asked: &Asked) -> (Times, Option<u64>) {
    let (grow, mut run) = (asked.variant.ends_with("grow"), 0);
    let make = || {
        run += 1;
        with_store(here, asked, looping(asked.n, if grow { say } else { tick }), run)
    };
    let (times, (graph, path)) = asked.each_kept(asked.n, make, |(graph, path)| {
        let end = turn(here, &graph, "t", input(Vec::new()));
        let length = end["messages"].as_array().map_or(0, Vec::len) as u64;
        assert_eq!((number(&end), length), (asked.n, if grow { asked.n } else { 0 }));
        (graph, path)
    });
    assert!(checkpoints(here, &graph, "t") >= asked.n);
    drop(graph);
    (times, path.map(|path| stored_bytes(&path)))
}

fn threads(here: &Here, asked: &Asked) -> Times {
    let make = || with_store(here, asked, chain(5, tick).compile().expect("compiles"), 0).0;
    let (times, graph) = asked.each_kept(asked.n, make, |graph| {
        let each = |i: u64| {
            let config = ExecutionConfig::new(&i.to_string()).with_recursion_limit(1_000_000);
            graph.invoke(input(Vec::new()), config)
        };
        let ends = here.run(futures_util::future::join_all((0..asked.n).map(each)));
        assert!(ends.iter().all(|end| end.as_ref().is_ok_and(|end| number(end) == 5)));
        graph
    });
    assert!(checkpoints(here, &graph, &(asked.n - 1).to_string()) >= 5);
    times
}

pub(crate) fn workload(here: &Here, asked: &Asked) -> (Times, Option<u64>) {
    let n = asked.n;
    let counted = |graph: CompiledGraph, units: u64| {
        asked.times(units, || assert_eq!(number(&turn(here, &graph, "t", input(Vec::new()))), n))
    };
    let times = match asked.workload.as_str() {
        "loop" => counted(looping(n, tick), n),
        "chain_run" => counted(chain(n, tick).compile().expect("compiles"), n),
        "chain_compile" => asked.each(n, || chain(n, rest), |graph| graph.compile().expect("compiles")),
        "invoke_small" => counted(small(asked), 1),
        "fanout" => {
            let graph = rest(rest(empty(), "source"), "join").add_edge(START, "source");
            let graph = fan(graph, "source", n).compile().expect("compiles");
            asked.times(n, || {
                let end = turn(here, &graph, "t", input(Vec::new()));
                assert_eq!(end["out"].as_array().map_or(0, Vec::len) as u64, n);
            })
        }
        "state_size" => {
            let (append, history) = (asked.variant.starts_with("append"), history(asked));
            let graph = looping(n, if append { say } else { tick });
            let length = history.len() as u64 + if append { n } else { 0 };
            let make = || input(history.clone());
            asked.each(n, make, |input| {
                let end = turn(here, &graph, "t", input);
                assert_eq!((number(&end), end["messages"].as_array().map_or(0, Vec::len) as u64), (n, length));
                end
            })
        }
        "ckpt_loop" => return ckpt_loop(here, asked),
        "threads" => threads(here, asked),
        other => panic!("no workload `{other}`"),
    };
    (times, None)
}

pub(crate) fn cold(here: &Here) {
    let graph = chain(1, tick).compile().expect("compiles");
    assert_eq!(number(&turn(here, &graph, "t", input(Vec::new()))), 1);
}
