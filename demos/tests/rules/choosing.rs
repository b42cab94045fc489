//! Comparing, proposing and booking.

use super::visit::{TODAY, Visit, answer, call, stage};
use demos::hotel::state::Hotel;
use graph_engine::{RunError, Status};
use graph_nodes::message::{CallStatus, Message};
use graph_nodes::model::Turn;
use graph_nodes::tool::ConfirmQuestion;
use serde_json::json;

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
    let end = visit.say("compare Casa Limoa, Tram Bell Inn and the Grand Mirage").await;
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
    let end = visit.agree("yes, book it").await;
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
    let end = visit.agree("yes").await;
    assert_eq!(end.status, Status::Completed);
    assert!(end.reply_as::<String>().unwrap().unwrap().starts_with("Booked: Casa Limoa, "));
    let asked = visit.asked();
    let refused = visit.thread.run(Hotel::said("thanks", TODAY)).await.unwrap_err();
    assert!(matches!(*refused, RunError::Completed { .. }));
    assert_eq!(visit.asked(), asked);
    visit.model.assert_done().unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_confirmation_that_says_no_is_answered_and_books_nothing() {
    let visit = Visit::with_offers([
        call("choose_hotel", json!({"hotel": "Casa Limoa"})),
        Turn::text("Shall I book it?"),
        call("confirm_booking", json!({"hotel": "Casa Limoa", "confirmed": false})),
        Turn::text("Shall I?"),
    ])
    .await;
    visit.say("Casa Limoa, please").await;
    let end = visit.say("yes").await;
    assert_eq!(answer(&end).1, "nothing is booked without a yes, ask the guest again");
    assert_eq!((stage(&end), end.state.booking.clone()), ("booking", None));
    assert_eq!(end.state.chosen.as_deref(), Some("Casa Limoa"));
}

#[tokio::test(start_paused = true)]
async fn a_proposal_is_dropped_when_its_stage_is_left() {
    let visit = Visit::with_offers([
        call("choose_hotel", json!({"hotel": "Casa Limoa"})),
        Turn::text("Shall I book it?"),
        call("change_criteria", json!({})),
        Turn::text("What?"),
    ])
    .await;
    let end = visit.say("Casa Limoa, please").await;
    assert_eq!(end.state.chosen.as_deref(), Some("Casa Limoa"));
    let end = visit.say("I changed my mind").await;
    assert_eq!((stage(&end), end.state.chosen.clone()), ("explore", None));
}

#[tokio::test(start_paused = true)]
async fn the_guest_is_asked_before_a_booking_and_a_no_books_nothing() {
    let visit = Visit::with_offers([
        call("choose_hotel", json!({"hotel": "Casa Limoa"})),
        Turn::text("Shall I book it?"),
        call("confirm_booking", json!({"hotel": "Casa Limoa", "confirmed": true})),
        Turn::text("All right."),
    ])
    .await;
    visit.say("Casa Limoa").await;
    let paused = visit.say("yes").await;
    assert_eq!((paused.status, paused.interrupts().len()), (Status::Paused, 1));
    let question: ConfirmQuestion = serde_json::from_value(paused.interrupts()[0].question.clone()).unwrap();
    assert_eq!(question.text, "Book Casa Limoa, a double room for 2 guests, 3 to 6 July 2026 (3 nights), for €165.16?");
    assert_eq!((&question.details["hotel"], &question.calls[0].tool[..]), (&json!("Casa Limoa"), "confirm_booking"));
    let end = visit.thread.resume(false).await.unwrap();
    assert_eq!((stage(&end), end.state.booking.clone(), answer(&end).0), ("booking", None, CallStatus::Declined));
    visit.model.assert_done().unwrap();
}
