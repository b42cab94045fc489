//! Where questions are answered.

mod common;

use std::pin::pin;
use std::task::{Context, Poll, Waker};

use common::commit;
use graph_engine::{CheckpointStore, Filter, Place, StoreError};
use graph_engine_sqlite::SqliteStore;

/// What a call comes to where there is no runtime that could hand it to another thread; `None` if it waits.
fn at_once<T: Send>(call: impl Future<Output = Result<T, StoreError>> + Send) -> Option<T> {
    let attempt = || match pin!(call).as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(Ok(answer)) => Some(answer),
        _ => None,
    };
    std::thread::scope(|scope| scope.spawn(attempt).join().unwrap())
}

#[tokio::test]
async fn what_was_read_a_moment_ago_is_read_again_where_it_is_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("threads.sqlite");
    let writer = SqliteStore::open(&path).unwrap();
    let (place, ten) = (Place::thread("t"), Filter::default().limit(10));
    let mut parent = None;
    for step in 0..30 {
        let next = commit(parent, "turn", step, &format!("[{step}]"));
        writer.commit(&place, &next).await.unwrap();
        parent = Some(next.id);
    }
    // As after a restart: a reader is there, and nobody knows what lies in memory.
    let store = SqliteStore::open(&path).unwrap();
    assert_eq!(store.list(&Place::thread("other"), &ten).await.unwrap(), []);
    assert!(at_once(store.list(&place, &ten)).is_none() && at_once(store.load(&place, None)).is_none());
    let listed = store.list(&place, &ten).await.unwrap();
    assert_eq!(at_once(store.list(&place, &ten)).unwrap(), listed);
    assert_eq!(listed.len(), 10);
    // A list says nothing of how large the state is, and all of it may be long.
    assert!(at_once(store.load(&place, None)).is_none() && at_once(store.list(&place, &Filter::default())).is_none());
    let loaded = store.load(&place, None).await.unwrap().unwrap();
    let again = at_once(store.load(&place, None)).unwrap().unwrap();
    assert_eq!((&again.info, &again.position), (&loaded.info, &loaded.position));
    assert!(again.fields.iter().eq(loaded.fields.iter()) && again.fields.len() == 30);
    // An older one may be larger than the newest, and further back.
    assert!(at_once(store.load(&place, parent)).is_none());
    assert!(at_once(store.list(&place, &ten.clone().before(loaded.info.id))).is_none());
    // What another process wrote meanwhile is seen.
    let next = commit(parent, "turn", 30, "[30]");
    writer.commit(&place, &next).await.unwrap();
    assert_eq!(at_once(store.list(&place, &ten)).unwrap()[0].id, next.id);
    assert_eq!(at_once(store.load(&place, None)).unwrap().unwrap().fields.len(), 31);
    // A state that has become large meanwhile is left to others, by what it is and not by what it was.
    let large = commit(Some(next.id), "turn", 31, &format!("[\"{}\"]", "x".repeat(300_000)));
    writer.commit(&place, &large).await.unwrap();
    assert!(at_once(store.load(&place, None)).is_none());
    assert_eq!(store.load(&place, None).await.unwrap().unwrap().fields.len(), 32);
    assert!(at_once(store.load(&place, None)).is_none());
    assert_eq!(at_once(store.list(&place, &ten)).unwrap()[0].id, large.id);
    // And what is gone is gone.
    writer.delete("t").await.unwrap();
    assert_eq!(at_once(store.list(&place, &ten)).unwrap(), []);
}

#[tokio::test]
async fn whoever_reads_in_place_again_and_again_lets_others_run() {
    let folder = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(folder.path().join("threads.sqlite")).unwrap();
    let place = Place::thread("t");
    store.commit(&place, &commit(None, "turn", 0, "[0]")).await.unwrap();
    // Warm from here on.
    store.list(&place, &Filter::default().limit(1)).await.unwrap();
    store.load(&place, None).await.unwrap();
    let beside = || tokio::spawn(tokio::task::yield_now());
    let lists = beside();
    for _ in 0..1_000 {
        assert_eq!(store.list(&place, &Filter::default().limit(1)).await.unwrap().len(), 1);
    }
    assert!(lists.is_finished());
    let loads = beside();
    for _ in 0..1_000 {
        assert_eq!(store.load(&place, None).await.unwrap().unwrap().fields.len(), 1);
    }
    assert!(loads.is_finished());
}
