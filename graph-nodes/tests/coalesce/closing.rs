//! The end of a coalescer.

use graph_nodes::coalesce::{CoalesceError, Coalescer};

use crate::support::{Act, Backend, ask, failed, got, value, wait};

#[tokio::test(start_paused = true)]
async fn c14_a_shutdown_sends_what_waits_at_once_and_returns_when_all_are_answered() {
    let backend = Backend::new([Act::After(50), Act::After(10)]);
    let weather = backend.weather(Coalescer::builder());
    let flying = ask(&backend, &weather, "acme", "a");
    wait(6).await;
    let pending = ask(&backend, &weather, "acme", "b");
    wait(1).await;
    weather.shutdown().await;
    assert_eq!(backend.ms(), 55);
    assert_eq!(backend.calls(), [(5, vec!["a"]), (7, vec!["b"])]);
    assert_eq!(got(flying.await.unwrap()), (55, value("a")));
    assert_eq!(got(pending.await.unwrap()), (17, value("b")));
    let late = weather.tenant("acme").get("c").await;
    assert!(matches!(late, Err(CoalesceError::Closed)), "{late:?}");
    // Again, and of an idle one: nothing to wait for.
    weather.shutdown().await;
    assert_eq!(backend.ms(), 55);
}

#[tokio::test(start_paused = true)]
async fn c14_a_close_answers_what_waits_with_closed_and_lets_loads_end() {
    let backend = Backend::new([Act::After(50)]);
    let weather = backend.weather(Coalescer::builder());
    let flying = ask(&backend, &weather, "acme", "a");
    wait(6).await;
    let pending = [ask(&backend, &weather, "acme", "b"), ask(&backend, &weather, "other", "b")];
    wait(1).await;
    weather.close();
    for waiter in pending {
        let (at, error) = failed(waiter.await.unwrap());
        assert_eq!((at, error.is_retryable()), (7, false));
        assert!(matches!(error, CoalesceError::Closed), "{error}");
    }
    assert!(weather.tenant("acme").get("a").await.is_err(), "a key in flight is not joined either");
    assert_eq!(got(flying.await.unwrap()), (55, value("a")));
    wait(100).await;
    assert_eq!(backend.calls(), [(5, vec!["a"])]);
    assert_eq!((weather.metrics().dropped, weather.metrics().failed, weather.active_tenants()), (2, 0, 0));
}

#[tokio::test(start_paused = true)]
async fn a_shutdown_does_not_wait_for_loads_that_nobody_wants_any_more() {
    let backend = Backend::new([Act::Never]);
    let weather = backend.weather(Coalescer::builder().without_timeout());
    let flying = ask(&backend, &weather, "acme", "a");
    wait(10).await;
    let ended = weather.shutdown();
    flying.abort();
    ended.await;
    assert_eq!(backend.ms(), 10);
}
