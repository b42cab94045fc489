//! Requests that fail, panic or take too long.

use std::time::Duration;

use graph_nodes::batch::{BatchStatus, ItemOutcome};
use tokio::time::Instant;

use crate::support::{Act, Backend, counts, ids, is_retryable_error, numbered};

#[tokio::test(start_paused = true)]
async fn b8_when_the_second_of_three_requests_fails_its_ten_ids_are_retryable_errors() {
    for act in [Act::Fail, Act::Panic, Act::PanicAtOnce] {
        let backend = Backend::default();
        let orders = backend.orders(move |number| if number == 1 { act } else { Act::After(0) });
        let report = orders.run(numbered(1, 25)).await.unwrap();
        assert_eq!((report.summary.status, counts(&report)), (BatchStatus::Partial, [25, 15, 0, 0, 10]));
        let failed: Vec<_> = report.results.iter().filter(|result| is_retryable_error(&result.outcome)).collect();
        assert_eq!(failed.iter().map(|result| &*result.id).collect::<Vec<_>>(), numbered(11, 20));
        let message = match act {
            Act::Fail => "backend down",
            // What a panic says is for the log.
            _ => "the request failed because of a defect",
        };
        assert_eq!(failed[0].outcome, ItemOutcome::Error { message: message.into(), retryable: true });
        assert!(report.is_retryable());
    }
}

#[tokio::test(start_paused = true)]
async fn b9_a_request_that_takes_longer_than_2_s_fails_alone_and_all_is_over_after_2_s() {
    let backend = Backend::default();
    let begun = Instant::now();
    let orders = backend.orders(|number| if number == 1 { Act::Never } else { Act::After(1_900) });
    let report = orders.run(numbered(1, 25)).await.unwrap();
    assert_eq!(begun.elapsed(), Duration::from_secs(2));
    assert_eq!(backend.sizes(), [(0, 10), (0, 10), (0, 5)]);
    assert_eq!(counts(&report), [25, 15, 0, 0, 10]);
    let expected = ItemOutcome::Error { message: "the request took longer than 2s".into(), retryable: true };
    assert_eq!(report.outcome("ORD-11"), Some(&expected));
    assert_eq!(report.outcome("ORD-20"), Some(&expected));
    assert!(matches!(report.outcome("ORD-21"), Some(ItemOutcome::Ok { .. })));
}

#[tokio::test(start_paused = true)]
async fn b9_the_time_of_a_request_begins_when_it_is_sent() {
    let backend = Backend::default();
    let begun = Instant::now();
    let orders = backend.orders(|_| Act::After(1_500)).concurrency(1);
    let report = orders.run(numbered(1, 25)).await.unwrap();
    assert_eq!(backend.sizes(), [(0, 10), (1_500, 10), (3_000, 5)]);
    assert_eq!((begun.elapsed(), report.summary.status), (Duration::from_millis(4_500), BatchStatus::Ok));
}

#[tokio::test(start_paused = true)]
async fn b9_without_a_timeout_a_request_may_take_a_minute() {
    let backend = Backend::default();
    let report = backend.orders(|_| Act::After(60_000)).without_timeout().run(["ORD-1"]).await.unwrap();
    assert_eq!(report.summary.status, BatchStatus::Ok);
}

#[tokio::test(start_paused = true)]
async fn at_most_four_requests_are_under_way_at_a_time() {
    let backend = Backend::default();
    let orders = backend.orders(|_| Act::After(100)).cap(60);
    assert_eq!(orders.run(numbered(1, 60)).await.unwrap().summary.ok, 60);
    assert_eq!(backend.sizes(), [(0, 10), (0, 10), (0, 10), (0, 10), (100, 10), (100, 10)]);
}

#[tokio::test(start_paused = true)]
async fn b14_when_all_requests_fail_the_whole_is_an_error() {
    let backend = Backend::default();
    let report = backend.orders(|_| Act::Fail).run(numbered(1, 25)).await.unwrap();
    assert_eq!((report.summary.status, counts(&report)), (BatchStatus::Error, [25, 0, 0, 0, 25]));
    assert!(report.results.iter().all(|result| is_retryable_error(&result.outcome)));
    assert_eq!(ids(&report), numbered(1, 25));
}

#[tokio::test(start_paused = true)]
async fn b14_an_id_that_is_not_found_is_an_answer_and_no_error() {
    let backend = Backend::default();
    let report = backend.orders(|_| Act::After(0)).run(["ORD-GONE"]).await.unwrap();
    assert_eq!((report.summary.status, counts(&report)), (BatchStatus::Partial, [1, 0, 1, 0, 0]));
}

#[tokio::test(start_paused = true)]
async fn a_lookup_that_is_dropped_drops_its_requests() {
    let backend = Backend::default();
    let orders = backend.orders(|_| Act::After(500)).concurrency(1);
    let run = tokio::time::timeout(Duration::from_millis(600), orders.run(numbered(1, 25)));
    assert!(run.await.is_err());
    tokio::time::sleep(Duration::from_secs(10)).await;
    assert_eq!(backend.sizes(), [(0, 10), (500, 10)]);
}
