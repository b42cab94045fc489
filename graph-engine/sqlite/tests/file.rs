//! Files: opened again, shared, full, damaged, of others, of a later version.

mod common;

use std::fs;
use std::sync::Arc;
use std::time::Duration;

use common::commit;
use graph_engine::{CheckpointStore, Encoding, FieldRow, Filter, Keep, Place, StoreError};
use graph_engine_sqlite::{Format, SqliteOptions, SqliteStore, Synchronous};

fn fast() -> SqliteOptions {
    SqliteOptions::new().synchronous(Synchronous::Off)
}

#[tokio::test]
async fn what_was_acknowledged_is_there_when_the_file_is_opened_again() {
    let folder = tempfile::tempdir().unwrap();
    let (path, place) = (folder.path().join("threads.sqlite"), Place::thread("t"));
    let mut parent = None;
    let modes = [Synchronous::Off, Synchronous::Normal, Synchronous::Full, Synchronous::Extra];
    for (step, mode) in modes.into_iter().enumerate() {
        for format in [Format::Json, Format::MessagePack] {
            let store = SqliteOptions::new().synchronous(mode).format(format).open(&path).unwrap();
            assert_eq!(store.load(&place, None).await.unwrap().map(|stored| stored.info.id), parent);
            let next = commit(parent, &format!("{format:?}"), step as u64, "[{\"role\":\"user\"}]");
            store.commit(&place, &next).await.unwrap();
            store.commit(&place, &next).await.unwrap();
            parent = Some(next.id);
        }
    }
    let store = SqliteStore::open(&path).unwrap();
    let stored = store.load(&place, None).await.unwrap().unwrap();
    assert!(stored.fields.len() == 8 && stored.fields.iter().all(|field| field.bytes == b"[{\"role\":\"user\"}]"));
    drop(store);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "the log is folded into the file and gone");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_stores_on_one_file_race_for_1000_steps_and_one_wins_each() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("threads.sqlite");
    let stores = [fast().open(&path).unwrap(), fast().open(&path).unwrap()];
    let place = Place::thread("t");
    let (mut parent, mut wins) = (None, [0, 0]);
    for step in 0..1_000 {
        let mine = ["one", "two"].map(|turn| commit(parent, turn, step, "[1]"));
        let tasks = [0, 1].map(|at| {
            let (store, place, mine) = (stores[at].clone(), place.clone(), mine[at].clone());
            tokio::spawn(async move { store.commit(&place, &mine).await })
        });
        let mut won = Vec::new();
        for (at, task) in tasks.into_iter().enumerate() {
            match task.await.unwrap() {
                Ok(()) => won.push(at),
                Err(error) => assert!(matches!(error, StoreError::Conflict { .. }), "{error}"),
            }
        }
        assert_eq!(won.len(), 1, "step {step}");
        wins[won[0]] += 1;
        parent = Some(mine[won[0]].id);
        let other = &stores[1 - won[0]];
        assert_eq!(other.load(&place, None).await.unwrap().unwrap().info.id, mine[won[0]].id);
    }
    assert_eq!((wins[0] + wins[1], stores[0].list(&place, &Filter::default()).await.unwrap().len()), (1_000, 1_000));
}

#[tokio::test]
async fn what_another_store_deleted_and_made_again_is_not_mistaken() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("threads.sqlite");
    let (one, two) = (fast().open(&path).unwrap(), fast().open(&path).unwrap());
    let (t, u) = (Place::thread("t"), Place::thread("u"));
    let first = commit(None, "turn", 0, "[1]");
    one.commit(&t, &first).await.unwrap();
    assert!(two.delete("t").await.unwrap());
    // It takes the numbers that `t` had.
    two.commit(&u, &first).await.unwrap();
    let next = commit(Some(first.id), "turn", 1, "[2]");
    assert!(matches!(one.commit(&t, &next).await, Err(StoreError::Conflict { .. })));
    assert_eq!(two.list(&u, &Filter::default()).await.unwrap().len(), 1);
    one.commit(&u, &next).await.unwrap();
    assert_eq!(one.namespaces("t").await.unwrap().len(), 0);
}

#[tokio::test]
async fn a_full_file_keeps_its_last_checkpoint_and_goes_on_when_there_is_room() {
    let folder = tempfile::tempdir().unwrap();
    let (path, place) = (folder.path().join("threads.sqlite"), Place::thread("t"));
    let store = fast().max_pages(60).open(&path).unwrap();
    let large = format!("[\"{}\"]", "x".repeat(10_000));
    let mut parent = None;
    let refused = loop {
        let next = commit(parent, "turn", 0, &large);
        match store.commit(&place, &next).await {
            Ok(()) => parent = Some(next.id),
            Err(error) => break (error, next),
        }
    };
    assert!(matches!(refused.0, StoreError::Full { .. }), "{}", refused.0);
    let stored = store.load(&place, None).await.unwrap().unwrap();
    assert_eq!(
        (Some(stored.info.id), stored.fields.iter().all(|field| field.bytes == large.as_bytes())),
        (parent, true)
    );
    // A small change of another thread fits in still.
    store.commit(&Place::thread("u"), &commit(None, "turn", 0, "[1]")).await.unwrap();
    drop(store);
    fast().open(&path).unwrap().commit(&place, &refused.1).await.unwrap();
}

#[tokio::test]
async fn another_writer_that_holds_the_file_is_waited_for_and_then_named() {
    let folder = tempfile::tempdir().unwrap();
    let (path, place) = (folder.path().join("threads.sqlite"), Place::thread("t"));
    let store = fast().busy_timeout(Duration::from_millis(50)).open(&path).unwrap();
    let other = rusqlite::Connection::open(&path).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let first = commit(None, "turn", 0, "[1]");
    let error = store.commit(&place, &first).await.unwrap_err();
    assert!(matches!(error, StoreError::Unavailable { .. }), "{error}");
    assert!(error.to_string().contains("another process writes for longer than the busy timeout"), "{error}");
    assert!(store.load(&place, None).await.unwrap().is_none(), "reading goes on");
    other.execute_batch("COMMIT").unwrap();
    store.commit(&place, &first).await.unwrap();
}

#[tokio::test]
async fn what_is_no_file_of_this_store_is_refused_and_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let text = folder.path().join("text");
    fs::write(&text, "no database, but a text that is longer than the header of one: ".repeat(9)).unwrap();
    let error = SqliteStore::open(&text).unwrap_err();
    assert!(matches!(error, StoreError::Corrupt { .. }) && error.to_string().contains("text"), "{error}");
    assert!(fs::read_to_string(&text).unwrap().starts_with("no database"));

    let foreign = folder.path().join("foreign");
    rusqlite::Connection::open(&foreign).unwrap().execute_batch("CREATE TABLE guests (name)").unwrap();
    let error = SqliteStore::open(&foreign).unwrap_err().to_string();
    assert!(error.contains("is a database of another program; give the store a file of its own"), "{error}");

    let missing = folder.path().join("no folder").join("threads.sqlite");
    let error = SqliteStore::open(missing).unwrap_err();
    assert!(matches!(error, StoreError::Unavailable { .. }), "{error}");
    assert!(error.to_string().contains("its folder has to be there and writable"), "{error}");
}

#[test]
fn a_new_file_may_be_opened_by_several_at_once() {
    for _ in 0..20 {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("threads.sqlite");
        let barrier = std::sync::Barrier::new(4);
        std::thread::scope(|scope| {
            let open = || {
                barrier.wait();
                fast().open(&path).map(drop)
            };
            let opened: Vec<_> = (0..4).map(|_| scope.spawn(open)).collect();
            opened.into_iter().for_each(|opened| opened.join().unwrap().unwrap());
        });
    }
}

#[tokio::test]
async fn a_file_of_a_later_version_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("threads.sqlite");
    drop(SqliteStore::open(&path).unwrap());
    let other = rusqlite::Connection::open(&path).unwrap();
    other.execute("INSERT INTO migrations VALUES (3, '')", []).unwrap();
    let error = SqliteStore::open(&path).unwrap_err().to_string();
    assert!(error.contains("has schema version 3, this program knows 2; open it with the newer program"), "{error}");
    other.execute("DELETE FROM migrations WHERE version = 3", []).unwrap();
    SqliteStore::open(&path).unwrap();
}

#[tokio::test]
async fn a_file_that_can_only_be_read_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("threads.sqlite");
    let store = fast().open(&path).unwrap();
    let place = Place::thread("t");
    store.commit(&place, &commit(None, "turn", 0, "[1]")).await.unwrap();
    drop(store);
    let mut rights = fs::metadata(&path).unwrap().permissions();
    rights.set_readonly(true);
    fs::set_permissions(&path, rights).unwrap();
    // The administrator may write whatever the rights say.
    if fs::OpenOptions::new().append(true).open(&path).is_err() {
        let store = SqliteStore::open(&path).unwrap();
        let error = store.commit(&place, &commit(None, "other", 0, "[1]")).await.unwrap_err();
        assert!(error.to_string().contains("the file can't be written"), "{error}");
    } else {
        assert_eq!(SqliteStore::open(&path).unwrap().namespaces("t").await.unwrap(), [""]);
    }
}

/// Changes bytes of the only block, in the last place where they are.
fn patch(other: &rusqlite::Connection, from: &[u8], to: &[u8]) {
    let mut bytes: Vec<u8> = other.query_row("SELECT bytes FROM blocks", [], |row| row.get(0)).unwrap();
    let at = bytes.windows(from.len()).rposition(|there| there == from).unwrap();
    bytes.splice(at..at + from.len(), to.iter().copied());
    other.execute("UPDATE blocks SET bytes = ?1", [bytes]).unwrap();
}

#[tokio::test]
async fn damaged_rows_name_thread_and_checkpoint_and_older_ones_are_readable() {
    let folder = tempfile::tempdir().unwrap();
    let (path, place) = (folder.path().join("threads.sqlite"), Place::thread("guest-7"));
    let store = fast().open(&path).unwrap();
    let first = commit(None, "turn", 0, "[1]");
    let mut second = commit(Some(first.id), "turn", 1, &format!("[\"{}\"]", "x".repeat(2_000)));
    second.tags = Arc::new([("tenant".to_owned(), "acme".to_owned())].into());
    second.fields.push(FieldRow::new("small", Encoding::Base, 0..0, second.bytes.len()..second.bytes.len() + 3));
    second.bytes.extend_from_slice(b"\"s\"{\"at\":1}");
    // What was the position is part of the field.
    second.fields[0].bytes.end = second.fields[1].bytes.start;
    store.commit(&place, &first).await.unwrap();
    store.commit(&place, &second).await.unwrap();
    let other = rusqlite::Connection::open(&path).unwrap();
    let kind = [&second.id.to_bytes()[..], b"\x01"].concat();
    let no_kind = [&second.id.to_bytes()[..], b"\x07"].concat();
    // In the order in which they are read, the last first: each is met before those that were there already.
    type Damage<'a> = Box<dyn Fn(&rusqlite::Connection) + 'a>;
    let sql = |sql: &'static str| -> Damage<'_> { Box::new(|other| other.execute_batch(sql).unwrap()) };
    let bytes = |from: &'static [u8], to: &'static [u8]| -> Damage<'_> { Box::new(|other| patch(other, from, to)) };
    let damages: [(Damage<'_>, &str); 10] = [
        (bytes(b"\x04\x10\"s\"", b"\x04\x20\"s\""), "field `small` of checkpoint"),
        (bytes(b"\x04\x20\"s\"", b"\x00\x20\"s\""), "field `small` of checkpoint"),
        (sql("UPDATE large SET bytes = x'20'"), "field `log` of checkpoint"),
        (sql("UPDATE large SET bytes = x''"), "the row is empty"),
        (sql("UPDATE large SET bytes = 'text'"), "a row can't be read"),
        (sql("DELETE FROM large"), "is missing"),
        (bytes(b"\x10{\"at\":1}", b"\x1f{\"at\":1}"), "the position of checkpoint"),
        (bytes(b"{\"tenant\":", b"{\"tenant\"}"), "the tags of checkpoint"),
        (Box::new(move |other| patch(other, &kind, &no_kind)), "the kind of checkpoint"),
        (bytes(b"\x00\x05small", b"\x00\x7fsmall"), "checkpoint"),
    ];
    for (at, (damage, said)) in damages.into_iter().enumerate() {
        damage(&other);
        let StoreError::Corrupt { thread, why } = store.load(&place, None).await.unwrap_err() else { panic!("{at}") };
        assert!(thread == "guest-7" && why.contains(said), "{at}: {why}");
        assert_eq!(store.load(&place, Some(first.id)).await.unwrap().unwrap().fields.len(), 1, "{at}");
        assert_eq!(store.list(&place, &Filter::default().before(second.id)).await.unwrap().len(), 1, "{at}");
    }
    // The end of the block is gone: nothing is taken for the newest one, and nothing is added behind it.
    patch(&other, b"small", b"");
    for error in [
        store.load(&place, None).await.map(drop).unwrap_err(),
        store.commit(&place, &commit(Some(second.id), "turn", 2, "[2]")).await.unwrap_err(),
        store.prune(&place, Keep::Last(1)).await.map(drop).unwrap_err(),
    ] {
        assert!(error.to_string().contains("where its records are can't be read"), "{error}");
    }
    assert_eq!(store.load(&place, Some(first.id)).await.unwrap().unwrap().fields.len(), 1);
}

#[tokio::test]
async fn a_damaged_page_is_an_error_and_never_a_panic() {
    let folder = tempfile::tempdir().unwrap();
    let (path, place) = (folder.path().join("threads.sqlite"), Place::thread("t"));
    let store = fast().open(&path).unwrap();
    let mut parent = None;
    for step in 0..200 {
        let next = commit(parent, "turn", step, &format!("[\"{}\"]", "x".repeat(200)));
        store.commit(&place, &next).await.unwrap();
        parent = Some(next.id);
    }
    drop(store);
    let whole = fs::read(&path).unwrap();
    let mut named = 0;
    for page in 0..whole.len() / 4_096 {
        let mut damaged = whole.clone();
        damaged[page * 4_096..page * 4_096 + 512].fill(0xa5);
        fs::write(&path, damaged).unwrap();
        let Ok(store) = fast().open(&path) else {
            named += 1;
            continue;
        };
        let next = commit(parent, "turn", 200, "[1]");
        let answers = [
            store.load(&place, None).await.map(drop),
            store.list(&place, &Filter::default()).await.map(drop),
            store.commit(&place, &next).await,
            store.prune(&place, Keep::Last(1)).await.map(drop),
        ];
        for error in answers.into_iter().filter_map(Result::err) {
            named += usize::from(matches!(error, StoreError::Corrupt { .. }));
        }
    }
    assert!(named >= whole.len() / 4_096 / 2, "{named} errors on {} pages", whole.len() / 4_096);
}
