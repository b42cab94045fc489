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

#[tokio::test(start_paused = true)]
async fn a_move_is_no_repeat_of_an_earlier_move() {
    let guards = || Guards::new().with_repeats_intercepted();
    let to_book = replies("to_book", || ToolReply::text("moved").go("book")).read_only();
    let back = replies("back", || ToolReply::text("back").go("explore")).read_only();
    let graph = flow([to_book, back])
        .stage(Stage::new("explore").tools(["to_book"]).leads_to(["book"]).guards(guards()))
        .stage(Stage::new("book").tools(["back"]).leads_to(["explore"]).guards(guards()))
        .build()
        .unwrap();
    let turns = [calls(["to_book"]), calls(["back"]), calls(["to_book"]), Turn::text("Booked.")];
    let end = talk(&graph, turns).say("a room").await;
    assert_eq!(crate::support::path(&end.state), ["explore", "book", "explore", "book"]);
}

#[tokio::test(start_paused = true)]
async fn what_was_read_beside_a_write_is_read_again() {
    let search = replies("search", || ToolReply::text("3 rooms")).read_only().concurrent();
    let reserve = replies("reserve", || ToolReply::text("reserved")).concurrent();
    let guards = Guards::new().with_repeats_intercepted();
    let graph = flow([search, reserve])
        .stage(Stage::new("explore").tools(["search", "reserve"]).guards(guards))
        .build()
        .unwrap();
    let turns = [calls(["reserve", "search"]), calls(["search"]), calls(["search", "reserve"]), Turn::text("ok")];
    let end = talk(&graph, turns).say("a room").await;
    let texts: Vec<String> =
        end.state.history.iter().filter(|one| one.call_id().is_some()).map(Message::text).collect();
    let again = |text: &str| format!("not executed again: the same call succeeded in this turn and answered: {text}");
    assert_eq!(texts, ["reserved", "3 rooms", "3 rooms", &again("3 rooms"), &again("reserved")]);
}
