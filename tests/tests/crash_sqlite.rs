//! Processes that are killed at random moments while they write to a SQLite file, and two that write to one thread.
//!
//! `scripts/crash` kills more of them.

use std::sync::Arc;

use behaviour_tests::crash::{Killing, RACES, verify_race};
use graph_engine::CheckpointStore;
use graph_engine_sqlite::SqliteStore;

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

#[tokio::test]
async fn killed_processes_lose_no_acknowledged_step_and_do_nothing_twice_but_what_was_in_flight() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("threads.sqlite");
    let killing = Killing {
        child: env!("CARGO_BIN_EXE_crash-child"),
        store: file.to_str().unwrap(),
        folder: folder.path(),
        kills: number("CRASH_KILLS").map_or(500, |kills| usize::try_from(kills).unwrap()),
        seed: number("CRASH_SEED").unwrap_or(20),
    };
    let store = async || Arc::new(SqliteStore::open(&file).unwrap()) as Arc<dyn CheckpointStore>;
    killing.go(store).await;
}

#[tokio::test]
async fn of_two_processes_on_one_thread_exactly_one_wins_each_step() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("threads.sqlite");
    // Made before both begin.
    drop(SqliteStore::open(&file).unwrap());
    let killing = Killing {
        child: env!("CARGO_BIN_EXE_crash-child"),
        store: file.to_str().unwrap(),
        folder: folder.path(),
        kills: 0,
        seed: 0,
    };
    killing.race();
    // One input and one step for each.
    const { assert!(RACES * 2 >= 1_000) };
    verify_race(Arc::new(SqliteStore::open(&file).unwrap())).await.unwrap();
}
