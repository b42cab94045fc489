//! Graphs with a store: checkpoints, many threads, resuming, questions to a human; and large states without one.

use std::cell::Cell;
use std::path::{Path, PathBuf};

use futures_util::future::join_all;
use graph_engine::{Ctx, Filter, Graph, MemoryStore, Node, NodeError, Runner, START, Snap, State, Status};
use graph_engine_sqlite::{SqliteOptions, SqliteStore, Synchronous};
use measure::{Asked, Times, stored_bytes};

use crate::shapes::chain;
use crate::state::{Again, Chat, Count, CountUpdate, Here, Say, Tick, message};

pub(crate) fn sqlite(path: &Path, synchronous: Synchronous) -> SqliteStore {
    SqliteOptions::new().synchronous(synchronous).open(path).expect("opens")
}

fn looping(node: impl Node<Chat>, steps: u64) -> Runner<Chat> {
    let again = |chat: &Chat| Again::until(chat.n >= chat.limit);
    let graph = Graph::builder("chat").node("tick", node).edge(START, "tick").route("tick", again);
    graph.compile().expect("compiles").runner().step_limit(steps + 1).timings(false)
}

/// `idle` or `append`, with so much in the state: `0`, or `1m` for 10,000 messages.
pub(crate) fn state_size(here: &Here, asked: &Asked) -> Times {
    let (append, large) = (asked.variant.starts_with("append"), asked.variant.ends_with("1m"));
    let history: Vec<_> = (0..if large { 10_000 } else { 0 }).map(message).collect();
    let runner = if append { looping(Say, asked.n) } else { looping(Tick, asked.n) };
    let length = history.len() + if append { asked.n as usize } else { 0 };
    // The input is given away, so each run gets messages of its own, made outside of the time.
    let make = || Chat::update().limit(asked.n).messages(history.clone());
    asked.each(asked.n, make, |input| {
        let end = here.run(async { runner.thread("t").run(input).await }).expect("ends");
        assert_eq!((end.state.n, end.state.messages.len()), (asked.n, length));
        end
    })
}

/// How many checkpoints a thread has.
fn checkpoints<S: State + Default>(here: &Here, runner: &Runner<S>, thread: &str) -> u64 {
    here.run(async { runner.thread(thread).history(&Filter::default()).await }).expect("a history").len() as u64
}

fn with_store<S: State + Default>(asked: &Asked, runner: &Runner<S>, run: u64) -> (Runner<S>, Option<PathBuf>) {
    let kind = asked.variant.split('-').next().expect("a store");
    let synchronous = match kind {
        "none" => return (runner.clone(), None),
        "memory" => return (runner.clone().store(MemoryStore::new()), None),
        "sqlite_normal" => Synchronous::Normal,
        _ => Synchronous::Full,
    };
    let path = asked.fresh_file(run);
    (runner.clone().store(sqlite(&path, synchronous)), Some(path))
}

/// A fresh store of the kind that the variant begins with, for each run.
pub(crate) fn fresh<'a, S: State + Default>(
    asked: &'a Asked,
    runner: &'a Runner<S>,
) -> impl FnMut() -> (Runner<S>, Option<PathBuf>) + 'a {
    let runs = Cell::new(0);
    move || {
        runs.set(runs.get() + 1);
        with_store(asked, runner, runs.get())
    }
}

pub(crate) fn ckpt_loop(here: &Here, asked: &Asked) -> (Times, Option<u64>) {
    let grow = asked.variant.ends_with("grow");
    let runner = if grow { looping(Say, asked.n) } else { looping(Tick, asked.n) };
    let (times, (runner, path)) = asked.each_kept(asked.n, fresh(asked, &runner), |(runner, path)| {
        let end = here.run(async { runner.thread("t").run(Chat::update().limit(asked.n)).await }).expect("ends");
        assert_eq!((end.state.n, end.state.messages.len() as u64), (asked.n, if grow { asked.n } else { 0 }));
        (runner, path)
    });
    assert!(checkpoints(here, &runner, "t") > asked.n);
    drop(runner);
    (times, path.map(|path| stored_bytes(&path)))
}

pub(crate) fn threads(here: &Here, asked: &Asked) -> Times {
    let graph = chain::<Count, _>(5, || Tick).compile().expect("compiles");
    let runner = graph.runner().timings(false);
    let (times, (runner, _)) = asked.each_kept(asked.n, fresh(asked, &runner), |(runner, path)| {
        let turns = (0..asked.n).map(|i| runner.thread(i.to_string()).run(Count::update()).into_future());
        let ends = here.run(join_all(turns));
        assert!(ends.iter().all(|end| end.as_ref().is_ok_and(|end| end.state.n == 5)));
        (runner, path)
    });
    assert_eq!(checkpoints(here, &runner, &(asked.n - 1).to_string()), 6);
    times
}

pub(crate) fn resume(here: &Here, asked: &Asked) -> Times {
    let (runner, _) = with_store(asked, &looping(Say, asked.n), 0);
    let thread = runner.thread("t");
    here.run(async { thread.run(Chat::update().limit(asked.n)).await }).expect("ends");
    assert!(checkpoints(here, &runner, "t") > asked.n);
    match asked.variant.split_once('-').expect("a call").1 {
        "state" => asked.times(1, || {
            let state = here.run(thread.state()).expect("a state");
            assert_eq!(state.state.messages.len() as u64, asked.n);
        }),
        "history10" => asked.times(1, || {
            let history = here.run(async { thread.history(&Filter::default().limit(10)).await }).expect("a history");
            assert_eq!(history.len(), 10);
            // Peers give each checkpoint with its state.
            for checkpoint in history {
                let state = here.run(thread.state_at(Some(checkpoint.id))).expect("a state");
                assert!(state.state.messages.len() as u64 > asked.n - 10);
            }
        }),
        _ => asked.times(1, || {
            let end = here.run(async { thread.run(Chat::update().limit(0)).await }).expect("ends");
            assert!(end.state.messages.len() as u64 > asked.n);
        }),
    }
}

pub(crate) fn interrupt(here: &Here, asked: &Asked) -> Times {
    let ask = async |count: Snap<Count>, ctx: Ctx| -> Result<CountUpdate, NodeError> {
        let answer = ctx.interrupt::<u64>("how many?")?;
        Ok(Count::update().n(count.n + answer))
    };
    let again = |count: &Count| Again::until(count.n >= count.limit);
    let graph = Graph::builder("ask").node("tick", ask).edge(START, "tick").route("tick", again);
    let runner = graph.compile().expect("compiles").runner().timings(false);
    asked.each(asked.n, fresh(asked, &runner), |(runner, path)| {
        let thread = runner.thread("t");
        here.run(async {
            let mut end = thread.run(Count::update().limit(asked.n)).await.expect("it pauses");
            for _ in 0..asked.n {
                assert_eq!(end.status, Status::Paused);
                end = thread.resume(1).await.expect("it goes on");
            }
            assert_eq!((end.status, end.state.n), (Status::Done, asked.n));
        });
        (runner, path)
    })
}
