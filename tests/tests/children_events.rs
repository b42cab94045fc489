//! What readers see of child graphs, and their limits within the turn.

use std::time::Duration;

use futures_util::StreamExt;
use graph_engine::{
    Builder, ChildError, Ctx, EventKind, Graph, IntoNode, MemoryStore, Mode, NodeError, NodeExt, Retry, RunError,
    START, State, StreamOptions, Subgraph, canonical_log, child,
};
use serde_json::json;

#[derive(State, Clone, Default, Debug)]
struct Talk {
    #[state(append)]
    log: Vec<String>,
}

#[derive(State, Clone, Default, Debug)]
struct Other {
    count: u32,
}

fn talk(name: &str) -> Builder<Talk> {
    Graph::<Talk>::builder(name)
}

fn alone<M>(name: &str, node: impl IntoNode<Talk, M>) -> Graph<Talk> {
    talk("alone").node(name, node).edge(START, name).compile().unwrap()
}

async fn speak(ctx: Ctx) -> Result<(), NodeError> {
    ctx.token("Hel").await;
    ctx.token("lo").await;
    ctx.emit(json!({ "by": ctx.node() })).await
}

async fn seen(graph: &Graph<Talk>, options: StreamOptions) -> Vec<(String, String)> {
    let mut events = graph.runner().thread("t").run(Talk::update()).stream_with(options);
    let mut seen = Vec::new();
    while let Some(event) = events.next().await {
        let level = |level: &str| level.rsplit_once(':').map_or(level, |(name, _)| name).to_owned();
        let levels: Vec<String> = event.namespace.split('|').map(level).collect();
        seen.push((levels.join("|"), event.kind.to_string()));
    }
    events.end().await.unwrap();
    seen
}

#[tokio::test]
async fn case_25_tokens_and_values_of_a_child_are_streamed_with_its_namespace() {
    let inner = alone("low", child(&alone("say", speak)));
    let options = StreamOptions::default().modes([Mode::Tokens, Mode::Custom]);
    let seen = seen(&alone("child", child(&inner)), options).await;
    let of_child: Vec<&str> =
        seen.iter().filter(|(space, _)| space == "child:0.0|low:0.0").map(|(_, kind)| &**kind).collect();
    assert_eq!(of_child, ["token \"Hel\"", "token \"lo\"", "custom {\"by\":\"say\"}"]);
    assert_eq!(seen.len(), 5, "beside them the beginning and the end: {seen:?}");
}

#[tokio::test]
async fn b91_the_other_events_of_children_come_to_readers_that_ask_for_them() {
    let other = Graph::<Other>::builder("other").node("n", || async { Other::update().count(1_u32) }).edge(START, "n");
    let node = Subgraph::new(&other.compile().unwrap(), |_: &Talk| Other::update(), |_: &Other, _| Talk::update());
    let graph = alone("child", node);
    let nodes = StreamOptions::default().modes([Mode::Nodes, Mode::Updates, Mode::State]);
    let without = seen(&graph, nodes.clone()).await;
    assert!(without.iter().all(|(space, _)| space.is_empty()), "{without:?}");
    let with = seen(&graph, nodes.children(true)).await;
    let of_child: Vec<&str> = with.iter().filter(|(space, _)| space == "child:0.0").map(|(_, kind)| &**kind).collect();
    assert_eq!(of_child, ["start", "finish, wrote `count`", "merged"]);
    assert_eq!(with.len(), without.len() + 3);
}

#[tokio::test]
async fn a_reader_of_some_nodes_gets_what_the_children_in_them_emit() {
    let graph = talk("two").node("a", child(&alone("say", speak))).node("b", child(&alone("say", speak)));
    let graph = graph.edge(START, "a").edge(START, "b").compile().unwrap();
    let options = StreamOptions::default().modes([Mode::Tokens]).nodes(["a"]);
    let mut events = graph.runner().thread("t").run(Talk::update()).stream_with(options);
    let mut spaces = Vec::new();
    while let Some(event) = events.next().await {
        if let EventKind::Token(_) = event.kind {
            spaces.push(event.namespace.to_string());
        }
    }
    assert!(spaces.len() == 2 && spaces.iter().all(|space| space.starts_with("a:0.0:")), "{spaces:?}");
    let mut turn = graph.runner().thread("t").run(Talk::update());
    let tokens = turn.tokens(64);
    turn.await.unwrap();
    let tokens: Vec<_> = tokens.collect().await;
    assert!(tokens.len() == 4 && tokens.iter().all(|token| &*token.node == "say" && !token.namespace.is_empty()));
}

#[tokio::test(start_paused = true)]
async fn what_a_child_told_counts_for_nothing_when_the_attempt_around_it_fails() {
    let tries = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let inner = alone("say", speak);
    let node = move |ctx: Ctx| {
        let (inner, first) = (inner.clone(), tries.fetch_add(1, std::sync::atomic::Ordering::SeqCst) == 0);
        async move {
            ctx.call(&inner, Talk::update()).await?;
            if first { Err(NodeError::retryable("once")) } else { Ok(()) }
        }
    };
    let graph = alone("calls", node.retry(Retry::fixed(2, Duration::from_secs(1))));
    let seen = seen(&graph, StreamOptions::default().modes([Mode::Tokens])).await;
    assert!(seen.contains(&(String::new(), "discarded".to_owned())), "{seen:?}");
}

/// What nodes of the child emit, and what of it counts for nothing: with their places in the log.
async fn emitted(graph: &Graph<Talk>, options: StreamOptions) -> Vec<(String, u32, u32, String)> {
    let mut events = graph.runner().thread("t").run(Talk::update()).stream_with(options);
    let mut emitted = Vec::new();
    while let Some(event) = events.next().await {
        let (Some(task), false) = (event.task, event.namespace.is_empty()) else { continue };
        if let EventKind::Token(_) | EventKind::Custom(_) | EventKind::AttemptDiscarded = &event.kind {
            emitted.push((task.to_string(), event.attempt, event.index, event.kind.to_string()));
        }
    }
    events.end().await.unwrap();
    emitted
}

#[tokio::test(start_paused = true)]
async fn what_nodes_of_a_child_emit_has_its_place_whether_somebody_asks_for_their_ends_or_not() {
    let tries = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let flaky = move |ctx: Ctx| {
        let broken = tries.fetch_add(1, std::sync::atomic::Ordering::SeqCst).is_multiple_of(2);
        async move {
            ctx.token("tried").await;
            tokio::time::sleep(Duration::from_secs(1)).await;
            if broken { Err(NodeError::retryable("once")) } else { Ok(()) }
        }
    };
    let inner = talk("inner").node("a", speak).node("b", speak).node("c", || async {});
    let inner = inner.node("d", flaky.retry(Retry::fixed(2, Duration::from_secs(1)))).node("e", speak);
    let inner = inner.edge(START, "a").edge("a", "b").edge("b", "c").edge("c", "d").edge("d", "e");
    let graph = alone("child", child(&inner.compile().unwrap()));
    let said = |task: &str, by: &str| {
        let kinds = ["token \"Hel\"".to_owned(), "token \"lo\"".to_owned(), format!("custom {{\"by\":\"{by}\"}}")];
        (1..).zip(kinds).map(|(index, kind)| (task.to_owned(), 1, index, kind)).collect::<Vec<_>>()
    };
    let tried = |attempt, index, kind: &str| ("3.0".to_owned(), attempt, index, kind.to_owned());
    let mut expected = [said("0.0", "a"), said("1.0", "b")].concat();
    expected.extend([tried(1, 1, "token \"tried\""), tried(1, 3, "discarded"), tried(2, 1, "token \"tried\"")]);
    expected.extend(said("4.0", "e"));
    for options in [StreamOptions::default(), StreamOptions::default().children(true)] {
        assert_eq!(emitted(&graph, options).await, expected);
    }
}

#[tokio::test]
async fn a_reader_that_comes_while_a_child_runs_hears_of_its_nodes_from_then_on() {
    let (go, gate) = (std::sync::Arc::new(tokio::sync::Notify::new()), std::sync::Arc::new(tokio::sync::Notify::new()));
    let (went, opened) = (go.clone(), gate.clone());
    let wait = move || {
        let (went, opened) = (went.clone(), opened.clone());
        async move {
            went.notify_one();
            opened.notified().await;
        }
    };
    let inner = talk("inner").node("a", || async {}).node("b", wait).node("c", || async {}).node("d", || async {});
    let inner = inner.edge(START, "a").edge("a", "b").edge("b", "c").edge("c", "d").compile().unwrap();
    let runner = alone("child", child(&inner)).runner();
    let turn = tokio::spawn(std::future::IntoFuture::into_future(runner.thread("t").run(Talk::update())));
    go.notified().await;
    let options = StreamOptions::default().modes([Mode::Nodes]).children(true);
    let events = runner.thread("t").subscribe(options).unwrap();
    gate.notify_one();
    let events: Vec<_> = events.collect().await;
    let of_child = events.iter().filter(|event| !event.namespace.is_empty());
    let of_child: Vec<_> = of_child.map(|event| (event.step, event.kind.to_string())).collect();
    let kinds = |step, kinds: &[&str]| kinds.iter().map(|kind| (step, (*kind).to_owned())).collect::<Vec<_>>();
    let expected = [
        kinds(1, &["finish", "merged, next `c`"]),
        kinds(2, &["start", "finish", "merged, next `d`"]),
        kinds(3, &["start", "finish", "merged"]),
    ];
    assert_eq!(of_child, expected.concat());
    turn.await.unwrap().unwrap();
}

#[tokio::test]
async fn the_canonical_log_of_children_is_that_of_every_run() {
    let inner = talk("inner").node("x", speak).node("y", speak).edge(START, "x").edge(START, "y").compile().unwrap();
    let graph = talk("two").node("a", child(&inner)).node("b", child(&inner)).edge(START, "a").edge(START, "b");
    let graph = graph.compile().unwrap();
    let mut logs = Vec::new();
    for _ in 0..2 {
        let options = StreamOptions::default().children(true);
        let events = graph.runner().thread("t").run(Talk::update()).stream_with(options);
        logs.push(canonical_log(&events.collect::<Vec<_>>().await));
    }
    assert_eq!(logs[0], logs[1]);
    assert!(logs[0].contains("[b:0.1] 0.1 y#1 token \"Hel\""), "{}", logs[0]);
}

fn chain(steps: usize) -> Graph<Talk> {
    let nodes = (0..steps).fold(talk("chain"), |graph, n| graph.node(format!("n{n:03}"), || async {}));
    let edges = (1..steps).fold(nodes, |graph, n| graph.edge(format!("n{:03}", n - 1), format!("n{n:03}")));
    edges.edge(START, "n000").compile().unwrap()
}

#[tokio::test]
async fn steps_of_a_child_count_in_the_turn_and_the_error_names_the_limit_that_was_reached() {
    let graph = alone("child", child(&chain(9)));
    let end = graph.runner().step_limit(10).thread("t").run(Talk::update()).await.unwrap();
    assert_eq!((end.report.steps, end.report.children["child"].steps), (1, 9));
    let failed = graph.runner().step_limit(9).thread("t").run(Talk::update()).await.unwrap_err();
    let error: &ChildError = failed.failures()[0].source.downcast_ref().unwrap();
    assert!(matches!(&*error.error, RunError::StepLimit { limit: 9, step: 8, .. }), "{error}");

    let graph = alone("child", child(&chain(9)).step_limit(4));
    let thread = graph.runner().store(MemoryStore::new()).thread("t");
    let failed = thread.run(Talk::update()).await.unwrap_err();
    let error: &ChildError = failed.failures()[0].source.downcast_ref().unwrap();
    let RunError::ChildStepLimit { limit, step, pending, namespace, .. } = &*error.error else { panic!("{error}") };
    assert_eq!((*limit, *step, &*pending[0], namespace), (4, 4, "n004", &error.namespace));
    // Each turn has a count of its own.
    thread.proceed().await.unwrap_err();
    assert_eq!(thread.proceed().await.unwrap().report.children["child"].steps, 1);
}

#[tokio::test]
async fn a_turn_after_the_steps_of_its_children_stops_at_its_own_limit() {
    let graph = talk("outer").node("child", child(&chain(5))).node("after", || async {}).edge(START, "child");
    let graph = graph.edge("child", "after").compile().unwrap();
    let failed = graph.runner().step_limit(6).thread("t").run(Talk::update()).await.unwrap_err();
    let RunError::StepLimit { limit, pending, .. } = &*failed.error else { panic!("{failed}") };
    assert_eq!((*limit, &*pending[0]), (6, "after"));
    graph.runner().step_limit(7).thread("t").run(Talk::update()).await.unwrap();
}

#[tokio::test]
async fn a_task_of_a_child_knows_how_many_steps_are_left_for_the_turn() {
    let look = |ctx: Ctx| async move { Talk::update().log([ctx.remaining_steps().to_string()]) };
    let inner = talk("inner").node("a", look).node("b", look).edge(START, "a").edge("a", "b").compile().unwrap();
    let graph = talk("outer").node("child", child(&inner)).node("z", look).edge(START, "child").edge("child", "z");
    let end = graph.compile().unwrap().runner().step_limit(10).thread("t").run(Talk::update()).await.unwrap();
    assert_eq!(end.state.log, ["8", "7", "6"]);
}
