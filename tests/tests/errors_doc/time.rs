//! Why an edit, a fork, an export or an import is refused.

use std::io::{self, BufReader, Read, Write};

use graph_engine::{Edit, Filter, MemoryStore, Runner, START, TransferError};

use crate::doc::{Entry, Section};
use crate::trip::{Trip, error_of, rest, runner, trip};
use crate::turns::run_error;

fn resting() -> Runner<Trip> {
    let graph = trip().node("explore", rest).node("search", rest).node("book", rest);
    runner(graph.edge(START, "explore").edge(START, "search").join(["explore", "search"], "book"))
        .store(MemoryStore::new())
}

pub(crate) async fn section() -> Section {
    let runner = resting();
    let (thread, other) = (runner.thread("guest-7"), runner.thread("guest-8"));
    let nothing = [error_of(other.fork("guest-9")).await];
    thread.run(Trip::update()).break_before("book").await.expect("it stops");
    other.run(Trip::update()).await.expect("it ends");
    let unknown = [error_of(thread.edit(Trip::update()).as_node("pay")).await];
    let both = || Edit::new(Trip::update()).as_node("book");
    let refused = [
        error_of(thread.edit(Trip::update().draft("soon")).as_node("book")).await,
        error_of(thread.edit(Trip::update().total(-1)).in_place()).await,
        error_of(thread.edit_all([both().beside(both())])).await,
        error_of(thread.edit_all([both().beside(Edit::new(Trip::update()).in_place())])).await,
    ];
    let entries = vec![
        run_error(
            "The write breaks a rule of its fields or of the node in whose place it stands, or several writes of one \
             super-step don't fit together.",
            &refused,
        ),
        run_error(
            "An edit without `as_node` counts as written by the node that finished last, and several did so in one \
             super-step.",
            &[error_of(thread.edit(Trip::update())).await],
        ),
        run_error(
            "A name in `as_node`, `break_before` or `break_after`. START and END are no nodes to stop at.",
            &unknown,
        ),
        run_error("There is nothing to copy or to export under this id.", &nothing),
        run_error(
            "Forks and imports make a new thread; they never add to one.",
            &[error_of(thread.fork("guest-8")).await],
        ),
    ];
    Section {
        title: "Edits and copies of threads",
        intro: "What `Thread::edit`, `Thread::fork` and breakpoints refuse. All are variants of `RunError`.",
        entries,
    }
}

/// A writer and a reader that are broken.
struct Broken;

impl Write for Broken {
    fn write(&mut self, _: &[u8]) -> io::Result<usize> {
        Err(io::Error::other("no space left on device"))
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Read for Broken {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        Err(io::Error::other("connection reset"))
    }
}

fn transfer(means: &'static str, error: &TransferError) -> Entry {
    Entry::variant("TransferError", error, means)
}

pub(crate) async fn transfers() -> Section {
    let runner = resting();
    let thread = runner.thread("guest-7");
    thread.run(Trip::update()).await.expect("it ends");
    let mut text = Vec::new();
    thread.export(&mut text).await.expect("it is exported");
    let text = String::from_utf8(text).expect("JSON is text");
    let lines: Vec<&str> = text.lines().collect();
    let joined = |lines: &[&str]| format!("{}\n", lines.join("\n"));
    let empty = resting();
    let refuse = async |text: String| error_of(Box::pin(empty.import(text.as_bytes()))).await;
    let garbage = refuse(joined(&[lines[0], "garbage"])).await;
    let orphan = refuse(joined(&[lines[0], lines[2]])).await;
    let count = thread.history(&Filter::default()).await.expect("it is stored").len();
    assert_eq!(count + 2, lines.len());
    let entries = vec![
        transfer(
            "The store, the thread's id or the runner, as for every other call.",
            &error_of(Box::pin(runner.import(text.as_bytes()))).await,
        ),
        transfer(
            "What was written so far has no last line, so it is refused when it is imported.",
            &error_of(Box::pin(thread.export(Broken))).await,
        ),
        transfer("The reader failed.", &error_of(Box::pin(empty.import(BufReader::new(Broken)))).await),
        transfer("The line is no JSON of this form, or it stands in a wrong place.", &garbage).and(&orphan),
        transfer(
            "It was exported by another version of the engine. Import it with that one.",
            &refuse(text.replacen("\"version\":1", "\"version\":2", 1)).await,
        ),
        transfer("Only part of the file was copied.", &refuse(joined(&lines[..2])).await),
        transfer(
            "Somebody edited the file, or bytes of it were lost.",
            &refuse(text.replacen("turn-1", "turn-2", 1)).await,
        ),
        transfer("A line was copied.", &refuse(joined(&[lines[0], lines[1], lines[1]])).await),
    ];
    Section {
        title: "Exports and imports",
        intro: "What `Thread::export` and `Runner::import` refuse (`TransferError`). Of an import that fails nothing is \
                kept.",
        entries,
    }
}
