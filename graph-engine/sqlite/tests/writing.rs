//! The queue: what shares a transaction, what fails in it, and callers who go away.

mod common;

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use common::commit;
use graph_engine::{CheckpointStore, Commit, Filter, Keep, Place, SavedResult, StoreError, TaskId};
use graph_engine_sqlite::{SqliteOptions, SqliteStore, Synchronous};

#[tokio::test]
async fn changes_that_come_at_once_share_a_transaction() {
    let folder = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(folder.path().join("threads.sqlite")).unwrap();
    let tasks: Vec<_> = (0..500)
        .map(|at| {
            let store = store.clone();
            tokio::spawn(async move {
                store.commit(&Place::thread(format!("{at}")), &commit(None, "turn", 0, "[1]")).await.unwrap();
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    let stats = store.stats();
    assert_eq!(stats.changes, 500);
    assert!(stats.transactions <= 100 && stats.largest_group >= 5, "{stats:?}");
}

#[tokio::test]
async fn one_after_another_each_has_a_transaction_of_its_own() {
    let store = SqliteStore::in_memory().unwrap();
    let (place, mut parent) = (Place::thread("t"), None);
    for step in 0..20 {
        let next = commit(parent, "turn", step, "[1]");
        store.commit(&place, &next).await.unwrap();
        parent = Some(next.id);
    }
    let stats = store.stats();
    assert_eq!((stats.changes, stats.transactions, stats.largest_group), (20, 20, 1));
}

/// Polls futures so that their changes wait in the queue, then runs all of them.
async fn at_once<T>(futures: Vec<impl Future<Output = T>>) -> Vec<T> {
    futures_util::future::join_all(futures).await
}

#[tokio::test]
async fn a_refused_change_disturbs_nobody_in_its_group() {
    let store = SqliteStore::in_memory().unwrap();
    let first = commit(None, "turn", 0, "[1]");
    store.commit(&Place::thread("t"), &first).await.unwrap();
    let stale = commit(None, "late", 1, "[2]");
    let places: Vec<Place> =
        (0..40).map(|at| Place::thread(if at % 4 == 0 { "t".to_owned() } else { format!("{at}") })).collect();
    let answers = at_once(
        places.iter().map(|place| store.commit(place, if *place.thread == *"t" { &stale } else { &first })).collect(),
    )
    .await;
    for (place, answer) in places.iter().zip(answers) {
        match answer {
            Ok(()) => assert_ne!(&*place.thread, "t"),
            Err(error) => assert!(&*place.thread == "t" && matches!(error, StoreError::Conflict { .. }), "{error}"),
        }
    }
    assert!(store.stats().largest_group >= 20, "{:?}", store.stats());
    assert_eq!(store.list(&Place::thread("t"), &Filter::default()).await.unwrap().len(), 1);
    assert_eq!(store.list(&Place::thread("39"), &Filter::default()).await.unwrap().len(), 1);
}

#[tokio::test]
async fn a_change_that_fails_in_the_middle_is_rolled_back_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("threads.sqlite");
    let store = SqliteOptions::new().synchronous(Synchronous::Off).max_pages(200).open(&path).unwrap();
    let small = commit(None, "turn", 0, "[1]");
    let huge = commit(None, "turn", 0, &format!("[\"{}\"]", "x".repeat(2_000_000)));
    let places: Vec<Place> = (0..30).map(|at| Place::thread(format!("{at}"))).collect();
    let answers = at_once(
        places
            .iter()
            .enumerate()
            .map(|(at, place)| store.commit(place, if at % 10 == 5 { &huge } else { &small }))
            .collect(),
    )
    .await;
    for (at, answer) in answers.into_iter().enumerate() {
        let stored = store.load(&places[at], None).await.unwrap();
        match answer {
            Ok(()) => assert!(at % 10 != 5 && stored.is_some()),
            Err(error) => {
                assert!(at % 10 == 5 && stored.is_none() && matches!(error, StoreError::Full { .. }), "{error}")
            }
        }
    }
    assert_eq!(store.namespaces("5").await.unwrap().len(), 0, "nothing is left of it");
}

#[tokio::test]
async fn a_caller_who_goes_away_loses_and_damages_nothing() {
    let store = SqliteStore::in_memory().unwrap();
    let (place, mut parent) = (Place::thread("t"), None);
    for step in 0..200 {
        let next = commit(parent, "turn", step, &format!("[{step}]"));
        {
            // Polled once: it is in the queue. Then dropped.
            let mut call = pin!(store.commit(&place, &next));
            let polled = call.as_mut().poll(&mut Context::from_waker(Waker::noop()));
            assert!(matches!(polled, Poll::Pending | Poll::Ready(Ok(()))));
        }
        {
            let mut call = pin!(store.load(&place, None));
            let _ = call.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        }
        // The repetition finds it there, or makes it.
        store.commit(&place, &next).await.unwrap();
        parent = Some(next.id);
    }
    let stored = store.load(&place, None).await.unwrap().unwrap();
    assert!(stored.fields.len() == 200 && stored.fields.iter().zip(0..).all(|(field, step)| field.items.start == step));
}

#[test]
fn a_runtime_that_ends_leaves_a_store_that_goes_on_in_another() {
    let folder = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(folder.path().join("threads.sqlite")).unwrap();
    let (place, first) = (Place::thread("t"), commit(None, "turn", 0, "[1]"));
    let runtime = || tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    for _ in 0..20 {
        let ended = runtime();
        ended.block_on(async {
            for at in 0..50 {
                let store = store.clone();
                tokio::spawn(async move {
                    let _ = store.commit(&Place::thread(format!("{at}")), &commit(None, "turn", 0, "[1]")).await;
                });
            }
            tokio::task::yield_now().await;
        });
        ended.shutdown_background();
    }
    runtime().block_on(async {
        store.commit(&place, &first).await.unwrap();
        assert_eq!(store.load(&place, None).await.unwrap().unwrap().info.id, first.id);
    });
    let outside = futures_util::FutureExt::now_or_never(store.commit(&place, &first)).unwrap().unwrap_err();
    assert!(outside.to_string().contains("outside of a tokio runtime"), "{outside}");
    let outside = futures_util::FutureExt::now_or_never(store.row(&place, first.id)).unwrap().unwrap_err();
    assert!(outside.to_string().contains("outside of a tokio runtime"), "{outside}");
}

#[tokio::test(start_paused = true)]
async fn a_paused_clock_stands_still_while_the_store_works() {
    let folder = tempfile::tempdir().unwrap();
    let store = Arc::new(SqliteStore::open(folder.path().join("threads.sqlite")).unwrap());
    let place = Place::thread("t");
    let work = async {
        let mut parent = None;
        for step in 0..30 {
            let next = commit(parent, "turn", step, "[1]");
            store.commit(&place, &next).await.unwrap();
            store.load(&place, None).await.unwrap();
            parent = Some(next.id);
        }
    };
    tokio::time::timeout(Duration::from_millis(1), work).await.expect("no time passes");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn readers_see_whole_commits_while_others_write() {
    let folder = tempfile::tempdir().unwrap();
    let options = SqliteOptions::new().synchronous(Synchronous::Off).readers(2);
    let store = options.open(folder.path().join("threads.sqlite")).unwrap();
    let place = Place::thread("t");
    let first = commit(None, "turn", 0, "[0]");
    store.commit(&place, &first).await.unwrap();
    let readers: Vec<_> = (0..8)
        .map(|_| {
            let (store, place) = (store.clone(), place.clone());
            tokio::spawn(async move {
                let mut last = 0;
                while last < 300 {
                    let stored = store.load(&place, None).await.unwrap().unwrap();
                    assert!(stored.info.step >= last, "never back");
                    last = stored.info.step;
                    let end = stored.fields.last().unwrap().items.end;
                    assert_eq!((end, stored.position), (last + 1, format!("{{\"step\":{last}}}").into_bytes()));
                }
            })
        })
        .collect();
    let mut parent = first.id;
    for step in 1..=300 {
        let next = commit(Some(parent), "turn", step, &format!("[{step}]"));
        store.commit(&place, &next).await.unwrap();
        parent = next.id;
        if step % 100 == 0 {
            store.prune(&place, Keep::Last(5)).await.unwrap();
        }
    }
    for reader in readers {
        reader.await.unwrap();
    }
}

/// Makes a commit if that is possible in place: where there is no runtime the queue can't.
fn made_in_place(store: &SqliteStore, place: &Place, commit: &Commit) -> bool {
    let attempt = || {
        let mut call = pin!(store.commit(place, commit));
        // One that waits for the disk lets others run first, so it is polled twice.
        let mut polls = (0..2).map(|_| call.as_mut().poll(&mut Context::from_waker(Waker::noop())));
        matches!(polls.find(Poll::is_ready), Some(Poll::Ready(Ok(()))))
    };
    std::thread::scope(|scope| scope.spawn(attempt).join().unwrap())
}

#[tokio::test]
async fn a_thread_that_commits_alone_does_it_in_place_if_it_waits_for_no_disk_or_may() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("threads.sqlite");
    for (synchronous, flushes) in [(Synchronous::Normal, false), (Synchronous::Full, false), (Synchronous::Full, true)]
    {
        let in_place = flushes || synchronous == Synchronous::Normal;
        let store = SqliteOptions::new().synchronous(synchronous).flushes_in_place(flushes).open(&path).unwrap();
        let (place, mut parent) = (Place::thread(format!("{synchronous:?} {flushes}")), None);
        // The first two go through the queue.
        for step in 0..60 {
            let next = commit(parent, "turn", step, "[1]");
            let made = made_in_place(&store, &place, &next);
            assert_eq!(made, in_place && step >= 2, "{synchronous:?} {step}");
            if !made {
                store.commit(&place, &next).await.unwrap();
            }
            parent = Some(next.id);
        }
        // A large one does too, and so do the next ones: its place has to go through the queue twice again.
        let large = commit(parent, "turn", 60, &format!("[\"{}\"]", "x".repeat(100_000)));
        let (other, next) = (Place::thread("other"), commit(Some(large.id), "turn", 61, "[1]"));
        let first = commit(None, "other", 0, "[1]");
        for (place, commit, alone) in [(&place, &large, false), (&other, &first, false), (&place, &next, false)] {
            let made = made_in_place(&store, place, commit);
            assert_eq!(made, alone);
            if !made {
                store.commit(place, commit).await.unwrap();
            }
        }
        store.delete("other").await.unwrap();
        assert_eq!(store.list(&place, &Filter::default()).await.unwrap().len(), 62);
        assert_eq!((store.stats().changes, store.stats().transactions), (64, 64));
    }
}

#[tokio::test]
async fn threads_that_follow_each_other_commit_in_place_and_those_that_take_turns_dont() {
    let folder = tempfile::tempdir().unwrap();
    let store =
        SqliteOptions::new().synchronous(Synchronous::Normal).open(folder.path().join("threads.sqlite")).unwrap();
    let (one, two, three) = (Place::thread("1"), Place::thread("2"), Place::thread("3"));
    let mut heads = std::collections::BTreeMap::new();
    let mut in_place = async |place: &Place, step| {
        let next = commit(heads.get(place).copied(), &place.thread, step, "[1]");
        heads.insert(place.clone(), next.id);
        let made = made_in_place(&store, place, &next);
        if !made {
            store.commit(place, &next).await.unwrap();
        }
        made
    };
    for step in 0..16 {
        assert_eq!(in_place(&one, step).await, step >= 2, "{step}");
    }
    // The first one was alone for a while.
    assert!(in_place(&two, 0).await && in_place(&two, 1).await);
    // The second one was not, so somebody else may be there.
    assert!(!in_place(&three, 0).await && !in_place(&one, 16).await && !in_place(&three, 1).await);
    assert!(!in_place(&three, 2).await && in_place(&three, 3).await);
}

#[tokio::test]
async fn commits_in_place_are_folded_into_the_file_and_seen_by_others() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("threads.sqlite");
    let store = SqliteOptions::new().synchronous(Synchronous::Normal).open(&path).unwrap();
    let other = SqliteStore::open(&path).unwrap();
    let (place, mut parent) = (Place::thread("t"), None);
    let log = folder.path().join("threads.sqlite-wal");
    for step in 0..6_000 {
        let next = commit(parent, "turn", step, &format!("[\"{}\"]", "x".repeat(200)));
        store.commit(&place, &next).await.unwrap();
        parent = Some(next.id);
        if step % 1_000 == 999 {
            let head = other.list(&place, &Filter::default().limit(1)).await.unwrap();
            assert_eq!(head[0].id, next.id);
        }
    }
    // Every commit writes a page or two; without folding there would be 8,000.
    let pages = std::fs::metadata(log).unwrap().len() / 4_096;
    assert!(pages <= 1_800, "{pages} pages");
    assert_eq!(other.load(&place, None).await.unwrap().unwrap().fields.len(), 6_000);
}

#[tokio::test]
async fn the_log_stays_short_whichever_way_commits_of_a_lone_thread_take() {
    let (small, large) = ("[1]".to_owned(), format!("[\"{}\"]", "x".repeat(40_000)));
    let normal = SqliteOptions::new().synchronous(Synchronous::Normal);
    let full = SqliteOptions::new().synchronous(Synchronous::Full);
    // Options, what is committed, after how many commits something is saved beside, how many commits, pages at most.
    let ways = [
        (normal.clone(), &large, 0, 300, 1_100),
        (normal, &small, 3, 3_000, 1_100),
        (full.clone().flushes_in_place(true), &small, 0, 700, 400),
        (full.clone().flushes_in_place(true), &small, 5, 700, 400),
        (full, &small, 0, 700, 300),
    ];
    for (options, item, saves, commits, most) in ways {
        let folder = tempfile::tempdir().unwrap();
        let store = options.clone().open(folder.path().join("threads.sqlite")).unwrap();
        let (place, mut parent) = (Place::thread("t"), None);
        for step in 0..commits {
            let next = commit(parent, "turn", step, item);
            store.commit(&place, &next).await.unwrap();
            if saves > 0 && step % saves == 0 {
                let saved = SavedResult::new(TaskId { step, rank: 0 }, "", b"{}".to_vec());
                store.save(&place, next.id, &[saved]).await.unwrap();
            }
            parent = Some(next.id);
        }
        let pages = std::fs::metadata(folder.path().join("threads.sqlite-wal")).unwrap().len() / 4_096;
        assert!(pages <= most, "{options:?}: {pages} pages after {commits} commits, saves {saves}");
    }
}

#[tokio::test]
async fn a_lone_thread_waits_for_a_lock_in_the_queue_and_lets_others_run() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("threads.sqlite");
    let options = SqliteOptions::new().synchronous(Synchronous::Off).busy_timeout(Duration::from_millis(200));
    let store = options.open(&path).unwrap();
    let (place, mut parent) = (Place::thread("t"), None);
    let ran = Arc::new(std::sync::atomic::AtomicU64::new(0));
    let beside = tokio::spawn({
        let ran = ran.clone();
        async move {
            loop {
                ran.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                tokio::task::yield_now().await;
            }
        }
    });
    for step in 0..2_000 {
        let next = commit(parent, "turn", step, "[1]");
        store.commit(&place, &next).await.unwrap();
        parent = Some(next.id);
    }
    beside.abort();
    let ran = ran.load(std::sync::atomic::Ordering::Relaxed);
    assert!(ran >= 10, "it ran {ran} times");
    let other = rusqlite::Connection::open(&path).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let next = commit(parent, "turn", 2_000, "[1]");
    let error = store.commit(&place, &next).await.unwrap_err();
    assert!(matches!(error, StoreError::Unavailable { .. }), "{error}");
    let waits = store.commit(&place, &next);
    let frees = async {
        tokio::time::sleep(Duration::from_millis(50)).await;
        other.execute_batch("COMMIT").unwrap();
    };
    futures_util::future::join(waits, frees).await.0.unwrap();
    assert_eq!(store.list(&place, &Filter::default()).await.unwrap().len(), 2_001);
}
