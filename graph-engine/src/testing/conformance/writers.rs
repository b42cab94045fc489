//! Several writers at once.

use super::Store;
use super::make::{chain, commit, ids, is_conflict, link, meaning, result, saved};
use crate::{Filter, Place};

/// Of many writers that follow one head exactly one wins.
pub async fn one_of_many_writers_wins(store: &Store) {
    let place = Place::thread("t");
    let made = chain(&**store, &place, 1).await;
    let writers = (0..32).map(|at| {
        let (store, place) = (store.clone(), place.clone());
        let mine = commit(Some(made[0]), &format!("writer {at}"), 1, &[]);
        tokio::spawn(async move { store.commit(&place, &mine).await.is_ok() })
    });
    let mut won = 0;
    for writer in writers.collect::<Vec<_>>() {
        won += usize::from(writer.await.unwrap());
    }
    assert_eq!(won, 1);
    assert_eq!(ids(&**store, &place, Filter::default()).await.len(), 2);
}

/// Two writers race for each step of a thread: one wins, the other is told of a conflict and leaves nothing.
pub async fn two_writers_race_for_every_step(store: &Store) {
    let place = Place::thread("t");
    let mut parent = None;
    for step in 0..50_u64 {
        let mine = ["one", "two"].map(|turn| commit(parent, turn, step, &[]));
        let tasks = mine.clone().map(|mine| {
            let (store, place) = (store.clone(), place.clone());
            tokio::spawn(async move { store.commit(&place, &mine).await })
        });
        let mut won = Vec::new();
        for (task, mine) in tasks.into_iter().zip(&mine) {
            match task.await.unwrap() {
                Ok(()) => won.push(mine.id),
                other => {
                    assert!(is_conflict(other));
                    assert!(store.load(&place, Some(mine.id)).await.unwrap().is_none());
                }
            }
        }
        assert_eq!(won.len(), 1, "step {step}");
        assert_eq!(store.load(&place, None).await.unwrap().unwrap().info.id, won[0]);
        parent = Some(won[0]);
    }
    assert_eq!(ids(&**store, &place, Filter::default()).await.len(), 50);
}

/// One commit that many callers repeat at once is stored once, and all of them succeed.
pub async fn a_commit_repeated_at_once_is_stored_once(store: &Store) {
    let place = Place::thread("t");
    let made = chain(&**store, &place, 2).await;
    let repeats = (0..16).map(|_| {
        let (store, place, mine) = (store.clone(), place.clone(), link(Some(made[1]), 2));
        tokio::spawn(async move { store.commit(&place, &mine).await })
    });
    for repeat in repeats.collect::<Vec<_>>() {
        repeat.await.unwrap().unwrap();
    }
    assert_eq!(ids(&**store, &place, Filter::default()).await.len(), 3);
    assert!(meaning(&**store, &place, None).await.unwrap().ends_with("log=[0,1,2]"));
}

/// 60 threads commit, save and read at once: each finds its own, in order.
pub async fn threads_at_once_are_apart(store: &Store) {
    let tasks = (0..60_u64).map(|at| {
        let store = store.clone();
        tokio::spawn(async move {
            let place = Place::thread(format!("thread {at}"));
            let made = chain(&*store, &place, at % 7 + 1).await;
            let step = made.len() as u64;
            let kept = [result(step, 0, at.to_string().as_bytes())];
            store.save(&place, made[made.len() - 1], &kept).await.unwrap();
            assert!(is_conflict(store.commit(&place, &commit(None, "late", 0, &[])).await));
            assert_eq!(saved(&*store, &place).await, kept);
            let log: Vec<u64> = (0..step).collect();
            let end = format!("log={}", serde_json::to_string(&log).unwrap());
            assert!(meaning(&*store, &place, None).await.unwrap().ends_with(&end));
        })
    });
    for task in tasks.collect::<Vec<_>>() {
        task.await.unwrap();
    }
    for at in 0..60 {
        let place = Place::thread(format!("thread {at}"));
        assert_eq!(ids(&**store, &place, Filter::default()).await.len(), at % 7 + 1);
    }
}

/// Many callers save results of one super-step at once: all are kept, and of each task the first.
pub async fn results_saved_at_once_are_all_kept(store: &Store) {
    let place = Place::thread("t");
    let head = chain(&**store, &place, 1).await[0];
    let tasks = (0..40_u32).map(|at| {
        let (store, place) = (store.clone(), place.clone());
        let results = [result(1, at, b"0"), result(1, 99, at.to_string().as_bytes())];
        tokio::spawn(async move { store.save(&place, head, &results).await })
    });
    for task in tasks.collect::<Vec<_>>() {
        task.await.unwrap().unwrap();
    }
    let kept = saved(&**store, &place).await;
    assert!(kept.len() == 41 && kept[..40].iter().zip(0..).all(|(kept, rank)| *kept == result(1, rank, b"0")));
}
