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

#[tokio::test(start_paused = true)]
async fn a_lookup_that_found_nothing_is_no_evidence() {
    use graph_nodes::flow::Stage;
    use graph_nodes::gate::Validators;
    use graph_nodes::message::ToolCall;
    use graph_nodes::model::Turn;
    use graph_nodes::stage::RequireEvidence;
    use graph_nodes::tool::ToolBox;

    use crate::support::{flow, seat, talk};

    let orders = BatchLookup::new(|ids: Vec<String>| async move {
        Ok(ids.into_iter().filter(|id| id == "oak").map(|id| (id, 1)).collect::<HashMap<_, _>>())
    });
    let tools = ToolBox::builder().tool(orders.into_tool("orders", "Looks orders up.")).build().unwrap();
    let evidence = RequireEvidence::new("explore", seat()).all_of(["orders"]);
    let explore = Stage::new("explore").tools(["orders"]).validators(Validators::new().with(evidence));
    let graph = flow([]).tools(tools).stage(explore).build().unwrap();
    let call = |id: &str| Turn::calls([ToolCall::new("c", "orders", &json!({"ids": [id]}))]);
    let turns = [call("elm"), Turn::text("It is on its way."), call("oak"), Turn::text("One.")];
    let end = talk(&graph, turns).say("where is it?").await;
    assert_eq!(end.reply_as::<String>().unwrap().as_deref(), Some("One."));
}
