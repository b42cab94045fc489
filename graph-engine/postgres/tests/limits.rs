//! No call waits for ever, and a dropped one leaves nothing behind.

mod common;

use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;
use std::time::{Duration, Instant};

use common::{Schema, chain, link, patient, server};
use graph_engine::{CheckpointStore, Filter, Keep, Place, StoreError};
use graph_engine_postgres::PostgresStore;

/// Locks the head of every thread until it is dropped.
async fn lock(schema: &Schema) -> tokio_postgres::Client {
    let client = schema.client().await;
    let sql = format!("BEGIN; SELECT FROM \"{}\".places FOR UPDATE", schema.name);
    client.batch_execute(&sql).await.unwrap();
    client
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_statement_that_takes_too_long_is_unavailable_and_the_store_goes_on() {
    let Some(url) = server() else { return };
    let schema = Schema::new(&url);
    let options = patient().pool_size(2).statement_timeout(Duration::from_secs(2));
    let store = schema.store(options).await;
    let place = Place::thread("t");
    let head = chain(&store, &place, 1).await[0];
    let locked = lock(&schema).await;
    let (next, began) = (link(&place, Some(head), "turn", 1), Instant::now());
    let error = store.commit(&place, &next).await.unwrap_err();
    assert!(matches!(error, StoreError::Unavailable { .. }), "{error}");
    assert!(error.to_string().contains("canceling statement due to statement timeout (57014)"), "{error}");
    assert!(began.elapsed() < Duration::from_secs(30), "{:?}", began.elapsed());
    assert!(store.load(&place, None).await.unwrap().is_some(), "readers aren't held up");
    drop(locked);
    store.commit(&place, &next).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_pool_that_is_in_use_says_so_after_its_time() {
    let Some(url) = server() else { return };
    let schema = Schema::new(&url);
    // Long enough for two new connections on a busy machine, and nobody gives up waiting for the lock.
    let options =
        patient().pool_size(2).acquire_timeout(Duration::from_secs(3)).statement_timeout(Duration::from_secs(600));
    let store = schema.store(options).await;
    let place = Place::thread("t");
    let head = chain(&store, &place, 1).await[0];
    let (locked, watch) = (lock(&schema).await, schema.client().await);
    let waiting = format!(
        "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%{}%'",
        schema.name
    );
    let next = link(&place, Some(head), "turn", 1);
    let (again, other) = (next.clone(), store.clone());
    let held: Vec<_> = (0..2)
        .map(|_| {
            let (store, place, next) = (other.clone(), place.clone(), again.clone());
            tokio::spawn(async move { store.commit(&place, &next).await })
        })
        .collect();
    while watch.query_one(&waiting, &[]).await.unwrap().get::<_, i64>(0) < 2 {
        assert!(!held.iter().any(tokio::task::JoinHandle::is_finished), "both wait for the lock");
    }
    let error = store.load(&place, None).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "the checkpoint store is unavailable: all 2 connections of the pool were in use for 3000 ms; use a larger \
         pool_size or fewer threads at once; repeating the call is harmless"
    );
    drop(locked);
    for call in held {
        call.await.unwrap().unwrap();
    }
    assert_eq!(store.load(&place, None).await.unwrap().unwrap().info.id, next.id);
}

/// Polls a call so often at most; its result if it came to one.
async fn polled<T>(call: impl Future<Output = T>, times: usize) -> Option<T> {
    let (mut call, mut left) = (pin!(call), times);
    poll_fn(|context| {
        if left == 0 {
            return Poll::Ready(None);
        }
        left -= 1;
        match call.as_mut().poll(context) {
            Poll::Ready(value) => Poll::Ready(Some(value)),
            // The next poll comes when something happened, but the last one is no wait.
            Poll::Pending if left == 0 => Poll::Ready(None),
            Poll::Pending => Poll::Pending,
        }
    })
    .await
}

/// The name of the session whose calls are dropped.
const DROPPED: &str = "dropped";

/// Drops a call after its k-th poll for every k until it ends by itself. After each, no transaction is open on the one
/// connection of the pool, and the store works.
async fn drop_at_every_poll<T>(schema: &Schema, store: &PostgresStore, call: impl AsyncFn(u64) -> T) {
    for k in 1.. {
        let done = polled(call(k as u64), k).await.is_some();
        // The pool has one connection: whatever the dropped call left open would still be open for this one.
        assert!(store.load(&Place::thread("other"), None).await.unwrap().is_none());
        let open = format!(
            "SELECT count(*) FROM pg_stat_activity WHERE application_name = '{DROPPED}'
             AND state LIKE 'idle in transaction%'"
        );
        assert_eq!(schema.number(&open).await, 0, "dropped at poll {k}");
        // A lock that is left would hold this up until its time is over.
        schema.number("SELECT count(*) FROM (SELECT FROM {schema}.places FOR UPDATE NOWAIT) t").await;
        if done {
            assert!(k > 2, "the call waits somewhere");
            return;
        }
        assert!(k < 1_000);
    }
}

#[tokio::test]
async fn a_call_that_is_dropped_at_any_point_leaves_no_transaction_open() {
    let Some(url) = server() else { return };
    let schema = Schema::new(&url);
    let options = patient().pool_size(1).schema(&schema.name);
    let named = format!("{url}?application_name={DROPPED}");
    let store = PostgresStore::connect_with(&named, options).await.unwrap();
    let place = Place::thread("t");
    let ids = chain(&store, &place, 4).await;
    // A plain commit: each either is there whole or not at all, and the repeat is harmless.
    drop_at_every_poll(&schema, &store, async |k| {
        let head = store.load(&place, None).await.unwrap().unwrap().info;
        let next = link(&place, Some(head.id), &format!("plain {k}"), head.step + 1);
        store.commit(&place, &next).await.unwrap();
    })
    .await;
    // A fork takes a transaction of several statements.
    drop_at_every_poll(&schema, &store, async |k| {
        let mut fork = link(&place, Some(ids[1]), &format!("fork {k}"), 2);
        fork.fork = true;
        store.commit(&place, &fork).await.unwrap();
        store.commit(&place, &fork).await.unwrap();
    })
    .await;
    drop_at_every_poll(&schema, &store, async |_| store.prune(&place, Keep::Last(2)).await.unwrap()).await;
    drop_at_every_poll(&schema, &store, async |k| store.copy("t", &format!("copy {k}")).await.unwrap()).await;
    drop_at_every_poll(&schema, &store, async |_| {
        chain(&store, &Place::thread("short"), 1).await;
        store.delete("short").await.unwrap()
    })
    .await;
    // What is there is whole.
    let list = store.list(&place, &Filter::default()).await.unwrap();
    for info in &list {
        let stored = store.load(&place, Some(info.id)).await.unwrap().unwrap();
        let items = stored.fields.iter().filter(|segment| segment.name == "log").count();
        assert_eq!(items as u64, info.step + 1, "{info:?}");
    }
    let of_nobody = "SELECT count(*) FROM {schema}.segments s
        WHERE NOT EXISTS (SELECT FROM {schema}.places p WHERE p.id = s.place)";
    assert_eq!(schema.number(of_nobody).await, 0);
}
