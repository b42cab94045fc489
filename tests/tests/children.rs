//! E22: a graph as a node of another one, of the same state or another, and called by a node.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use graph_engine::{
    Builder, ChildError, Command, Ctx, Graph, IntoNode, MemoryStore, Next, NodeError, NodeExt, Outcome, Res, Retry,
    Route, RunError, START, Snap, State, Status, Subgraph, child,
};
use serde_json::json;

#[derive(State, Clone, Default, Debug)]
struct Talk {
    city: String,
    #[state(append)]
    log: Vec<String>,
    #[state(with = add)]
    total: i64,
    #[state(transient)]
    draft: String,
}

fn add(total: &i64, item: i64) -> Result<i64, String> {
    Ok(total + item)
}

#[derive(State, Clone, Default, Debug)]
struct Search {
    query: String,
    #[state(append)]
    hits: Vec<String>,
}

fn said(text: impl Into<String>) -> TalkUpdate {
    Talk::update().log([text.into()])
}

async fn name(ctx: Ctx) -> TalkUpdate {
    said(ctx.node().as_str())
}

fn talk(name: &str) -> Builder<Talk> {
    Graph::<Talk>::builder(name)
}

fn alone<M>(name: &str, node: impl IntoNode<Talk, M>) -> Graph<Talk> {
    talk("alone").node(name, node).edge(START, name).compile().unwrap()
}

async fn run(graph: &Graph<Talk>, input: TalkUpdate) -> Talk {
    (*graph.runner().thread("guest-7").run(input).await.unwrap().state).clone()
}

#[tokio::test]
async fn what_the_nodes_of_a_child_write_comes_back_in_order_by_the_rules_of_the_graph_around_it() {
    let first = || async { said("s1").total(2).city("Oslo") };
    let second = |talk: Snap<Talk>| async move { said(format!("s2 saw {} {}", talk.total, talk.log.len())).total(3) };
    let inner =
        talk("inner").node("s1", first).node("s2", second).edge(START, "s1").edge("s1", "s2").compile().unwrap();
    let outer = talk("outer").node("a", name).node("child", child(&inner)).node("z", name);
    let outer = outer.edge(START, "a").edge("a", "child").edge("child", "z").compile().unwrap();
    let end = run(&outer, said("in").total(10)).await;
    assert_eq!(end.log, ["in", "a", "s1", "s2 saw 12 3", "z"]);
    assert_eq!((end.total, &*end.city), (15, "Oslo"));
}

#[tokio::test]
async fn only_changes_come_back_so_a_child_beside_others_is_no_conflict() {
    let inner = alone("s1", name);
    let city = || async { Talk::update().city("Oslo") };
    let outer = talk("outer").node("child", child(&inner)).node("other", child(&alone("s2", name))).node("city", city);
    let outer = outer.edge(START, "child").edge(START, "city").edge(START, "other").compile().unwrap();
    let end = run(&outer, Talk::update().city("before")).await;
    assert_eq!((&*end.city, &end.log[..]), ("Oslo", &["s1".to_owned(), "s2".to_owned()][..]));
}

#[tokio::test]
async fn an_overwrite_in_a_child_is_one_around_it() {
    let first = || async { said("s1") };
    let second = || async { Talk::update().overwrite_log(vec!["new".to_owned()]) };
    let third = || async { said("s3") };
    let inner = talk("inner").node("1", first).node("2", second).node("3", third);
    let inner = inner.edge(START, "1").edge("1", "2").edge("2", "3").compile().unwrap();
    let outer = alone("child", child(&inner));
    assert_eq!(run(&outer, said("old")).await.log, ["new", "s3"]);
}

#[tokio::test]
async fn a_child_of_the_same_state_sees_what_lives_for_the_turn() {
    let write = || async { Talk::update().draft("half") };
    let read = |talk: Snap<Talk>| async move { said(talk.draft.clone()) };
    let outer = talk("outer").node("write", write).node("child", child(&alone("read", read)));
    let outer = outer.edge(START, "write").edge("write", "child").compile().unwrap();
    assert_eq!(run(&outer, Talk::update()).await.log, ["half"]);
}

fn search() -> Graph<Search> {
    let look = |search: Snap<Search>| async move { Search::update().hits([format!("Palace of {}", search.query)]) };
    Graph::<Search>::builder("search").node("look", look).edge(START, "look").compile().unwrap()
}

#[tokio::test]
async fn another_state_is_entered_and_left_by_functions_which_get_the_end_and_what_was_written() {
    let find = Subgraph::new(
        &search(),
        |talk: &Talk| Search::update().query(talk.city.clone()).hits(["input"]),
        |search: &Search, written| Talk::update().log(search.hits.clone()).total(written.hits.map_or(0, |_| 1)),
    );
    let end = run(&alone("find", find), Talk::update().city("Oslo")).await;
    assert_eq!((end.log, end.total), (vec!["input".to_owned(), "Palace of Oslo".to_owned()], 1));
}

#[tokio::test]
async fn a_panic_or_an_error_on_the_way_in_or_out_is_the_failure_of_the_task() {
    let (enter, exit) = (|_: &Talk| Search::update(), |_: &Search, _: SearchUpdate| Talk::update());
    let graph = search();
    for (node, text) in [
        (Subgraph::new(&graph, |_: &Talk| panic!("no way in"), exit), "`enter` of the child graph panicked: no way in"),
        (
            Subgraph::new(&graph, enter, |_: &Search, _| panic!("no way out")),
            "`exit` of the child graph panicked: no way out",
        ),
        (Subgraph::fallible(&graph, |_: &Talk| Err(NodeError::fatal("shut")), |_, _| Ok(Talk::update())), "shut"),
        (Subgraph::fallible(&graph, |_: &Talk| Ok(Search::update()), |_, _| Err(NodeError::fatal("stuck"))), "stuck"),
    ] {
        let failed = alone("find", node).runner().thread("guest-7").run(Talk::update()).await.unwrap_err();
        assert_eq!(failed.failures()[0].source.to_string(), text);
    }
}

#[tokio::test]
async fn a_failing_child_names_its_namespace_node_and_step_and_its_finished_tasks_are_not_run_again() {
    let (runs, fails) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let counted = runs.clone();
    let first = move || {
        counted.fetch_add(1, Ordering::SeqCst);
        async { said("s1") }
    };
    let broken = fails.clone();
    let second = move || {
        let broken = broken.fetch_add(1, Ordering::SeqCst) == 0;
        async move { if broken { Err(NodeError::fatal("boom")) } else { Ok(said("s2")) } }
    };
    let inner =
        talk("inner").node("s1", first).node("s2", second).edge(START, "s1").edge("s1", "s2").compile().unwrap();
    let thread = alone("child", child(&inner)).runner().store(MemoryStore::new()).thread("guest-7");
    let failed = thread.run(Talk::update()).await.unwrap_err();
    let error: &ChildError = failed.failures()[0].source.downcast_ref().unwrap();
    assert_eq!(&*error.graph, "inner");
    assert!(error.namespace.starts_with("child:0.0:"), "{}", error.namespace);
    let RunError::Step { step, failures, .. } = &*error.error else { panic!("{error}") };
    assert_eq!((*step, &*failures[0].task.node), (1, "s2"));
    assert_eq!(
        error.to_string(),
        format!(
            "child graph `inner` at `{}`: thread `guest-7`, super-step 1: `s2` (task 1.0) failed after 1 attempt: boom",
            error.namespace
        )
    );
    assert_eq!(thread.proceed().await.unwrap().state.log, ["s1", "s2"]);
    assert_eq!((runs.load(Ordering::SeqCst), fails.load(Ordering::SeqCst)), (1, 2));
}

#[tokio::test(start_paused = true)]
async fn a_retry_of_the_node_goes_on_in_the_child_also_without_a_store() {
    let (runs, fails) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let counted = runs.clone();
    let first = move || {
        counted.fetch_add(1, Ordering::SeqCst);
        async { said("s1") }
    };
    let broken = fails.clone();
    let second = move || {
        let broken = broken.fetch_add(1, Ordering::SeqCst) < 2;
        async move { if broken { Err(NodeError::retryable("boom")) } else { Ok(said("s2")) } }
    };
    let inner =
        talk("inner").node("s1", first).node("s2", second).edge(START, "s1").edge("s1", "s2").compile().unwrap();
    let outer = alone("child", child(&inner).retry(Retry::fixed(3, Duration::from_secs(1))));
    assert_eq!(run(&outer, Talk::update()).await.log, ["s1", "s2"]);
    assert_eq!((runs.load(Ordering::SeqCst), fails.load(Ordering::SeqCst)), (1, 3));
}

#[tokio::test]
async fn several_calls_of_one_child_in_one_task_are_counted_and_keep_their_own_results() {
    let graph = search();
    let node = move |ctx: Ctx| {
        let graph = graph.clone();
        async move {
            let mut log = Vec::new();
            for city in ["Oslo", "Bergen"] {
                log.extend(ctx.call(&graph, Search::update().query(city)).await?.state.hits.clone());
            }
            Ok::<_, NodeError>(Talk::update().log(log))
        }
    };
    let end = alone("both", node).runner().thread("guest-7").run(Talk::update()).await.unwrap();
    assert_eq!(end.state.log, ["Palace of Oslo", "Palace of Bergen"]);
    let paths: Vec<&str> = end.report.children.keys().map(|path| path.as_str()).collect();
    assert_eq!(paths, ["both/search", "both/search#1"]);
}

#[tokio::test]
async fn resources_reach_a_child_and_a_missing_one_is_an_error_of_the_turn_that_names_the_node_around_it() {
    struct Map(&'static str);
    let look = |map: Res<Map>| async move { said(map.0) };
    let outer = alone("child", child(&alone("look", look)));
    let failed = outer.runner().thread("t").run(Talk::update()).await.unwrap_err();
    let RunError::MissingResource { node, .. } = &*failed.error else { panic!("{failed}") };
    assert_eq!(node, "child");
    let end = outer.runner().provide(Map("north")).thread("t").run(Talk::update()).await.unwrap();
    assert_eq!(end.state.log, ["north"]);
}

#[derive(Route)]
#[route(direct, finish)]
enum Out {
    Present,
}

#[tokio::test]
async fn a_child_leads_to_a_node_around_it_with_what_it_has_written_so_far() {
    let leave = || async { Command::<Talk, Out>::go(Out::Present).with(said("leaves")) };
    let inner = talk("inner").node("s1", name).node("s2", leave).node("s3", name).node("elsewhere", name);
    let inner = inner.edge(START, "s1").edge("s1", "s2").edge("s2", "s3").edge("s1", "elsewhere").exit("present");
    let inner = inner.compile().unwrap();
    let outer = talk("outer").node("child", child(&inner)).node("declared", name).node("present", name);
    let outer = outer.edge(START, "child").edge("child", "declared").compile().unwrap();
    assert_eq!(run(&outer, Talk::update()).await.log, ["s1", "elsewhere", "leaves", "present"]);
    // Alone it ends there.
    assert_eq!(run(&inner, Talk::update()).await.log, ["s1", "elsewhere", "leaves"]);
}

#[tokio::test]
async fn an_exit_that_is_no_node_around_the_child_is_found_when_the_graph_compiles() {
    let leave = || async { Next::go(Out::Present) };
    let inner = talk("inner").node("s", leave).edge(START, "s").exit("present").compile().unwrap();
    let error = talk("outer").node("child", child(&inner)).edge(START, "child").compile().unwrap_err();
    let text = error.to_string();
    assert!(text.contains("leads from `child` to `present`, which is no node"), "{text}");
}

#[tokio::test]
async fn r10_a_move_out_of_a_child_that_it_does_not_declare_is_the_failure_of_the_task() {
    let leave = || async { Outcome::<Talk>::default().go("present") };
    let outer = talk("outer").node("child", child(&alone("s", leave))).node("present", name);
    let outer = outer.edge(START, "child").edge("child", "present").compile().unwrap();
    let failed = outer.runner().thread("t").run(Talk::update()).await.unwrap_err();
    let text = failed.failures()[0].source.to_string();
    assert!(text.contains("`s` (task 0.0) failed after 1 attempt: it goes to `present`, which is no node"), "{text}");
    assert_eq!(failed.report.steps, 0);
}

#[tokio::test]
async fn a_direct_reply_ends_the_child_and_is_one_of_the_graph_around_it_when_it_says_so() {
    let answer = || async { Next::<Out>::direct("hello") };
    let inner = talk("inner").node("s", answer).edge(START, "s").exit("present").compile().unwrap();
    let outer = |node: Subgraph<Talk>| {
        let graph = talk("outer").node("child", node).node("present", name).node("after", name);
        graph.edge(START, "child").edge("child", "after").compile().unwrap()
    };
    let end = outer(child(&inner)).runner().thread("t").run(Talk::update()).await.unwrap();
    assert_eq!((end.reply(), &end.state.log[..]), (None, &["after".to_owned()][..]));
    let end = outer(child(&inner).replies()).runner().thread("t").run(Talk::update()).await.unwrap();
    assert_eq!((end.reply(), end.state.log.len(), end.status), (Some(&json!("hello")), 0, Status::Done));
}

#[tokio::test]
async fn a_finish_in_a_child_completes_only_the_child_unless_its_replies_are_passed_on() {
    let answer = || async { Next::<Out>::finish("bye") };
    let inner = talk("inner").node("s", answer).edge(START, "s").exit("present").compile().unwrap();
    let outer = |node: Subgraph<Talk>| {
        let graph = talk("outer").node("child", node).node("present", name).edge(START, "child").compile().unwrap();
        graph.runner().store(MemoryStore::new()).thread("t")
    };
    let thread = outer(child(&inner).per_thread());
    for _ in 0..2 {
        assert_eq!(thread.run(Talk::update()).await.unwrap().status, Status::Done);
    }
    let end = outer(child(&inner).replies()).run(Talk::update()).await.unwrap();
    assert_eq!((end.reply(), end.status), (Some(&json!("bye")), Status::Completed));
}

#[tokio::test]
async fn children_in_children_end_at_a_depth_and_no_stack_overflows() {
    let mut graph = alone("leaf", name);
    for _ in 0..32 {
        graph = alone("level", child(&graph));
    }
    assert_eq!(run(&graph, Talk::update()).await.log, ["leaf"]);
    let failed = alone("level", child(&graph)).runner().thread("t").run(Talk::update()).await.unwrap_err();
    assert!(failed.to_string().contains("would be 33 levels deep, more than 32"), "{failed}");
}

#[tokio::test]
async fn a_graph_that_calls_itself_is_stopped_by_a_typed_error() {
    let own: Arc<std::sync::OnceLock<Graph<Talk>>> = Arc::default();
    let known = own.clone();
    let node = move |ctx: Ctx| {
        let own = known.clone();
        async move {
            let graph = own.get().unwrap();
            ctx.call(graph, Talk::update()).await?;
            Ok::<_, NodeError>(())
        }
    };
    let graph = own.get_or_init(|| alone("again", node));
    let failed = graph.runner().step_limit(1_000).thread("t").run(Talk::update()).await.unwrap_err();
    assert!(failed.to_string().contains("a graph that calls itself needs an end"), "{failed}");
}

#[tokio::test(start_paused = true)]
async fn a_timeout_of_the_node_stops_the_child() {
    let slow = || async { tokio::time::sleep(Duration::from_secs(60)).await };
    let outer = alone("child", child(&alone("slow", slow)).timeout(Duration::from_secs(1)));
    let began = tokio::time::Instant::now();
    let failed = outer.runner().thread("t").run(Talk::update()).await.unwrap_err();
    assert!(failed.to_string().contains("it ran longer than its timeout of 1s"), "{failed}");
    assert_eq!(began.elapsed(), Duration::from_secs(1));
}
