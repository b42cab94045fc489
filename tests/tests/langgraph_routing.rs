//! Routing behaviours that people know from LangGraph, each with the value that this engine gives.

use std::future::ready;
use std::time::Duration;

use behaviour_tests::{BoxNode, Runs, Trip, TripUpdate, findings, note};
use graph_engine::{
    Builder, Command, END, Graph, In, MemoryStore, Name, Next, NodeError, NodeExt, Route, START, WaitingJoin,
};

fn graph() -> Builder<Trip> {
    Graph::<Trip>::builder("g")
}

fn texts<const N: usize>(names: [&str; N]) -> Vec<String> {
    names.map(str::to_owned).to_vec()
}

async fn log_of(builder: Builder<Trip>) -> Vec<String> {
    log_after(builder, []).await
}

async fn log_after<const N: usize>(builder: Builder<Trip>, input: [&str; N]) -> Vec<String> {
    let graph = builder.compile().unwrap();
    graph.runner().thread("t").run(Trip::update().log(texts(input))).await.unwrap().state.log.clone()
}

#[tokio::test]
async fn two_edges_into_a_node_in_the_same_step_run_it_once() {
    let fork = graph()
        .node("a", note("a"))
        .node("b", note("b"))
        .node("j", note("j"))
        .edge(START, "a")
        .edge(START, "b")
        .edge("a", "j")
        .edge("b", "j");
    assert_eq!(log_of(fork).await, ["a", "b", "j"]);
}

#[tokio::test]
async fn two_edges_into_a_node_in_different_steps_run_it_twice_and_compile_warns() {
    let plain = || {
        let nodes = ["a", "b", "b2", "j"].into_iter().fold(graph(), |graph, name| graph.node(name, note(name)));
        let long = nodes.edge(START, "b").edge("b", "b2").edge("b2", "j");
        long.edge(START, "a").edge("a", "j").edge("j", END)
    };
    assert_eq!(log_of(plain()).await, ["a", "b", "b2", "j", "j"]);
    assert_eq!(
        findings(plain()),
        ["warning[G102]: branches from `START` reach `j` after 2 and 3 super-steps, so it runs 2 times (use `join` \
             to wait for all branches)"]
    );
}

#[tokio::test]
async fn a_join_whose_source_a_router_skips_does_not_run_and_the_report_names_it() {
    #[derive(Route)]
    enum Skip {
        A,
        #[expect(dead_code, reason = "the router never takes this way")]
        B,
    }
    let skips = graph()
        .node("r", note("r"))
        .node("a", note("a"))
        .node("b", note("b"))
        .node("j", note("j"))
        .edge(START, "r")
        .route("r", |_: &Trip| Skip::A)
        .join(["a", "b"], "j")
        .compile()
        .unwrap();
    let end = skips.runner().thread("t").run(Trip::update()).await.unwrap();
    assert_eq!(end.state.log, ["r", "a"]);
    assert_eq!(end.report.waiting_joins, [WaitingJoin::new("j", ["b"])]);
    assert_eq!(end.report.waiting_joins[0].to_string(), "join `j` waits for `b`");
}

#[tokio::test]
async fn a_deferred_node_in_the_middle_of_a_chain_runs_once_and_the_chain_goes_on() {
    let chain = graph()
        .node("a", note("a"))
        .node("b", note("b"))
        .node("c", note("c"))
        .node("d", note("d").deferred())
        .node("e", note("e"))
        .edge(START, "a")
        .edge("a", "b")
        .edge("b", "c")
        .edge("a", "d")
        .edge("b", "d")
        .edge("c", "d")
        .edge("d", "e");
    assert_eq!(log_of(chain).await, ["a", "b", "c", "d", "e"]);
}

#[derive(Route)]
enum Either {
    X,
    Y,
}

#[tokio::test]
async fn a_router_that_names_several_nodes_runs_all_of_them_in_the_next_step() {
    let both = graph()
        .node("r", note("r"))
        .node("x", note("x"))
        .node("y", note("y"))
        .edge(START, "r")
        .route("r", |_: &Trip| Next::go_all([Either::Y, Either::X]))
        .compile()
        .unwrap();
    let end = both.runner().thread("t").run(Trip::update()).await.unwrap();
    assert_eq!(end.state.log, ["r", "x", "y"]);
    assert_eq!((end.report.steps, end.report.tasks), (2, 3));
}

#[derive(Route)]
enum Work {
    Work(u64),
}

#[tokio::test(start_paused = true)]
async fn sends_of_a_router_merge_in_the_order_in_which_they_were_sent_however_long_each_takes() {
    async fn work(In(millis): In<u64>) -> TripUpdate {
        tokio::time::sleep(Duration::from_millis(*millis)).await;
        Trip::update().log([millis.to_string()])
    }
    let sends = graph()
        .node("r", note("r"))
        .node("work", work)
        .edge(START, "r")
        .route("r", |_: &Trip| Next::fan_out([30, 1, 20, 10].map(Work::Work)));
    assert_eq!(log_of(sends).await, ["r", "30", "1", "20", "10"]);
}

#[derive(Route)]
enum ToTwo {
    #[route(to = "2")]
    Two,
}

#[derive(Route)]
enum ToThree {
    #[route(to = "3")]
    Three,
}

#[tokio::test]
async fn the_router_behind_sent_tasks_leads_on_once_for_all_of_them() {
    let sent = graph()
        .node("1", note("1"))
        .node("2", note("2"))
        .node("3", note("3"))
        .edge(START, "1")
        .route("1", |_: &Trip| Next::fan_out([ToTwo::Two, ToTwo::Two]))
        .route("2", |_: &Trip| ToThree::Three);
    assert_eq!(log_after(sent, ["0"]).await, ["0", "1", "2", "2", "3"]);
}

/// What a task of `2` is given: a number, or sends of its own.
#[derive(Clone, serde::Serialize, serde::Deserialize)]
enum Given {
    Number(u32),
    SendOn(u32),
}

#[derive(Route)]
enum FromOne {
    #[route(to = "2")]
    Two(Given),
    #[route(to = "3.1")]
    ThreeOne,
}

#[derive(Route)]
enum FromTwo {
    #[route(to = "2")]
    Two(Given),
}

async fn two(In(given): In<Given>) -> Command<Trip, FromTwo> {
    match &*given {
        Given::Number(n) => Command::declared().with(Trip::update().log([format!("2|{n}")])),
        Given::SendOn(n) => {
            Command::fan_out([FromTwo::Two(Given::Number(*n))]).with(Trip::update().log([format!("2|send {n}")]))
        }
    }
}

fn numbered() -> Builder<Trip> {
    let all = ["1", "3", "3.1"].into_iter().fold(graph().node("2", two), |graph, name| graph.node(name, note(name)));
    all.edge(START, "1").route("2", |_: &Trip| ToThree::Three)
}

#[tokio::test]
async fn plain_targets_stand_before_the_sends_of_all_senders() {
    let number = |n| FromOne::Two(Given::Number(n));
    let concurrent = numbered()
        .node("1.1", note("1.1"))
        .edge(START, "1.1")
        .route("1", move |_: &Trip| Next::go_all([number(1), number(2), FromOne::ThreeOne]))
        .route("1.1", move |_: &Trip| Next::fan_out([number(3), number(4)]));
    assert_eq!(log_after(concurrent, ["0"]).await, ["0", "1", "1.1", "3.1", "2|1", "2|2", "2|3", "2|4", "3"]);
}

#[tokio::test]
async fn a_sent_task_may_send_on_and_then_its_router_is_not_asked() {
    let send_on = |n| FromOne::Two(Given::SendOn(n));
    let sequence = numbered().route("1", move |_: &Trip| Next::go_all([send_on(3), send_on(4), FromOne::ThreeOne]));
    assert_eq!(log_after(sequence, ["0"]).await, ["0", "1", "3.1", "2|send 3", "2|send 4", "2|3", "2|4", "3"]);
}

#[derive(Route)]
enum Leave {
    #[route(end)]
    End,
}

#[tokio::test]
async fn going_to_the_end_stops_that_branch_and_no_other() {
    let one_ends = graph()
        .node("a", || ready(Command::<Trip, Leave>::go(Leave::End).with(Trip::update().log(["a".to_owned()]))))
        .node("never", note("never"))
        .node("b", note("b"))
        .node("c", note("c"))
        .edge(START, "a")
        .edge("a", "never")
        .edge(START, "b")
        .edge("b", "c");
    assert_eq!(log_of(one_ends).await, ["a", "b", "c"]);
}

/// `i` writes 7 and is followed by a router that asks for what `i` and its sibling wrote.
fn looks_at(seen: fn(&Trip) -> bool) -> Builder<Trip> {
    graph()
        .node("i", || ready(Trip::update().total(7)))
        .node("sibling", || ready(Trip::update().city("Oslo")))
        .node("x", note("saw it"))
        .node("y", note("missed it"))
        .edge(START, "i")
        .edge(START, "sibling")
        .route("i", move |trip: &Trip| if seen(trip) { Either::X } else { Either::Y })
}

#[tokio::test]
async fn a_router_sees_what_its_own_node_and_its_siblings_wrote() {
    assert_eq!(log_of(looks_at(|trip| trip.total == 7)).await, ["saw it"]);
    assert_eq!(log_of(looks_at(|trip| trip.city == "Oslo")).await, ["saw it"]);
}

#[tokio::test]
async fn node_names_may_come_from_an_enum() {
    #[derive(Clone, Copy, Debug)]
    enum Stage {
        Explore,
        Book,
    }
    impl From<Stage> for Name {
        fn from(stage: Stage) -> Self {
            format!("{stage:?}").into()
        }
    }
    let named = graph()
        .node(Stage::Explore, note("explore"))
        .node(Stage::Book, note("book"))
        .edge(START, Stage::Explore)
        .edge(Stage::Explore, Stage::Book)
        .edge(Stage::Book, END)
        .compile()
        .unwrap();
    assert_eq!(named.topology().nodes.iter().map(|node| node.name.as_str()).collect::<Vec<_>>(), ["Book", "Explore"]);
    assert_eq!(named.runner().thread("t").run(Trip::update()).await.unwrap().state.log, ["explore", "book"]);
}

#[tokio::test]
async fn a_sequence_is_a_function_over_the_builder() {
    fn sequence<const N: usize>(names: [&'static str; N]) -> impl FnOnce(Builder<Trip>) -> Builder<Trip> {
        move |builder| {
            let builder = names.into_iter().fold(builder, |builder, name| builder.node(name, note(name)));
            names.windows(2).fold(builder, |builder, pair| builder.edge(pair[0], pair[1]))
        }
    }
    let chain = graph().with(sequence(["c", "a", "b"])).edge(START, "c").edge("b", END);
    assert_eq!(findings(chain), [""; 0]);
    let chain = graph().with(sequence(["c", "a", "b"])).edge(START, "c").edge("b", END);
    assert_eq!(log_of(chain).await, ["c", "a", "b"]);
}

/// `left` and `right` behind a fan-out that a loop enters twice. `right` succeeds in the first pass and fails in the
/// second.
fn looped(runs: &Runs) -> Builder<Trip> {
    #[derive(Route)]
    enum Again {
        Spread,
        #[route(end)]
        End,
    }
    let right = {
        let runs = runs.clone();
        move || -> BoxNode<Result<TripUpdate, NodeError>> {
            let run = runs.hit("right");
            Box::pin(async move {
                match run {
                    1 => Err("broke in the second pass".into()),
                    _ => Ok(Trip::update().log([format!("right {run}")])),
                }
            })
        }
    };
    graph()
        .node("spread", note("spread"))
        .node("left", runs.node("left"))
        .node("right", right)
        .node("both", runs.node("both"))
        .edge(START, "spread")
        .edge("spread", "left")
        .edge("spread", "right")
        .join(["left", "right"], "both")
        .route("both", |trip: &Trip| {
            let passes = trip.log.iter().filter(|name| *name == "both").count();
            if passes < 2 { Again::Spread } else { Again::End }
        })
}

#[tokio::test]
async fn a_join_in_a_loop_does_not_take_the_old_success_of_a_branch_that_fails_now() {
    let runs = Runs::new();
    let thread = looped(&runs).compile().unwrap().runner().store(MemoryStore::new()).thread("t");
    let error = thread.run(Trip::update()).await.unwrap_err();
    assert_eq!(error.failures()[0].to_string(), "`right` (task 4.1) failed after 1 attempt: broke in the second pass");
    assert_eq!(thread.state().await.unwrap().state.log, ["spread", "left", "right 0", "both", "spread"]);
    assert_eq!((runs.count("left"), runs.count("both")), (2, 1));
    let end = thread.proceed().await.unwrap();
    let first = ["spread", "left", "right 0", "both"];
    let second = ["spread", "left", "right 2", "both"];
    assert_eq!(end.state.log, [first, second].concat());
    assert_eq!((runs.count("left"), runs.count("right"), runs.count("both")), (2, 3, 2));
}
