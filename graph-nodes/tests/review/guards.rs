//! Repeats over several stages.

use graph_nodes::flow::Stage;
use graph_nodes::message::Message;
use graph_nodes::model::Turn;
use graph_nodes::stage::Guards;
use graph_nodes::tool::ToolReply;

use crate::support::{calls, flow, replies, talk};

#[tokio::test(start_paused = true)]
async fn what_another_stage_wrote_makes_results_old() {
    let guards = || Guards::new().with_repeats_intercepted();
    let search = replies("search", || ToolReply::text("3 rooms")).read_only();
    let to_book = replies("to_book", || ToolReply::text("moved").go("book")).read_only();
    let reserve = replies("reserve", || ToolReply::text("reserved").go("explore"));
    let graph = flow([search, to_book, reserve])
        .stage(Stage::new("explore").tools(["search", "to_book"]).leads_to(["book"]).guards(guards()))
        .stage(Stage::new("book").tools(["reserve"]).leads_to(["explore"]).guards(guards()))
        .build()
        .unwrap();
    let turns = [calls(["search"]), calls(["to_book"]), calls(["reserve"]), calls(["search"]), Turn::text("2 left.")];
    let end = talk(&graph, turns).say("a room").await;
    let texts: Vec<String> =
        end.state.history.iter().filter(|one| one.call_id().is_some()).map(Message::text).collect();
    assert_eq!(texts, ["3 rooms", "moved", "reserved", "3 rooms"]);
}
