//! Why a list is refused, and why a key has no value.

use std::collections::HashMap;
use std::time::Duration;

use graph_nodes::batch::{BatchError, BatchWrite, PendingWrites, WriteItem};
use graph_nodes::coalesce::{CoalesceError, Coalescer};

use crate::doc::{Entry, Section};

pub(crate) async fn lists() -> Section {
    let entry = |error: &BatchError, means| Entry::variant("BatchError", error, means);
    let refund = BatchWrite::new("refund", |_| async { Ok(()) }).irreversible();
    let empty = refund.submit([" "]).await.expect_err("blank");
    let conflicting = refund.submit([WriteItem::new("ORD-1", 10), WriteItem::new("ORD-1", 20)]).await;
    let other = PendingWrites { operation: "delete".into(), items: vec!["ORD-1".into()] };
    let other = refund.confirm(other).await.expect_err("another operation");
    Section {
        title: "Looking up and writing lists",
        intro: "Given before any request is made. What is wrong with single ids is data of the report.",
        entries: vec![
            entry(&empty, "In a tool the model reads this as the answer of its call."),
            entry(&conflicting.expect_err("two amounts"), "Ids are compared in their normalised form."),
            entry(&other, "`PendingWrites` belong to the batch whose report they come from."),
        ],
    }
}

pub(crate) async fn keys() -> Section {
    let entry = |error: &CoalesceError, means| Entry::variant("CoalesceError", error, means);
    let failing = Coalescer::<u32, u32>::new(|_, _| async { Err("backend down".into()) });
    let failed = failing.tenant("acme").get(1).await.expect_err("it fails");
    let blank = failing.tenant(" ").get(1).await.expect_err("blank");
    failing.close();
    let closed = failing.tenant("acme").get(1).await.expect_err("closed");
    let panicking = Coalescer::<u32, u32>::new(|_, _| async { panic!("no such table") });
    let panicked = panicking.tenant("acme").get(1).await.expect_err("it panics");
    let slow = Coalescer::builder().timeout(Duration::from_secs(2)).build(|_, _: Vec<u32>| async {
        std::future::pending::<()>().await;
        Ok(HashMap::<u32, u32>::new())
    });
    let late = slow.tenant("acme").get(1).await.expect_err("it never ends");
    Section {
        title: "Loading keys together",
        intro: "All waiters of a batch get the same error. Nothing is remembered of it, so asking again makes a new call.",
        entries: vec![
            entry(&blank, "Not retryable. The name of a tenant is taken letter by letter."),
            entry(&closed, "Not retryable. The program is on its way down."),
            entry(&CoalesceError::NoRuntime, "Not retryable. Loads run on the tokio runtime of whoever asks first."),
            entry(&failed, "Retryable. The loader's error is in `source`; the number is that of the keys."),
            entry(&panicked, "Retryable, because another batch may not do it. The loader has a defect."),
            entry(&late, "Retryable. The load was dropped."),
            entry(&CoalesceError::Lost, "Retryable. Whoever opened the batch did so on a runtime that has ended."),
        ],
    }
}
