//! Loads that fail, panic, answer less, or never.

use std::time::Duration;

use graph_nodes::coalesce::{CoalesceError, Coalescer};

use crate::support::{Act, Backend, ask, failed, got, value, wait};

#[tokio::test(start_paused = true)]
async fn c7_a_loader_error_reaches_every_waiter_of_its_batch_and_nobody_else() {
    let backend = Backend::new([Act::Fail(20)]);
    let weather = backend.weather(Coalescer::builder());
    let first = [ask(&backend, &weather, "acme", "a"), ask(&backend, &weather, "acme", "b")];
    wait(10).await;
    // The next batch is under way while the first one fails.
    let next = ask(&backend, &weather, "acme", "c");
    for waiter in first {
        let (at, error) = failed(waiter.await.unwrap());
        assert_eq!(at, 25);
        assert!(error.is_retryable());
        assert_eq!(error.to_string(), "loading failed for a batch of 2: backend down; ask again later");
        assert_eq!(std::error::Error::source(&error).unwrap().to_string(), "backend down");
    }
    assert_eq!(got(next.await.unwrap()), (15, value("c")));
    assert_eq!((weather.metrics().failed, weather.metrics().batches()), (1, 2));
}

#[tokio::test(start_paused = true)]
async fn c7_and_c18_an_error_is_not_remembered_so_a_retry_makes_a_new_call() {
    let backend = Backend::new([Act::Fail(0)]);
    let weather = backend.weather(Coalescer::builder());
    let acme = weather.tenant("acme");
    assert!(acme.get("a").await.is_err());
    assert_eq!(acme.get("a").await.unwrap(), value("a"));
    assert_eq!(backend.calls(), [(5, vec!["a"]), (10, vec!["a"])]);
}

#[tokio::test(start_paused = true)]
async fn c18_every_waiter_of_a_failed_batch_may_retry_at_once_and_they_share_the_new_call() {
    let backend = Backend::new([Act::Fail(1)]);
    let weather = backend.weather(Coalescer::builder());
    let retry = |key: &'static str| {
        let acme = weather.tenant("acme");
        async move {
            match acme.get(key).await {
                Err(_) => acme.get(key).await,
                value => panic!("{value:?}"),
            }
        }
    };
    let found = futures_util::future::join3(retry("a"), retry("b"), retry("a")).await;
    assert_eq!((found.0.unwrap(), found.1.unwrap(), found.2.unwrap()), (value("a"), value("b"), value("a")));
    assert_eq!(backend.calls(), [(5, vec!["a", "b"]), (11, vec!["a", "b"])]);
}

#[tokio::test(start_paused = true)]
async fn c8_a_missing_row_is_none_and_the_others_stay_under_their_keys() {
    let backend = Backend::new([Act::Only(&["a", "c"])]);
    let weather = backend.weather(Coalescer::builder());
    let found = weather.tenant("acme").get_many(["c", "b", "a"]).await;
    assert_eq!(found.into_iter().map(Result::unwrap).collect::<Vec<_>>(), [value("c"), None, value("a")]);
}

#[tokio::test(start_paused = true)]
async fn c8_rows_that_nobody_asked_for_are_ignored_and_counted() {
    let backend = Backend::new([Act::Only(&["a", "x", "y"])]);
    let weather = backend.weather(Coalescer::builder());
    let found = weather.tenant("acme").get_many(["b", "a"]).await;
    assert_eq!(found.into_iter().map(Result::unwrap).collect::<Vec<_>>(), [None, value("a")]);
    assert_eq!(weather.metrics().unasked, 2);
    // What came unasked is no cache.
    assert_eq!(weather.tenant("acme").get("x").await.unwrap(), value("x"));
    assert_eq!(backend.calls().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn c9_a_loader_that_panics_before_or_after_its_first_await_answers_its_waiters_with_an_error() {
    let backend = Backend::new([Act::PanicAtOnce, Act::Panic(3)]);
    let weather = backend.weather(Coalescer::builder());
    let messages = ["no backend", "backend broke"];
    for (message, expected) in messages.into_iter().zip([5, 13]) {
        let waiters = [ask(&backend, &weather, "acme", "a"), ask(&backend, &weather, "acme", "b")];
        for waiter in waiters {
            let (at, error) = failed(waiter.await.unwrap());
            assert_eq!(at, expected);
            assert!(error.is_retryable());
            let CoalesceError::Panicked { keys: 2, message: said } = error else { panic!("{error}") };
            assert_eq!(said, message);
        }
    }
    assert_eq!(weather.tenant("acme").get("a").await.unwrap(), value("a"));
}

#[tokio::test(start_paused = true)]
async fn c9_a_loader_that_fails_before_its_first_await_answers_its_waiters_with_an_error() {
    let failing = Coalescer::<&str, u32>::new(|_, _| std::future::ready(Err("not configured".into())));
    let error = failing.tenant("acme").get("a").await.unwrap_err();
    assert_eq!(error.to_string(), "loading failed for a batch of 1: not configured; ask again later");
}

#[tokio::test(start_paused = true)]
async fn c10_after_a_timeout_of_2_s_every_waiter_gets_a_retryable_error() {
    let backend = Backend::new([Act::Never]);
    let weather = backend.weather(Coalescer::builder());
    let first = ask(&backend, &weather, "acme", "a");
    wait(1_000).await;
    let joined = ask(&backend, &weather, "acme", "a");
    for waiter in [first, joined] {
        let (at, error) = failed(waiter.await.unwrap());
        assert_eq!(at, 2_005);
        assert!(
            matches!(error, CoalesceError::Timeout { keys: 1, after } if after == Duration::from_secs(2)),
            "{error}"
        );
        assert!(error.is_retryable());
    }
    assert_eq!(got(ask(&backend, &weather, "acme", "a").await.unwrap()), (2_010, value("a")));
}

#[tokio::test(start_paused = true)]
async fn c10_without_a_timeout_a_load_may_take_an_hour() {
    let backend = Backend::new([Act::After(3_600_000)]);
    let weather = backend.weather(Coalescer::builder().without_timeout());
    assert_eq!(got(ask(&backend, &weather, "acme", "a").await.unwrap()), (3_600_005, value("a")));
}

#[test]
fn without_a_runtime_a_key_is_refused_with_an_error() {
    let squares =
        Coalescer::new(|_, keys: Vec<u32>| async move { Ok(keys.into_iter().map(|key| (key, key)).collect()) });
    let refused = futures_util::FutureExt::now_or_never(squares.tenant("acme").get(1)).unwrap();
    assert!(matches!(refused, Err(CoalesceError::NoRuntime)), "{refused:?}");
    assert_eq!(squares.active_tenants(), 0);
}

#[test]
fn without_a_timer_the_waiters_get_an_error() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let squares =
        Coalescer::new(|_, keys: Vec<u32>| async move { Ok(keys.into_iter().map(|key| (key, key)).collect()) });
    let lost = runtime.block_on(squares.tenant("acme").get(1));
    assert!(matches!(lost, Err(CoalesceError::Lost)), "{lost:?}");
    assert_eq!(squares.active_tenants(), 0);
}
