//! Waiters that go away.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use graph_nodes::coalesce::{CoalesceError, Coalescer};

use crate::support::{Act, Backend, ask, ask_for, got, value, wait};

#[tokio::test(start_paused = true)]
async fn c11_a_key_whose_only_waiter_left_is_not_sent() {
    let backend = Backend::new([]);
    let weather = backend.weather(Coalescer::builder());
    let leaves = ask_for(&backend, &weather, "a", 2);
    let stays = ask(&backend, &weather, "acme", "b");
    assert!(leaves.await.unwrap().is_none());
    assert_eq!(got(stays.await.unwrap()), (5, value("b")));
    assert_eq!(backend.calls(), [(5, vec!["b"])]);
    assert_eq!(weather.metrics().dropped, 1);
}

#[tokio::test(start_paused = true)]
async fn c11_a_key_that_somebody_else_wants_is_sent() {
    let backend = Backend::new([]);
    let weather = backend.weather(Coalescer::builder());
    let leaves = ask_for(&backend, &weather, "a", 2);
    let stays = ask(&backend, &weather, "acme", "a");
    assert!(leaves.await.unwrap().is_none());
    assert_eq!(got(stays.await.unwrap()), (5, value("a")));
    assert_eq!((backend.calls(), weather.metrics().dropped), (vec![(5, vec!["a"])], 0));
}

#[tokio::test(start_paused = true)]
async fn c11_when_the_last_key_is_gone_there_is_no_call_and_the_next_key_opens_a_new_window() {
    let backend = Backend::new([]);
    let weather = backend.weather(Coalescer::builder());
    assert!(ask_for(&backend, &weather, "a", 2).await.unwrap().is_none());
    assert_eq!(weather.active_tenants(), 0);
    let next = ask(&backend, &weather, "acme", "b");
    assert_eq!(got(next.await.unwrap()), (7, value("b")));
    wait(100).await;
    assert_eq!(backend.calls(), [(7, vec!["b"])]);
}

#[tokio::test(start_paused = true)]
async fn c11_a_key_that_left_makes_room_for_another_one() {
    let backend = Backend::new([]);
    let weather = backend.weather(Coalescer::builder().max_keys(2));
    let (leaves, b) = (ask_for(&backend, &weather, "a", 0), ask(&backend, &weather, "acme", "b"));
    assert!(leaves.await.unwrap().is_none());
    wait(1).await;
    // Were `a` still counted, `b` would have left with it before.
    assert_eq!(backend.calls(), []);
    let c = ask(&backend, &weather, "acme", "c");
    assert_eq!((got(b.await.unwrap()), got(c.await.unwrap())), ((1, value("b")), (1, value("c"))));
    assert_eq!(backend.calls(), [(1, vec!["b", "c"])]);
}

#[tokio::test(start_paused = true)]
async fn c12_a_waiter_that_leaves_in_flight_takes_nothing_from_the_others() {
    let backend = Backend::new([Act::After(100)]);
    let weather = backend.weather(Coalescer::builder());
    let leaves = ask_for(&backend, &weather, "a", 50);
    let same = ask(&backend, &weather, "acme", "a");
    let other = ask(&backend, &weather, "acme", "b");
    assert!(leaves.await.unwrap().is_none());
    assert_eq!(got(same.await.unwrap()), (105, value("a")));
    assert_eq!(got(other.await.unwrap()), (105, value("b")));
    assert_eq!(backend.calls(), [(5, vec!["a", "b"])]);
}

#[tokio::test(start_paused = true)]
async fn d14_the_one_who_began_a_load_may_leave_and_the_next_one_gets_the_value() {
    let backend = Backend::new([Act::After(100)]);
    let weather = backend.weather(Coalescer::builder());
    let leader = ask(&backend, &weather, "acme", "k");
    wait(40).await;
    let follower = ask(&backend, &weather, "acme", "k");
    wait(10).await;
    leader.abort();
    assert!(leader.await.unwrap_err().is_cancelled());
    assert_eq!(got(follower.await.unwrap()), (105, value("k")));
    assert_eq!(weather.active_tenants(), 0, "the entry is gone");
    assert_eq!(got(ask(&backend, &weather, "acme", "k").await.unwrap()), (110, value("k")));
    assert_eq!(backend.calls(), [(5, vec!["k"]), (110, vec!["k"])]);
}

/// Counts how often it is dropped.
struct Drops(Arc<AtomicUsize>);

impl Drop for Drops {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

#[tokio::test(start_paused = true)]
async fn a_load_that_nobody_waits_for_any_more_is_cancelled() {
    let drops = Arc::new(AtomicUsize::new(0));
    let counted = drops.clone();
    let slow = Coalescer::<&str, u32>::new(move |_, keys| {
        let held = Drops(counted.clone());
        async move {
            let _held = held;
            tokio::time::sleep(Duration::from_secs(1)).await;
            Ok(keys.into_iter().map(|key| (key, 1)).collect())
        }
    });
    let acme = slow.tenant("acme");
    let leaves = tokio::time::timeout(Duration::from_millis(50), acme.get_many(["a", "b"]));
    assert!(leaves.await.is_err());
    assert_eq!(slow.active_tenants(), 0);
    tokio::task::yield_now().await;
    assert_eq!(drops.load(Ordering::SeqCst), 1);
    assert_eq!((slow.metrics().cancelled, slow.metrics().failed), (1, 0));
    assert_eq!(acme.get("a").await.unwrap(), Some(1));
}

#[test]
fn when_a_runtime_ends_waiters_elsewhere_get_an_error_and_the_key_is_free() {
    let runtime = || tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    let (first, second) = (runtime(), runtime());
    let slow = Coalescer::<&str, u32>::new(|_, keys| async move {
        tokio::time::sleep(Duration::from_secs(1)).await;
        Ok(keys.into_iter().map(|key| (key, 1)).collect())
    });
    let acme = slow.tenant("acme");
    let _opens = first.enter();
    let mut leader = Box::pin(acme.get("a"));
    assert!(futures_util::FutureExt::now_or_never(&mut leader).is_none());
    let follower = acme.get("a");
    drop(_opens);
    drop(first);
    let lost = second.block_on(leader);
    assert!(matches!(lost, Err(CoalesceError::Lost)), "{lost:?}");
    assert!(lost.unwrap_err().is_retryable());
    assert_eq!(second.block_on(follower).unwrap(), Some(1));
}

#[tokio::test(start_paused = true)]
async fn a_waiter_may_leave_before_it_was_ever_polled() {
    let backend = Backend::new([]);
    let weather = backend.weather(Coalescer::builder());
    drop(weather.tenant("acme").get("a"));
    wait(10).await;
    assert_eq!((backend.calls(), weather.metrics().waiters), (vec![], 0));
}
