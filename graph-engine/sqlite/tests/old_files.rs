//! Files that an earlier version of this crate wrote.

mod common;
#[path = "common/history.rs"]
mod history;

use std::path::PathBuf;

use common::commit;
use graph_engine::{CheckpointStore, Filter, Keep, MemoryStore, Place, StoreError};
use graph_engine_sqlite::{SqliteOptions, SqliteStore, Synchronous};

/// What version 1 made of the history, as SQL.
const VERSION_1: &str = include_str!("common/version_1.sql");

fn file() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("threads.sqlite");
    rusqlite::Connection::open(&path).unwrap().execute_batch(VERSION_1).unwrap();
    (folder, path)
}

fn open(path: &PathBuf) -> SqliteStore {
    SqliteOptions::new().synchronous(Synchronous::Off).open(path).unwrap()
}

#[tokio::test]
async fn the_history_of_a_file_of_version_1_reads_as_it_was_written() {
    let (_folder, path) = file();
    let memory = MemoryStore::new();
    history::make(&memory).await;
    let wanted = history::read(&memory).await;
    // It is brought to this version once, and is of this version then.
    for _ in 0..2 {
        let read = history::read(&open(&path)).await;
        for (read, wanted) in read.iter().zip(&wanted) {
            assert_eq!(read, wanted);
        }
        assert_eq!(read.len(), wanted.len());
    }
    let other = rusqlite::Connection::open(&path).unwrap();
    let sql = "SELECT count(*) FROM sqlite_schema WHERE name IN ('checkpoints', 'segments', 'series', 'branches')";
    assert_eq!(other.query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap(), 0);
}

#[tokio::test]
async fn a_file_of_version_1_is_gone_on_with() {
    let (_folder, path) = file();
    let (store, memory) = (open(&path), MemoryStore::new());
    history::make(&memory).await;
    for store in [&store as &dyn CheckpointStore, &memory] {
        for thread in ["guest-7", "last", "young"] {
            let place = Place::thread(thread);
            let infos = store.list(&place, &Filter::default()).await.unwrap();
            // A commit that is there already, one that follows the head, a fork from the middle.
            store.commit(&place, &store.row(&place, infos[1].id).await.unwrap().unwrap()).await.unwrap();
            let next = commit(Some(infos[0].id), "later", 100, "[\"later\"]");
            store.commit(&place, &next).await.unwrap();
            let mut fork = commit(Some(infos[2].id), "fork", 101, "[\"fork\"]");
            fork.fork = true;
            store.commit(&place, &fork).await.unwrap();
        }
        store.copy("guest-7", "guest-8").await.unwrap();
        store.prune(&Place::thread("guest-7"), Keep::Last(6)).await.unwrap();
        store.prune(&Place::new("gap", "child"), Keep::Last(2)).await.unwrap();
        assert!(store.delete("last").await.unwrap());
        store.copy("guest-8", "last").await.unwrap();
    }
    assert_eq!(history::read(&store).await, history::read(&memory).await);
}

#[tokio::test]
async fn a_history_is_the_same_in_both_stores() {
    let (store, memory) = (SqliteStore::in_memory().unwrap(), MemoryStore::new());
    history::make(&store).await;
    history::make(&memory).await;
    assert_eq!(history::read(&store).await, history::read(&memory).await);
}

#[tokio::test]
async fn a_damaged_file_of_version_1_is_left_as_it_was() {
    let (_folder, path) = file();
    let other = rusqlite::Connection::open(&path).unwrap();
    other.execute_batch("UPDATE checkpoints SET id = 'short' WHERE step = 7").unwrap();
    let error = SqliteStore::open(&path).unwrap_err();
    assert!(matches!(error, StoreError::Corrupt { .. }), "{error}");
    let tables: i64 = other
        .query_row("SELECT count(*) FROM checkpoints, (SELECT max(version) FROM migrations)", [], |row| row.get(0))
        .unwrap();
    assert!(tables > 0, "nothing was changed");
}

#[tokio::test]
async fn a_damaged_file_of_version_1_whose_branches_go_round_is_refused_and_stays_as_it_is() {
    let (_folder, path) = file();
    let other = rusqlite::Connection::open(&path).unwrap();
    other.execute_batch("UPDATE branches SET parent = branch, fork = 1").unwrap();
    drop(other);
    let error = SqliteStore::open(&path).unwrap_err();
    assert!(matches!(error, StoreError::Corrupt { .. }), "{error}");
    assert!(error.to_string().contains("comes after itself"), "{error}");
    let other = rusqlite::Connection::open(&path).unwrap();
    let version: i64 = other.query_row("SELECT max(version) FROM migrations", [], |row| row.get(0)).unwrap();
    assert_eq!(version, 1);
}
