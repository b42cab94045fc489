//! Writes: at most once, in order, or after a confirmation.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use graph_engine::BoxError;
use graph_nodes::batch::{
    BatchError, BatchReport, BatchStatus, BatchWrite, ItemOutcome, MemoryWrites, PendingWrites, Write, WriteItem,
    WriteStore, Written,
};
use serde_json::json;
use tokio::time::{Instant, sleep};

/// A backend that takes 100 ms, fails for some ids so often, and writes down every attempt.
#[derive(Clone, Default)]
struct Ledger {
    attempts: Arc<Mutex<Vec<Write>>>,
    failures: Arc<Mutex<HashMap<String, usize>>>,
}

impl Ledger {
    fn failing(id: &str, times: usize) -> Self {
        Self { failures: Arc::new(Mutex::new([(id.to_owned(), times)].into())), ..Self::default() }
    }

    fn refund(&self) -> BatchWrite {
        let ledger = self.clone();
        BatchWrite::new("refund", move |write: Write| {
            let number = {
                let mut attempts = ledger.attempts.lock().unwrap();
                attempts.push(write.clone());
                attempts.len()
            };
            let fails = match ledger.failures.lock().unwrap().get_mut(&write.id) {
                Some(left) if *left > 0 => {
                    *left -= 1;
                    true
                }
                _ => false,
            };
            async move {
                sleep(Duration::from_millis(100)).await;
                if fails { Err("bank down".into()) } else { Ok(format!("refund {number}")) }
            }
        })
        .normalise(|id| id.trim().to_uppercase())
    }

    fn ids(&self) -> Vec<String> {
        self.attempts.lock().unwrap().iter().map(|write| write.id.clone()).collect()
    }

    fn keys(&self) -> Vec<String> {
        self.attempts.lock().unwrap().iter().map(|write| write.key.clone()).collect()
    }
}

fn done(number: usize) -> ItemOutcome {
    ItemOutcome::Ok { value: json!(format!("refund {number}")) }
}

fn failed() -> ItemOutcome {
    ItemOutcome::Error { message: "bank down".into(), retryable: true }
}

fn outcomes(report: &BatchReport) -> Vec<ItemOutcome> {
    report.results.iter().map(|result| result.outcome.clone()).collect()
}

#[tokio::test(start_paused = true)]
async fn b15_a_second_submit_of_what_succeeded_returns_the_first_result_with_one_effect() {
    let ledger = Ledger::default();
    let refund = ledger.refund();
    let first = refund.submit(["ord-1", "ORD-2"]).await.unwrap();
    assert_eq!((first.summary.status, outcomes(&first)), (BatchStatus::Ok, vec![done(1), done(2)]));
    let begun = Instant::now();
    let second = refund.submit(["ORD-2 ", "ORD-3", "ord-1"]).await.unwrap();
    assert_eq!(outcomes(&second), [done(2), done(3), done(1)]);
    assert_eq!(ledger.ids(), ["ORD-1", "ORD-2", "ORD-3"]);
    assert_eq!(begun.elapsed(), Duration::from_millis(100));
}

#[tokio::test(start_paused = true)]
async fn b15_the_key_is_the_same_in_every_attempt_and_belongs_to_operation_and_id() {
    let ledger = Ledger::failing("ORD-1", 2);
    let refund = ledger.refund();
    for _ in 0..2 {
        let report = refund.submit(["ORD-1"]).await.unwrap();
        assert_eq!((report.summary.status, outcomes(&report)), (BatchStatus::Error, vec![failed()]));
        assert!(report.is_retryable());
    }
    assert_eq!(outcomes(&refund.submit(["ORD-1"]).await.unwrap()), [done(3)]);
    assert_eq!(ledger.keys(), [r#"["refund","ORD-1"]"#; 3]);

    // No pair of operation and id is taken for another one.
    let key = |operation: &str, id: &str| {
        let write = BatchWrite::new(operation, |write: Write| async move { Ok(write.key) });
        let id = id.to_owned();
        async move { write.submit([id]).await.unwrap().results.remove(0).outcome }
    };
    assert_ne!(key("a/b", "c").await, key("a", "b/c").await);
    assert_ne!(key("a\",\"b", "c").await, key("a", "b\",\"c").await);
}

#[tokio::test(start_paused = true)]
async fn b15_a_store_that_outlives_the_batch_remembers_for_the_next_one() {
    #[derive(Clone, Default)]
    struct Shared(Arc<MemoryWrites>);

    #[async_trait]
    impl WriteStore for Shared {
        async fn get(&self, key: &str) -> Result<Option<Written>, BoxError> {
            self.0.get(key).await
        }

        async fn put(&self, key: &str, written: &Written) -> Result<(), BoxError> {
            self.0.put(key, written).await
        }
    }

    let (ledger, store) = (Ledger::default(), Shared::default());
    ledger.refund().store(store.clone()).submit(["ORD-1"]).await.unwrap();
    let report = ledger.refund().store(store.clone()).submit(["ORD-1"]).await.unwrap();
    assert_eq!((outcomes(&report), ledger.ids().len(), store.0.len()), (vec![done(1)], 1, 1));
}

#[tokio::test(start_paused = true)]
async fn b15_two_submits_at_the_same_time_have_one_effect() {
    let ledger = Ledger::default();
    let refund = ledger.refund();
    let (first, second) = futures_util::future::join(refund.submit(["ORD-1"]), refund.clone().submit(["ORD-1"])).await;
    assert_eq!(outcomes(&first.unwrap()), [done(1)]);
    let message = "it is being written by another call; look again later".into();
    assert_eq!(outcomes(&second.unwrap()), [ItemOutcome::Error { message, retryable: true }]);
    assert_eq!(outcomes(&refund.submit(["ORD-1"]).await.unwrap()), [done(1)]);
    assert_eq!(ledger.ids(), ["ORD-1"]);
}

#[tokio::test(start_paused = true)]
async fn b15_a_submit_that_is_dropped_leaves_its_keys_free() {
    let ledger = Ledger::default();
    let refund = ledger.refund();
    let dropped = tokio::time::timeout(Duration::from_millis(50), refund.submit(["ORD-1"]));
    assert!(dropped.await.is_err());
    assert_eq!(outcomes(&refund.submit(["ORD-1"]).await.unwrap()), [done(2)]);
    assert_eq!(ledger.keys(), [r#"["refund","ORD-1"]"#; 2]);
}

#[tokio::test(start_paused = true)]
async fn other_content_for_a_key_is_refused_in_one_list_and_over_two() {
    let ledger = Ledger::default();
    let refund = ledger.refund();
    let twice = [WriteItem::new("ORD-1", 10), WriteItem::new("ord-1", 20)];
    assert_eq!(refund.submit(twice).await, Err(BatchError::Conflicting { id: "ORD-1".into() }));
    assert_eq!(ledger.ids(), Vec::<String>::new());

    let same = [WriteItem::new("ORD-1", 10), WriteItem::new("ord-1", 10)];
    assert_eq!(refund.submit(same).await.unwrap().summary.duplicates, 1);
    let later = refund.submit([WriteItem::new("ORD-1", 20)]).await.unwrap();
    let message = "it was written before with other content, which stays".into();
    assert_eq!(outcomes(&later), [ItemOutcome::Error { message, retryable: false }]);
    assert_eq!(ledger.ids(), ["ORD-1"]);
}

#[tokio::test(start_paused = true)]
async fn b16_in_order_a_failure_at_the_third_write_skips_the_fourth_and_later_ones() {
    let ledger = Ledger::failing("ORD-3", 1);
    let refund = ledger.refund().ordered();
    let begun = Instant::now();
    let list = ["ORD-1", "ORD-2", "ORD-3", "ORD-4", "ORD-5"];
    let report = refund.submit(list).await.unwrap();
    let skipped = ItemOutcome::Skipped { reason: "`ORD-3` before it failed".into() };
    assert_eq!(outcomes(&report), [done(1), done(2), failed(), skipped.clone(), skipped]);
    assert_eq!((report.summary.status, report.summary.skipped), (BatchStatus::Partial, 2));
    assert_eq!(begun.elapsed(), Duration::from_millis(300), "one after another");
    // The same list again goes on where it stopped.
    let report = refund.submit(list).await.unwrap();
    assert_eq!(outcomes(&report), [done(1), done(2), done(4), done(5), done(6)]);
    assert_eq!(ledger.ids(), ["ORD-1", "ORD-2", "ORD-3", "ORD-3", "ORD-4", "ORD-5"]);
}

#[tokio::test(start_paused = true)]
async fn b16_in_order_an_invalid_write_stops_the_list_too() {
    let ledger = Ledger::default();
    let refund = ledger.refund().ordered().validate(|id| if id == "X" { Err("no order".into()) } else { Ok(()) });
    let report = refund.submit(["ORD-1", "x", "ORD-2"]).await.unwrap();
    assert_eq!(ledger.ids(), ["ORD-1"]);
    assert_eq!((report.summary.ok, report.summary.invalid, report.summary.skipped), (1, 1, 1));
}

#[tokio::test(start_paused = true)]
async fn without_an_order_four_writes_are_under_way_at_a_time_and_a_failure_stops_nobody() {
    let ledger = Ledger::failing("ORD-1", 1);
    let begun = Instant::now();
    let report = ledger.refund().submit(["ORD-1", "ORD-2", "ORD-3", "ORD-4", "ORD-5"]).await.unwrap();
    assert_eq!(outcomes(&report), [failed(), done(2), done(3), done(4), done(5)]);
    assert_eq!(begun.elapsed(), Duration::from_millis(200));
}

#[tokio::test(start_paused = true)]
async fn b17_an_irreversible_batch_waits_with_the_full_list_and_no_effect() {
    let ledger = Ledger::default();
    let refund = ledger.refund().irreversible().validate(|id| if id == "X" { Err("no order".into()) } else { Ok(()) });
    let report = refund.submit([WriteItem::new("ord-1", 10), "x".into(), WriteItem::new("ORD-2", 20)]).await.unwrap();
    assert_eq!(report.summary.status, BatchStatus::PendingConfirmation);
    assert_eq!((report.summary.pending, report.summary.invalid, report.summary.ok), (2, 1, 0));
    assert_eq!(outcomes(&report)[0], ItemOutcome::Pending);
    let items = vec![WriteItem::new("ORD-1", 10), WriteItem::new("ORD-2", 20)];
    let pending = PendingWrites { operation: "refund".into(), items };
    assert_eq!(report.confirmation.as_ref(), Some(&pending));
    assert_eq!(ledger.ids(), Vec::<String>::new());

    // It may be stored meanwhile, and confirmed twice.
    let stored: BatchReport = serde_json::from_str(&serde_json::to_string(&report).unwrap()).unwrap();
    assert_eq!(stored, report);
    for _ in 0..2 {
        let written = refund.confirm(stored.confirmation.clone().unwrap()).await.unwrap();
        assert_eq!((written.summary.status, outcomes(&written)), (BatchStatus::Ok, vec![done(1), done(2)]));
    }
    assert_eq!(ledger.ids(), ["ORD-1", "ORD-2"]);
}

#[tokio::test(start_paused = true)]
async fn b17_a_confirmation_of_another_operation_is_refused() {
    let pending = PendingWrites { operation: "delete".into(), items: vec!["ORD-1".into()] };
    let (operation, confirmed) = ("refund".into(), "delete".into());
    let refused = Ledger::default().refund().irreversible().confirm(pending).await;
    assert_eq!(refused, Err(BatchError::OtherOperation { operation, confirmed }));
}

#[tokio::test(start_paused = true)]
async fn a_write_that_takes_too_long_or_panics_may_have_happened_and_can_be_submitted_again() {
    let write = BatchWrite::new("w", |write: Write| async move {
        match &*write.id {
            "slow" => std::future::pending().await,
            "bad" => panic!("broken"),
            _ => Ok(()),
        }
    });
    let begun = Instant::now();
    let report = write.submit(["slow", "bad", "fine"]).await.unwrap();
    assert_eq!(begun.elapsed(), Duration::from_secs(2));
    let error = |message: &str| ItemOutcome::Error { message: message.into(), retryable: true };
    let expected = [
        error("the write took longer than 2s, it may have happened"),
        error("the write failed because of a defect, it may have happened"),
        ItemOutcome::Ok { value: json!(null) },
    ];
    assert_eq!(outcomes(&report), expected);
}

#[tokio::test(start_paused = true)]
async fn a_store_that_fails_before_a_write_prevents_it_and_one_that_fails_after_it_is_a_warning() {
    struct Broken(bool);

    #[async_trait]
    impl WriteStore for Broken {
        async fn get(&self, _: &str) -> Result<Option<Written>, BoxError> {
            if self.0 { Err("no disk".into()) } else { Ok(None) }
        }

        async fn put(&self, _: &str, _: &Written) -> Result<(), BoxError> {
            Err("disk full".into())
        }
    }

    let ledger = Ledger::default();
    let report = ledger.refund().store(Broken(true)).submit(["ORD-1"]).await.unwrap();
    let message = "nobody knows whether it was written before (no disk); not written".into();
    assert_eq!(outcomes(&report), [ItemOutcome::Error { message, retryable: true }]);
    assert_eq!(ledger.ids(), Vec::<String>::new());

    let report = ledger.refund().store(Broken(false)).submit(["ORD-1"]).await.unwrap();
    assert_eq!(outcomes(&report), [done(1)]);
    assert_eq!(
        report.summary.warnings,
        ["`ORD-1` was written, but this could not be remembered; don't write it again"],
    );
}
