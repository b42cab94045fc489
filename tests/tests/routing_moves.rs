//! E7 to E9: where tasks lead. A command replaces edges, a router decides once, unknown targets fail their task, and
//! `direct` and `finish` end a branch or the thread.

use std::future::ready;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use behaviour_tests::{Runs, Trip, TripUpdate, note};
use graph_engine::{
    Command, END, Graph, In, MemoryStore, Next, Node, NodeError, NodeInfo, NodeKind, Nowhere, Outcome, Route, RunError,
    START, Status, TargetSpec, Task, async_trait,
};
use serde_json::json;

#[derive(Route, Clone, Copy)]
#[route(direct, finish)]
enum To {
    X,
    Y,
    #[route(end)]
    End,
}

/// `n` with this result, then `x` and `y`; its static edge leads to `edge`.
fn with_edge<R: graph_engine::IntoOutcome<Trip> + Send + 'static>(
    result: impl Fn() -> R + Send + Sync + 'static,
) -> Graph<Trip> {
    Graph::<Trip>::builder("g")
        .node("n", move || ready(result()))
        .node("x", note("x"))
        .node("y", note("y"))
        .node("edge", note("edge"))
        .edge(START, "n")
        .edge("n", "edge")
        .lint(graph_engine::Lint::Unreachable, graph_engine::Level::Ignore)
        .compile()
        .unwrap()
}

async fn log_of(graph: &Graph<Trip>) -> Vec<String> {
    graph.runner().thread("t").run(Trip::update()).await.unwrap().state.log.clone()
}

#[tokio::test]
async fn declared_follows_the_static_edge() {
    assert_eq!(log_of(&with_edge(Command::<Trip, To>::declared)).await, ["edge"]);
    assert_eq!(log_of(&with_edge(|| ())).await, ["edge"]);
}

#[tokio::test]
async fn a_command_replaces_the_declared_edges() {
    assert_eq!(log_of(&with_edge(|| Command::<Trip, To>::go(To::X))).await, ["x"]);
    assert_eq!(log_of(&with_edge(|| Next::go(To::Y))).await, ["y"]);
    assert_eq!(log_of(&with_edge(|| To::X)).await, ["x"]);
}

#[tokio::test]
async fn going_to_several_targets_runs_each_once_in_name_order() {
    assert_eq!(log_of(&with_edge(|| Next::go_all([To::Y, To::X, To::Y, To::Y]))).await, ["x", "y"]);
}

#[tokio::test]
async fn going_nowhere_or_to_the_end_ends_the_branch() {
    assert_eq!(log_of(&with_edge(|| Next::<To>::go_all([]))).await, [""; 0]);
    assert_eq!(log_of(&with_edge(|| Next::<To>::fan_out([]))).await, [""; 0]);
    assert_eq!(log_of(&with_edge(|| Next::go(To::End))).await, [""; 0]);
    assert_eq!(log_of(&with_edge(|| Next::go_all([To::End, To::X]))).await, ["x"]);
}

#[tokio::test]
async fn a_command_replaces_a_router_too() {
    let graph = |result: fn() -> Command<Trip, To>| {
        Graph::<Trip>::builder("g")
            .node("n", move || ready(result()))
            .node("x", note("x"))
            .node("y", note("y"))
            .edge(START, "n")
            .route("n", |_: &Trip| To::Y)
            .compile()
            .unwrap()
    };
    assert_eq!(log_of(&graph(|| Command::go(To::X))).await, ["x"]);
    assert_eq!(log_of(&graph(Command::declared)).await, ["y"]);
}

#[tokio::test]
async fn a_router_sees_the_state_after_the_merge() {
    async fn write() -> TripUpdate {
        Trip::update().city("Oslo")
    }
    let graph = Graph::<Trip>::builder("g")
        .node("n", write)
        .node("x", note("x"))
        .node("y", note("y"))
        .edge(START, "n")
        .route("n", |trip: &Trip| if trip.city == "Oslo" { To::X } else { To::Y })
        .compile()
        .unwrap();
    assert_eq!(log_of(&graph).await, ["x"]);
}

#[derive(Route)]
enum Spread {
    Each(u32),
    X,
}

#[tokio::test]
async fn a_router_runs_once_for_100_tasks_of_its_node() {
    async fn each(In(item): In<u32>) -> TripUpdate {
        Trip::update().total((*item).into())
    }
    let asked = Arc::new(AtomicUsize::new(0));
    let counter = asked.clone();
    let graph = Graph::<Trip>::builder("g")
        .node("each", each)
        .node("x", note("x"))
        .route(START, |_: &Trip| Next::fan_out((0..101).filter(|n| *n != 13).map(Spread::Each)))
        .route("each", move |trip: &Trip| {
            counter.fetch_add(1, Ordering::SeqCst);
            assert_eq!(trip.total, 5050 - 13);
            Spread::X
        })
        .compile()
        .unwrap();
    let end = graph.runner().thread("t").run(Trip::update()).await.unwrap();
    assert_eq!(end.state.log, ["x"]);
    assert_eq!(asked.load(Ordering::SeqCst), 1);
}

/// `a` and `b` run beside each other; the router of `b` fails until its third call.
fn failing_router(runs: &Runs, fail: fn() -> Result<To, NodeError>) -> Graph<Trip> {
    let router = runs.clone();
    Graph::<Trip>::builder("g")
        .node("a", runs.node("a"))
        .node("b", runs.node("b"))
        .node("x", runs.node("x"))
        .node("y", runs.node("y"))
        .edge(START, "a")
        .edge(START, "b")
        .edge("a", "y")
        .route("b", move |_: &Trip| if router.hit("router") < 2 { fail() } else { Ok(To::X) })
        .compile()
        .unwrap()
}

#[tokio::test]
async fn a_failing_router_keeps_the_updates_and_proceed_only_routes_again() {
    let runs = Runs::new();
    let thread = failing_router(&runs, || Err("no idea".into())).runner().store(MemoryStore::new()).thread("t");
    let error = thread.run(Trip::update()).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "thread `t`, super-step 0: the router of `b` failed: no idea; the step's updates are kept, `proceed` only routes again"
    );
    assert_eq!(thread.state().await.unwrap().state.log, ["a", "b"]);
    let error = thread.proceed().await.unwrap_err();
    assert!(matches!(*error.error, RunError::Router { .. }));
    assert_eq!(error.report.tasks, 0);
    assert_eq!(thread.state().await.unwrap().state.log, ["a", "b"]);
    let end = thread.proceed().await.unwrap();
    assert_eq!(end.state.log, ["a", "b", "x", "y"]);
    assert_eq!((end.report.steps, end.report.tasks), (2, 2));
    assert_eq!(["a", "b", "x", "y", "router"].map(|name| runs.count(name)), [1, 1, 1, 1, 3]);
}

#[tokio::test]
async fn a_panicking_router_keeps_the_updates_too() {
    let runs = Runs::new();
    let thread = failing_router(&runs, || panic!("lost the map")).runner().store(MemoryStore::new()).thread("t");
    let error = thread.run(Trip::update()).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "thread `t`, super-step 0: the router of `b` failed: it panicked: lost the map; the step's updates are kept, \
         `proceed` only routes again"
    );
    thread.proceed().await.unwrap_err();
    assert_eq!(thread.proceed().await.unwrap().state.log, ["a", "b", "x", "y"]);
    assert_eq!(["a", "b"].map(|name| runs.count(name)), [1, 1]);
}

#[tokio::test]
async fn new_input_after_a_failed_router_is_refused_and_names_its_node() {
    let thread = failing_router(&Runs::new(), || Err("no idea".into())).runner().store(MemoryStore::new()).thread("t");
    thread.run(Trip::update()).await.unwrap_err();
    let error = thread.run(Trip::update()).await.unwrap_err();
    let RunError::Unfinished { pending, .. } = &*error else { panic!("{error}") };
    assert!(pending.iter().any(|name| name == "b"), "{pending:?}");
    thread.abandon().await.unwrap();
    assert_eq!(thread.state().await.unwrap().state.log, ["a", "b"], "what was merged stays");
}

#[tokio::test]
async fn a_router_that_chooses_nothing_is_an_error() {
    let graph = Graph::<Trip>::builder("g")
        .node("n", note("n"))
        .edge(START, "n")
        .route("n", |_: &Trip| Next::<Nowhere>::declared())
        .compile()
        .unwrap();
    let error = graph.runner().thread("t").run(Trip::update()).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "thread `t`, super-step 0: the router of `n` failed: it chose nothing; return a variant, `#[route(end)]` \
         marks one that ends the branch; the state of this turn is lost, because the runner has no store"
    );
}

#[tokio::test]
async fn a_failing_router_of_start_keeps_nothing_of_the_input() {
    let runs = Runs::new();
    let router = runs.clone();
    let graph = Graph::<Trip>::builder("g")
        .node("x", note("x"))
        .node("y", note("y"))
        .route(START, move |_: &Trip| match router.hit("router") {
            0 => Err("no idea"),
            1 => panic!("lost the map"),
            _ => Ok(To::X),
        })
        .compile()
        .unwrap();
    let thread = graph.runner().store(MemoryStore::new()).thread("t");
    let input = || Trip::update().log(["in".to_owned()]);
    let error = thread.run(input()).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "thread `t`: the router of START failed: no idea; nothing of the input was kept, send it again once the router \
         can decide"
    );
    let error = thread.run(input()).await.unwrap_err();
    assert!(matches!(*error.error, RunError::Entry { .. }), "{error}");
    assert_eq!(thread.state().await.unwrap().checkpoint, None);
    assert_eq!(thread.run(input()).await.unwrap().state.log, ["in", "x"]);
}

/// A hand-written node with these declarations and this result.
struct ByHand {
    info: fn() -> NodeInfo,
    outcome: fn() -> Outcome<Trip>,
}

#[async_trait]
impl Node<Trip> for ByHand {
    async fn run(&self, _: &Task<Trip>) -> Result<Outcome<Trip>, NodeError> {
        Ok((self.outcome)())
    }

    fn describe(&self) -> NodeInfo {
        (self.info)()
    }
}

/// The by-hand node beside a plain `sibling`.
fn by_hand(info: fn() -> NodeInfo, outcome: fn() -> Outcome<Trip>) -> Graph<Trip> {
    Graph::<Trip>::builder("g")
        .node("n", ByHand { info, outcome })
        .node("sibling", note("sibling"))
        .node("x", note("x"))
        .node("y", note("y"))
        .edge(START, "n")
        .edge(START, "sibling")
        .lint(graph_engine::Lint::Unreachable, graph_engine::Level::Ignore)
        .compile()
        .unwrap()
}

fn declares_x() -> NodeInfo {
    NodeInfo::new(NodeKind::Plain).target(TargetSpec::new("x"))
}

#[tokio::test]
async fn an_undeclared_target_fails_the_task_that_sent_it() {
    let graph = by_hand(declares_x, || Outcome::of(Trip::update().log(["n".to_owned()])).go("y"));
    let thread = graph.runner().store(MemoryStore::new()).thread("t");
    let error = thread.run(Trip::update()).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "thread `t`, super-step 0: `n` (task 0.0) failed after 1 attempt: it goes to `y`, which it doesn't declare; \
         its declared targets are `x`; `proceed` runs only what failed, `abandon` drops it"
    );
    assert_eq!(thread.state().await.unwrap().state.log, [""; 0], "nothing of the step is applied");
}

#[tokio::test]
async fn an_unknown_target_fails_the_task_that_sent_it() {
    async fn dynamic() -> Outcome<Trip> {
        Outcome::default().go_all(["x", "nowhere"])
    }
    let graph = Graph::<Trip>::builder("g").node("n", dynamic).node("x", note("x")).edge(START, "n").compile().unwrap();
    let error = graph.runner().thread("t").run(Trip::update()).await.unwrap_err();
    assert_eq!(
        error.failures()[0].to_string(),
        "`n` (task 0.0) failed after 1 attempt: it goes to `nowhere`, which is no node; it declares no targets, add \
         them to its route"
    );
}

#[tokio::test]
async fn a_dynamic_node_may_go_anywhere_that_exists() {
    async fn dynamic() -> Outcome<Trip> {
        Outcome::of(Trip::update().log(["n".to_owned()])).go_all(["y", "x", "y"])
    }
    let graph = Graph::<Trip>::builder("g")
        .node("n", dynamic)
        .node("x", note("x"))
        .node("y", note("y"))
        .edge(START, "n")
        .compile()
        .unwrap();
    assert_eq!(log_of(&graph).await, ["n", "x", "y"]);
}

#[tokio::test]
async fn an_undeclared_stay_direct_or_finish_fails_the_task_too() {
    let outcomes: [fn() -> Outcome<Trip>; 3] = [
        || Outcome::default().stay(json!(1)),
        || Outcome::default().direct(json!(1)),
        || Outcome::default().finish(json!(1)),
    ];
    for (at, outcome) in outcomes.into_iter().enumerate() {
        let ended = by_hand(declares_x, outcome).runner().step_limit(3).thread("t").run(Trip::update()).await;
        let error = ended.expect_err("an undeclared move must be refused");
        assert_eq!(error.failures().len(), 1, "{at}: {error}");
    }
}

#[tokio::test]
async fn a_direct_reply_ends_its_branch_and_the_others_go_on() {
    #[derive(Route)]
    #[route(direct)]
    enum Reply {}
    async fn late() -> Next<Reply> {
        Next::direct("late")
    }
    let reply = |text: &'static str| move || ready(Command::<Trip, Reply>::direct(json!({ "text": text })));
    let graph = Graph::<Trip>::builder("g")
        .node("b", reply("b"))
        .node("a", reply("a"))
        .node("c", note("c"))
        .node("d", note("d"))
        .node("late", late)
        .edge(START, "a")
        .edge(START, "b")
        .edge(START, "c")
        .edge("a", "never")
        .node("never", note("never"))
        .edge("c", "d")
        .edge("d", "late")
        .compile()
        .unwrap();
    let end = graph.runner().thread("t").run(Trip::update()).await.unwrap();
    assert_eq!(end.status, Status::Done);
    assert_eq!(end.state.log, ["c", "d"]);
    let replies: Vec<_> = end.replies.iter().map(|reply| (reply.task.to_string(), reply.node.to_string())).collect();
    let expected = [("0.0", "a"), ("0.1", "b"), ("2.0", "late")].map(|(at, node)| (at.to_owned(), node.to_owned()));
    assert_eq!(replies, expected);
    assert_eq!(end.reply(), Some(&json!({ "text": "a" })));
    assert_eq!(end.replies[2].get::<String>().unwrap(), "late");
}

#[tokio::test]
async fn replies_of_one_turn_are_not_those_of_the_next() {
    #[derive(Route)]
    #[route(direct)]
    enum Reply {}
    async fn echo(trip: graph_engine::Snap<Trip>) -> Next<Reply> {
        Next::direct(trip.log.len())
    }
    let graph = Graph::<Trip>::builder("g").node("echo", echo).edge(START, "echo").compile().unwrap();
    let thread = graph.runner().store(MemoryStore::new()).thread("t");
    for turn in 1..=3 {
        let end = thread.run(Trip::update().log(["x".to_owned()])).await.unwrap();
        assert_eq!((end.reply_as::<u32>().unwrap(), end.replies.len()), (Some(turn), 1));
    }
    assert_eq!(thread.state().await.unwrap().replies.len(), 1);
}

#[tokio::test]
async fn a_reply_that_is_not_json_fails_the_task() {
    let graph = with_edge(|| {
        let keys = std::collections::BTreeMap::from([(vec![1], 1)]);
        Next::<To>::direct(keys)
    });
    let error = graph.runner().thread("t").run(Trip::update()).await.unwrap_err();
    assert_eq!(
        error.failures()[0].to_string(),
        "`n` (task 0.0) failed after 1 attempt: its reply or feedback can't be written as JSON: key must be a string"
    );
}

#[tokio::test]
async fn finish_completes_the_thread_and_later_input_is_refused() {
    let graph = Graph::<Trip>::builder("g")
        .node("a", note("a"))
        .node("bye", || ready(Command::<Trip, To>::finish("bye").with(Trip::update().log(["bye".to_owned()]))))
        .node("x", note("x"))
        .node("y", note("y"))
        .edge(START, "a")
        .edge(START, "bye")
        .edge("a", "x")
        .lint(graph_engine::Lint::Unreachable, graph_engine::Level::Ignore)
        .compile()
        .unwrap();
    let thread = graph.runner().store(MemoryStore::new()).thread("t");
    let end = thread.run(Trip::update()).await.unwrap();
    assert_eq!(end.status, Status::Completed);
    assert_eq!(end.state.log, ["a", "bye"], "the step is merged, but nothing follows");
    assert_eq!(end.reply(), Some(&json!("bye")));
    let state = thread.state().await.unwrap();
    assert!(state.completed && state.next.is_empty());
    let error = thread.run(Trip::update()).await.unwrap_err();
    assert_eq!(error.to_string(), "thread `t` is completed; begin a new thread");
    let error = thread.proceed().await.unwrap_err();
    assert!(matches!(*error.error, RunError::Completed { .. }), "`run` is no way out: {error}");
    thread.abandon().await.unwrap();
    assert!(matches!(*thread.run(Trip::update()).await.unwrap_err().error, RunError::Completed { .. }));
}

#[tokio::test]
async fn finish_drops_deferred_tasks_and_sends_of_its_step() {
    use graph_engine::NodeExt;
    let graph = Graph::<Trip>::builder("g")
        .node("bye", || ready(Next::<To>::finish("bye")))
        .node("later", note("later").deferred())
        .node("x", note("x"))
        .node("y", note("y"))
        .node("z", || ready(Next::fan_out([To::X, To::Y])))
        .edge(START, "bye")
        .edge(START, "later")
        .edge(START, "z")
        .compile()
        .unwrap();
    let thread = graph.runner().store(MemoryStore::new()).thread("t");
    let end = thread.run(Trip::update()).await.unwrap();
    assert_eq!((end.status, end.state.log.len(), end.report.steps), (Status::Completed, 0, 1));
    assert_eq!(thread.state().await.unwrap().next, [""; 0]);
}

#[tokio::test]
async fn start_may_lead_straight_to_the_end() {
    let graph = Graph::<Trip>::builder("g").edge(START, END).compile().unwrap();
    let end = graph.runner().thread("t").run(Trip::update().city("Oslo")).await.unwrap();
    assert_eq!((end.status, end.report.steps, end.state.city.as_str()), (Status::Done, 0, "Oslo"));
}

#[tokio::test]
async fn targets_that_begin_alike_are_told_apart() {
    // One is a prefix of the other in the same memory.
    const BOTH: &str = "xyz";
    const SHORT: &str = BOTH.split_at(1).0;
    enum Alike {
        Long,
        Short,
    }
    impl Route for Alike {
        const SPEC: &'static graph_engine::RouteSpec =
            &graph_engine::RouteSpec::new(&[TargetSpec::new(BOTH), TargetSpec::new(SHORT)]);

        fn into_target(self) -> (usize, Option<graph_engine::Payload>) {
            (self as usize, None)
        }
    }
    let graph = Graph::<Trip>::builder("g")
        .node("n", || ready(Next::fan_out([Alike::Long, Alike::Short])))
        .node("xyz", note("xyz"))
        .node("x", note("x"))
        .edge(START, "n")
        .compile()
        .unwrap();
    assert_eq!(log_of(&graph).await, ["xyz", "x"]);
}
