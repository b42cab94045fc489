//! Many waiters, and what each of them costs.

use std::hash::{Hash, Hasher};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use futures_util::future::join_all;
use graph_nodes::coalesce::{Coalescer, CoalescerBuilder};

/// A key that counts how often it is looked at.
#[derive(Clone, Debug)]
struct Key(u64, Arc<AtomicU64>);

impl PartialEq for Key {
    fn eq(&self, other: &Self) -> bool {
        self.1.fetch_add(1, Ordering::Relaxed);
        self.0 == other.0
    }
}

impl Eq for Key {}

impl Hash for Key {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.1.fetch_add(1, Ordering::Relaxed);
        self.0.hash(state);
    }
}

/// The sizes of the calls, and how often a key was looked at for each waiter.
async fn looks(options: CoalescerBuilder, waiters: u64, key: impl Fn(u64) -> u64) -> (Vec<usize>, f64) {
    let (looks, sizes) = (Arc::new(AtomicU64::new(0)), Arc::new(Mutex::new(Vec::new())));
    let seen = sizes.clone();
    let squares = options.build(move |_, keys: Vec<Key>| {
        seen.lock().unwrap().push(keys.len());
        async move { Ok(keys.into_iter().map(|key| (key.clone(), key.0 * key.0)).collect()) }
    });
    let acme = squares.tenant("acme");
    let found = join_all((0..waiters).map(|n| acme.get(Key(key(n), looks.clone())))).await;
    for (n, value) in (0..waiters).zip(found) {
        assert_eq!(value.unwrap(), Some(key(n) * key(n)));
    }
    assert_eq!(squares.active_tenants(), 0);
    let sizes = std::mem::take(&mut *sizes.lock().unwrap());
    #[expect(clippy::cast_precision_loss, reason = "small numbers")]
    let each = looks.load(Ordering::Relaxed) as f64 / waiters as f64;
    (sizes, each)
}

#[tokio::test(start_paused = true)]
async fn c15_a_thousand_and_ten_thousand_waiters_for_one_key_are_one_call() {
    let (calls, few) = looks(Coalescer::builder(), 1_000, |_| 7).await;
    assert_eq!(calls, [1]);
    let (calls, many) = looks(Coalescer::builder(), 10_000, |_| 7).await;
    assert_eq!(calls, [1]);
    assert!(many <= few && few < 6.0, "{few} looks a waiter, then {many}");
}

#[tokio::test(start_paused = true)]
async fn ten_thousand_different_keys_cost_each_no_more_than_a_thousand() {
    let (calls, few) = looks(Coalescer::builder(), 1_000, |n| n).await;
    assert_eq!(calls, [10; 100]);
    let (calls, many) = looks(Coalescer::builder(), 10_000, |n| n).await;
    assert_eq!(calls, [10; 1_000]);
    assert!(many < few * 1.2, "{few} looks a waiter, then {many}");

    let whole = || Coalescer::builder().max_keys(100_000);
    let (calls, few) = looks(whole(), 1_000, |n| n).await;
    assert_eq!(calls, [1_000]);
    let (calls, many) = looks(whole(), 10_000, |n| n).await;
    assert_eq!(calls, [10_000]);
    assert!(many < few * 1.2, "{few} looks a waiter, then {many}");
}

#[tokio::test(start_paused = true)]
async fn ten_thousand_waiters_that_leave_cost_each_no_more_than_a_thousand() {
    let leave = async |waiters: u64| {
        let looks = Arc::new(AtomicU64::new(0));
        let squares = Coalescer::builder()
            .max_keys(100_000)
            .build(|_, keys: Vec<Key>| async move { Ok(keys.into_iter().map(|key| (key, 0)).collect()) });
        let acme = squares.tenant("acme");
        let all = join_all((0..waiters).map(|n| acme.get(Key(n, looks.clone()))));
        assert!(tokio::time::timeout(std::time::Duration::from_millis(1), all).await.is_err());
        assert_eq!((squares.metrics().dropped, squares.active_tenants()), (waiters, 0));
        looks.load(Ordering::Relaxed) / waiters
    };
    let (few, many) = (leave(1_000).await, leave(10_000).await);
    assert!(many <= few + 1, "{few} looks a waiter, then {many}");
}
