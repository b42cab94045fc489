//! The long-term store in a SQLite file does what every long-term store promises, also beside checkpoints.

use graph_engine::longterm::{LongTermError, LongTermSettings, LongTermStore, Namespace, Search};
use graph_engine::{CheckpointStore, Commit, Place};
use graph_engine_sqlite::{SqliteLongTerm, SqliteOptions, SqliteStore};
use serde_json::json;

mod in_a_file {
    use super::*;

    graph_engine::long_term_store_conformance!(|settings| async move {
        let folder = tempfile::tempdir().unwrap();
        let store = SqliteLongTerm::open(folder.path().join("x.sqlite"), SqliteOptions::new(), settings).unwrap();
        (store, folder)
    });
}

mod in_memory {
    use super::*;

    graph_engine::long_term_store_conformance!(|settings| async move { SqliteLongTerm::in_memory(settings).unwrap() });
}

#[tokio::test]
async fn one_file_holds_checkpoints_and_memories_whichever_was_opened_first() {
    for memories_first in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.sqlite");
        let memories = || SqliteLongTerm::open(&path, SqliteOptions::new(), LongTermSettings::new()).unwrap();
        let threads = || SqliteStore::open(&path).unwrap();
        let (memories, threads) = if memories_first {
            let memories = memories();
            (memories, threads())
        } else {
            let threads = threads();
            (memories(), threads)
        };
        let user = Namespace::new(["users", "7"]).unwrap();
        memories.put(&user, "a", json!("sea")).await.unwrap();
        threads.commit(&Place::thread("t"), &Commit::default()).await.unwrap();
        assert!(threads.delete("t").await.unwrap());
        assert_eq!(memories.search(Search::under(&user).text("sea")).await.unwrap().len(), 1);
    }
}

#[tokio::test]
async fn what_is_damaged_is_named_and_the_rest_is_still_readable() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.sqlite");
    let memories = SqliteLongTerm::open(&path, SqliteOptions::new(), LongTermSettings::new()).unwrap();
    let user = Namespace::new(["users", "7"]).unwrap();
    for key in ["a", "b"] {
        memories.put(&user, key, json!({"n": 1})).await.unwrap();
    }
    let raw = rusqlite::Connection::open(&path).unwrap();
    raw.execute("UPDATE memory_items SET value = '{\"n\":' WHERE key = 'a'", []).unwrap();
    let error = memories.get(&user, "a").await.unwrap_err();
    let LongTermError::Corrupt { namespace, key, .. } = &error else { panic!("{error}") };
    assert_eq!((namespace.as_str(), key.as_str()), ("/users/7", "a"));
    assert!(matches!(memories.search(Search::under(&user)).await, Err(LongTermError::Corrupt { .. })));
    assert_eq!(memories.get(&user, "b").await.unwrap().unwrap().value, json!({"n": 1}));
    memories.put(&user, "a", json!(2)).await.unwrap();
    assert_eq!(memories.search(Search::under(&user)).await.unwrap().len(), 2);
}

#[test]
fn a_file_of_another_program_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.sqlite");
    rusqlite::Connection::open(&path).unwrap().execute_batch("CREATE TABLE theirs (x)").unwrap();
    let error = SqliteLongTerm::open(&path, SqliteOptions::new(), LongTermSettings::new()).unwrap_err();
    assert!(matches!(&error, LongTermError::Unavailable { .. }), "{error}");
    assert!(error.to_string().contains("another program"), "{error}");
}
