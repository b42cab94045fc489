//! A super-step of one plain task takes a shorter way through driver and machine. Whatever happens in it must come out as
//! it does on the general way, which a limit of tasks at once makes the driver take.

use std::fmt::Write;
use std::future::IntoFuture;
use std::time::Duration;

use behaviour_tests::{Runs, TestStore, Trip, TripUpdate};
use futures_util::StreamExt;
use graph_engine::{
    Builder, Ctx, END, Filter, Graph, In, MemoryStore, Next, NodeError, NodeExt, Parallel, Route, Runner, START,
    StreamOptions,
};

#[derive(Clone, Copy, PartialEq, Debug)]
enum Kept {
    Nowhere,
    InMemory,
    Outside,
}

/// Runs a thread, proceeds it up to three times, runs it once more, and tells all that can be seen of it.
async fn told(make: &impl Fn(&Runs) -> Graph<Trip>, kept: Kept, set: impl Fn(Runner<Trip>) -> Runner<Trip>) -> String {
    let runs = Runs::new();
    let runner = set(make(&runs).runner().stay_limit(2).parallel(Parallel::Joined));
    let runner = match kept {
        Kept::Nowhere => runner,
        Kept::InMemory => runner.store(MemoryStore::new()),
        Kept::Outside => runner.store(TestStore::lasting()),
    };
    let thread = runner.thread("t");
    let mut text = String::new();
    let mut turn = thread.run(Trip::update().log(["in".to_owned()]));
    for _ in 0..4 {
        match turn.await {
            Ok(end) => writeln!(text, "{:?} {:?} {:?} {:?}", end.status, *end.state, end.replies, end.report),
            Err(error) => writeln!(text, "{error} {:?}", error.report),
        }
        .unwrap();
        writeln!(text, "ran {:?}", runs.take()).unwrap();
        if kept != Kept::Nowhere {
            let state = thread.state().await.unwrap();
            writeln!(text, "{} {:?} {:?}", state.step, *state.state, state.next).unwrap();
            for info in thread.history(&Filter::default()).await.unwrap() {
                writeln!(text, "  {} {:?}", info.step, info.kind).unwrap();
            }
        }
        turn = thread.proceed();
    }
    drop(turn);
    text
}

/// Compares both ways.
async fn same(make: impl Fn(&Runs) -> Graph<Trip>) -> String {
    same_with(make, |runner| runner).await
}

async fn same_with(make: impl Fn(&Runs) -> Graph<Trip>, set: impl Fn(Runner<Trip>) -> Runner<Trip>) -> String {
    let mut last = String::new();
    for kept in [Kept::Nowhere, Kept::InMemory, Kept::Outside] {
        let general = told(&make, kept, |runner| set(runner.max_concurrency(64))).await;
        let lone = told(&make, kept, &set).await;
        assert_eq!(lone, general, "{kept:?}");
        last = lone;
    }
    last
}

#[derive(Route)]
enum To {
    X,
}

/// A node that notes its run; one that runs for ever is stopped.
fn node(runs: &Runs, name: &'static str) -> impl Fn() -> std::future::Ready<TripUpdate> + use<> {
    let runs = runs.clone();
    move || {
        assert!(runs.hit(name) < 50, "`{name}` runs for ever");
        std::future::ready(Trip::update().log([name.to_owned()]))
    }
}

async fn hear(ctx: Ctx) -> Result<TripUpdate, NodeError> {
    let heard = ctx.feedbacks::<String>().collect::<Result<Vec<_>, _>>()?;
    Ok(Trip::update().log([format!("hear {heard:?}")]))
}

fn line(runs: &Runs) -> Builder<Trip> {
    Graph::<Trip>::builder("g")
        .node("a", node(runs, "a"))
        .node("mid", node(runs, "mid"))
        .node("x", node(runs, "x"))
        .edge(START, "a")
        .edge("a", "mid")
}

#[tokio::test(start_paused = true)]
async fn a_router_that_fails_once_routes_again_and_its_node_does_not_run_again() {
    same(|runs| {
        let router = runs.clone();
        line(runs)
            .route("mid", move |_: &Trip| if router.hit("router") < 2 { Err("no idea") } else { Ok(To::X) })
            .compile()
            .unwrap()
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_router_that_panics_fails_the_turn() {
    same(|runs| {
        line(runs)
            .route("mid", |trip: &Trip| if trip.log.len() < 90 { panic!("lost the map") } else { To::X })
            .compile()
            .unwrap()
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_reducer_that_refuses_or_panics_fails_the_turn() {
    for item in [13, 666] {
        same(|runs| {
            let runs_too = runs.clone();
            Graph::<Trip>::builder("g")
                .node("a", node(runs, "a"))
                .node("bad", move || {
                    let run = runs_too.hit("bad");
                    assert!(run < 50, "`bad` runs for ever");
                    let item = if run < 2 { item } else { 1 };
                    std::future::ready(Trip::update().log(["bad".to_owned()]).total(item))
                })
                .edge(START, "a")
                .edge("a", "bad")
                .edge("bad", END)
                .compile()
                .unwrap()
        })
        .await;
    }
}

#[derive(Route)]
#[route(stay)]
enum Gate {
    X,
}

#[tokio::test(start_paused = true)]
async fn a_router_that_stays_brings_its_feedback_and_is_counted() {
    for times in [1, 2, 5] {
        same(|runs| {
            let router = runs.clone();
            Graph::<Trip>::builder("g")
                .node("x", node(runs, "x"))
                .cluster("c", "hear", |c| c.node("hear", hear).node("gate", node(runs, "gate")).edge("hear", "gate"))
                .edge(START, "hear")
                .route("gate", move |_: &Trip| match router.hit("router") {
                    run if run < times => Next::stay(format!("again {run}")),
                    _ => Next::go(Gate::X),
                })
                .compile()
                .unwrap()
        })
        .await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_router_that_stays_in_no_cluster_runs_its_task_again() {
    for times in [1, 2, 5] {
        same(|runs| {
            let router = runs.clone();
            Graph::<Trip>::builder("g")
                .node("x", node(runs, "x"))
                .node("hear", hear)
                .edge(START, "hear")
                .route("hear", move |_: &Trip| match router.hit("router") {
                    run if run < times => Next::stay(format!("again {run}")),
                    _ => Next::go(Gate::X),
                })
                .compile()
                .unwrap()
        })
        .await;
    }
}

#[derive(Route)]
enum Each {
    Each(u32),
}

#[tokio::test(start_paused = true)]
async fn a_router_that_sends_sends_its_payloads() {
    async fn each(In(item): In<u32>) -> TripUpdate {
        Trip::update().log([format!("each {item}")])
    }
    for items in [vec![], vec![7], vec![7, 8]] {
        same(|runs| {
            let items = items.clone();
            Graph::<Trip>::builder("g")
                .node("a", node(runs, "a"))
                .node("each", each)
                .edge(START, "a")
                .edge("each", END)
                .route("a", move |_: &Trip| Next::fan_out(items.iter().copied().map(Each::Each)))
                .compile()
                .unwrap()
        })
        .await;
    }
}

#[derive(Route)]
#[route(direct, finish)]
enum Reply {
    X,
}

#[tokio::test(start_paused = true)]
async fn a_router_may_reply_or_finish() {
    for finish in [None, Some(false), Some(true)] {
        same(|runs| {
            line(runs)
                .route("mid", move |_: &Trip| match finish {
                    None => Next::go(Reply::X),
                    Some(true) => Next::finish("bye"),
                    Some(false) => Next::direct("hello"),
                })
                .compile()
                .unwrap()
        })
        .await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_deferred_target_comes_when_nothing_else_would_run() {
    same(|runs| {
        Graph::<Trip>::builder("g")
            .node("a", node(runs, "a"))
            .node("late", node(runs, "late").deferred())
            .node("z", node(runs, "z"))
            .edge(START, "a")
            .edge("a", "late")
            .edge("late", "z")
            .compile()
            .unwrap()
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn the_step_limit_is_exact() {
    for limit in 1..8 {
        same_with(
            |runs| {
                Graph::<Trip>::builder("g")
                    .node("a", node(runs, "a"))
                    .node("b", |ctx: Ctx| {
                        let left = ctx.remaining_steps();
                        async move { Trip::update().log([format!("b {left}")]) }
                    })
                    .edge(START, "a")
                    .edge("a", "b")
                    .route("b", |trip: &Trip| if trip.log.len() < 10 { To2::A } else { To2::End })
                    .compile()
                    .unwrap()
            },
            |runner| runner.step_limit(limit),
        )
        .await;
    }
}

#[derive(Route)]
enum To2 {
    A,
    #[route(end)]
    End,
}

#[tokio::test(start_paused = true)]
async fn the_limit_of_tasks_sent_at_once_holds_for_a_router() {
    for limit in 1..4 {
        let text = same_with(
            |runs| {
                Graph::<Trip>::builder("g")
                    .node("a", node(runs, "a"))
                    .node("each", |In(item): In<u32>| async move { Trip::update().log([format!("each {item}")]) })
                    .edge(START, "a")
                    .route("a", |_: &Trip| Next::fan_out([1, 2].map(Each::Each)))
                    .compile()
                    .unwrap()
            },
            |runner| runner.fan_out_limit(limit),
        )
        .await;
        assert_eq!(text.contains("2 tasks would be sent at once"), limit < 2, "{text}");
    }
}

/// Asks two people at once; who says no to the first question needs no answer to the second one.
async fn ask(ctx: Ctx) -> Result<TripUpdate, NodeError> {
    if ctx.scope("a").interrupt::<bool>("a?").is_ok_and(|sure| !sure) {
        return Ok(Trip::update().log(["no".to_owned()]));
    }
    ctx.scope("b").interrupt::<bool>("b?")?;
    Ok(Trip::update().log(["yes".to_owned()]))
}

#[tokio::test(start_paused = true)]
async fn a_question_that_is_not_asked_again_is_not_open_any_more() {
    for general in [true, false] {
        let runs = Runs::new();
        let graph = Graph::<Trip>::builder("g")
            .node("ask", ask)
            .node("x", node(&runs, "x"))
            .edge(START, "ask")
            .edge("ask", "x")
            .compile()
            .unwrap();
        let runner = graph.runner().store(MemoryStore::new());
        let runner = if general { runner.max_concurrency(64) } else { runner };
        let thread = runner.thread("t");
        let end = thread.run(Trip::update()).await.unwrap();
        let open = &end.report.interrupts;
        assert_eq!(open.iter().map(|asked| asked.question.as_str().unwrap()).collect::<Vec<_>>(), ["a?", "b?"]);
        let end = thread.resume_by_id([(open[0].id, false)]).await.unwrap();
        assert_eq!((end.state.log.join(" "), end.report.interrupts.len()), ("no x".to_owned(), 0), "{general}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_reader_that_comes_while_a_checkpoint_is_stored_hears_of_that_first() {
    for general in [true, false] {
        let runs = Runs::new();
        let store = TestStore::new();
        let graph = line(&runs).edge("mid", "x").edge("x", END).compile().unwrap();
        let runner = graph.runner().store(store.clone());
        let runner = if general { runner.max_concurrency(64) } else { runner };
        let thread = runner.thread("t");
        store.slow_commit_after(1, Duration::from_secs(1));
        let turn = tokio::spawn(thread.run(Trip::update()).into_future());
        tokio::time::sleep(Duration::from_millis(500)).await;
        let events: Vec<_> = thread.subscribe(StreamOptions::default()).unwrap().collect().await;
        turn.await.unwrap().unwrap();
        let told: Vec<_> = events.iter().map(|event| (event.seq, event.to_string())).collect();
        let told: Vec<_> = told.iter().map(|(seq, text)| (*seq, text.as_str())).collect();
        assert_eq!(
            told,
            [
                (0, "1 checkpoint"),
                (1, "1.0 mid#1 start"),
                (2, "1.0 mid#1 finish, wrote `log`"),
                (3, "1 merged, next `x`"),
                (4, "2 checkpoint"),
                (5, "2.0 x#1 start"),
                (6, "2.0 x#1 finish, wrote `log`"),
                (7, "2 merged"),
                (8, "3 checkpoint"),
                (9, "3 ended: done"),
            ],
            "{general}"
        );
    }
}
