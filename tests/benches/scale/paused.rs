//! Threads that wait for an answer, in SQLite and in memory.

use std::path::Path;
use std::time::Instant;

use graph_engine::{CheckpointStore, Durability, MemoryStore, Runner, Status, ThreadFilter};
use graph_engine_sqlite::{Format, SqliteOptions, SqliteStore, Synchronous};
use rusqlite::Connection;

use crate::case::{Case, Figure};
use crate::process::{Since, each, median, peak, resident};
use crate::talk::{asking, id, pause};
use crate::workloads::Here;
use crate::workloads::chat::Chat;
use crate::workloads::sqlite::folded;

/// How many single calls are timed; the median counts.
const CALLS: u64 = 100;

/// The same for pages, for each of which the memory store looks at all threads.
const PAGES: u64 = 10;

/// Threads of a page.
const PAGE: usize = 100;

/// The settings of the largest measurement.
const FULL: &str = "paused SQLite, sync, normal, JSON";

pub(crate) fn cases(threads: u64) -> Vec<Case> {
    let mut cases = vec![
        Case::new(FULL, threads / 100),
        Case::new(FULL, threads / 10),
        Case::new("paused SQLite, exit, normal, JSON", threads / 10),
        Case::new("paused SQLite, sync, normal, MessagePack", threads / 10),
        Case::new("paused SQLite, sync, full, JSON", threads / 10),
        Case::new(FULL, threads),
    ];
    for durability in ["sync", "exit"] {
        let memory = |size| Case::new(format!("paused memory, {durability}"), size);
        cases.extend([memory(10_000), memory(100_000)]);
    }
    cases
}

pub(crate) fn measure(case: &Case) -> Vec<Figure> {
    let durability = if case.has("exit") { Durability::Exit } else { Durability::Sync };
    let runner = asking().durability(durability);
    if case.has("SQLite") { in_sqlite(case, &runner) } else { in_memory(case, &runner) }
}

/// Makes the threads and says what that took, and how much larger the process has become.
fn make(here: &Here, runner: &Runner<Chat>, threads: u64) -> Vec<Figure> {
    let (before, since) = (resident(), Since::now());
    here.run(pause(runner, 0..threads));
    let (wall, cpu) = since.seconds();
    vec![
        Figure::new("made in", wall, "s"),
        Figure::new("CPU to make", cpu * 1e6 / threads as f64, "us a thread"),
        Figure::new("resident", each(before, threads), "bytes a thread"),
        Figure::new("process resident", resident() as f64, "bytes"),
        Figure::new("process peak", peak() as f64, "bytes"),
    ]
}

/// The median time of so many calls for threads from all over.
fn calls(count: u64, threads: u64, mut call: impl FnMut(String)) -> f64 {
    let time = |k: u64| {
        let since = Instant::now();
        call(id(k * (threads / count)));
        since.elapsed().as_secs_f64() * 1e6
    };
    median((0..count).map(time).collect())
}

/// Answers some of them, lists pages of them.
fn use_them(here: &Here, runner: &Runner<Chat>, store: &dyn CheckpointStore, threads: u64) -> Vec<Figure> {
    let resumed = calls(CALLS, threads, |id| {
        let end = here.run(runner.thread(id).resume(1).into_future()).expect("it ends");
        assert!(end.status == Status::Done && end.state.messages.len() == 2);
    });
    let page = calls(PAGES, threads, |id| {
        here.run(store.threads(&ThreadFilter::default().after(id).limit(PAGE))).expect("a list");
    });
    let all = here.run(store.threads(&ThreadFilter::default().limit(PAGE))).expect("a list");
    assert_eq!(all.len(), PAGE);
    vec![Figure::new("resume one, to its end", resumed, "us"), Figure::new("list a page of 100", page, "us")]
}

fn in_memory(case: &Case, runner: &Runner<Chat>) -> Vec<Figure> {
    let (here, store) = (Here::new(), MemoryStore::new());
    let runner = runner.clone().store(store.clone());
    let mut figures = make(&here, &runner, case.size);
    figures.push(Figure::new("stored, as the store counts", store.bytes(&id(0)) as f64, "bytes a thread"));
    figures.extend(use_them(&here, &runner, &store, case.size));
    figures
}

fn in_sqlite(case: &Case, runner: &Runner<Chat>) -> Vec<Figure> {
    let format = if case.has("MessagePack") { Format::MessagePack } else { Format::Json };
    let synchronous = if case.has("full") { Synchronous::Full } else { Synchronous::Normal };
    let options = SqliteOptions::new().synchronous(synchronous).format(format);
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("threads.sqlite");
    let here = Here::new();

    let store = options.clone().open(&file).expect("a store");
    let stored = runner.clone().store(store.clone());
    let mut figures = make(&here, &stored, case.size);
    let stats = store.stats();
    let bytes = folded(&Connection::open(&file).expect("a file")) as f64;
    figures.extend([
        Figure::new("file", bytes, "bytes"),
        Figure::new("file", bytes / case.size as f64, "bytes a thread"),
        Figure::new("commits", stats.changes as f64 / case.size as f64, "a thread"),
        Figure::new("commits in a transaction", stats.changes as f64 / stats.transactions as f64, ""),
    ]);
    figures.extend(use_them(&here, &stored, &store, case.size));
    drop((stored, store));
    figures.extend(opened_again(&here, runner, &options, &file, case.size));
    figures
}

/// What the first call costs in a process that has just opened the file, and those after it.
fn opened_again(here: &Here, runner: &Runner<Chat>, options: &SqliteOptions, file: &Path, threads: u64) -> Vec<Figure> {
    let since = Instant::now();
    let store: SqliteStore = options.clone().open(file).expect("a store");
    let opened = since.elapsed().as_secs_f64() * 1e6;
    let runner = runner.clone().store(store);
    let load = |id: String| {
        let state = here.run(runner.thread(id).state()).expect("a state");
        assert_eq!(state.state.messages.len(), 2);
    };
    let since = Instant::now();
    load(id(threads / 2));
    let first = since.elapsed().as_secs_f64() * 1e6;
    vec![
        Figure::new("open the file", opened, "us"),
        Figure::new("first load after it", first, "us"),
        Figure::new("a later load", calls(CALLS, threads, load), "us"),
    ]
}
