//! What is kept by default, and under which names.

use crate::place::Place;
use demos::hotel::criteria::City;
use expect_test::expect;

#[test]
fn piped_talks_are_the_same_each_time_and_kept_apart() {
    let place = Place::new("piped");
    let lines = ["Lisbon 3-6 July for 2", "compare the first two"];
    let first = place.talk("", &lines);
    assert_eq!(place.talk("", &lines), first);
    assert!(place.file().exists());
    let [one, two] = ["guest-1", "guest-2"].map(|name| place.state(name));
    assert_eq!(one.step, two.step);
    assert!(one.step > 0 && place.state("guest-3").checkpoint.is_none());
    // The newest of them goes on.
    assert!(
        place.said("--resume", &["book the first"]).starts_with("Going on with `guest-2`.\n> compare the first two\n")
    );
    assert_eq!(place.state("guest-1").state.chosen, None);
    assert_eq!(place.state("guest-2").state.chosen.as_deref(), Some("Casa Limoa"));
}

#[test]
fn talks_that_begin_at_the_same_time_get_names_of_their_own() {
    let place = Place::new("together");
    let mut talks: Vec<_> = (0..4).map(|_| place.start("")).collect();
    talks.iter_mut().for_each(|talk| talk.say(&["Lisbon 3-6 July for 2"]));
    let said: Vec<_> = talks.into_iter().map(crate::place::Talk::end).collect();
    for output in &said {
        assert_eq!(output, &said[0]);
        assert!(output.status.success());
    }
    for number in 1..=4 {
        let found = place.state(&format!("guest-{number}"));
        assert_eq!(found.state.history.iter().filter(|message| message.text().contains("Lisbon 3-6")).count(), 1);
    }
    assert!(place.state("guest-5").checkpoint.is_none());
}

#[test]
fn memory_keeps_nothing() {
    let place = Place::new("memory");
    assert!(place.talk("--store memory", &["Lisbon 3-6 July for 2"]).status.success());
    assert!(!place.file().exists());
}

#[test]
fn a_history_is_listed_the_oldest_first() {
    let place = Place::new("history");
    place.talk("--thread anna", &["Lisbon 3-6 July for 2", "book the first", "yes"]);
    expect![[r#"
        Checkpoints of `anna` in hotel.sqlite, the oldest first:
           n  step kind     time                 id                               next
           1     0 input    <time> <id> explore (said: Lisbon 3-6 July for 2)
           2     1 step     <time> <id> explore_agent
           3     2 step     <time> <id> explore_gate
           4     3 step     <time> <id> explore_tools
           5     4 step     <time> <id> explore_agent
           6     5 step     <time> <id> explore_gate
           7     6 step     <time> <id> explore_tools
           8     7 step     <time> <id> present
           9     8 step     <time> <id> present_agent
          10     9 step     <time> <id> present_gate
          11    10 step     <time> <id> nothing: waits for the guest
          12    10 input    <time> <id> present (said: book the first)
          13    11 step     <time> <id> present_agent
          14    12 step     <time> <id> present_gate
          15    13 step     <time> <id> present_tools
          16    14 step     <time> <id> booking
          17    15 step     <time> <id> booking_agent
          18    16 step     <time> <id> booking_gate
          19    17 step     <time> <id> nothing: waits for the guest
          20    17 input    <time> <id> booking (said: yes)
          21    18 step     <time> <id> booking_agent
          22    19 step     <time> <id> booking_gate
          23    20 step     <time> <id> booking_tools
          24    20 pending  <time> <id> booking_tools, after a yes or no
    "#]]
    .assert_eq(&place.said("--thread anna --history", &[]));
}

#[test]
fn a_fork_begins_where_its_entry_was_and_leaves_the_rest_alone() {
    let place = Place::new("fork");
    place.talk("--thread anna", &["Lisbon 3-6 July for 2", "book the first"]);
    let before = place.said("--thread anna --history", &[]);
    expect![[r#"
        Entry 11 of `anna` is now the new conversation `anna-2`.
        Going on with `anna-2`.
        > Lisbon 3-6 July for 2
        I found 11 hotels: Lisbon, 3 to 6 July 2026 (3 nights), 2 guests.
         1. Casa Limoa, Alfama, 2 stars, 2.6 km to the centre: double room, €165.16 for 3 nights
         2. Tram Bell Inn, Campo de Ourique, 3 stars, 3.8 km to the centre: double room, €252.59 for 3 nights
         3. Tejo Lantern House, Alfama, 3 stars, 2.0 km to the centre: double room, €262.31 for 3 nights
         4. The Blue Swallow, Baixa, 3 stars, 5.9 km to the centre: double room, €267.17 for 3 nights
         5. Varanda Mirela, Graça, 3 stars, 2.3 km to the centre: double room, €335.17 for 3 nights
        Say "more" for the rest. Which ones shall I compare, or which one shall I book?
        > book the second
        Tram Bell Inn in Campo de Ourique: a double room for 2 guests, 3 to 6 July 2026 (3 nights), €252.59 in total. Shall I book it?
    "#]].assert_eq(&place.said("--thread anna --fork 11", &["book the second"]));
    expect![[r#"
        Entry 19 of `anna` is now the new conversation `berta`.
        Going on with `berta`.
        > book the first
        Casa Limoa in Alfama: a double room for 2 guests, 3 to 6 July 2026 (3 nights), €165.16 in total. Shall I book it?
        > no
        I found 11 hotels: Lisbon, 3 to 6 July 2026 (3 nights), 2 guests.
         1. Casa Limoa, Alfama, 2 stars, 2.6 km to the centre: double room, €165.16 for 3 nights
         2. Tram Bell Inn, Campo de Ourique, 3 stars, 3.8 km to the centre: double room, €252.59 for 3 nights
         3. Tejo Lantern House, Alfama, 3 stars, 2.0 km to the centre: double room, €262.31 for 3 nights
         4. The Blue Swallow, Baixa, 3 stars, 5.9 km to the centre: double room, €267.17 for 3 nights
         5. Varanda Mirela, Graça, 3 stars, 2.3 km to the centre: double room, €335.17 for 3 nights
        Say "more" for the rest. Which ones shall I compare, or which one shall I book?
    "#]].assert_eq(&place.said("--thread anna --fork 19 --as berta", &["no"]));
    assert_eq!(place.said("--thread anna --history", &[]), before);
    assert_eq!(place.state("anna-2").state.chosen.as_deref(), Some("Tram Bell Inn"));
    assert_eq!(place.state("berta").state.chosen.as_deref(), None);
}

#[test]
fn a_resumed_talk_shows_what_was_last() {
    let place = Place::new("resume");
    place.talk("--thread anna", &["Lisbon 3-6 July for 2", "book the first", "yes"]);
    expect![[r#"
        Going on with `anna`.
        > yes
        Book Casa Limoa, a double room for 2 guests, 3 to 6 July 2026 (3 nights), for €165.16?
        Please say yes or no.
        > yes
        Booked: Casa Limoa, Rua do Sal Velho 12, a double room for 2 guests, 3 to 6 July 2026 (3 nights), €165.16 in total.
        Your reference is GX-78BC7DFD. Goodbye, and have a good trip!
    "#]].assert_eq(&place.said("--thread anna --resume", &["yes"]));
    expect![[r#"
        Going on with `anna`.
        > yes
        Booked: Casa Limoa, Rua do Sal Velho 12, a double room for 2 guests, 3 to 6 July 2026 (3 nights), €165.16 in total.
        Your reference is GX-78BC7DFD. Goodbye, and have a good trip!
        Your booking is made and this conversation is complete. Say "new" for another one, or "quit" to leave.
        > new
        A new conversation. Where would you like to go?
        > Oslo
        Noted: Oslo. On which days do you arrive and leave, and how many people are coming?
    "#]].assert_eq(&place.said("--thread anna", &["new", "Oslo"]));
    assert_eq!(place.state("anna-2").state.criteria.city, Some(City::Oslo));
}
