//! Recording what the guest wants, and searching.

use super::visit::{Visit, answer, call, stage};
use demos::hotel::criteria::{Amenity, City};
use graph_nodes::message::{CallStatus, Message, ToolCall};
use graph_nodes::model::Turn;
use serde_json::json;

#[tokio::test(start_paused = true)]
async fn four_kinds_of_bad_arguments_get_four_answers_and_the_stage_stays() {
    let broken = Turn::calls([ToolCall::from_text("c", "capture_criteria", "{\"city\": Lis")]);
    let list = Turn::calls([ToolCall::from_text("c", "capture_criteria", "[]")]);
    let visit = Visit::new([
        broken,
        list,
        call("capture_criteria", json!({"city": "Lisbon", "guests": 2})),
        call("search", json!({})),
        call("capture_criteria", json!({"check_in": "2026-07-06", "check_out": "2026-07-03"})),
        Turn::text("Which dates?"),
    ]);
    let end = visit.say("to Lisbon").await;
    assert_eq!(stage(&end), "explore");
    let told: Vec<String> =
        visit.model.requests().iter().filter_map(|request| request.messages.last().map(Message::text)).collect();
    assert!(told[1].contains("not valid JSON"), "{}", told[1]);
    assert!(told[2].contains("an array; send one JSON object"), "{}", told[2]);
    assert_eq!(told[4], "On which days do you arrive and leave?");
    assert!(told[5].contains("check-out `2026-07-03` is not after check-in `2026-07-06`"), "{}", told[5]);
    assert_eq!(end.state.criteria.city, Some(City::Lisbon));
}

#[tokio::test(start_paused = true)]
async fn arguments_that_do_not_fit_the_schema_run_nothing() {
    let wish = json!({"city": "Oslo", "colour": "blue"});
    let visit = Visit::new([call("capture_criteria", wish), Turn::text("Sorry?")]);
    let end = visit.say("Oslo, in blue").await;
    let (status, text) = answer(&end);
    assert_eq!(status, CallStatus::Error);
    assert!(text.contains("colour"), "{text}");
    assert_eq!(end.state.criteria.city, None);
}

#[tokio::test(start_paused = true)]
async fn an_unknown_amenity_is_named_with_the_nearest_one_and_the_rest_is_kept() {
    let wish = json!({"city": "Oslo", "amenities": ["pol", "wifi"]});
    let visit = Visit::new([call("capture_criteria", wish), Turn::text("Did you mean a pool?")]);
    let end = visit.say("Oslo with pol and wifi").await;
    let (status, text) = answer(&end);
    assert_eq!(status, CallStatus::Ok);
    assert!(text.contains("unknown amenity `pol`, did you mean `pool`"), "{text}");
    assert_eq!(end.state.criteria.amenities, [Amenity::Wifi]);
}

#[tokio::test(start_paused = true)]
async fn no_result_keeps_the_criteria_and_the_stage() {
    let wish = json!({"city": "Lisbon", "check_in": "2026-07-03", "nights": 3, "guests": 2, "max_per_night": 10});
    let visit = Visit::new([call("capture_criteria", wish), call("search", json!({})), Turn::text("Nothing.")]);
    let end = visit.say("cheap!").await;
    assert_eq!((stage(&end), end.state.offers.len()), ("explore", 0));
    assert_eq!(end.state.criteria.stay.map(|stay| stay.nights()), Some(3));
    assert!(answer(&end).1.contains(r#""without":[{"part":"the price limit","found":11}]"#), "{}", answer(&end).1);
}
