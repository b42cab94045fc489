//! Processes that are killed at random moments while they write to PostgreSQL, and two that write to one thread.
//!
//! The server is named by `GRAPH_ENGINE_POSTGRES_URL`; `scripts/postgres run` starts one for a command.

use std::sync::Arc;

use behaviour_tests::crash::{Killing, RACES, verify_race};
use graph_engine::CheckpointStore;
use graph_engine_postgres::PostgresStore;

/// The server, or the reason why there is none; with `CI=true` that is a failure.
#[expect(clippy::print_stdout, reason = "a skipped test says so")]
fn server() -> Option<String> {
    let url = std::env::var("GRAPH_ENGINE_POSTGRES_URL").ok();
    if url.is_none() {
        assert!(std::env::var("CI").is_err(), "GRAPH_ENGINE_POSTGRES_URL is not set");
        println!("skipped: GRAPH_ENGINE_POSTGRES_URL names no server; `scripts/postgres run` starts one");
    }
    url
}

async fn open(url: &str) -> Arc<dyn CheckpointStore> {
    Arc::new(PostgresStore::connect(url).await.unwrap())
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

#[tokio::test]
async fn killed_processes_lose_no_acknowledged_step_and_do_nothing_twice_but_what_was_in_flight() {
    let Some(url) = server() else { return };
    let folder = tempfile::tempdir().unwrap();
    let killing = Killing {
        child: env!("CARGO_BIN_EXE_crash-child"),
        store: &url,
        folder: folder.path(),
        kills: number("CRASH_KILLS").map_or(100, |kills| usize::try_from(kills).unwrap()),
        seed: number("CRASH_SEED").unwrap_or(21),
    };
    clear(&url).await;
    killing.go(async || open(&url).await).await;
}

/// Threads of an earlier run on the same server.
async fn clear(url: &str) {
    let store = open(url).await;
    for thread in store.threads(&graph_engine::ThreadFilter::default()).await.unwrap() {
        store.delete(&thread.thread).await.unwrap();
    }
}

#[tokio::test]
async fn of_two_processes_on_one_thread_exactly_one_wins_each_step() {
    let Some(url) = server() else { return };
    let folder = tempfile::tempdir().unwrap();
    let killing =
        Killing { child: env!("CARGO_BIN_EXE_crash-child"), store: &url, folder: folder.path(), kills: 0, seed: 0 };
    open(&url).await.delete("raced").await.unwrap();
    killing.race();
    const { assert!(RACES * 2 >= 1_000) };
    verify_race(open(&url).await).await.unwrap();
}
