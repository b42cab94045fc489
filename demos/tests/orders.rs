//! The demo `orders`: its transcripts, and what its tools and its model do.

mod transcript;

use demos::orders::graph::Support;
use demos::orders::shop::{Tracking, latest};
use demos::orders::tools::order_status;
use demos::orders::words::{Question, question};
use demos::orders::{console, graph};
use graph_nodes::batch::{BatchReport, BatchStatus, ItemOutcome};
use graph_nodes::message::{Message, check_history};
use serde_json::json;

#[tokio::test(start_paused = true)]
async fn transcripts_are_what_the_program_says() {
    transcript::check("orders", console, |state: &Support| {
        assert_eq!(check_history(state.history.iter()), Ok(()));
        assert!(state.draft.is_none());
    })
    .await;
}

/// The reports and the names of the calls of a conversation with one question.
async fn asked(text: &str) -> (Vec<BatchReport>, Vec<String>) {
    let mut console = console().unwrap();
    console.talk(format!("{text}\n").as_bytes(), &mut Vec::new(), false).await.unwrap();
    let state = console.thread.state().await.unwrap().state;
    let reports = state.history.iter().filter(|message| message.call_id().is_some()).map(Message::text);
    let reports = reports.filter_map(|text| serde_json::from_str(&text).ok()).collect();
    let calls = state.history.iter().flat_map(Message::calls).map(|call| call.name.to_string()).collect();
    (reports, calls)
}

#[tokio::test(start_paused = true)]
async fn twelve_orders_are_one_call_and_two_requests_and_one_id_is_invalid() {
    let (reports, calls) = asked("which of my last twelve orders have shipped?").await;
    assert_eq!(calls, ["latest_orders", "order_status"]);
    let summary = &reports[0].summary;
    assert_eq!((summary.status, summary.requested, summary.ok, summary.invalid), (BatchStatus::Partial, 12, 11, 1));

    let tracking = Tracking::default();
    order_status(&tracking).run(latest(12)).await.unwrap();
    assert_eq!(tracking.take_requests().as_deref(), Some("tracking: 2 requests, for 10 + 1 orders"));
}

#[tokio::test(start_paused = true)]
async fn of_thirty_orders_what_is_over_the_cap_is_deferred_and_asked_for_next() {
    let (reports, calls) = asked("where are my last thirty orders?").await;
    assert_eq!(calls, ["latest_orders", "order_status", "order_status"]);
    assert_eq!((reports[0].summary.requested, reports[0].deferred.len()), (30, 4));
    let second: Vec<_> = reports[1].results.iter().map(|result| result.id.clone()).collect();
    assert_eq!(second, reports[0].deferred);
    assert_eq!(reports[1].summary.status, BatchStatus::Ok);
}

#[tokio::test(start_paused = true)]
async fn a_customer_sees_status_and_carrier_and_nothing_else() {
    let report = order_status(&Tracking::default()).run([" ord-7030 "]).await.unwrap();
    let value = json!({"status": "shipped", "carrier": "Alpine Parcel"});
    assert_eq!(report.outcome("ORD-7030"), Some(&ItemOutcome::Ok { value }));
}

#[test]
fn sentences_are_read() {
    assert_eq!(question("my latest order?"), Question::Latest(1));
    assert_eq!(question("the last 12 orders"), Question::Latest(12));
    assert_eq!(question("my recent orders"), Question::Latest(5));
    assert_eq!(question("ORD-7001."), Question::Orders(vec!["ORD-7001".into()]));
}

#[test]
fn the_graph_has_no_warnings() {
    assert!(graph::graph(&Tracking::default()).unwrap().warnings().is_empty());
}
