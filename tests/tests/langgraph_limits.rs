//! The limit of super-steps as people know it from LangGraph, with the values that this engine gives.

use behaviour_tests::{BoxNode, Runs, Trip, TripUpdate, note};
use graph_engine::{Builder, Command, Ctx, Graph, MemoryStore, NodeError, NodeExt, Retry, Route, RunError, START};

/// A chain of so many nodes `n1`, `n2`, ...
fn chain(nodes: usize) -> Graph<Trip> {
    let names = ["n1", "n2", "n3", "n4"];
    let mut builder = Graph::<Trip>::builder("chain").node(names[0], note(names[0])).edge(START, names[0]);
    for at in 1..nodes {
        builder = builder.node(names[at], note(names[at])).edge(names[at - 1], names[at]);
    }
    builder.compile().unwrap()
}

#[tokio::test]
async fn a_chain_of_n_nodes_needs_a_limit_of_exactly_n() {
    for nodes in 1..=4_usize {
        let limited = |limit: usize| chain(nodes).runner().step_limit(limit as u64).thread("t");
        assert_eq!(limited(nodes).run(Trip::update()).await.unwrap().report.steps, nodes as u64);
        if nodes > 1 {
            let error = limited(nodes - 1).run(Trip::update()).await.unwrap_err();
            assert!(matches!(*error.error, RunError::StepLimit { .. }), "{error}");
        }
    }
}

#[tokio::test]
async fn after_the_limit_the_finished_steps_are_kept_the_next_node_is_named_and_proceeding_completes() {
    let thread = chain(4).runner().store(MemoryStore::new()).step_limit(2).thread("t");
    let error = thread.run(Trip::update()).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "thread `t`, super-step 2: the turn has not ended after 2 super-steps; next would be `n3`; raise the limit with \
         `Runner::step_limit`; `proceed` goes on with a new count"
    );
    let state = thread.state().await.unwrap();
    assert_eq!((&state.state.log[..], &state.next[..]), (&["n1".to_owned(), "n2".to_owned()][..], &["n3".into()][..]));
    assert_eq!(thread.proceed().await.unwrap().state.log, ["n1", "n2", "n3", "n4"]);
}

async fn remaining(ctx: Ctx) -> TripUpdate {
    Trip::update().log([format!("{} {}", ctx.node(), ctx.remaining_steps())])
}

#[tokio::test]
async fn remaining_steps_count_down_from_the_limit_less_one() {
    let graph = || {
        Graph::<Trip>::builder("g")
            .node("a", remaining)
            .node("b", remaining)
            .node("c", remaining)
            .edge(START, "a")
            .edge("a", "b")
            .edge("b", "c")
            .compile()
            .unwrap()
            .runner()
    };
    for (limit, seen) in [(10, ["a 9", "b 8", "c 7"]), (4, ["a 3", "b 2", "c 1"]), (3, ["a 2", "b 1", "c 0"])] {
        let end = graph().step_limit(limit).thread("t").run(Trip::update()).await.unwrap();
        assert_eq!(end.state.log, seen, "{limit}");
    }
}

#[derive(Route)]
#[route(stay)]
enum Way {
    Long,
    Short,
}

/// `ask` chooses the long or the short way by the input; two nodes run beside each other on the long one.
fn conditional() -> Builder<Trip> {
    Graph::<Trip>::builder("g")
        .node("ask", remaining)
        .node("long", remaining)
        .node("left", remaining)
        .node("right", remaining)
        .node("short", remaining)
        .node("end", remaining)
        .edge(START, "ask")
        .route("ask", |trip: &Trip| if trip.city == "far" { Way::Long } else { Way::Short })
        .edge("long", "left")
        .edge("long", "right")
        .join(["left", "right"], "end")
        .edge("short", "end")
}

#[tokio::test]
async fn behind_a_conditional_edge_the_remaining_steps_mean_the_same_in_every_node() {
    let runner = conditional().compile().unwrap().runner().step_limit(10);
    let far = runner.thread("t").run(Trip::update().city("far")).await.unwrap();
    assert_eq!(far.state.log, ["ask 9", "long 8", "left 7", "right 7", "end 6"]);
    let near = runner.thread("t").run(Trip::update().city("near")).await.unwrap();
    assert_eq!(near.state.log, ["ask 9", "short 8", "end 7"]);
}

#[tokio::test(start_paused = true)]
async fn a_retry_costs_no_step_and_a_stay_costs_one() {
    let runs = Runs::new();
    let node = {
        let runs = runs.clone();
        move |ctx: Ctx| -> BoxNode<Result<Command<Trip, Way>, NodeError>> {
            let run = runs.hit("n");
            let seen = Trip::update().log([format!("attempt {}: {}", ctx.attempt(), ctx.remaining_steps())]);
            Box::pin(async move {
                match run {
                    0 => Err("flaky".into()),
                    1 => Ok(Command::stay("again").with(seen)),
                    _ => Ok(Command::go(Way::Short).with(seen)),
                }
            })
        }
    };
    let graph = Graph::<Trip>::builder("g")
        .node("n", node.retry(Retry::fixed(2, std::time::Duration::from_secs(1))))
        .node("long", note("long"))
        .node("short", remaining)
        .edge(START, "n")
        .compile()
        .unwrap();
    let end = graph.runner().step_limit(10).thread("t").run(Trip::update()).await.unwrap();
    assert_eq!(end.state.log, ["attempt 2: 9", "attempt 1: 8", "short 7"]);
    assert_eq!((end.report.steps, end.report.attempts, end.report.stays), (3, 4, 1));
}
