//! Limits at their ends, stores that panic.

use std::collections::HashMap;
use std::time::Duration;

use graph_engine::{BoxError, async_trait};
use graph_nodes::batch::{BatchLookup, BatchStatus, BatchWrite, ItemOutcome, WriteStore, Written};
use serde_json::{Value, json};

#[tokio::test(start_paused = true)]
async fn limits_at_their_ends_change_no_answer() {
    let lookup =
        BatchLookup::new(
            |ids: Vec<String>| async move { Ok(ids.into_iter().map(|id| (id, 1)).collect::<HashMap<_, _>>()) },
        )
        .chunk(0)
        .cap(0)
        .concurrency(0)
        .timeout(Duration::MAX);
    let report = lookup.run(["a", "b"]).await.unwrap();
    assert_eq!(report.outcome("a"), Some(&ItemOutcome::Ok { value: json!(1) }));
    assert_eq!(report.deferred, ["b"]);
    let one =
        BatchLookup::new(
            |ids: Vec<String>| async move { Ok(ids.into_iter().map(|id| (id, 1)).collect::<HashMap<_, _>>()) },
        )
        .normalise(|_| "same".into());
    let report = one.run(["a", "b", "c"]).await.unwrap();
    assert_eq!((report.summary.requested, report.summary.duplicates, report.summary.ok), (1, 2, 1));
}

/// A store that panics before the write, or after it.
struct Broken {
    get: bool,
}

#[async_trait]
impl WriteStore for Broken {
    async fn get(&self, _: &str) -> Result<Option<Written>, BoxError> {
        assert!(!self.get, "the store broke");
        Ok(None)
    }

    async fn put(&self, _: &str, _: &Written) -> Result<(), BoxError> {
        panic!("the store broke")
    }
}

#[tokio::test(start_paused = true)]
async fn a_store_that_panics_is_an_error_of_its_item() {
    let write = |get| BatchWrite::new("cancel", |write| async move { Ok(Value::from(write.id)) }).store(Broken { get });
    let report = write(true).submit(["a", "b"]).await.unwrap();
    assert_eq!((report.summary.status, report.summary.error), (BatchStatus::Error, 2));
    assert!(report.is_retryable());
    // It was written: that counts, with a warning.
    let report = write(false).submit(["a", "b"]).await.unwrap();
    assert_eq!((report.summary.status, report.summary.ok), (BatchStatus::Ok, 2));
    assert_eq!(report.summary.warnings.len(), 2);
}
