//! The graph, its stages and the ways between them.

use super::visit::{TODAY, Visit, answer, call, stage};
use demos::hotel::criteria::City;
use demos::hotel::graph::graph;
use demos::hotel::state::Hotel;
use graph_engine::{EventKind, Name, Status};
use graph_nodes::message::{CallStatus, Role, ToolCall};
use graph_nodes::model::Turn;
use serde_json::json;

#[test]
fn the_graph_compiles_without_a_warning() {
    let graph = graph().unwrap();
    assert!(graph.warnings().is_empty(), "{:?}", graph.warnings());
    let clusters: Vec<(&str, &str)> =
        graph.topology().clusters.iter().map(|cluster| (cluster.name.as_str(), cluster.entry.as_str())).collect();
    assert_eq!(
        clusters,
        [
            ("booking", "booking_agent"),
            ("compare", "compare_agent"),
            ("explore", "explore_agent"),
            ("goodbye", "goodbye_end"),
            ("present", "present_agent"),
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn a_tool_of_another_stage_is_an_error_and_the_stage_stays() {
    let visit = Visit::with_offers([call("capture_criteria", json!({"city": "Oslo"})), Turn::text("Sorry.")]).await;
    let end = visit.say("Oslo").await;
    let (status, text) = answer(&end);
    assert_eq!(status, CallStatus::Error);
    assert!(
        text.starts_with("the tool `capture_criteria` is not offered here; the tools are `show_offers`, "),
        "{text}"
    );
    assert_eq!((stage(&end), end.state.criteria.city), ("present", Some(City::Lisbon)));
}

#[tokio::test(start_paused = true)]
async fn two_calls_at_once_are_both_answered_and_leaving_wins_the_conversation() {
    let visit = Visit::with_offers([Turn::calls([
        ToolCall::new("a", "close_conversation", &json!({})),
        ToolCall::new("b", "choose_hotel", &json!({"hotel": "Casa Limoa"})),
    ])])
    .await;
    let end = visit.say("bye, and take Casa Limoa").await;
    assert_eq!(end.status, Status::Completed);
    let answered = end.state.history.iter().filter(|message| message.role() == Role::Tool).count();
    assert_eq!(answered, 4);
    assert_eq!(end.state.book.conflicts.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn the_cursor_is_written_only_where_a_stage_begins() {
    use futures_util::StreamExt as _;
    let visit = Visit::with_offers([
        call("show_offers", json!({"more": true})),
        call("compare_hotels", json!({})),
        Turn::text("Here."),
        call("compare_hotels", json!({"by": "price"})),
        call("show_offers", json!({})),
        Turn::text("Here."),
        call("change_criteria", json!({})),
        Turn::text("What?"),
    ])
    .await;
    let mut seen = Vec::new();
    for said in ["more", "compare", "by price", "back", "change"] {
        let mut events = visit.thread.run(Hotel::said(said, TODAY)).stream();
        while let Some(event) = events.next().await {
            if let EventKind::NodeFinished { wrote, .. } = &event.kind
                && wrote.iter().any(|field| *field == "cursor")
            {
                seen.push(event.node.clone().unwrap_or_default());
            }
        }
        events.end().await.unwrap();
    }
    // Each turn notes where it begins; "more" and "by price" lead nowhere else.
    assert_eq!(seen, ["present", "present", "compare", "compare", "compare", "present", "present", "explore"]);
    let found = visit.thread.state().await.unwrap();
    let path: Vec<&str> = found.state.cursor.path().map(Name::as_str).collect();
    assert_eq!(path, ["explore", "present", "compare", "present", "explore"]);
}
