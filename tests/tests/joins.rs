//! E12: a join fires once all its sources have finished by their declared edges, arms itself again, and says at the
//! end of a turn what it still waits for. Plain targets of one step are one task.

use std::future::ready;

use behaviour_tests::{Runs, Trip, after, note};
use graph_engine::{Command, Graph, In, MemoryStore, Next, NodeError, Route, START, WaitingJoin};

#[derive(Route)]
#[route(stay, direct)]
enum Jump {
    Other,
}

/// `left` as given and `right` are the sources of `both`.
fn fork<R: graph_engine::IntoOutcome<Trip> + Send + 'static>(
    left: impl Fn() -> R + Send + Sync + 'static,
) -> graph_engine::Builder<Trip> {
    Graph::<Trip>::builder("g")
        .node("left", move || ready(left()))
        .node("right", note("right"))
        .node("both", note("both"))
        .node("other", note("other"))
        .edge(START, "left")
        .edge(START, "right")
        .join(["left", "right"], "both")
        .lint(graph_engine::Lint::Unreachable, graph_engine::Level::Ignore)
}

#[tokio::test(start_paused = true)]
async fn a_join_waits_for_branches_of_any_length_and_fires_once() {
    let graph = Graph::<Trip>::builder("g")
        .node("a", note("a"))
        .node("b1", after(50, "b1"))
        .node("b2", after(50, "b2"))
        .node("b3", note("b3"))
        .node("both", note("both"))
        .edge(START, "a")
        .edge(START, "b1")
        .edge("b1", "b2")
        .edge("b2", "b3")
        .join(["a", "b3"], "both")
        .compile()
        .unwrap();
    let end = graph.runner().thread("t").run(Trip::update()).await.unwrap();
    assert_eq!(end.state.log, ["a", "b1", "b2", "b3", "both"]);
    assert!(end.report.waiting_joins.is_empty());
}

#[tokio::test]
async fn a_join_of_one_step_fires_once() {
    let end = fork(|| ()).compile().unwrap().runner().thread("t").run(Trip::update()).await.unwrap();
    assert_eq!(end.state.log, ["right", "both"]);
    assert_eq!((end.report.steps, end.report.tasks), (2, 3));
}

#[tokio::test]
async fn commands_direct_replies_and_ends_do_not_count_and_the_report_says_who_waits() {
    let jumps: [fn() -> Command<Trip, Jump>; 3] =
        [|| Command::go(Jump::Other), || Command::direct("no"), || Command::fan_out([])];
    for jump in jumps {
        let end = fork(jump).compile().unwrap().runner().thread("t").run(Trip::update()).await.unwrap();
        assert!(!end.state.log.contains(&"both".to_owned()), "{:?}", end.state.log);
        assert_eq!(end.report.waiting_joins, [WaitingJoin::new("both", ["left"])]);
        assert!(end.report.to_string().ends_with("; join `both` waits for `left`"));
    }
}

#[tokio::test]
async fn a_stay_counts_only_when_the_node_goes_on() {
    let runs = Runs::new();
    let stays = move || if runs.hit("left") < 2 { Command::<Trip, Jump>::stay(()) } else { Command::declared() };
    let end = fork(stays).compile().unwrap().runner().thread("t").run(Trip::update()).await.unwrap();
    assert_eq!(end.state.log, ["right", "both"]);
    assert_eq!(end.report.steps, 4);
}

#[tokio::test]
async fn a_failed_source_does_not_count_until_it_succeeds() {
    let runs = Runs::new();
    let fails = move || if runs.hit("left") < 1 { Err(NodeError::from("no")) } else { Ok(()) };
    let thread = fork(fails).compile().unwrap().runner().store(MemoryStore::new()).thread("t");
    thread.run(Trip::update()).await.unwrap_err();
    assert_eq!(thread.proceed().await.unwrap().state.log, ["right", "both"]);
}

#[derive(Route)]
enum Loop {
    Again,
    Done,
}

#[tokio::test]
async fn a_join_arms_itself_again_in_a_loop() {
    let graph = Graph::<Trip>::builder("g")
        .node("again", note("again"))
        .node("a", note("a"))
        .node("b", note("b"))
        .node("both", note("both"))
        .node("done", note("done"))
        .edge(START, "again")
        .edge("again", "a")
        .edge("again", "b")
        .join(["a", "b"], "both")
        .route("both", |trip: &Trip| if trip.log.len() < 12 { Loop::Again } else { Loop::Done })
        .compile()
        .unwrap();
    let end = graph.runner().thread("t").run(Trip::update()).await.unwrap();
    let round = ["again", "a", "b", "both"];
    assert_eq!(end.state.log, [&round[..], &round[..], &round[..], &["done"]].concat());
}

#[tokio::test]
async fn a_source_that_finishes_twice_is_one_arrival() {
    // `a` runs in steps 0 and 1, `b` in step 2.
    let runs = Runs::new();
    let twice = move || {
        let run = runs.hit("a");
        ready(if run == 0 { Command::<Trip, Jump>::declared() } else { Command::go(Jump::Other) })
    };
    let graph = Graph::<Trip>::builder("g")
        .node("a", twice)
        .node("x", note("x"))
        .node("y", note("y"))
        .node("b", note("b"))
        .node("other", note("other"))
        .node("both", note("both"))
        .edge(START, "a")
        .edge(START, "x")
        .edge("x", "y")
        .edge("y", "b")
        .edge("x", "a")
        .join(["a", "b"], "both")
        .compile()
        .unwrap();
    let end = graph.runner().thread("t").run(Trip::update()).await.unwrap();
    assert_eq!(end.state.log, ["x", "y", "b", "other", "both"]);
    assert!(end.report.waiting_joins.is_empty());
}

#[tokio::test]
async fn arrivals_are_stored() {
    let graph = Graph::<Trip>::builder("g")
        .node("a", note("a"))
        .node("b1", note("b1"))
        .node("b2", note("b2"))
        .node("both", note("both"))
        .edge(START, "a")
        .edge(START, "b1")
        .edge("b1", "b2")
        .join(["a", "b2"], "both")
        .compile()
        .unwrap();
    let thread = graph.runner().store(MemoryStore::new()).step_limit(1).thread("t");
    let error = thread.run(Trip::update()).await.unwrap_err();
    assert_eq!(error.report.waiting_joins, [WaitingJoin::new("both", ["b2"])]);
    thread.proceed().await.unwrap_err();
    assert_eq!(thread.proceed().await.unwrap().state.log, ["a", "b1", "b2", "both"]);
}

#[tokio::test]
async fn arrivals_of_two_joins_to_one_node_are_stored_apart() {
    let graph = |limit: u64| {
        Graph::<Trip>::builder("g")
            .node("a", note("a"))
            .node("w1", note("w1"))
            .node("c", note("c"))
            .node("w2", note("w2"))
            .node("b", note("b"))
            .node("w3", note("w3"))
            .node("x", note("x"))
            .edge(START, "a")
            .edge(START, "w1")
            .edge("w1", "c")
            .edge("c", "w2")
            .edge("w2", "b")
            .join(["a", "b"], "x")
            .join(["a", "c"], "x")
            .edge("w3", "a")
            .lint(graph_engine::Lint::Unreachable, graph_engine::Level::Ignore)
            .compile()
            .unwrap()
            .runner()
            .step_limit(limit)
            .store(MemoryStore::new())
            .thread("t")
    };
    let whole = graph(100).run(Trip::update()).await.unwrap();
    assert_eq!(whole.state.log.iter().filter(|name| *name == "x").count(), 2);
    let cut = graph(1);
    let mut turn = cut.run(Trip::update()).await;
    for _ in 0..10 {
        if turn.is_err() {
            turn = cut.proceed().await;
        }
    }
    assert_eq!(turn.unwrap().state.log, whole.state.log);
}

#[tokio::test]
async fn arrivals_of_a_turn_that_is_over_are_forgotten() {
    let runs = Runs::new();
    let first_jumps =
        move || if runs.hit("left") == 0 { Command::<Trip, Jump>::direct(1) } else { Command::declared() };
    let thread = fork(first_jumps).compile().unwrap().runner().store(MemoryStore::new()).thread("t");
    thread.run(Trip::update()).await.unwrap();
    let end = thread.run(Trip::update()).await.unwrap();
    assert_eq!(end.state.log, ["right", "right", "both"]);
    assert!(end.report.waiting_joins.is_empty());
}

#[tokio::test]
async fn plain_targets_are_one_task_and_sends_never_are() {
    #[derive(Route, Clone)]
    enum Both {
        Plain,
        Sent(u32),
    }
    async fn sent(In(item): In<u32>) -> behaviour_tests::TripUpdate {
        Trip::update().log([format!("sent {item}")])
    }
    let all = || ready(Next::go_all([Both::Sent(1), Both::Plain, Both::Sent(1), Both::Plain, Both::Sent(0)]));
    let graph = Graph::<Trip>::builder("g")
        .node("a", all)
        .node("b", all)
        .node("plain", note("plain"))
        .node("sent", sent)
        .edge(START, "a")
        .edge(START, "b")
        .compile()
        .unwrap();
    let end = graph.runner().thread("t").run(Trip::update()).await.unwrap();
    assert_eq!(end.state.log, ["plain", "sent 1", "sent 1", "sent 0", "sent 1", "sent 1", "sent 0"]);
}
