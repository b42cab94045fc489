//! What a super-step writes into a SQLite file, counted: commits, rows, and pages of the log.
//!
//! Commits and pages are read from SQLite's own log, of which each frame is a page and the last frame of a commit says so.
//! The counts are those of a long turn minus those of a short one, so that what a turn writes once doesn't hide in them.

use std::path::Path;

use expect_test::{Expect, expect};
use graph_engine::{Durability, Graph, Log, Route, START, Snap, State};
use graph_engine_sqlite::{SqliteOptions, SqliteStore, Synchronous};
use rusqlite::Connection;

#[derive(State, Clone, Default)]
struct Chat {
    n: u64,
    limit: u64,
    #[state(append)]
    messages: Log<String>,
}

#[derive(Route)]
enum Again {
    Step,
    #[route(end)]
    End,
}

/// Counts, and says one thing of 100 bytes more if it is to.
fn graph(says: bool) -> Graph<Chat> {
    let step = move |chat: Snap<Chat>| {
        let n = chat.n;
        let update = Chat::update().n(n + 1);
        std::future::ready(if says { update.messages([format!("{n:0>100}")]) } else { update })
    };
    let again = |chat: &Chat| if chat.n < chat.limit { Again::Step } else { Again::End };
    Graph::builder("chat").node("step", step).edge(START, "step").route("step", again).compile().unwrap()
}

/// What a file holds after a turn.
#[derive(Debug, PartialEq)]
struct Counted {
    commits: u64,
    rows: u64,
    pages: u64,
}

/// Frames of the log since it was last begun anew, and those of them that end a commit.
fn log(path: &Path) -> (u64, u64) {
    let bytes = std::fs::read(path.with_extension("sqlite-wal")).unwrap();
    let number = |at: usize| u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap());
    let (size, salts) = (number(8) as usize, &bytes[16..24]);
    let frames = (32..bytes.len()).step_by(24 + size).filter(|at| &bytes[at + 8..at + 16] == salts);
    let ends: Vec<bool> = frames.map(|at| number(at + 4) != 0).collect();
    (ends.len() as u64, ends.iter().filter(|end| **end).count() as u64)
}

/// Rows of all tables.
fn rows(path: &Path) -> u64 {
    let file = Connection::open(path).unwrap();
    let mut names = file.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").unwrap();
    let names: Vec<String> = names.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
    let count = |name: &String| file.query_row(&format!("SELECT count(*) FROM {name}"), [], |row| row.get::<_, i64>(0));
    names.iter().map(|name| count(name).unwrap() as u64).sum()
}

async fn turn(store: SqliteStore, says: bool, durability: Durability, steps: u64) {
    let runner = graph(says).runner().step_limit(steps + 1).store(store).durability(durability);
    let end = runner.thread("t").run(Chat::update().limit(steps)).await.unwrap();
    assert_eq!(end.state.n, steps);
}

async fn counted(says: bool, durability: Durability, steps: u64) -> Counted {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("threads.sqlite");
    let store = SqliteOptions::new().synchronous(Synchronous::Off).open(&path).unwrap();
    let before = log(&path);
    turn(store.clone(), says, durability, steps).await;
    let (pages, commits) = log(&path);
    assert_eq!(store.stats().transactions, commits - before.1, "the store counts what it commits");
    Counted { commits: commits - before.1, rows: rows(&path), pages: pages - before.0 }
}

async fn hundred_steps(says: bool, expected: Expect) {
    let (short, long) = (counted(says, Durability::Sync, 20).await, counted(says, Durability::Sync, 120).await);
    let between = Counted {
        commits: long.commits - short.commits,
        rows: long.rows - short.rows,
        pages: long.pages - short.pages,
    };
    assert_eq!(between.commits, 100, "one commit a super-step");
    expected.assert_eq(&format!("{between:?}"));
}

#[tokio::test]
async fn a_super_step_that_counts_is_one_commit_with_as_many_rows_and_pages() {
    hundred_steps(false, expect!["Counted { commits: 100, rows: 1, pages: 103 }"]).await;
}

#[tokio::test]
async fn a_super_step_with_a_message_is_one_commit_with_as_many_rows_and_pages() {
    hundred_steps(true, expect!["Counted { commits: 100, rows: 4, pages: 109 }"]).await;
}

#[tokio::test]
async fn super_steps_that_are_stored_later_share_a_commit_between_ten_or_more() {
    let folder = tempfile::tempdir().unwrap();
    let store = SqliteOptions::new().open(folder.path().join("threads.sqlite")).unwrap();
    turn(store.clone(), true, Durability::Async, 2_000).await;
    let commits = store.stats().transactions;
    assert!(commits <= 200, "{commits} commits for 2,000 super-steps");
    let stored = graph(true).runner().store(store).thread("t").state().await.unwrap();
    assert_eq!((stored.step, stored.state.messages.len()), (2_000, 2_000));
}

#[tokio::test]
async fn a_turn_that_is_stored_at_its_end_is_as_many_commits_however_long_it_is() {
    let short = counted(true, Durability::Exit, 20).await;
    let long = counted(true, Durability::Exit, 120).await;
    assert_eq!((short.commits, long.commits), (1, 1));
    assert_eq!(short.rows, long.rows);
}
