//! Policies that a file gives a node have their effect.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use graph_engine::{
    DynState, DynUpdate, FailedTask, FaultKind, Graph, In, MemoryCache, NodeError, Registry, RunError, Snap,
};
use tokio::time::Instant;

/// A node that fails with a text as often as its config says, and one that never ends.
fn registry(runs: Arc<AtomicU32>) -> Registry {
    let fail = move |(times, text): (u32, String)| {
        let runs = runs.clone();
        Ok::<_, NodeError>(move || {
            let run = runs.fetch_add(1, Ordering::Relaxed);
            let result = if run < times { Err(NodeError::from(text.clone())) } else { Ok(()) };
            async move { result }
        })
    };
    Registry::new()
        .node("fail", fail)
        .node("hang", |(): ()| Ok::<_, NodeError>(std::future::pending::<()>))
        .node("apologise", |(): ()| {
            Ok::<_, NodeError>(|failed: In<FailedTask>, state: Snap<DynState>| {
                let update = state.update().append("log", [format!("sorry: {}", failed.message)]);
                async move { update }
            })
        })
        .predicate("never", |_: &NodeError| false)
        .predicate("busy", |error: &NodeError| error.to_string() == "busy")
}

fn graph(node: &str, runs: &Arc<AtomicU32>) -> Graph<DynState> {
    let text = format!(
        r#"{{ "version": 1, "name": "g", "nodes": [{node}],
              "fields": [{{ "name": "log", "merge": "append" }}, {{ "name": "city" }}],
              "edges": [{{ "from": "__start__", "to": "a" }}, {{ "from": "a", "to": "__end__" }}] }}"#
    );
    Graph::from_json(&text, &registry(runs.clone())).unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_retry_waits_as_the_file_says() {
    let runs = Arc::new(AtomicU32::new(0));
    let node = r#"{ "name": "a", "use": "fail", "config": [3, "busy"], "policy": { "retry": [
        { "attempts": 9, "base_ms": 7, "when": "never" },
        { "attempts": 4, "base_ms": 100, "factor": 3.0, "max_wait_ms": 500, "when": "busy" }] } }"#;
    let began = Instant::now();
    graph(node, &runs).runner().thread("t").run(DynUpdate::default()).await.unwrap();
    assert_eq!(began.elapsed(), Duration::from_millis(100 + 300 + 500));
    assert_eq!(runs.load(Ordering::Relaxed), 4);
}

#[tokio::test(start_paused = true)]
async fn a_failure_that_the_predicate_refuses_is_not_tried_again() {
    let runs = Arc::new(AtomicU32::new(0));
    let node = r#"{ "name": "a", "use": "fail", "config": [3, "gone"],
        "policy": { "retry": [{ "attempts": 4, "base_ms": 100, "when": "busy" }] } }"#;
    graph(node, &runs).runner().thread("t").run(DynUpdate::default()).await.unwrap_err();
    assert_eq!(runs.load(Ordering::Relaxed), 1);
}

#[tokio::test(start_paused = true)]
async fn a_timeout_ends_an_attempt_after_its_milliseconds() {
    let node = r#"{ "name": "a", "use": "hang", "policy": { "timeout_ms": 250 } }"#;
    let began = Instant::now();
    let error = graph(node, &Arc::default()).runner().thread("t").run(DynUpdate::default()).await.unwrap_err();
    assert_eq!(began.elapsed(), Duration::from_millis(250));
    let RunError::Step { failures, .. } = &*error.error else { panic!("{error}") };
    assert_eq!(failures[0].kind, FaultKind::TimedOut);
}

#[tokio::test(start_paused = true)]
async fn an_idle_timeout_ends_an_attempt_that_is_silent() {
    let node = r#"{ "name": "a", "use": "hang", "policy": { "idle_timeout_ms": 70, "timeout_ms": 250 } }"#;
    let began = Instant::now();
    graph(node, &Arc::default()).runner().thread("t").run(DynUpdate::default()).await.unwrap_err();
    assert_eq!(began.elapsed(), Duration::from_millis(70));
}

#[tokio::test(start_paused = true)]
async fn an_error_route_takes_over_what_failed() {
    let nodes = r#"{ "name": "a", "use": "fail", "config": [1, "gone"], "policy": { "on_error": "b" } },
                   { "name": "b", "use": "apologise" }"#;
    let end = graph(nodes, &Arc::default()).runner().thread("t").run(DynUpdate::default()).await.unwrap();
    assert_eq!(end.state.read::<Vec<String>>("log").unwrap(), ["sorry: gone"]);
}

#[tokio::test(start_paused = true)]
async fn a_cache_asks_the_node_once_for_equal_fields() {
    let runs = Arc::new(AtomicU32::new(0));
    let node = r#"{ "name": "a", "use": "fail", "config": [0, ""],
                    "policy": { "cache": { "fields": ["city"], "ttl_ms": 1000 } } }"#;
    let graph = graph(node, &runs);
    let runner = graph.runner().cache(MemoryCache::new(8));
    let run = async |thread: &str, city: &str| {
        runner.thread(thread).run(graph.update().set("city", city).unwrap()).await.unwrap();
        runs.load(Ordering::Relaxed)
    };
    assert_eq!(run("1", "Oslo").await, 1);
    assert_eq!(run("2", "Oslo").await, 1);
    assert_eq!(run("3", "Bergen").await, 2);
    tokio::time::sleep(Duration::from_secs(2)).await;
    assert_eq!(run("4", "Oslo").await, 3, "the result was good for a second");
}

#[tokio::test(start_paused = true)]
async fn defaults_count_for_nodes_that_do_not_say_otherwise() {
    let runs = Arc::new(AtomicU32::new(0));
    let text = r#"{
        "version": 1, "name": "g",
        "nodes": [{ "name": "a", "use": "fail", "config": [3, "busy"] },
                  { "name": "b", "use": "hang", "policy": { "timeout_ms": 40 } }],
        "edges": [{ "from": "__start__", "to": "a" }, { "from": "a", "to": "b" }, { "from": "b", "to": "__end__" }],
        "defaults": { "retry": [{ "attempts": 4, "base_ms": 10, "factor": 1 }], "timeout_ms": 7000, "limit": 3 }
    }"#;
    let began = Instant::now();
    let graph = Graph::from_json(text, &registry(runs.clone())).unwrap();
    graph.runner().thread("t").run(DynUpdate::default()).await.unwrap_err();
    // Three waits of `a`, four attempts of `b` with three waits.
    assert_eq!(began.elapsed(), Duration::from_millis(3 * 10 + 4 * 40 + 3 * 10));
}

#[tokio::test]
async fn an_input_may_only_write_what_the_file_allows() {
    let graph = super::hotel();
    let error = graph.runner().thread("t").run(graph.update().reduce("rounds", 1).unwrap()).await.unwrap_err();
    assert!(matches!(&*error.error, RunError::Input { .. }), "{error}");
    assert!(error.to_string().contains("it writes field `rounds`"), "{error}");
}
