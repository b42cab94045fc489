//! How large a file becomes, and that loading costs what the state holds.

mod common;

use std::path::Path;

use common::commit;
use graph_engine::{CheckpointId, CheckpointStore, Commit, Keep, Place};
use graph_engine_sqlite::{Format, SqliteOptions, Synchronous};

/// What the limit program stores a super-step: one row with a delta of 140 bytes.
const LIMIT: u64 = 193;

fn options() -> SqliteOptions {
    SqliteOptions::new().synchronous(Synchronous::Off)
}

/// The position of a graph with one task.
fn with_position(mut commit: Commit) -> Commit {
    commit.bytes.truncate(commit.fields[0].bytes.end);
    let position = format!("{{\"step\":{},\"next\":[\"agent\"]}}", commit.step);
    commit.bytes.extend_from_slice(position.as_bytes());
    commit
}

async fn bytes(path: &Path, steps: u64, format: Format) -> u64 {
    let store = options().format(format).open(path).unwrap();
    let (place, mut parent) = (Place::thread("guest-7"), None);
    let item = format!("[{{\"role\":\"user\",\"text\":\"{}\"}}]", "x".repeat(113));
    assert_eq!(item.len(), 140);
    for step in 0..steps {
        let next = with_position(commit(parent, "turn-1", step, &item));
        store.commit(&place, &next).await.unwrap();
        parent = Some(next.id);
    }
    // Not the length of the file: what is in the log beside it gets there when the store has closed, some time later.
    let other = rusqlite::Connection::open(path).unwrap();
    let sql = "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size";
    other.query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap().unsigned_abs()
}

#[tokio::test]
async fn storage_is_linear_and_within_the_limit() {
    let folder = tempfile::tempdir().unwrap();
    // In tenths of what the limit program takes.
    for (format, most) in [(Format::Json, 12), (Format::MessagePack, 12)] {
        let path = |steps: u64| folder.path().join(format!("{format:?} {steps}"));
        let (half, whole) = (bytes(&path(1_000), 1_000, format).await, bytes(&path(2_000), 2_000, format).await);
        let (a_step, growth) = (whole / 2_000, whole as f64 / half as f64);
        assert!(a_step * 10 <= LIMIT * most, "{format:?}: {a_step} bytes a super-step");
        assert!(growth <= 2.05, "{format:?}: {growth}");
    }
}

#[tokio::test]
async fn pruning_and_deleting_give_the_room_to_what_comes_later() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("threads.sqlite");
    let store = options().open(&path).unwrap();
    let fill = async |name: String| -> CheckpointId {
        let (place, mut parent) = (Place::thread(name), None);
        for step in 0..300 {
            let mut next = commit(parent, "turn", step, &format!("[\"{}\"]", "x".repeat(400)));
            // The last one is a base: nothing before it is needed.
            if step == 299 {
                next.fields[0].encoding = graph_engine::Encoding::Base;
            }
            store.commit(&place, &next).await.unwrap();
            parent = Some(next.id);
        }
        parent.unwrap()
    };
    let pages = || {
        let other = rusqlite::Connection::open(&path).unwrap();
        other
            .query_row("SELECT page_count - freelist_count FROM pragma_page_count, pragma_freelist_count", [], |row| {
                row.get::<_, i64>(0)
            })
            .unwrap()
    };
    let empty = pages();
    fill("a".to_owned()).await;
    let full = pages();
    store.prune(&Place::thread("a"), Keep::Last(1)).await.unwrap();
    let pruned = pages();
    assert!(full > empty + 30 && pruned <= empty + 2, "{empty} {full} {pruned}");
    for round in 0..3 {
        fill(format!("b{round}")).await;
        assert!(pages() <= full + 2, "{} {full}", pages());
        assert!(store.delete(&format!("b{round}")).await.unwrap());
    }
    store.delete("a").await.unwrap();
    assert_eq!(pages(), empty);
    let other = rusqlite::Connection::open(&path).unwrap();
    for table in ["places", "blocks", "large", "ids", "saved"] {
        let rows: i64 = other.query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get(0)).unwrap();
        assert_eq!(rows, 0, "{table}");
    }
}
