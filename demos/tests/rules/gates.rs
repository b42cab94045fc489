//! What no gate lets through.

use super::visit::{Visit, answer, call, stage};
use demos::hotel::criteria::City;
use graph_nodes::gate::Code;
use graph_nodes::message::{FinishReason, Message, ToolCall};
use graph_nodes::model::Turn;
use serde_json::json;

#[tokio::test(start_paused = true)]
async fn a_tool_that_no_stage_has_is_rejected_before_anything_runs() {
    let visit = Visit::with_offers([
        Turn::calls([
            ToolCall::new("a", "teleport", &json!({})),
            ToolCall::new("b", "choose_hotel", &json!({"hotel": "Casa Limoa"})),
        ]),
        Turn::text("Which one?"),
    ])
    .await;
    let end = visit.say("take me there").await;
    assert_eq!((stage(&end), end.state.chosen.clone()), ("present", None));
    let round = end.state.book.last_round("present").unwrap();
    assert_eq!(round.ledger.count(&graph_nodes::gate::Code::UNKNOWN_TOOL), 1);
}

#[tokio::test(start_paused = true)]
async fn invented_prices_cut_texts_and_control_characters_never_reach_the_guest() {
    let visit = Visit::with_offers([
        Turn::text("The Casa Limoa costs €1.00."),
        Turn::text("The Casa Limoa cos").with_finish(FinishReason::Length),
        Turn::text("The Casa Limoa costs €165.16."),
        Turn::text("\u{1b}[31mred"),
        Turn::text("x".repeat(5000)),
        Turn::text("black"),
    ])
    .await;
    let end = visit.say("what does it cost?").await;
    assert_eq!(end.reply_as::<String>().unwrap().as_deref(), Some("The Casa Limoa costs €165.16."));
    let counters: Vec<String> =
        end.state.book.last_round("present").unwrap().ledger.counters.keys().map(ToString::to_string).collect();
    assert_eq!(counters, ["invented_price", "truncated"]);
    let end = visit.say("which colour?").await;
    assert_eq!(end.reply_as::<String>().unwrap().as_deref(), Some("black"));
    let said: Vec<String> = end.state.history.iter().map(Message::text).collect();
    assert!(said.iter().all(|text| !text.contains("€1.00") && !text.contains('\u{1b}')));
}

#[tokio::test(start_paused = true)]
async fn a_refusal_and_an_exhausted_gate_end_in_an_apology_and_the_talk_goes_on() {
    let visit = Visit::with_offers([
        Turn::refusal("I can't."),
        Turn::text(" "),
        Turn::text("€1.00"),
        Turn::text("€2.00"),
        Turn::text("At your service."),
    ])
    .await;
    for said in ["hello?", "hello??"] {
        let end = visit.say(said).await;
        assert!(end.reply_as::<String>().unwrap().unwrap().starts_with("I am sorry"));
    }
    assert_eq!(visit.asked(), 3 + 1 + 3);
    let end = visit.say("hello???").await;
    assert_eq!(end.reply_as::<String>().unwrap().as_deref(), Some("At your service."));
}

/// What the model was told of its last rejected answer.
fn correction(visit: &Visit) -> String {
    let requests = visit.model.requests();
    let told = requests.iter().rev().flat_map(|request| request.messages.iter().rev()).map(Message::text);
    told.into_iter().find(|text| text.contains("rejected")).unwrap_or_default()
}

#[tokio::test(start_paused = true)]
async fn days_outside_the_season_that_the_guest_did_not_say_are_rejected() {
    let wish = |day: &str| call("capture_criteria", json!({"city": "Lisbon", "check_in": day, "nights": 3}));
    // The year mistaken twice, then right.
    let visit = Visit::new([wish("2025-07-03"), wish("2029-07-03"), wish("2026-07-03"), Turn::text("For how many?")]);
    let end = visit.say("Lisbon from 3 July, three nights").await;
    let rounds = &end.state.book.recent;
    assert_eq!(rounds[0].ledger.count(&"outside_season".into()), 2);
    assert_eq!(
        rounds[0].ledger.attempts[1].reasons[0].message.as_deref(),
        Some(
            "the guest did not say `2029-07-03`, and it is outside the season from `2026-06-10` to `2027-12-02`: give the \
             days that were said"
        )
    );
    assert!(correction(&visit).contains("the guest did not say `2029-07-03`"), "{}", correction(&visit));
    assert_eq!(end.state.criteria.stay.unwrap().check_in().to_string(), "2026-07-03");
}

#[tokio::test(start_paused = true)]
async fn days_outside_the_season_that_the_guest_said_are_answered_by_the_tool() {
    let wish = json!({"city": "Lisbon", "check_in": "2029-07-03", "check_out": "2029-07-06"});
    let visit = Visit::new([call("capture_criteria", wish), Turn::text("Not so early.")]);
    let end = visit.say("Lisbon, 2029-07-03 to 2029-07-06").await;
    let told = answer(&end).1;
    assert!(
        told.contains("check-out `2029-07-06` is after `2027-12-02`, the last day with prices, give an earlier stay"),
        "{told}"
    );
    // The rest is kept.
    assert_eq!((end.state.criteria.city, end.state.criteria.stay), (Some(City::Lisbon), None));
    assert_eq!(end.state.book.last_round("explore").unwrap().ledger.started(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_hotel_that_nobody_offered_or_named_is_rejected_wherever_it_is_called() {
    let named = [
        ("hotel_details", json!({"hotel": "Grand Mirage"})),
        ("choose_hotel", json!({"hotel": "Waltz Garden"})),
        ("compare_hotels", json!({"hotels": ["Casa Limoa", "Grand Mirage"]})),
        ("check_availability", json!({"hotels": ["Grand Mirage"]})),
    ];
    for (tool, arguments) in named {
        let visit = Visit::with_offers([call(tool, arguments), Turn::text("Which one?")]).await;
        let questions = visit.desk.questions();
        let end = visit.say("I cannot decide").await;
        let round = end.state.book.last_round("present").unwrap();
        assert_eq!((stage(&end), round.ledger.count(&"not_offered".into())), ("present", 1), "{tool}");
        assert_eq!(visit.desk.questions(), questions, "{tool} ran");
        let told = correction(&visit);
        assert!(told.contains("is not among the offers: name only Casa Limoa, Tram Bell Inn, "), "{told}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_text_may_name_other_hotels_only_after_the_guest_or_a_tool() {
    let visit = Visit::with_offers([
        Turn::text("Or take the Waltz Garden in Vienna."),
        Turn::text("Or take Casa Limoa."),
        Turn::text("The Waltz Garden is in Vienna."),
    ])
    .await;
    let end = visit.say("I cannot decide").await;
    assert_eq!(end.reply_as::<String>().unwrap().as_deref(), Some("Or take Casa Limoa."));
    let round = end.state.book.last_round("present").unwrap();
    assert_eq!(round.ledger.counters.keys().collect::<Vec<_>>(), [&Code::new("not_offered")]);
    let end = visit.say("and the waltz garden?").await;
    assert_eq!(end.reply_as::<String>().unwrap().as_deref(), Some("The Waltz Garden is in Vienna."));
}
