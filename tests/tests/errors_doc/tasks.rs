//! What a failed task and a failed router say.

use std::future::{Future, ready};
use std::time::Duration;

use graph_engine::testing::node_once;
use graph_engine::{
    Builder, Ctx, In, MemoryStore, Next, NodeError, NodeExt, NodeInfo, Outcome, Res, Retry, Route, RunError, START,
    TaskFailure, blocking,
};
use serde_json::json;

use crate::doc::{Entry, Section};
use crate::threads::Catalogue;
use crate::trip::{ByHand, Trip, error_of, fail, fails, name_city, rest, runner, slow, trip};

#[derive(Route)]
enum ToQuote {
    Quote(String),
}

#[derive(Route)]
#[route(stay, direct)]
enum Again {}

async fn breaks() {
    panic!("no room left")
}

async fn read_feedback(ctx: Ctx) -> Result<Next<Again>, NodeError> {
    Ok(match ctx.feedback::<u32>()? {
        None => Next::stay("name a city"),
        Some(_) => Next::declared(),
    })
}

async fn reply_nan() -> Next<Again> {
    Next::direct(f64::NAN)
}

async fn emit_nan(ctx: Ctx) -> Result<(), NodeError> {
    ctx.emit(f64::NAN).await
}

async fn quote(_: In<String>) {}

async fn quote_number(_: In<u32>) {}

async fn send() -> ToQuote {
    ToQuote::Quote("Inn".into())
}

async fn search(_: Res<Catalogue>) {}

/// The first failure of a turn.
async fn first(graph: Builder<Trip>) -> TaskFailure {
    fail(graph).await.failures().first().expect("a failure").clone()
}

async fn says(failure: impl Future<Output = TaskFailure>) -> String {
    failure.await.to_string()
}

/// The same for a graph whose nodes block: a paused clock stands still meanwhile.
fn on_real_time(graph: Builder<Trip>) -> String {
    let run = || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
        runtime.block_on(says(first(graph)))
    };
    std::thread::scope(|scope| scope.spawn(run).join().expect("no panic"))
}

fn kind(failure: &TaskFailure, means: &'static str) -> Entry {
    Entry::plain(&format!("`FaultKind::{:?}`", failure.kind), [failure], means)
}

/// A graph that begins at `explore`.
fn explore<M>(node: impl graph_engine::IntoNode<Trip, M>) -> Builder<Trip> {
    trip().node("explore", node).edge(START, "explore")
}

/// A hand-written node before `quote`, which asks for a text.
fn by_hand(dynamic: bool, outcome: fn() -> Outcome<Trip>) -> Builder<Trip> {
    let mut info = NodeInfo::default();
    info.dynamic = dynamic;
    explore(ByHand { info, outcome }).node("quote", quote)
}

const SHORT: Duration = Duration::from_millis(1);
const LONG: Duration = Duration::from_millis(50);

/// The same, before a node that asks for nothing.
fn undeclared(outcome: fn() -> Outcome<Trip>) -> Builder<Trip> {
    explore(ByHand { info: NodeInfo::default(), outcome }).node("present", rest).edge("explore", "present")
}

pub(crate) async fn section() -> Section {
    let flaky = (|| ready(Err::<(), NodeError>("no answer".into()))).retry(Retry::fixed(3, Duration::from_millis(1)));
    let unsure = (|| ready(Err::<(), NodeError>("no answer".into())))
        .retry(Retry::fixed(3, Duration::ZERO).when(|_| panic!("no idea")));
    let told = error_of(runner(explore(emit_nan)).thread("guest-7").run(Trip::update()).stream().end()).await;
    let mut entries = vec![
        kind(&first(explore(flaky)).await, "The node returned an error. `.retry(..)` tries it again; here it did."),
        kind(
            &first(explore(fails("no map"))).await,
            "The node says by `NodeError::fatal` that trying again can't help.",
        ),
        kind(
            &first(explore(slow.timeout(Duration::from_millis(200)))).await,
            "The attempt was dropped at its next await. Raise `.timeout(..)`, or add `.retry(..)`, which counts it as \
             retryable.",
        ),
        kind(
            &first(explore(slow.idle_timeout(Duration::from_millis(200)))).await,
            "The attempt neither emitted nor called `Ctx::heartbeat` for so long. It is retryable too.",
        ),
        kind(&first(explore(breaks)).await, "A defect of the node. It is never retried, and the process goes on."),
        Entry::plain(
            "A retry predicate that panics",
            [says(first(explore(unsure))).await],
            "`Retry::when` is called with every retryable failure and must not panic. The kind is `Panicked`.",
        ),
    ];
    entries.extend(arguments().await);
    entries.extend(outcomes().await);
    entries.push(Entry::plain(
        "Work that blocks its thread for too long",
        [
            on_real_time(explore((|| async { std::thread::sleep(LONG) }).timeout(SHORT))),
            on_real_time(explore(blocking(|| std::thread::sleep(LONG)).timeout(SHORT))),
        ],
        "A thread can't be stopped. An async node that blocks holds up everything on its thread and is only found out \
         afterwards; with `blocking(..)` the others go on, and `RunReport::stuck` names what still runs when the turn \
         ends. The kind is `TimedOut`.",
    ));
    entries.push(Entry::plain(
        "An event that is not JSON",
        [&told.failures()[0]],
        "`Ctx::emit` fails only while somebody reads the turn's events.",
    ));
    Section {
        title: "Failures of a task",
        intro: "One line of `RunError::Step`: the node, its place in the step, the attempts, and what it said. The \
                words behind the second colon are the node's own, or, from the sixth entry on, the engine's. Those of \
                the engine are `FaultKind::Fatal` unless something else is said.",
        entries,
    }
}

async fn arguments() -> Vec<Entry> {
    let store = MemoryStore::new();
    let old = explore(send).node("quote", |_: In<String>| ready(Err::<(), NodeError>("no price".into())));
    let old = runner(old).store(store.clone());
    error_of(old.thread("guest-7").run(Trip::update())).await;
    let mut info = NodeInfo::default();
    info.dynamic = true;
    let new = explore(ByHand { info, outcome: Outcome::default }).node("quote", quote_number);
    let stored = error_of(runner(new).store(store).thread("guest-7").proceed()).await;
    let missing = node_once::<Trip, _>(search).run().await.expect_err("nobody provides it");
    vec![
        Entry::plain(
            "A payload of another type",
            [
                says(first(by_hand(true, || Outcome::default().fan_out("quote", [7_u32])))).await,
                stored.failures()[0].to_string(),
            ],
            "Only targets that are named at run time get here; declared ones are checked by `G009`. Send what `In<T>` \
             of the receiver asks for. The second line is a payload from a checkpoint that was made when the node \
             asked for another type.",
        ),
        Entry::plain(
            "No payload",
            [says(first(by_hand(true, || Outcome::default().go("quote")))).await],
            "The same for a node that was reached by a plain `go`.",
        ),
        Entry::plain(
            "A missing resource",
            [missing],
            "In a turn `RunError::MissingResource` comes first; this is what `testing::node_once` and resources that \
             are not declared say.",
        ),
        Entry::plain(
            "Feedback of another type",
            [says(first(explore(read_feedback))).await],
            "`Ctx::feedback::<T>` reads what a `stay` said. Let both use one type.",
        ),
    ]
}

async fn outcomes() -> Vec<Entry> {
    let stays = [
        says(first(undeclared(|| Outcome::default().stay(json!("again"))))).await,
        says(first(undeclared(|| Outcome::default().direct(json!("hello"))))).await,
        says(first(undeclared(|| Outcome::default().finish(json!("goodbye"))))).await,
    ];
    vec![
        Entry::plain(
            "An undeclared write",
            [says(first(explore(name_city.writes(Trip::NOTES)))).await],
            "`.writes(..)` lists the only fields a node may write, which is what lets `compile()` find conflicts.",
        ),
        Entry::plain(
            "An undeclared target",
            [
                says(first(undeclared(|| Outcome::default().go("present")))).await,
                says(first(by_hand(true, || Outcome::default().go("gone")))).await,
            ],
            "Only hand-written nodes get here. Name the target in `NodeInfo::targets` or `NodeInfo::named_targets`, or \
             correct the name.",
        ),
        Entry::plain(
            "An undeclared move",
            stays,
            "Only hand-written nodes get here. Set `stay`, `direct` or `finish` in what `Node::describe` returns.",
        ),
        Entry::plain(
            "A reply or feedback that is not JSON",
            [says(first(explore(reply_nan))).await],
            "What `stay`, `direct` and `finish` carry is kept as JSON, which has no NaN and only text as keys.",
        ),
    ]
}

pub(crate) async fn routers() -> Section {
    let source = |error: graph_engine::TurnError| match *error.error {
        RunError::Router { cause: source, .. } => source.to_string(),
        other => panic!("not a router: {other}"),
    };
    let nothing = explore(rest).route("explore", |_: &Trip| Next::<Again>::declared());
    let broken = explore(rest).route("explore", |_: &Trip| -> Next<Again> { panic!("no such city") });
    let nan = explore(rest).route("explore", |_: &Trip| Next::<Again>::direct(f64::NAN));
    Section {
        title: "Choices of a router",
        intro: "What stands behind \"the router of .. failed\" in `RunError::Router` and `RunError::Entry`, when it is \
                not the router's own error.",
        entries: vec![
            Entry::plain(
                "No choice",
                [source(fail(nothing).await)],
                "`Next::declared` means the declared router, which is this one. Return a variant, or one with \
                 `#[route(end)]`.",
            ),
            Entry::plain("A router that panics", [source(fail(broken).await)], "A defect of the router."),
            Entry::plain(
                "A reply of a router that is not JSON",
                [source(fail(nan).await)],
                "As for a node: JSON has no NaN and only text as keys.",
            ),
        ],
    }
}
