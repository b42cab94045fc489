//! What the report tells of a record.

use std::collections::HashMap;

use graph_nodes::batch::{BatchLookup, BatchReport, BatchStatus, ItemOutcome};
use serde_json::{Value, json};

use crate::support::{Act, Backend, counts};

#[tokio::test(start_paused = true)]
async fn b10_a_missing_row_is_not_found_and_rows_that_nobody_asked_for_are_ignored_with_a_warning() {
    let lookup = BatchLookup::new(|_| async {
        Ok(HashMap::from([("b".to_owned(), 2), ("secret-1".to_owned(), 3), ("secret-2".to_owned(), 4)]))
    });
    let report = lookup.run(["a", "b"]).await.unwrap();
    assert_eq!(report.outcome("a"), Some(&ItemOutcome::NotFound));
    assert_eq!(report.outcome("b"), Some(&ItemOutcome::Ok { value: json!(2) }));
    assert_eq!(report.summary.warnings, ["the backend answered ids that it was not asked for (2); they are ignored"]);
    assert_eq!((report.summary.status, counts(&report)), (BatchStatus::Partial, [2, 1, 1, 0, 0]));
    assert!(!serde_json::to_string(&report).unwrap().contains("secret"));
}

#[tokio::test(start_paused = true)]
async fn b12_the_summary_is_the_first_thing_in_the_json_and_all_fields_have_their_place() {
    let backend = Backend::default();
    let orders = backend.orders(|number| if number == 1 { Act::Fail } else { Act::After(0) });
    let orders = orders.chunk(2).cap(3).fields(["status"]);
    let report = orders.run(["ORD-1", "x", "ORD-GONE", "ORD-3", "ORD-1", "ORD-4"]).await.unwrap();
    let expected = concat!(
        r#"{"summary":{"status":"partial","requested":5,"ok":1,"not_found":1,"invalid":1,"error":1,"duplicates":1,"#,
        r#""deferred":1,"note":"the list is too long; call again with exactly the deferred ids: ORD-4"},"#,
        r#""results":[{"id":"ORD-1","status":"ok","value":{"status":"shipped"}},"#,
        r#"{"id":"X","status":"invalid","reason":"`X` is no order number; they look like ORD-17"},"#,
        r#"{"id":"ORD-GONE","status":"not_found"},"#,
        r#"{"id":"ORD-3","status":"error","message":"backend down","retryable":true}],"deferred":["ORD-4"]}"#,
    );
    assert_eq!(serde_json::to_string(&report).unwrap(), expected);
    assert_eq!(serde_json::from_str::<BatchReport>(expected).unwrap(), report);
}

#[tokio::test(start_paused = true)]
async fn b18_of_a_large_record_only_the_declared_fields_are_told() {
    let lookup = BatchLookup::new(|ids: Vec<String>| async move {
        let record = json!({"status": "shipped", "eta": "2026-07-01", "log": "x".repeat(1_000_000), "card": "4111"});
        Ok(ids.into_iter().map(|id| (id, record.clone())).collect())
    });
    let report = lookup.fields(["status", "eta", "carrier"]).run(["ORD-1"]).await.unwrap();
    let value = json!({"status": "shipped", "eta": "2026-07-01"});
    assert_eq!(report.outcome("ORD-1"), Some(&ItemOutcome::Ok { value }));
    assert!(serde_json::to_string(&report).unwrap().len() < 300);
}

#[tokio::test(start_paused = true)]
async fn b18_a_record_without_fields_shows_nothing_when_fields_are_declared() {
    let lookup = BatchLookup::new(|ids: Vec<String>| async move {
        Ok(ids.into_iter().map(|id| (id, Value::from("4111 1111"))).collect())
    });
    let report = lookup.fields(["status"]).run(["ORD-1"]).await.unwrap();
    let message = "the record can't be shown: it is no object with fields".into();
    assert_eq!(report.outcome("ORD-1"), Some(&ItemOutcome::Error { message, retryable: false }));
}

#[tokio::test(start_paused = true)]
async fn a_record_that_is_no_json_is_an_error_of_its_id_alone() {
    let lookup = BatchLookup::new(|ids: Vec<String>| async move {
        let record = |id: &String| HashMap::from([((id == "bad").then_some(1), 1), (Some(2), 2)]);
        Ok(ids.iter().map(|id| (id.clone(), if id == "bad" { Err(record(id)) } else { Ok(2) })).collect())
    });
    let report = lookup.run(["good", "bad"]).await.unwrap();
    assert_eq!(counts(&report)[1..], [1, 0, 0, 1], "{report:?}");
    assert!(!report.is_retryable());
}
