//! The program is killed at many moments of one talk; afterwards nothing is lost and nothing is done twice.

use crate::place::Place;
use demos::hotel::state::Hotel;
use graph_engine::ThreadState;
use graph_nodes::message::{Role, check_history};

/// The last line answers the question of the program; the others are sentences.
const TALK: [&str; 5] = ["Lisbon 3-6 July for 2", "compare the first two", "book the first", "yes", "yes"];

/// How many of the sentences were heard.
fn heard(found: &ThreadState<Hotel>) -> usize {
    found.state.history.iter().filter(|message| message.role() == Role::User).count()
}

/// All that a talk leaves, except ids of turns and how often models were asked.
fn left(found: &ThreadState<Hotel>) -> String {
    let state = &*found.state;
    assert_eq!(check_history(state.history.iter()), Ok(()));
    assert!(found.completed && found.next.is_empty() && state.draft.is_none());
    format!(
        "{:?} {:?} {:?} {:?} {:?} {:?} {:?} {:?} {:?} {:?}",
        state.today,
        state.criteria,
        state.offers,
        state.shown,
        state.compared,
        state.chosen,
        state.booking,
        state.cursor.stage(),
        state.history,
        found.step,
    )
}

fn unbroken(place: &Place) -> String {
    let output = place.talk("--thread whole", &TALK);
    assert!(output.status.success());
    left(&place.state("whole"))
}

/// Starts the program again with what was not heard; the talk ends like one that nobody broke.
fn goes_on(place: &Place, thread: &str, arguments: &str, whole: &str) {
    let found = place.state(thread);
    // An answer that was heard already is met with the words that the booking is made.
    let rest: Vec<&str> = TALK[heard(&found)..4].iter().chain(&TALK[4..]).copied().collect();
    let output = place.talk(&format!("--thread {thread} {arguments}"), &rest);
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{said}");
    assert!(said.contains("Your reference is GX-"), "{said}");
    let found = place.state(thread);
    assert_eq!(left(&found), whole, "{said}");
    let booked = found.state.history.iter().filter(|message| message.text().starts_with("Booked: ")).count();
    assert_eq!(booked, 1);
}

#[test]
fn killed_at_any_moment_the_talk_goes_on_and_books_once() {
    let place = Place::new("killed");
    let whole = unbroken(&place);
    let lines = String::from_utf8(place.talk("--thread lines --trace", &TALK).stdout).unwrap().lines().count();
    assert!(lines > 60, "{lines}");
    let mut within_a_turn = 0;
    for (number, moment) in (3..lines).step_by(6).enumerate() {
        let thread = format!("killed-{number}");
        let mut talk = place.start(&format!("--trace --thread {thread}"));
        talk.say(&TALK);
        for _ in 0..moment {
            talk.line().unwrap();
        }
        // So it gets no further than its next checkpoint.
        let lock = place.lock();
        talk.kill();
        drop(lock);
        let found = place.state(&thread);
        within_a_turn += usize::from(!found.next.is_empty());
        goes_on(&place, &thread, if number % 2 == 0 { "" } else { "--resume" }, &whole);
    }
    assert!(within_a_turn > 2, "only {within_a_turn} were killed within a turn");
}

#[test]
fn killed_at_the_open_question_it_is_asked_again() {
    let place = Place::new("question");
    let whole = unbroken(&place);
    for (thread, arguments) in [("asked", ""), ("again", "--resume")] {
        let mut talk = place.start(&format!("--thread {thread}"));
        talk.say(&TALK[..4]);
        talk.read_to("Please say yes or no.");
        talk.kill();
        let found = place.state(thread);
        assert_eq!((found.interrupts.len(), heard(&found)), (1, 4));
        assert!(found.state.booking.is_none());
        goes_on(&place, thread, arguments, &whole);
    }
}

#[test]
fn a_sentence_that_was_not_kept_can_be_said_again() {
    let place = Place::new("unheard");
    let whole = unbroken(&place);
    place.talk("--thread unheard", &TALK[..1]);
    let mut talk = place.start("--thread unheard");
    talk.read_to("Say \"more\"");
    // Nothing can be kept from here on.
    let lock = place.lock();
    talk.say(&TALK[1..2]);
    talk.read_to("> compare");
    talk.kill();
    drop(lock);
    assert_eq!(heard(&place.state("unheard")), 1);
    goes_on(&place, "unheard", "", &whole);
}
