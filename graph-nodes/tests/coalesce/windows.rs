//! Windows, sizes, equal keys, tenants.

use futures_util::future::join_all;
use graph_nodes::coalesce::{CoalesceError, Coalescer};

use crate::support::{Act, Backend, CITIES, Called, ask, got, value, wait};

#[tokio::test(start_paused = true)]
async fn c1_one_key_is_loaded_when_its_window_of_5_ms_is_over() {
    let backend = Backend::new([]);
    let weather = backend.weather(Coalescer::builder());
    assert_eq!(got(ask(&backend, &weather, "acme", "a").await.unwrap()), (5, value("a")));
    assert_eq!(backend.calls(), [(5, vec!["a"])]);
}

#[tokio::test(start_paused = true)]
async fn c2_of_twelve_keys_ten_leave_at_once_and_two_when_their_window_is_over() {
    let backend = Backend::new([]);
    let weather = backend.weather(Coalescer::builder());
    let acme = weather.tenant("acme");
    let found = join_all(CITIES.map(|key| acme.get(key))).await;
    assert_eq!(found.into_iter().map(Result::unwrap).collect::<Vec<_>>(), CITIES.map(value));
    assert_eq!(backend.calls(), [(0, CITIES[..10].to_vec()), (5, CITIES[10..].to_vec())]);
    let metrics = weather.metrics();
    assert_eq!((metrics.waiters, metrics.deferred), (12, 2));
    assert_eq!(metrics.batch_sizes, [(10, 1), (2, 1)].into());
}

#[tokio::test(start_paused = true)]
async fn c3_exactly_ten_keys_are_one_call_and_no_empty_one_follows() {
    let backend = Backend::new([]);
    let weather = backend.weather(Coalescer::builder());
    let acme = weather.tenant("acme");
    join_all(CITIES[..10].iter().map(|key| acme.get(key))).await;
    wait(100).await;
    assert_eq!(backend.calls(), [(0, CITIES[..10].to_vec())]);
    assert_eq!(weather.active_tenants(), 0);
}

#[tokio::test(start_paused = true)]
async fn c4_a_window_starts_at_its_first_key_and_is_not_extended() {
    let backend = Backend::new([]);
    let weather = backend.weather(Coalescer::builder());
    let a = ask(&backend, &weather, "acme", "a");
    wait(4).await;
    let b = ask(&backend, &weather, "acme", "b");
    wait(2).await;
    let c = ask(&backend, &weather, "acme", "c");
    assert_eq!(got(a.await.unwrap()).0, 5);
    assert_eq!(got(b.await.unwrap()).0, 5);
    assert_eq!(got(c.await.unwrap()).0, 11);
    assert_eq!(backend.calls(), [(5, vec!["a", "b"]), (11, vec!["c"])]);
}

#[tokio::test(start_paused = true)]
async fn c5_the_same_key_twice_is_one_key_with_two_waiters() {
    let backend = Backend::new([]);
    let weather = backend.weather(Coalescer::builder());
    let (first, other) = (ask(&backend, &weather, "acme", "a"), ask(&backend, &weather, "acme", "b"));
    let second = ask(&backend, &weather, "acme", "a");
    assert_eq!(got(first.await.unwrap()), (5, value("a")));
    assert_eq!(got(second.await.unwrap()), (5, value("a")));
    assert_eq!(got(other.await.unwrap()), (5, value("b")));
    assert_eq!(backend.calls(), [(5, vec!["a", "b"])]);
    assert_eq!((weather.metrics().waiters, weather.metrics().joined_pending), (3, 1));
}

#[tokio::test(start_paused = true)]
async fn c6_a_key_in_flight_is_joined() {
    let backend = Backend::new([Act::After(100)]);
    let weather = backend.weather(Coalescer::builder());
    let first = ask(&backend, &weather, "acme", "a");
    wait(50).await;
    let second = ask(&backend, &weather, "acme", "a");
    assert_eq!(got(first.await.unwrap()), (105, value("a")));
    assert_eq!(got(second.await.unwrap()), (105, value("a")));
    assert_eq!(backend.calls(), [(5, vec!["a"])]);
    assert_eq!(weather.metrics().joined_in_flight, 1);
}

#[tokio::test(start_paused = true)]
async fn c6_or_is_loaded_again_if_joining_is_off() {
    let backend = Backend::new([Act::After(100)]);
    let weather = backend.weather(Coalescer::builder().join_in_flight(false));
    let first = ask(&backend, &weather, "acme", "a");
    wait(50).await;
    let second = ask(&backend, &weather, "acme", "a");
    assert_eq!(got(second.await.unwrap()), (55, value("a")));
    assert_eq!(got(first.await.unwrap()), (105, value("a")));
    assert_eq!(backend.calls(), [(5, vec!["a"]), (55, vec!["a"])]);
    assert_eq!((weather.metrics().joined_in_flight, weather.active_tenants()), (0, 0));
}

#[tokio::test(start_paused = true)]
async fn c13_tenants_have_calls_of_their_own() {
    let backend = Backend::new([]);
    let weather = backend.weather(Coalescer::builder());
    let (a, b) = (weather.tenant("A"), weather.tenant("B"));
    let keys = &CITIES[..6];
    let both = join_all(keys.iter().flat_map(|key| [a.get(key), b.get(key)])).await;
    let both: Vec<_> = both.into_iter().map(|value| value.unwrap().unwrap()).collect();
    let expected: Vec<_> = keys.iter().flat_map(|key| [format!("A: {key}"), format!("B: {key}")]).collect();
    assert_eq!(both, expected);
    let call = |tenant: &str| Called { at: 5, tenant: tenant.into(), keys: keys.to_vec() };
    assert_eq!(backend.tenants(), [call("A"), call("B")]);
}

#[tokio::test(start_paused = true)]
async fn c13_there_is_no_default_tenant_and_names_count_letter_by_letter() {
    let backend = Backend::new([]);
    let weather = backend.weather(Coalescer::builder());
    for blank in ["", " ", "\t\n"] {
        let refused = weather.tenant(blank).get("a").await;
        assert!(matches!(refused, Err(CoalesceError::BlankTenant)), "{refused:?}");
    }
    assert_eq!((backend.calls(), weather.metrics().waiters), (vec![], 0));

    let hostile = ["a/b", "a:b", "a|b", "A/B", "a/b ", "e\u{301}", "\u{e9}"];
    let found = join_all(hostile.map(|tenant| {
        let tenant = weather.tenant(tenant);
        async move { tenant.get("k").await }
    }));
    let found: Vec<_> = found.await.into_iter().map(|value| value.unwrap().unwrap()).collect();
    assert_eq!(found, hostile.map(|tenant| format!("{tenant}: k")));
    assert_eq!(backend.calls().len(), hostile.len());
    assert_eq!(weather.active_tenants(), 0, "idle tenants cost nothing");
}

#[tokio::test(start_paused = true)]
async fn c16_more_keys_than_a_batch_holds_leave_as_10_and_10_and_5() {
    let numbers: Vec<u32> = (0..25).chain(0..25).collect();
    let sizes = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
    let (begun, seen) = (tokio::time::Instant::now(), sizes.clone());
    let doubled = Coalescer::new(move |_, keys: Vec<u32>| {
        seen.lock().unwrap().push((begun.elapsed().as_millis(), keys.clone()));
        async move { Ok(keys.into_iter().map(|key| (key, key * 2)).collect()) }
    });
    let found = doubled.tenant("acme").get_many(numbers.clone()).await;
    let found: Vec<_> = found.into_iter().map(|value| value.unwrap().unwrap()).collect();
    assert_eq!(found, numbers.iter().map(|number| number * 2).collect::<Vec<_>>());
    let expected = [(0, (0..10).collect()), (0, (10..20).collect()), (5, (20..25).collect::<Vec<u32>>())];
    assert_eq!(*sizes.lock().unwrap(), expected);
    assert_eq!(doubled.metrics().deferred, 15);
}

#[tokio::test(start_paused = true)]
async fn c17_callers_that_wait_for_each_other_are_seen_in_the_sizes_of_batches() {
    let backend = Backend::new([]);
    let weather = backend.weather(Coalescer::builder());
    for key in &CITIES[..3] {
        weather.tenant("acme").get(key).await.unwrap();
    }
    assert_eq!(backend.calls(), [(5, vec!["a"]), (10, vec!["b"]), (15, vec!["c"])]);
    let metrics = weather.metrics();
    assert_eq!((metrics.batch_sizes.clone(), metrics.batches(), metrics.keys()), ([(1, 3)].into(), 3, 3));
}

#[tokio::test(start_paused = true)]
async fn a_window_of_nothing_takes_what_comes_in_the_same_moment() {
    let backend = Backend::new([]);
    let weather = backend.weather(Coalescer::builder().window(std::time::Duration::ZERO));
    let acme = weather.tenant("acme");
    join_all(CITIES[..3].iter().map(|key| acme.get(key))).await;
    assert_eq!(backend.calls(), [(0, CITIES[..3].to_vec())]);
}
