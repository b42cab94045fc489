//! Two writers on one thread: exactly one wins, and nothing of the other is stored.

mod common;

use common::{Schema, link, patient, server};
use graph_engine::{CheckpointStore, Filter, Place, StoreError};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_two_stores_that_race_for_1_000_steps_exactly_one_wins_each() {
    let Some(url) = server() else { return };
    let schema = Schema::new(&url);
    // Two pools, as two processes have.
    let options = patient().pool_size(1);
    let stores = [schema.store(options.clone()).await, schema.store(options).await];
    let place = Place::thread("t");
    let (mut head, mut won) = (None, [0_usize; 2]);
    for step in 0..1_000 {
        let rivals = [link(&place, head, "one", step), link(&place, head, "two", step)];
        let (one, two) = tokio::join!(stores[0].commit(&place, &rivals[0]), stores[1].commit(&place, &rivals[1]));
        let winner = match (&one, &two) {
            (Ok(()), Err(StoreError::Conflict { .. })) => 0,
            (Err(StoreError::Conflict { .. }), Ok(())) => 1,
            other => panic!("step {step}: {other:?}"),
        };
        won[winner] += 1;
        head = Some(rivals[winner].id);
        // The winner may ask again, the loser may not.
        if step % 100 == 0 {
            stores[winner].commit(&place, &rivals[winner]).await.unwrap();
            let again = stores[winner].commit(&place, &rivals[1 - winner]).await;
            assert!(matches!(again, Err(StoreError::Conflict { .. })), "{again:?}");
        }
    }
    assert_eq!(won[0] + won[1], 1_000);
    let list = stores[0].list(&place, &Filter::default()).await.unwrap();
    assert_eq!(list.len(), 1_000, "nothing of a loser is stored");
    assert!(list.windows(2).all(|pair| pair[0].parent == Some(pair[1].id)), "one chain");
    assert_eq!(schema.number("SELECT count(*) FROM {schema}.segments").await, 2_000);
    let stored = stores[1].load(&place, None).await.unwrap().unwrap();
    assert_eq!(stored.fields.len(), 1_001, "1,000 items of the log and one counter");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_many_stores_that_begin_a_thread_at_once_one_wins() {
    let Some(url) = server() else { return };
    let schema = Schema::new(&url);
    let store = schema.store(patient()).await;
    for round in 0..20 {
        let place = Place::thread(format!("t{round}"));
        let turns: Vec<String> = (0..8).map(|n| n.to_string()).collect();
        let firsts: Vec<_> = turns.iter().map(|turn| link(&place, None, turn, 0)).collect();
        let results = futures_util::future::join_all(firsts.iter().map(|first| store.commit(&place, first))).await;
        assert_eq!(results.iter().filter(|result| result.is_ok()).count(), 1, "{results:?}");
        assert!(results.iter().all(|result| matches!(result, Ok(()) | Err(StoreError::Conflict { .. }))));
        assert_eq!(store.list(&place, &Filter::default()).await.unwrap().len(), 1);
    }
}
