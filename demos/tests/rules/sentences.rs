//! Which tools the offline model calls for a sentence about offers.

use super::visit::{TODAY, runner};
use demos::hotel::catalogue::Catalogue;
use demos::hotel::model::Concierge;
use demos::hotel::state::Hotel;
use demos::hotel::tools::Desk;
use std::sync::Arc;

const CASES: &[(&str, &[&str])] = &[
    ("tell me about the first", &["hotel_details"]),
    ("tell me about the first two", &["hotel_details", "hotel_details"]),
    ("more about Casa Limoa and the third", &["hotel_details", "hotel_details"]),
    ("tell me about the first two and compare them", &["hotel_details", "hotel_details", "compare_hotels"]),
    ("compare the first two and tell me more about them", &["hotel_details", "hotel_details", "compare_hotels"]),
    ("describe the first two side by side", &["hotel_details", "hotel_details", "compare_hotels"]),
    ("compare the first two", &["compare_hotels"]),
    ("are the first two free 10-12 August?", &["check_availability"]),
    ("which of them are available next weekend?", &["check_availability"]),
    ("is Casa Limoa available on 24 December?", &["check_availability"]),
    ("can you check if the last one is free on 10 August?", &["check_availability"]),
    ("are the first and the Ritz still free?", &["check_availability"]),
    // What is not known is asked for, and other wishes stay what they were.
    ("are they free a week later?", &[]),
    ("is the seventeenth available?", &[]),
    ("is it free?", &[]),
    ("do they have free wifi?", &["change_criteria", "search"]),
    ("are rooms with free parking available?", &["change_criteria", "search"]),
    ("is anything available in Porto?", &["change_criteria", "search"]),
];

#[tokio::test(start_paused = true)]
async fn sentences_about_several_offers_lead_to_the_fewest_calls() {
    let desk = Arc::new(Desk::new(Catalogue::in_memory().unwrap()));
    let runner = runner(Arc::new(Concierge), desk);
    for (at, (said, expected)) in CASES.iter().enumerate() {
        let guest = runner.thread(format!("guest-{at}"));
        let before = guest.run(Hotel::said("Lisbon, 3-6 July, for two", TODAY)).await.unwrap();
        let after = guest.run(Hotel::said(said, TODAY)).await.unwrap();
        let new = after.state.history.iter().skip(before.state.history.len());
        let called: Vec<&str> = new.flat_map(|message| message.calls()).map(|call| call.name.as_str()).collect();
        assert_eq!(called, *expected, "{said}");
    }
}
