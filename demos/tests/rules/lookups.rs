//! How often the catalogue is asked, and that every call is answered.

use super::visit::{TODAY, Visit, answer, answers, call, runner, stage};
use demos::hotel::catalogue::Catalogue;
use demos::hotel::model::Concierge;
use demos::hotel::state::Hotel;
use demos::hotel::tools::Desk;
use graph_nodes::batch::{BatchStatus, ItemOutcome};
use graph_nodes::message::{CallStatus, ToolCall};
use graph_nodes::model::Turn;
use serde_json::{Value, json};
use std::sync::Arc;

fn several<const N: usize>(calls: [(&str, Value); N]) -> Turn {
    let numbered = calls.into_iter().enumerate();
    Turn::calls(numbered.map(|(at, (tool, arguments))| ToolCall::new(format!("call_{at}"), tool, &arguments)))
}

fn details(hotel: &str) -> (&'static str, Value) {
    ("hotel_details", json!({"hotel": hotel}))
}

#[tokio::test(start_paused = true)]
async fn details_and_a_comparison_of_two_offers_are_one_question_to_the_catalogue() {
    let both = ("compare_hotels", json!({"hotels": ["Casa Limoa", "Tram Bell Inn"]}));
    let visit = Visit::with_offers([
        // In any order: the set decides.
        several([both, details("Casa Limoa"), details("Tram Bell Inn")]),
        Turn::text("Here."),
    ])
    .await;
    let before = visit.desk.questions();
    let end = visit.say("tell me about the first two and compare them").await;
    assert_eq!(visit.desk.questions() - before, 1);
    let told = answers(&end);
    assert_eq!(told.len(), 3);
    assert!(told[0].starts_with(r#"{"table":"hotel      Casa Limoa "#), "{}", told[0]);
    assert!(told[1].starts_with("Casa Limoa, Rua do Sal Velho 12, Alfama: 2 stars"), "{}", told[1]);
    assert!(told[2].starts_with("Tram Bell Inn, "), "{}", told[2]);
    assert_eq!(
        (stage(&end), end.state.compared.clone()),
        ("compare", vec!["Casa Limoa".into(), "Tram Bell Inn".into()])
    );
    // Nobody asked for a single record.
    assert_eq!(visit.desk.records().waiters, 0);
}

#[tokio::test(start_paused = true)]
async fn one_wrong_name_refuses_details_and_comparison_together() {
    let both = ("compare_hotels", json!({"hotels": ["Casa Limoa"]}));
    let visit = Visit::with_offers([several([details("Grand Mirage"), both]), Turn::text("Which one?")]).await;
    let before = visit.desk.questions();
    let end = visit.say("compare the grand mirage with Casa Limoa and tell me about it").await;
    let told = answers(&end);
    assert!(told.iter().all(|text| text.starts_with("`Grand Mirage` is not among the offers, choose one of: ")));
    assert_eq!((told.len(), answer(&end).0, stage(&end)), (2, CallStatus::Error, "present"));
    assert_eq!(visit.desk.questions(), before);
}

#[tokio::test(start_paused = true)]
async fn another_set_of_tools_goes_call_by_call() {
    let both = ("compare_hotels", json!({"hotels": ["Casa Limoa"]}));
    let third = ("check_availability", json!({"hotels": ["Casa Limoa"]}));
    let visit = Visit::with_offers([several([details("Casa Limoa"), both, third]), Turn::text("Here.")]).await;
    let before = visit.desk.questions();
    let end = visit.say("everything about Casa Limoa").await;
    assert_eq!((visit.desk.questions() - before, answers(&end).len()), (3, 3));
}

#[tokio::test(start_paused = true)]
async fn three_single_look_ups_of_one_response_are_one_question_to_the_catalogue() {
    let three = ["Casa Limoa", "Tram Bell Inn", "casa limoa "].map(details);
    let visit = Visit::with_offers([several(three), Turn::text("Here.")]).await;
    let before = visit.desk.questions();
    let end = visit.say("tell me about them").await;
    assert_eq!(visit.desk.questions() - before, 1);
    let told = answers(&end);
    assert_eq!((told.len(), told[0] == told[2]), (3, true));
    let metrics = visit.desk.records();
    assert_eq!((metrics.batch_sizes, metrics.waiters, metrics.joined_pending), ([(2, 1)].into(), 3, 1));
    assert_eq!(stage(&end), "present");
}

#[tokio::test(start_paused = true)]
async fn guests_never_share_a_look_up() {
    let desk = Arc::new(Desk::new(Catalogue::in_memory().unwrap()));
    let runner = runner(Arc::new(Concierge), desk.clone());
    let guests = [runner.thread("guest-1"), runner.thread("guest-2")];
    for guest in &guests {
        guest.run(Hotel::said("Lisbon, 3-6 July, for two", TODAY)).await.unwrap();
    }
    let before = desk.questions();
    let ask = |at: usize| guests[at].run(Hotel::said("tell me about the first two", TODAY));
    let (one, other) = tokio::join!(ask(0), ask(1));
    assert_eq!(one.unwrap().reply_as::<String>().unwrap(), other.unwrap().reply_as::<String>().unwrap());
    assert_eq!((desk.questions() - before, desk.records().batch_sizes), (2, [(2, 2)].into()));
}

#[tokio::test(start_paused = true)]
async fn the_availability_of_all_hotels_is_one_call_and_one_question() {
    use demos::hotel::facts::Availability;
    let visit = Visit::with_offers([
        call("check_availability", json!({"hotels": [], "check_in": "2026-12-30", "check_out": "2027-01-02"})),
        Turn::text("Here."),
    ])
    .await;
    let before = visit.desk.questions();
    let end = visit.say("are they all free 2026-12-30 to 2027-01-02?").await;
    assert_eq!(visit.desk.questions() - before, 1);
    let Availability { stay, report } = serde_json::from_str(&answer(&end).1).unwrap();
    assert_eq!(stay.nights(), 3);
    assert_eq!((report.summary.status, report.summary.requested, report.summary.ok), (BatchStatus::Ok, 11, 11));
    let full = json!({"vacancy": "full", "night": "2026-12-31"});
    let room = json!({"vacancy": "room", "room": "double", "total": "€206.73"});
    assert_eq!(report.outcome("Casa Limoa"), Some(&ItemOutcome::Ok { value: full }));
    assert_eq!(report.outcome("Tram Bell Inn"), Some(&ItemOutcome::Ok { value: room }));
    // Nothing of the search is changed by the question.
    assert_eq!((stage(&end), end.state.criteria.stay.unwrap().nights()), ("present", 3));
    assert_eq!(end.state.criteria.stay.unwrap().check_in().to_string(), "2026-07-03");
}

#[tokio::test(start_paused = true)]
async fn forms_of_one_name_are_asked_once_and_a_wrong_one_is_answered_in_its_place() {
    use demos::hotel::facts::Availability;
    let hotels = json!({"hotels": ["casa limoa", "Grand Mirage", " Casa Limoa "]});
    let visit = Visit::with_offers([call("check_availability", hotels), Turn::text("Here.")]).await;
    let end = visit.say("are Casa Limoa and the Grand Mirage free?").await;
    let Availability { report, .. } = serde_json::from_str(&answer(&end).1).unwrap();
    let ids: Vec<&str> = report.results.iter().map(|item| item.id.as_str()).collect();
    assert_eq!(ids, ["Casa Limoa", "Grand Mirage"]);
    let summary = &report.summary;
    assert_eq!((summary.status, summary.ok, summary.invalid, summary.duplicates), (BatchStatus::Partial, 1, 1, 1));
}
