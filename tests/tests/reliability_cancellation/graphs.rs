//! Twelve graphs of different shape. Every node awaits, holds a guard while it lives, and writes the same whenever it
//! runs on the same state.

use std::time::Duration;

use behaviour_tests::{Alive, BoxNode, Trip, TripUpdate};
use graph_engine::{Builder, Command, Ctx, Graph, In, Next, NodeError, NodeExt, Retry, Route, START, Snap};
use tokio::time::sleep;

type Made = fn(&Alive) -> Builder<Trip>;

pub(crate) const GRAPHS: [(&str, Made); 12] = [
    ("chain", chain),
    ("fork", fork),
    ("deferred", deferred),
    ("fan_out", fan_out),
    ("sends_of_sends", sends_of_sends),
    ("looped", looped),
    ("stays", stays),
    ("nested", nested),
    ("replies", replies),
    ("retries", retries),
    ("timeouts", timeouts),
    ("finishes", finishes),
];

fn graph() -> Builder<Trip> {
    Graph::<Trip>::builder("g")
}

/// Yields several times and sleeps so many milliseconds, with a guard.
async fn awaits(alive: Alive, millis: u64) {
    let guard = alive.guard();
    for at in 0..8 {
        tokio::task::yield_now().await;
        if at == 2 {
            sleep(Duration::from_millis(millis)).await;
        }
    }
    drop(guard);
}

fn wrote(name: impl Into<String>) -> TripUpdate {
    Trip::update().log([name.into()])
}

/// Appends its name.
fn work(alive: &Alive, name: &'static str, millis: u64) -> impl Fn() -> BoxNode<TripUpdate> + Clone + use<> {
    let alive = alive.clone();
    move || {
        let alive = alive.clone();
        Box::pin(async move {
            awaits(alive, millis).await;
            wrote(name).total(1)
        })
    }
}

fn chain(alive: &Alive) -> Builder<Trip> {
    let nodes = ["a", "b", "c", "d"];
    let all = nodes.into_iter().fold(graph(), |graph, name| graph.node(name, work(alive, name, 5)));
    nodes.windows(2).fold(all.edge(START, "a"), |graph, pair| graph.edge(pair[0], pair[1]))
}

fn fork(alive: &Alive) -> Builder<Trip> {
    graph()
        .node("a", work(alive, "a", 30))
        .node("b", work(alive, "b", 10))
        .node("c", work(alive, "c", 20))
        .node("c2", work(alive, "c2", 5))
        .node("both", work(alive, "both", 5))
        .edge(START, "a")
        .edge(START, "b")
        .edge(START, "c")
        .edge("c", "c2")
        .join(["a", "b", "c2"], "both")
}

fn deferred(alive: &Alive) -> Builder<Trip> {
    graph()
        .node("a", work(alive, "a", 5))
        .node("b", work(alive, "b", 10))
        .node("b2", work(alive, "b2", 10))
        .node("last", work(alive, "last", 5).deferred())
        .node("after", work(alive, "after", 5))
        .edge(START, "a")
        .edge(START, "b")
        .edge("a", "last")
        .edge("b", "b2")
        .edge("b2", "last")
        .edge("last", "after")
}

#[derive(Route)]
enum Each {
    Each(u64),
}

/// Sleeps as long as it is told.
fn each(alive: &Alive) -> impl Fn(In<u64>) -> BoxNode<TripUpdate> + Clone + use<> {
    let alive = alive.clone();
    move |In(millis)| {
        let alive = alive.clone();
        Box::pin(async move {
            awaits(alive, *millis).await;
            wrote(millis.to_string()).total((*millis).try_into().unwrap())
        })
    }
}

fn fan_out(alive: &Alive) -> Builder<Trip> {
    graph()
        .node("each", each(alive))
        .node("sum", work(alive, "sum", 5))
        .route(START, |_: &Trip| Next::fan_out([20, 5, 25, 10, 15].map(Each::Each)))
        .edge("each", "sum")
}

fn sends_of_sends(alive: &Alive) -> Builder<Trip> {
    #[derive(Route)]
    enum Split {
        Split(u64),
    }
    let split = {
        let alive = alive.clone();
        move |In(n): In<u64>| {
            let alive = alive.clone();
            async move {
                awaits(alive, *n).await;
                Command::fan_out([Each::Each(*n + 4), Each::Each(*n + 1)]).with(wrote(format!("split {n}")))
            }
        }
    };
    graph()
        .node("split", split)
        .node("each", each(alive))
        .route(START, |_: &Trip| Next::fan_out([10, 5, 15].map(Split::Split)))
}

fn looped(alive: &Alive) -> Builder<Trip> {
    #[derive(Route)]
    enum Again {
        A,
        B,
        Done,
    }
    graph()
        .node("a", work(alive, "a", 5))
        .node("b", work(alive, "b", 10))
        .node("done", work(alive, "done", 5))
        .edge(START, "a")
        .edge("b", "a")
        .route("a", |trip: &Trip| match trip.log.len() {
            ..4 => Next::go_all([Again::A, Again::B]),
            4..8 => Next::go(Again::A),
            _ => Next::go(Again::Done),
        })
}

#[derive(Route)]
#[route(stay)]
enum OrGo {
    Next,
}

/// Stays until the log is so long, with what it saw as feedback.
fn picky(alive: &Alive, length: usize) -> impl Fn(Snap<Trip>) -> BoxNode<Command<Trip, OrGo>> + Clone + use<> {
    let alive = alive.clone();
    move |trip: Snap<Trip>| {
        let (alive, seen) = (alive.clone(), trip.log.len());
        drop(trip);
        Box::pin(async move {
            awaits(alive, 5).await;
            let command = if seen < length { Command::stay(seen) } else { Command::go(OrGo::Next) };
            command.with(wrote(format!("gate {seen}")))
        })
    }
}

fn hears(alive: &Alive) -> impl Fn(Ctx) -> BoxNode<Result<TripUpdate, NodeError>> + Clone + use<> {
    let alive = alive.clone();
    move |ctx: Ctx| {
        let alive = alive.clone();
        Box::pin(async move {
            awaits(alive, 5).await;
            Ok(wrote(format!("heard {:?}", ctx.feedback::<usize>()?)))
        })
    }
}

fn stays(alive: &Alive) -> Builder<Trip> {
    graph()
        .cluster("c", "hear", |c| c.node("hear", hears(alive)).node("gate", picky(alive, 6)).edge("hear", "gate"))
        .node("next", work(alive, "next", 5))
        .edge(START, "hear")
}

fn nested(alive: &Alive) -> Builder<Trip> {
    #[derive(Route)]
    #[route(stay)]
    enum OrEnd {
        #[route(end)]
        End,
    }
    let outer = {
        let alive = alive.clone();
        move |trip: Snap<Trip>| {
            let (alive, seen) = (alive.clone(), trip.log.len());
            drop(trip);
            async move {
                awaits(alive, 5).await;
                let command = if seen < 8 { Command::stay(seen) } else { Command::go(OrEnd::End) };
                command.with(wrote(format!("outer {seen}")))
            }
        }
    };
    graph()
        .cluster("outer", "hear", |c| {
            let inner = c.cluster("inner", "hear", |c| {
                c.node("hear", hears(alive)).node("gate", picky(alive, 4)).edge("hear", "gate")
            });
            inner.node("next", outer)
        })
        .edge(START, "hear")
}

fn replies(alive: &Alive) -> Builder<Trip> {
    #[derive(Route)]
    #[route(direct)]
    enum Reply {}
    let reply = |name: &'static str, millis: u64| {
        let alive = alive.clone();
        move || {
            let alive = alive.clone();
            async move {
                awaits(alive, millis).await;
                Command::<Trip, Reply>::direct(name).with(wrote(name))
            }
        }
    };
    graph()
        .node("a", reply("a", 10))
        .node("b", work(alive, "b", 5))
        .node("late", reply("late", 5))
        .edge(START, "a")
        .edge(START, "b")
        .edge("b", "late")
}

fn retries(alive: &Alive) -> Builder<Trip> {
    let flaky = |millis: u64| {
        let alive = alive.clone();
        move |ctx: Ctx| {
            let alive = alive.clone();
            async move {
                awaits(alive, millis).await;
                match ctx.attempt() {
                    1 => Err(NodeError::from("flaky")),
                    _ => Ok(wrote(ctx.node().to_string())),
                }
            }
        }
    };
    let retry = || Retry::fixed(2, Duration::from_millis(7)).jitter(0.5);
    graph()
        .node("a", flaky(5).retry(retry()))
        .node("b", flaky(10).retry(retry()))
        .node("c", work(alive, "c", 40))
        .node("after", flaky(5).retry(retry()))
        .edge(START, "a")
        .edge(START, "b")
        .edge(START, "c")
        .join(["a", "b", "c"], "after")
}

fn timeouts(alive: &Alive) -> Builder<Trip> {
    let slow = |name: &'static str| {
        let alive = alive.clone();
        move |ctx: Ctx| {
            let alive = alive.clone();
            async move {
                awaits(alive, if ctx.attempt() == 1 { 1_000 } else { 5 }).await;
                wrote(name)
            }
        }
    };
    let limited = |name| slow(name).timeout(Duration::from_millis(20)).retry(Retry::fixed(2, Duration::from_millis(5)));
    graph()
        .node("a", limited("a"))
        .node("b", work(alive, "b", 35))
        .node("after", limited("after"))
        .edge(START, "a")
        .edge(START, "b")
        .join(["a", "b"], "after")
}

fn finishes(alive: &Alive) -> Builder<Trip> {
    #[derive(Route)]
    #[route(finish)]
    enum Goodbye {}
    let goodbye = {
        let alive = alive.clone();
        move || {
            let alive = alive.clone();
            async move {
                awaits(alive, 10).await;
                Command::<Trip, Goodbye>::finish("goodbye").with(wrote("goodbye"))
            }
        }
    };
    graph()
        .node("a", work(alive, "a", 10))
        .node("beside", work(alive, "beside", 20))
        .node("never", work(alive, "never", 20))
        .node("goodbye", goodbye)
        .edge(START, "a")
        .edge(START, "beside")
        .edge("a", "goodbye")
        .edge("beside", "more")
        .node("more", work(alive, "more", 5))
        .edge("more", "never")
}
