//! From the model's list to the ids that are sent.

use graph_nodes::batch::{BatchError, BatchStatus, ItemOutcome};

use crate::support::{Act, Backend, counts, ids, numbered};

#[tokio::test(start_paused = true)]
async fn b1_an_empty_list_is_an_error_without_a_request() {
    let backend = Backend::default();
    let orders = backend.orders(|_| Act::After(0));
    assert_eq!(orders.run(Vec::<String>::new()).await, Err(BatchError::Empty));
    assert_eq!(backend.sizes(), []);
}

#[tokio::test(start_paused = true)]
async fn b2_a_list_of_nothing_and_blanks_is_an_error_without_a_request() {
    let backend = Backend::default();
    let orders = backend.orders(|_| Act::After(0));
    assert_eq!(orders.run([None, Some(" ")]).await, Err(BatchError::Empty));
    assert_eq!(backend.sizes(), []);
    // Beside real ids they don't count.
    let report = orders.run([None, Some(" "), Some("ORD-1"), Some("\t")]).await.unwrap();
    assert_eq!((counts(&report), report.summary.duplicates), ([1, 1, 0, 0, 0], 0));
}

#[tokio::test(start_paused = true)]
async fn b3_twelve_ids_are_two_requests_of_10_and_2() {
    let backend = Backend::default();
    let report = backend.orders(|_| Act::After(0)).run(numbered(1, 12)).await.unwrap();
    assert_eq!(backend.sizes(), [(0, 10), (0, 2)]);
    assert_eq!(backend.sent(), numbered(1, 12));
    assert_eq!((report.summary.status, counts(&report)), (BatchStatus::Ok, [12, 12, 0, 0, 0]));
    assert_eq!(report.summary.note, None);
}

#[tokio::test(start_paused = true)]
async fn b4_of_thirty_ids_25_are_sent_and_the_last_five_are_deferred_and_named() {
    let backend = Backend::default();
    let report = backend.orders(|_| Act::After(0)).run(numbered(1, 30)).await.unwrap();
    assert_eq!(backend.sizes(), [(0, 10), (0, 10), (0, 5)]);
    assert_eq!(ids(&report), numbered(1, 25));
    assert_eq!(report.deferred, numbered(26, 30));
    assert_eq!(
        report.summary.note.as_deref(),
        Some("the list is too long; call again with exactly the deferred ids: ORD-26, ORD-27, ORD-28, ORD-29, ORD-30"),
    );
    // Not everything that was asked for is there.
    assert_eq!((report.summary.status, report.summary.deferred), (BatchStatus::Partial, 5));
    assert_eq!(counts(&report), [30, 25, 0, 0, 0]);
}

#[tokio::test(start_paused = true)]
async fn b5_forms_of_one_id_are_one_id_and_counted_as_duplicates() {
    let backend = Backend::default();
    let report = backend.orders(|_| Act::After(0)).run([" ord-1 ", "ORD-2", "ORD-1"]).await.unwrap();
    assert_eq!(backend.sent(), ["ORD-1", "ORD-2"]);
    assert_eq!((report.summary.requested, report.summary.duplicates), (2, 1));
    assert_eq!(report.summary.status, BatchStatus::Ok);
}

#[tokio::test(start_paused = true)]
async fn b6_the_cap_counts_different_ids() {
    let backend = Backend::default();
    let raw = numbered(1, 20).into_iter().chain(numbered(1, 10));
    let report = backend.orders(|_| Act::After(0)).run(raw).await.unwrap();
    assert_eq!((report.summary.requested, report.summary.duplicates, report.summary.deferred), (20, 10, 0));
    assert_eq!(report.deferred, Vec::<String>::new());
    assert_eq!(backend.sent(), numbered(1, 20));
}

#[tokio::test(start_paused = true)]
async fn b6_an_invalid_id_takes_no_place_under_the_cap() {
    let backend = Backend::default();
    let orders = backend.orders(|_| Act::After(0)).cap(2);
    let report = orders.run(["x", "ORD-1", "y", "ORD-2", "z", "ORD-3"]).await.unwrap();
    assert_eq!(ids(&report), ["X", "ORD-1", "Y", "ORD-2", "Z"]);
    assert_eq!((report.deferred, backend.sent()), (vec!["ORD-3".to_owned()], numbered(1, 2)));
}

#[tokio::test(start_paused = true)]
async fn b7_one_invalid_and_eleven_good_ids_are_a_partial_success() {
    let backend = Backend::default();
    let mut raw = numbered(1, 12);
    raw[4] = "5".to_owned();
    let report = backend.orders(|_| Act::After(0)).run(raw).await.unwrap();
    assert_eq!((report.summary.status, counts(&report)), (BatchStatus::Partial, [12, 11, 0, 1, 0]));
    let reason = "`5` is no order number; they look like ORD-17".to_owned();
    assert_eq!(report.outcome("5"), Some(&ItemOutcome::Invalid { reason }));
    assert!(!backend.sent().contains(&"5".to_owned()), "an invalid id is never sent");
}

#[tokio::test(start_paused = true)]
async fn b7_invalid_ids_alone_are_an_error_without_a_request() {
    let backend = Backend::default();
    let report = backend.orders(|_| Act::After(0)).run(["1", "2"]).await.unwrap();
    assert_eq!((report.summary.status, counts(&report)), (BatchStatus::Error, [2, 0, 0, 2, 0]));
    assert!(!report.is_retryable());
    assert_eq!(backend.sizes(), []);
}

#[tokio::test(start_paused = true)]
async fn b11_results_stand_in_the_order_in_which_the_model_gave_the_ids() {
    let backend = Backend::default();
    let raw = ["ORD-9", "nope", "ORD-1", "ord-9", "ORD-GONE", "ORD-5"];
    // The second of three requests answers first.
    let orders = backend.orders(|number| Act::After(if number == 1 { 0 } else { 50 })).chunk(2);
    let report = orders.run(raw).await.unwrap();
    assert_eq!(ids(&report), ["ORD-9", "NOPE", "ORD-1", "ORD-GONE", "ORD-5"]);
    assert_eq!(counts(&report), [5, 3, 1, 1, 0]);
}

#[tokio::test(start_paused = true)]
async fn b13_a_call_with_the_deferred_ids_looks_up_exactly_these() {
    let backend = Backend::default();
    let orders = backend.orders(|_| Act::After(0));
    let first = orders.run(numbered(1, 30)).await.unwrap();
    let second = orders.run(first.deferred).await.unwrap();
    assert_eq!(backend.sizes()[3..], [(0, 5)]);
    assert_eq!(ids(&second), numbered(26, 30));
    assert_eq!((second.summary.status, second.deferred), (BatchStatus::Ok, vec![]));
}

#[tokio::test(start_paused = true)]
async fn an_id_that_makes_a_check_panic_is_invalid_and_the_others_go_on() {
    let backend = Backend::default();
    let orders = backend.orders(|_| Act::After(0));
    let orders = orders.normalise(|id| if id == "n" { panic!("normalise") } else { id.to_owned() });
    let orders = orders.validate(|id| if id == "v" { panic!("validate") } else { Ok(()) });
    let report = orders.run(["n", "v", "ORD-1"]).await.unwrap();
    assert_eq!(counts(&report), [3, 1, 0, 2, 0]);
    let reason = "the check of the id failed because of a defect; leave it out".to_owned();
    assert_eq!(report.outcome("n"), Some(&ItemOutcome::Invalid { reason: reason.clone() }));
    assert_eq!(report.outcome("v"), Some(&ItemOutcome::Invalid { reason }));
}

#[tokio::test(start_paused = true)]
async fn sizes_of_zero_count_as_one() {
    let backend = Backend::default();
    let orders = backend.orders(|_| Act::After(10)).cap(0).chunk(0).concurrency(0);
    assert_eq!(orders.run(numbered(1, 2)).await.unwrap().deferred, ["ORD-2"]);
    assert_eq!(backend.sizes(), [(0, 1)]);
}
