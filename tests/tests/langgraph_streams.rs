//! Streams as people know them from LangGraph, with the order and the values that this engine gives.

use std::future::{IntoFuture, ready};

use behaviour_tests::{BoxNode, Trip, after};
use futures_util::StreamExt;
use graph_engine::{Event, EventKind, Graph, In, Mode, Next, NodeExt, Parallel, Route, START, Snap, State, Turn};
use graph_engine::{StreamOptions, TaskId};

async fn read<S: State>(mut turn: Turn<S>, mode: Mode) -> Vec<Event<S>> {
    let reader = turn.reader(StreamOptions::default().modes([mode]));
    let (ended, events) = futures_util::future::join(turn.into_future(), reader.collect::<Vec<_>>()).await;
    ended.unwrap();
    events
}

/// `node: update` for everything that finished, in the order in which it was told.
fn updates<S>(events: &[Event<S>]) -> Vec<String> {
    let finished = events.iter().filter_map(|event| match &event.kind {
        EventKind::NodeFinished { update: Some(update), .. } => {
            Some(format!("{}: {update}", event.node.as_ref().unwrap()))
        }
        _ => None,
    });
    finished.collect()
}

/// `w0` is the slowest, `w2` the fastest.
fn three_workers() -> Graph<Trip> {
    Graph::<Trip>::builder("g")
        .node("w0", after(30, "w0"))
        .node("w1", after(20, "w1"))
        .node("w2", after(10, "w2"))
        .node("end", after(10, "end"))
        .edge(START, "w0")
        .edge(START, "w1")
        .edge(START, "w2")
        .join(["w0", "w1", "w2"], "end")
        .compile()
        .unwrap()
}

#[tokio::test(start_paused = true)]
async fn updates_of_one_step_come_as_tasks_finish_and_states_once_a_step_in_the_order_of_names() {
    for parallel in [Parallel::Joined, Parallel::Spawned] {
        let runner = three_workers().runner().parallel(parallel);
        let events = read(runner.thread("t").run(Trip::update()), Mode::Updates).await;
        let expected = ["w2", "w1", "w0", "end"].map(|name| format!("{name}: {{\"log\":[\"{name}\"]}}"));
        assert_eq!(updates(&events), expected);
        let events = read(runner.thread("t").run(Trip::update()), Mode::State).await;
        let states: Vec<Vec<String>> = events
            .iter()
            .filter_map(|event| match &event.kind {
                EventKind::StepFinished { state, .. } => Some(state.as_ref().unwrap().log.clone()),
                _ => None,
            })
            .collect();
        assert_eq!(states, [vec!["w0", "w1", "w2"], vec!["w0", "w1", "w2", "end"]]);
    }
}

#[derive(Route)]
enum Work {
    Work(u64),
}

#[tokio::test(start_paused = true)]
async fn every_task_is_told_to_start_before_it_is_told_to_end_under_the_same_id() {
    async fn work(In(millis): In<u64>) {
        tokio::time::sleep(std::time::Duration::from_millis(*millis)).await;
    }
    let graph = Graph::<Trip>::builder("g")
        .node("work", work)
        .node("beside", after(5, "beside"))
        .node("send", || ready(Next::fan_out([20, 10, 10, 0].map(Work::Work))))
        .edge(START, "beside")
        .edge(START, "send")
        .compile()
        .unwrap();
    for parallel in [Parallel::Joined, Parallel::Spawned] {
        let events = read(graph.runner().parallel(parallel).thread("t").run(Trip::update()), Mode::Nodes).await;
        let at = |task: TaskId, started: bool| {
            let is = |event: &Event<Trip>| match event.kind {
                EventKind::NodeStarted => started,
                EventKind::NodeFinished { .. } => !started,
                _ => false,
            };
            let found: Vec<_> = events.iter().filter(|event| event.task == Some(task) && is(event)).collect();
            assert_eq!(found.len(), 1, "{task}");
            (found[0].seq, found[0].node.clone())
        };
        for (step, ranks) in [(0, 2), (1, 4)] {
            for rank in 0..ranks {
                let task = TaskId { step, rank };
                let ((start, node), (end, same)) = (at(task, true), at(task, false));
                assert!(start < end && node == same, "{task}: {start} {end}");
            }
        }
    }
}

#[tokio::test]
async fn a_chain_of_computations_is_told_in_its_order_with_what_each_wrote() {
    #[derive(State, Clone, Default)]
    struct Chain {
        a: String,
        b: String,
        c: String,
    }
    async fn foo(at: Snap<Chain>) -> ChainUpdate {
        Chain::update().a(format!("{}foo", at.a)).b("bar")
    }
    async fn bar(at: Snap<Chain>) -> ChainUpdate {
        Chain::update().a(format!("{}{}", at.a, at.b)).c("bark")
    }
    async fn baz(at: Snap<Chain>) -> ChainUpdate {
        Chain::update().a(format!("{}baz", at.a)).c("something else")
    }
    let graph = Graph::<Chain>::builder("g")
        .node("foo", foo)
        .node("bar", bar)
        .node("baz", baz)
        .edge(START, "foo")
        .edge("foo", "bar")
        .edge("bar", "baz")
        .compile()
        .unwrap();
    let events = read(graph.runner().thread("t").run(Chain::update().a("0")), Mode::Updates).await;
    assert_eq!(
        updates(&events),
        [
            r#"foo: {"a":"0foo","b":"bar"}"#,
            r#"bar: {"a":"0foobar","c":"bark"}"#,
            r#"baz: {"a":"0foobarbaz","c":"something else"}"#
        ]
    );
}

/// A question, its parts, and documents that are kept sorted.
#[derive(State, Clone, Default)]
struct Search {
    query: String,
    answer: String,
    #[state(with = sorted)]
    docs: Vec<String>,
}

fn sorted(docs: &[String], more: Vec<String>) -> Result<Vec<String>, std::convert::Infallible> {
    let mut all = [docs, &more].concat();
    all.sort();
    Ok(all)
}

#[tokio::test(start_paused = true)]
async fn a_deferred_node_is_told_last_and_sees_what_all_branches_found() {
    async fn rewrite(search: Snap<Search>) -> SearchUpdate {
        Search::update().query(format!("query: {}", search.query))
    }
    async fn analyze(search: Snap<Search>) -> SearchUpdate {
        Search::update().query(format!("analyzed: {}", search.query))
    }
    fn retrieve(millis: u64, docs: [&'static str; 2]) -> impl Fn() -> BoxNode<SearchUpdate> + Clone {
        move || {
            Box::pin(async move {
                tokio::time::sleep(std::time::Duration::from_millis(millis)).await;
                Search::update().docs(docs.map(str::to_owned).to_vec())
            })
        }
    }
    async fn answer(search: Snap<Search>) -> SearchUpdate {
        Search::update().answer(search.docs.join(","))
    }
    let graph = Graph::<Search>::builder("search")
        .node("rewrite_query", rewrite)
        .node("analyzer_one", analyze)
        .node("retriever_one", retrieve(0, ["doc1", "doc2"]))
        .node("retriever_two", retrieve(100, ["doc3", "doc4"]))
        .node("qa", answer.deferred())
        .edge(START, "rewrite_query")
        .edge("rewrite_query", "analyzer_one")
        .edge("analyzer_one", "retriever_one")
        .edge("rewrite_query", "retriever_two")
        .edge("retriever_one", "qa")
        .edge("retriever_two", "qa")
        .compile()
        .unwrap();
    let turn = graph.runner().thread("t").run(Search::update().query("weather in sf"));
    let events = read(turn, Mode::Updates).await;
    let nodes: Vec<_> = updates(&events).iter().map(|text| text.split(':').next().unwrap().to_owned()).collect();
    assert_eq!(nodes, ["rewrite_query", "analyzer_one", "retriever_two", "retriever_one", "qa"]);
    assert_eq!(updates(&events)[4], r#"qa: {"answer":"doc1,doc2,doc3,doc4"}"#);
}
