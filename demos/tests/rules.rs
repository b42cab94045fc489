//! What the concierge's graph allows, whatever a model says: the model is
//! scripted here, so that it can be wrong on purpose.

use demos::hotel::catalogue::Catalogue;
use demos::hotel::criteria::{Amenity, City};
use demos::hotel::graph::graph;
use demos::hotel::state::Hotel;
use demos::hotel::tools::Desk;
use graph_engine::{EventKind, MemoryStore, Name, RunError, Status, Thread, TurnEnd};
use graph_nodes::message::{CallStatus, FinishReason, Message, Role, ToolCall, check_history};
use graph_nodes::model::{ChatModel, ScriptedModel, Turn};
use jiff::civil::{Date, date};
use serde_json::{Value, json};
use std::sync::Arc;

const TODAY: Date = date(2026, 6, 10);

struct Visit {
    thread: Thread<Hotel>,
    model: ScriptedModel,
}

impl Visit {
    fn new(turns: impl IntoIterator<Item = Turn>) -> Self {
        let model = ScriptedModel::new(turns);
        let desk = Desk::new(Catalogue::in_memory().unwrap());
        let shared: Arc<dyn ChatModel> = Arc::new(model.clone());
        let runner = graph().unwrap().runner().store(MemoryStore::new()).provide(desk).provide_arc(shared);
        Self { thread: runner.thread("guest"), model }
    }

    /// A visit whose first turn has led to the list of offers.
    async fn with_offers(turns: impl IntoIterator<Item = Turn>) -> Self {
        let wish = json!({"city": "Lisbon", "check_in": "2026-07-03", "check_out": "2026-07-06", "guests": 2});
        let begin = [call("capture_criteria", wish), call("search", json!({})), Turn::text("Here they are.")];
        let visit = Self::new(begin.into_iter().chain(turns));
        let end = visit.say("Lisbon, 3-6 July, for two").await;
        assert_eq!((stage(&end), end.state.offers.len()), ("present", 11));
        visit
    }

    async fn say(&self, text: &str) -> TurnEnd<Hotel> {
        let end = self.thread.run(Hotel::said(text, TODAY)).await.unwrap();
        assert_eq!(check_history(end.state.history.iter()), Ok(()));
        assert!(end.state.draft.is_none());
        end
    }

    fn asked(&self) -> usize {
        self.model.requests().len()
    }
}

fn call(tool: &str, arguments: Value) -> Turn {
    Turn::calls([ToolCall::new("call", tool, &arguments)])
}

fn stage(end: &TurnEnd<Hotel>) -> &str {
    end.state.cursor.stage().map_or("", Name::as_str)
}

/// The last tool message: its status and text.
fn answer(end: &TurnEnd<Hotel>) -> (CallStatus, String) {
    let message = end.state.history.iter().rfind(|message| message.role() == Role::Tool).unwrap();
    (message.status().unwrap(), message.text())
}

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

#[tokio::test(start_paused = true)]
async fn only_an_offer_can_be_chosen_and_blanks_do_not_matter() {
    let visit = Visit::with_offers([
        call("choose_hotel", json!({"hotel": "Grand Mirage"})),
        call("choose_hotel", json!({"hotel": " casa limoa "})),
        Turn::text("Shall I book it?"),
    ])
    .await;
    let end = visit.say("the Grand Mirage, or else Casa Limoa").await;
    assert_eq!(stage(&end), "booking");
    assert_eq!(end.state.chosen.as_deref(), Some("Casa Limoa"));
    assert!(end.state.booking.is_none());
    let told = visit.model.requests()[4].messages.last().map(Message::text).unwrap();
    assert!(told.starts_with("`Grand Mirage` is not among the offers, choose one of: Casa Limoa, "), "{told}");
}

#[tokio::test(start_paused = true)]
async fn comparing_takes_each_hotel_once_and_lists_unknown_names() {
    let named = json!({"hotels": ["Casa Limoa", " CASA LIMOA ", "Tram Bell Inn", "Grand Mirage"]});
    let visit = Visit::with_offers([call("compare_hotels", named), Turn::text("Here.")]).await;
    let end = visit.say("compare").await;
    assert_eq!(stage(&end), "compare");
    assert_eq!(end.state.compared, ["Casa Limoa", "Tram Bell Inn"]);
    assert!(answer(&end).1.contains("not found: Grand Mirage"));
}

#[tokio::test(start_paused = true)]
async fn comparing_nothing_compares_the_first_offers_and_a_wrong_feature_is_refused() {
    let visit = Visit::with_offers([
        call("compare_hotels", json!({"by": "colour"})),
        call("compare_hotels", json!({"hotels": []})),
        Turn::text("Here."),
    ])
    .await;
    let end = visit.say("compare").await;
    assert_eq!(end.state.compared, ["Casa Limoa", "Tram Bell Inn", "Tejo Lantern House"]);
    let told = visit.model.requests()[4].messages.last().map(Message::text).unwrap();
    assert!(told.contains("by"), "{told}");
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
async fn nothing_is_booked_without_the_guests_word() {
    let confirm = || call("confirm_booking", json!({"hotel": "Casa Limoa", "confirmed": true}));
    let visit = Visit::with_offers([
        call("choose_hotel", json!({"hotel": "Casa Limoa"})),
        // The model books by itself: the gate stops it.
        confirm(),
        Turn::text("Shall I book it?"),
        // Then with `false`, and another hotel than the proposed one: the tool refuses.
        call("confirm_booking", json!({"hotel": "Casa Limoa", "confirmed": false})),
        call("confirm_booking", json!({"hotel": "Tram Bell Inn", "confirmed": true})),
        Turn::text("Shall I book Casa Limoa?"),
        confirm(),
    ])
    .await;
    let end = visit.say("what about Casa Limoa?").await;
    assert_eq!((stage(&end), end.state.booking.clone()), ("booking", None));
    assert_eq!(end.state.book.last_round("booking").unwrap().ledger.count(&"not_agreed".into()), 1);
    let end = visit.say("yes").await;
    assert_eq!((stage(&end), end.state.booking.clone()), ("booking", None));
    assert_eq!(answer(&end).1, "`Casa Limoa` was proposed, not `Tram Bell Inn`, propose that first");
    let end = visit.say("yes, book it").await;
    assert_eq!(end.status, Status::Completed);
    assert_eq!(end.state.booking.as_ref().map(|booking| booking.hotel.as_str()), Some("Casa Limoa"));
}

#[tokio::test(start_paused = true)]
async fn after_a_booking_the_thread_is_complete_and_no_model_is_asked() {
    let visit = Visit::with_offers([
        call("choose_hotel", json!({"hotel": "Casa Limoa"})),
        Turn::text("Shall I book it?"),
        call("confirm_booking", json!({"hotel": "Casa Limoa", "confirmed": true})),
    ])
    .await;
    visit.say("Casa Limoa").await;
    let end = visit.say("yes").await;
    assert_eq!(end.status, Status::Completed);
    assert!(end.reply_as::<String>().unwrap().unwrap().starts_with("Booked: Casa Limoa, "));
    let asked = visit.asked();
    let refused = visit.thread.run(Hotel::said("thanks", TODAY)).await.unwrap_err();
    assert!(matches!(*refused, RunError::Completed { .. }));
    assert_eq!(visit.asked(), asked);
    visit.model.assert_done().unwrap();
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
