//! Why a turn fails while it runs: conflicts, failures, merges, limits.

use std::time::Duration;

use graph_engine::{Builder, ChildError, In, MemoryStore, Next, NodeError, Route, RunError, START, TurnError, child};

use crate::doc::{Entry, Section};
use crate::trip::{Trip, TripUpdate, error_of, fail, fails, name_city, rest, run, runner, slow, trip, writes};

#[derive(Route)]
enum ToExplore {
    Explore,
}

#[derive(Route)]
#[route(stay)]
enum Around {}

/// A turn's error with a store, and without.
async fn twice(graph: impl Fn() -> Builder<Trip>) -> [TurnError; 2] {
    [run(&runner(graph()).store(MemoryStore::new())).await, fail(graph()).await]
}

/// The entry of one variant, from turns that fail with it.
pub(crate) fn turn(means: &'static str, errors: impl IntoIterator<Item = TurnError>) -> Entry {
    let mut errors = errors.into_iter();
    let first = errors.next().expect("an error");
    let mut entry = run_error(means, [&*first.error]);
    entry.texts = vec![first.to_string()];
    for other in errors {
        let again = run_error(means, [&*other.error]);
        assert_eq!(again.name, entry.name);
        entry.texts.push(other.to_string());
    }
    entry
}

/// The same from errors that don't come from a turn.
pub(crate) fn run_error<'e>(means: &'static str, errors: impl IntoIterator<Item = &'e RunError>) -> Entry {
    let mut errors = errors.into_iter();
    let first = Entry::variant("RunError", errors.next().expect("an error"), means);
    errors.fold(first, Entry::and)
}

pub(crate) async fn section() -> Section {
    let mut entries = steps().await;
    entries.extend(limits().await);
    Section {
        title: "Running a turn",
        intro: "A turn ends with a `TurnError`: a `RunError`, what the turn did until then, and whether the thread can \
                go on. Where what comes next depends on the runner's store, the first line is with a store and the \
                second without. What is stored is always the last good checkpoint.",
        entries,
    }
}

async fn steps() -> Vec<Entry> {
    let fork = || trip().node("ask", name_city).node("look", name_city).edge(START, "ask").edge(START, "look");
    let failing = || trip().node("explore", fails("no map")).edge(START, "explore");
    let both = failing().node("quote", fails("no price")).edge(START, "quote");
    let lost = || trip().node("explore", rest).edge(START, "explore").route("explore", no_way);
    let merging = || trip().node("pay", writes(|| Trip::update().total(-5))).edge(START, "pay");
    let beast = trip().node("pay", writes(|| Trip::update().total(666))).edge(START, "pay");
    let entering = trip().node("explore", rest).route(START, no_way);
    let resting = || runner(trip().node("explore", rest).edge(START, "explore")).thread("guest-7");
    let refused = |update: TripUpdate| async move { error_of(resting().run(update)).await };
    vec![
        turn(
            "Two nodes of one super-step wrote a field without a merge rule. A task is named by super-step and place. \
             Declare `.writes(..)` on both nodes to find the same when the graph compiles.",
            twice(fork).await,
        ),
        turn(
            "Tasks failed and no retry is left; `TurnError::failures` has each with its kind and source. The results \
             of the other tasks are kept, if there is a store. What a failure says is in \"Failures of a task\".",
            twice(failing).await.into_iter().chain([fail(both).await]),
        ),
        turn(
            "The router of a node returned an error or an impossible choice (see \"Choices of a router\"). Mend the \
             router; with a store `proceed` asks it again and runs no node twice.",
            twice(lost).await,
        ),
        turn(
            "The function of a `#[state(with = ..)]` field refused an item or panicked. Mend it or the node that \
             writes the item; every task of the step will run again.",
            twice(merging).await.into_iter().chain([fail(beast).await]),
        ),
        turn(
            "The same for what was given to `run`. The thread stands where it stood.",
            [refused(Trip::update().total(-5)).await, refused(Trip::update().total(666)).await],
        ),
        turn("The router of `START` failed, so the turn never began.", [fail(entering).await]),
    ]
}

const SHORT: Duration = Duration::from_millis(10);

fn wide() -> Builder<Trip> {
    let spread = |_: &Trip| Next::fan_out((0..3).map(ToQuote::Quote));
    trip().node("explore", rest).node("quote", quote).edge(START, "explore").route("explore", spread)
}

fn noting() -> Builder<Trip> {
    trip().node("explore", writes(|| Trip::update().notes(["a long story"]))).edge(START, "explore")
}

fn slowly() -> Builder<Trip> {
    trip().node("explore", slow).edge(START, "explore")
}

#[derive(Route)]
enum ToQuote {
    Quote(u32),
}

async fn quote(_: In<u32>) {}

fn no_way(_: &Trip) -> Result<ToExplore, NodeError> {
    Err("no way".into())
}

/// The error of a child graph, which the failure of the task around it holds.
async fn child_step_limit() -> Entry {
    let inner = trip().node("a", rest).node("b", rest).edge(START, "a").edge("a", "b").compile().expect("a graph");
    let around = trip().node("explore", child(&inner).per_thread().step_limit(1)).edge(START, "explore");
    let failed = fail(around).await;
    let error = failed.failures()[0].source.downcast_ref::<ChildError>().expect("the error of a child");
    run_error(
        "One call of a child graph has a limit of its own, beside that of the turn, in which its super-steps count too. \
         It stands in a `ChildError`, which names graph and namespace, and that in the failure of the task.",
        [&*error.error],
    )
}

async fn limits() -> Vec<Entry> {
    let around = || trip().node("explore", rest).edge(START, "explore").route("explore", |_: &Trip| ToExplore::Explore);
    let limited = |store: bool| {
        let runner = runner(around()).step_limit(3);
        if store { runner.store(MemoryStore::new()) } else { runner }
    };
    let stay = |_: &Trip| Next::<Around>::stay("again");
    let alone = trip().node("explore", rest).edge(START, "explore").route("explore", stay);
    let inside =
        trip().cluster("stage", "explore", |c| c.node("explore", rest).route("explore", stay)).edge(START, "explore");
    vec![
        turn(
            "Mostly a loop that never ends. If the work is really that long, raise the limit; the default is 100.",
            [run(&limited(true)).await, run(&limited(false)).await],
        ),
        child_step_limit().await,
        turn(
            "A cluster, or a node in none, asked to run again too often since it was entered; the default is 10. Raise \
             the limit, or let the node give up after some attempts (`Ctx::attempt`, the state).",
            [
                run(&runner(alone).stay_limit(2).store(MemoryStore::new())).await,
                run(&runner(inside).stay_limit(2)).await,
            ],
        ),
        turn(
            "One step would send more tasks than may run, as a list from outside may ask for; the default is 10,000. \
             None of them has run.",
            [
                run(&runner(wide()).fan_out_limit(2).store(MemoryStore::new())).await,
                run(&runner(wide()).fan_out_limit(2)).await,
            ],
        ),
        turn(
            "The state grew past `Runner::state_limit`; there is no limit by default. Keep large values outside and \
             their keys in the state.",
            [run(&runner(noting()).state_limit(10).store(MemoryStore::new())).await],
        ),
        turn(
            "The turn took longer than `Runner::deadline` or `Turn::deadline`; there is none by default. What ran was \
             cancelled, what had finished is kept if there is a store.",
            [
                run(&runner(slowly()).deadline(SHORT).store(MemoryStore::new())).await,
                run(&runner(slowly()).deadline(SHORT)).await,
            ],
        ),
    ]
}
