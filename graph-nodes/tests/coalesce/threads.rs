//! Several threads at once: everybody is answered, by the right key of the right tenant.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use graph_nodes::coalesce::{CoalesceError, Coalescer};

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn on_four_threads_everybody_gets_the_value_of_the_own_key_and_tenant() {
    let calls = Arc::new(AtomicUsize::new(0));
    let counted = calls.clone();
    let options = Coalescer::builder().window(Duration::from_micros(200)).max_keys(8);
    let loads = options.build(move |tenant, keys: Vec<u32>| {
        let call = counted.fetch_add(1, Ordering::Relaxed);
        async move {
            assert!(keys.len() <= 8 && !keys.is_empty());
            tokio::task::yield_now().await;
            match call % 7 {
                3 => Err("down".into()),
                5 => panic!("broken"),
                _ => Ok(keys.into_iter().map(|key| (key, format!("{tenant}/{key}"))).collect()),
            }
        }
    });
    let mut tasks = tokio::task::JoinSet::new();
    for worker in 0..8_u32 {
        let loads = loads.clone();
        tasks.spawn(async move {
            let (mut values, mut errors, mut left) = (0_u32, 0_u32, 0_u32);
            for round in 0..300_u32 {
                let (tenant, key) = (format!("t{}", round % 3), (worker * 7 + round) % 20);
                let of_tenant = loads.tenant(&tenant);
                let get = of_tenant.get(key);
                // Every fifth one leaves, sometimes before and sometimes during the load.
                let got = match round % 5 {
                    0 => tokio::time::timeout(Duration::from_micros(u64::from(round % 4) * 300), get).await.ok(),
                    _ => Some(get.await),
                };
                match got {
                    Some(Ok(value)) => {
                        assert_eq!(value, Some(format!("{tenant}/{key}")));
                        values += 1;
                    }
                    Some(Err(CoalesceError::Failed { .. } | CoalesceError::Panicked { .. })) => errors += 1,
                    Some(Err(other)) => panic!("{other}"),
                    None => left += 1,
                }
            }
            (values, errors, left)
        });
    }
    let ended = tokio::time::timeout(Duration::from_secs(60), tasks.join_all()).await.expect("nobody hangs");
    let sum = |part: fn(&(u32, u32, u32)) -> u32| ended.iter().map(part).sum::<u32>();
    assert_eq!(sum(|one| one.0) + sum(|one| one.1) + sum(|one| one.2), 8 * 300);
    assert!(sum(|one| one.0) > 0 && sum(|one| one.1) > 0, "{ended:?}");
    loads.shutdown().await;
    let metrics = loads.metrics();
    assert_eq!(loads.active_tenants(), 0);
    assert_eq!(metrics.batches(), u64::try_from(calls.load(Ordering::Relaxed)).unwrap());
    assert!(metrics.keys() <= metrics.waiters);
}
