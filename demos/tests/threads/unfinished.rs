//! A person at a conversation with unfinished work is asked what to do with it.

use crate::place::Place;
use clap::Parser as _;
use demos::hotel::criteria::City;
use demos::hotel::terminal::{Options, Style, run};
use expect_test::expect;

/// What the program says to a person, after its welcome. A person's lines are not repeated.
fn person(place: &Place, day: &str, arguments: &str, lines: &str) -> String {
    let store = place.file();
    let words = ["hotel", "--today", day, "--store", store.to_str().unwrap()].into_iter();
    let options = Options::try_parse_from(words.chain(arguments.split_whitespace())).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let mut said = Vec::new();
    runtime.block_on(run(&options, lines.as_bytes(), &mut said, true, Style::PLAIN)).unwrap();
    String::from_utf8(said).unwrap().lines().skip(2).map(|line| format!("{}\n", line.trim_end())).collect()
}

const TODAY: &str = "2026-06-10";

/// A fork in the middle of a turn stands where a killed program leaves its conversation.
fn half(name: &str) -> Place {
    let place = Place::new(name);
    place.talk("--thread anna", &["Lisbon 3-6 July for 2", "compare the first two"]);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let thread = place.thread("anna");
        let history = thread.history(&graph_engine::Filter::default()).await.unwrap();
        thread.at(history[2].id).fork("guest-1").await.unwrap();
    });
    place
}

#[test]
fn a_person_may_finish_what_was_not_finished() {
    let place = half("finish");
    expect![[r#"
        Going on with `guest-1`.
        > compare the first two
        This was not answered to the end, unless another program still works on it. Please say "go on" or "drop".
        > Please say "go on" or "drop".
        > hotel      Casa Limoa                  Tram Bell Inn
        ---------  --------------------------  --------------------------
        price      €165.16 (3 nights, double)  €252.59 (3 nights, double)
        room       double, twin                single, double, twin,
                                               suite
        amenities  wifi, breakfast, parking,   wifi, breakfast, pool,
                   air conditioning,           parking, spa, pets,
                   airport shuttle             air conditioning,
                                               restaurant
        distance   2.6 km                      3.8 km
        Which one shall I book, or would you like to see the list again?
        > Casa Limoa in Alfama: a double room for 2 guests, 3 to 6 July 2026 (3 nights), €165.16 in total. Shall I book it?
        >
        This conversation is kept as `guest-1`: start again with `--thread guest-1` to go on.
    "#]].assert_eq(&person(&place, TODAY, "", "hm?\ngo on\nbook the first\n"));
    assert_eq!(place.state("guest-1").state.chosen.as_deref(), Some("Casa Limoa"));
}

#[test]
fn a_person_may_drop_what_was_not_finished() {
    let place = half("drop");
    expect![[r#"
        Going on with `guest-1`.
        > compare the first two
        This was not answered to the end, unless another program still works on it. Please say "go on" or "drop".
        > What was not finished is dropped. Please go on.
        > Casa Limoa in Alfama: a double room for 2 guests, 3 to 6 July 2026 (3 nights), €165.16 in total. Shall I book it?
        >
        This conversation is kept as `guest-1`: start again with `--thread guest-1` to go on.
    "#]].assert_eq(&person(&place, TODAY, "", "drop\nbook the first\n"));
    assert_eq!(place.state("guest-1").state.chosen.as_deref(), Some("Casa Limoa"));
}

#[test]
fn with_resume_nobody_is_asked() {
    let place = half("resume");
    expect![[r#"
        Going on with `guest-1`.
        > compare the first two
        hotel      Casa Limoa                  Tram Bell Inn
        ---------  --------------------------  --------------------------
        price      €165.16 (3 nights, double)  €252.59 (3 nights, double)
        room       double, twin                single, double, twin,
                                               suite
        amenities  wifi, breakfast, parking,   wifi, breakfast, pool,
                   air conditioning,           parking, spa, pets,
                   airport shuttle             air conditioning,
                                               restaurant
        distance   2.6 km                      3.8 km
        Which one shall I book, or would you like to see the list again?
        >
        This conversation is kept as `guest-1`: start again with `--thread guest-1` to go on.
    "#]]
    .assert_eq(&person(&place, TODAY, "--resume", ""));
    assert!(place.state("guest-1").next.is_empty());
}

#[test]
fn a_person_begins_anew_when_the_last_conversation_is_complete() {
    let place = Place::new("anew");
    place.talk("", &["Lisbon 3-6 July for 2", "quit"]);
    assert!(place.state("guest-1").completed);
    expect![[r#"
        > Noted: Oslo. On which days do you arrive and leave, and how many people are coming?
        >
        This conversation is kept as `guest-2`: start again with `--thread guest-2` to go on.
    "#]]
    .assert_eq(&person(&place, TODAY, "", "Oslo\n"));
    expect![[r#"
        Going on with `guest-2`.
        > Oslo
        Noted: Oslo. On which days do you arrive and leave, and how many people are coming?
        > I found 11 hotels: Oslo, 3 to 6 July 2026 (3 nights), 2 guests.
         1. Fjordlys House, Bjørvika, 2 stars, 3.9 km to the centre: double room, €276.88 for 3 nights
         2. Salt Herring Inn, Vika, 3 stars, 4.9 km to the centre: double room, €408.03 for 3 nights
         3. Nordlyng Lodge, Holmenkollen, 3 stars, 5.3 km to the centre: double room, €417.75 for 3 nights
         4. Pine and Ember, Frogner, 3 stars, 6.1 km to the centre: double room, €417.75 for 3 nights
         5. The Grey Seal, Aker Brygge, 3 stars, 950 m to the centre: double room, €422.61 for 3 nights
        Say "more" for the rest. Which ones shall I compare, or which one shall I book?
        > Goodbye, and have a good trip!
    "#]]
    .assert_eq(&person(&place, TODAY, "", "3-6 July for 2\nquit\n"));
    assert_eq!(place.state("guest-2").state.criteria.city, Some(City::Oslo));
}

#[test]
fn a_yes_after_the_day_of_arrival_books_nothing() {
    let place = Place::new("late");
    place.talk("", &["Lisbon 3-6 July for 2", "book the first", "yes"]);
    assert_eq!(place.state("guest-1").interrupts.len(), 1);
    expect![[r#"
        Going on with `guest-1`.
        > yes
        Book Casa Limoa, a double room for 2 guests, 3 to 6 July 2026 (3 nights), for €165.16?
        Please say yes or no.
        > This is too late: check-in `2026-07-03` is before today `2026-07-04`, give today or a later day.
        All right, nothing is booked. Would you like to see the list again, or change something?
        >
        This conversation is kept as `guest-1`: start again with `--thread guest-1` to go on.
    "#]]
    .assert_eq(&person(&place, "2026-07-04", "", "yes\n"));
    let found = place.state("guest-1");
    assert!(found.state.booking.is_none() && found.next.is_empty());
}
