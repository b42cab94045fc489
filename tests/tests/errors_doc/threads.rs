//! Why a thread refuses a call, and what its checkpoints may not hold.

use futures_util::future::join;
use graph_engine::{
    CheckpointId, Filter, Graph, In, MemoryStore, Metrics, Next, Res, Route, RunError, Runner, START, State, StoreError,
};

use crate::doc::{Entry, Section};
use crate::fake::Fake;
use crate::trip::{Trip, error_of, fails, rest, run, runner, slow, trip, writes};
use crate::turns::{run_error, turn};

#[derive(Route)]
#[route(finish)]
enum Goodbye {}

/// What nobody provides.
pub(crate) struct Catalogue;

async fn search(_: Res<Catalogue>) {}

#[derive(Route)]
enum ToQuote {
    Quote(f64),
}

async fn send() -> ToQuote {
    ToQuote::Quote(f64::NAN)
}

async fn quote(_: In<f64>) {}

async fn bye() -> Next<Goodbye> {
    Next::finish("goodbye")
}

fn resting() -> Runner<Trip> {
    runner(trip().node("explore", rest).edge(START, "explore"))
}

pub(crate) async fn section() -> Section {
    let busy = runner(trip().node("explore", slow).edge(START, "explore")).thread("guest-7");
    let (_, busy) = join(busy.run(Trip::update()).into_future(), busy.run(Trip::update()).into_future()).await;
    let busy = busy.expect_err("the first one runs");

    let stopped = runner(trip().node("explore", fails("no map")).edge(START, "explore")).store(MemoryStore::new());
    run(&stopped).await;
    let finished = runner(trip().node("bye", bye).edge(START, "bye")).store(MemoryStore::new());
    finished.thread("guest-7").run(Trip::update()).await.expect("it finishes");
    let idle = resting().store(MemoryStore::new()).thread("guest-7");

    let unknown = resting().store(MemoryStore::new()).thread("guest-7");
    let none = resting().thread("guest-7");
    let without = [
        *error_of(none.proceed()).await.error,
        error_of(none.abandon()).await,
        error_of(none.state()).await,
        error_of(none.history(&Filter::default())).await,
        error_of(none.delete()).await,
    ];
    let needy = runner(trip().node("search", search).edge(START, "search"));
    let dear = runner(trip().node("price", writes(|| Trip::update().price(f64::INFINITY))).edge(START, "price"));

    let panicking = runner(trip().node("explore", rest).edge(START, "explore")).metrics(Panicking);
    let sending = runner(trip().node("explore", send).node("quote", quote).edge(START, "explore"));

    let entries = vec![
        turn(
            "An earlier turn failed, was cancelled or reached its limit. Decide what becomes of its tasks before new \
             input comes in.",
            [run(&stopped).await],
        ),
        turn("A node or tool returned `finish`, which is for good.", [run(&finished).await]),
        turn(
            "Turns of one thread run one after the other. Await the first, or cancel it. Another process is not \
             noticed here but when it commits: see `StoreError::Conflict`.",
            [busy],
        ),
        turn("The last turn of the thread is over, or there was none.", [error_of(idle.proceed()).await]),
        run_error("Without a store nothing is remembered from one turn to the next.", &without),
        turn(
            "Checked before anything runs. The type is found by `TypeId`: provide exactly this one (for a trait object \
             `provide_arc::<dyn Trait>`).",
            [run(&needy).await],
        ),
        turn(
            "A value of the state, a payload or an update has no form in JSON. See \"Reading and writing a state\".",
            [run(&dear.store(MemoryStore::new())).await, run(&sending.store(MemoryStore::new())).await],
        ),
        restore().await,
        run_error(
            "The id is of another thread, or the checkpoint was pruned.",
            &[error_of(unknown.state_at(Some(CheckpointId::derive("guest-7", "", None, "turn-9", 0)))).await],
        ),
        Entry::plain(
            "What a thread lost by a change of its graph",
            changed().await,
            "No errors: `RunReport::warnings` of the first turn that goes on with such a checkpoint.",
        ),
        turn(
            "The store failed; see \"Checkpoint stores\" for its four kinds. Of the turn nothing is kept but the last \
             checkpoint.",
            [
                run(&resting().store(Fake::broken(|| StoreError::corrupt("guest-7", "row 3 is cut off")))).await,
                run(&resting().store(Fake::broken(|| StoreError::unavailable("connection refused")))).await,
            ],
        ),
        turn(
            "Your own code, called by the engine: a field's `Serialize`, a `Clone` or `Default` of the state, a \
             checkpoint store. Mend it; of the turn nothing is kept but the last checkpoint.",
            [run(&resting().store(Fake::broken(|| panic!("no connection")))).await, run(&panicking).await],
        ),
        run_error(
            "A defect of the engine, or the runtime was shut down under a streamed turn.",
            [&RunError::Internal { thread: "guest-7".into(), what: "the task that ran the turn ended".into() }],
        ),
    ];
    Section {
        title: "Threads",
        intro: "What a thread, its runner or its checkpoint refuses. All are variants of `RunError`.",
        entries,
    }
}

#[derive(State, Clone, Default)]
struct Renamed {
    city: u32,
}

async fn restore() -> Entry {
    let store = MemoryStore::new();
    run(&runner(trip().node("explore", fails("no map")).edge(START, "explore")).store(store.clone())).await;
    let renamed = runner(trip().node("search", rest).edge(START, "search")).store(store.clone());
    let retyped = runner(Graph::<Renamed>::builder("trip").node("explore", rest).edge(START, "explore"));
    let retyped = retyped.store(Fake::holding("{}", "\"Oslo\"")).thread("guest-7");
    let canned = |position: &str| resting().store(Fake::holding(position, "\"Oslo\"")).thread("guest-7");
    let [future, cut] = ["{\"version\":9,\"step\":0,\"began\":0,\"next\":[]}", "{\"version\":"].map(canned);
    let texts = [
        *error_of(renamed.thread("guest-7").proceed()).await.error,
        *error_of(retyped.run(Renamed::update())).await.error,
        *error_of(future.proceed()).await.error,
        *error_of(cut.proceed()).await.error,
    ];
    run_error(
        "The checkpoint was made by another version of the graph, the state or the engine, or the store lost \
         something. Keep node names and field types as long as threads are unfinished, or `Thread::delete` the thread.",
        &texts,
    )
}

/// A state without the field `city`.
#[derive(State, Clone, Default)]
struct Bare {
    price: f64,
}

/// A thread that stopped before a join, and goes on in a graph without that join and with another state.
async fn changed() -> Vec<String> {
    let store = MemoryStore::new();
    let old = trip().node("ask", rest).node("look", rest).node("read", fails("no light")).node("meet", rest);
    let old = old.edge(START, "ask").edge(START, "look").edge("look", "read").join(["ask", "read"], "meet");
    let old = runner(old).store(store.clone()).thread("guest-7");
    error_of(old.run(Trip::update().city("Oslo"))).await;
    let new = Graph::<Bare>::builder("trip").node("ask", rest).node("look", rest).node("read", rest);
    let new = new.edge(START, "ask").edge(START, "look").edge("look", "read");
    runner(new).store(store).thread("guest-7").proceed().await.expect("it goes on").report.warnings
}

/// Metrics that break their contract.
struct Panicking;

impl Metrics for Panicking {
    fn super_step(&self, _: &str, _: u64) {
        panic!("no gauge");
    }
}
