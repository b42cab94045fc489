//! What the guest wants, from the slots and from set phrases.

use crate::hotel::understand::hotels::Wish;
use crate::hotel::understand::normalise::Text;
use crate::hotel::understand::slots::{Intent, Slots};

#[rustfmt::skip]
const BACK: &[&str] = &[
    "start over", "start again", "start afresh", "start from scratch", "from scratch", "new search", "search again", "another search", "different search", "go back", "back",
    "reset", "restart", "begin again", "change my search", "change the search", "change search", "change our search", "change something", "change my criteria", "change the criteria", "changed my mind", "change my mind",
    "start fresh", "start a new search", "modify my search", "modify the search", "adjust my search", "adjust the search", "refine my search", "refine the search", "let's redo", "redo the search", "previous step", "fresh start", "from the beginning",
    "clear everything", "forget everything", "edit my search", "edit the search", "look again", "different criteria", "start anew", "from the top", "other criteria", "clear all", "forget it all", "undo", "update my search", "something completely different", "tweak my search", "tweak the search", "starting over", "all over again",
];
#[rustfmt::skip]
const SHOW: &[&str] = &[
    "show me the offers", "show the offers", "show offers", "show me the list", "show the list", "show me the hotels", "show the hotels", "show hotels", "show more", "show me more", "more options",
    "more hotels", "more offers", "more results", "other hotels", "other options", "other offers", "what else", "anything else", "next page", "list them", "list the hotels", "list again", "offers again", "list hotels",
    "hotels again", "show them", "show me them", "show them again", "show me again", "show again", "show me what you have", "what do you have", "what have you got", "what did you find", "results again", "options again",
    "show me the results", "show the results", "show results", "show me the options", "show the options", "show options", "show me options", "see the list", "see the offers", "see the hotels", "see the options", "see more", "see them again",
    "the list again", "any others", "any other", "any more", "let me see", "repeat the offers", "repeat the list", "repeat that", "list the offers", "list offers", "list all", "show all", "show me all", "see the results", "see all", "see them", "more please", "back to the list", "back to the offers", "back to the results",
    "back to the hotels", "back to the options", "give me more", "give me the list", "can i see", "show me others", "show others", "show the others", "show me the others", "the rest", "show me some more", "some more", "more choices", "more of them", "which hotels", "what hotels", "which ones do you have", "go through them again", "show us the", "show me hotels", "show me the rest", "list the options", "read them again", "what were the offers", "what were they", "what are the offers", "what was on the list", "show me other", "show other", "show",
];
#[rustfmt::skip]
const HELP: &[&str] = &[
    "help", "what can you do", "how does this work", "how does it work", "what can i ask", "what can i say", "what do you do", "how do i use", "which cities", "what cities", "which amenities", "what amenities", "instructions", "what are my options",
    "who are you", "what can i do", "how do you work", "what should i do", "what should i say", "how can you", "i'm lost", "i am lost", "commands", "what is this", "i don't understand", "i don't know what to do", "what now", "how do i", "where do you have hotels", "what do you need", "explain", "what kind of", "confused", "how to use", "usage", "which room types", "what room types", "what do i do", "what else can you do", "i'm stuck", "manual",
];
#[rustfmt::skip]
const QUIT: &[&str] = &[
    "bye", "goodbye", "good bye", "quit", "exit", "see you", "see ya", "ciao", "that's all", "that is all", "that will be all", "that'll be all", "that would be all", "i'm done", "we're done", "i am done", "stop", "good night", "goodnight", "leave", "farewell",
    "end the chat", "close the chat", "end chat", "cheerio", "so long", "take care", "have a good day", "have a nice day", "cancel", "abort", "i'm leaving", "i have to go", "i've got to go", "gotta go", "until next time", "catch you later", "talk later", "later", "end this", "cya", "ttyl", "tschuss", "adios", "adeus", "log out", "logout", "end", "q", "finish", "done", "i'm off", "must dash", "all done", "i give up",
];
#[rustfmt::skip]
const NO: &[&str] = &[
    "no", "nope", "nah", "no thanks", "no thank you", "not really", "not now", "don't", "no way", "rather not", "not yet", "i don't think so", "negative", "never", "better not", "not this one", "not that one", "i'd rather not", "not quite", "neither", "none", "none of them", "absolutely not", "certainly not", "of course not", "wrong", "incorrect", "not right", "nay", "n", "no deal", "hold off", "not interested", "never mind", "nevermind", "that's not right", "i don't want that", "not what i want", "don't book", "do not", "forget it", "not correct", "not ok", "not okay",
];
#[rustfmt::skip]
const YES: &[&str] = &[
    "yes", "yep", "yeah", "yup", "sure", "ok", "okay", "of course", "certainly", "absolutely", "sounds good", "sounds great", "sounds perfect", "perfect", "go ahead", "please do", "right", "correct", "exactly", "that's right", "fine", "do it", "confirmed", "confirm", "agreed", "definitely", "y", "great", "looks good", "why not", "indeed", "good", "yes please", "that works", "works for me", "alright", "all right", "by all means", "let's do it", "that's fine", "i agree", "wonderful", "excellent", "lovely", "aye", "yess", "yea", "ya", "affirmative", "k", "deal", "true", "brilliant", "super", "cool", "that's correct", "all good", "let's do that", "do that", "please",
];
#[rustfmt::skip]
const GREET: &[&str] = &[
    "hi", "hello", "hey", "good morning", "good afternoon", "good evening", "greetings", "good day", "howdy", "hiya", "hallo", "ola", "hola", "yo", "morning", "evening", "afternoon", "hi there", "hello there", "hey there", "bonjour", "guten tag", "heya", "gday", "g'day", "good to see you", "how are you", "what's up", "sup", "servus", "konnichiwa", "welcome",
];
const THANKS: &[&str] = &[
    "thanks",
    "thank you",
    "thx",
    "cheers",
    "many thanks",
    "much appreciated",
    "thank u",
    "ty",
    "appreciate it",
    "appreciated",
    "i appreciate",
    "you've been helpful",
    "you've been very helpful",
    "that was helpful",
    "grateful",
    "obrigado",
    "danke",
    "thnx",
    "thanx",
    "tnx",
    "merci",
    "gracias",
];
#[rustfmt::skip]
const SEARCH: &[&str] = &[
    "find", "search", "looking for", "look for", "need a hotel", "need a room", "want a hotel", "want a room", "need somewhere", "need a place", "book a", "book me a", "book us a", "book a room", "book a hotel", "reserve a",
    "hotel", "room", "accommodation", "place to stay", "somewhere to stay", "cheaper", "closer", "trip", "holiday", "vacation", "travel", "stay", "getaway", "something cheaper", "less expensive", "more central", "bigger", "nearer", "hotels", "lodging", "somewhere", "city break", "rooms", "available", "availability", "weekend", "different dates", "other dates", "different city",
];
const THAT_ONE: &[&str] = &[
    "it",
    "that",
    "this",
    "one",
    "ones",
    "now",
    "please",
    "the cheapest",
    "cheapest",
    "the nearest",
    "hotel number",
    "for me",
    "for us",
];

/// The intent; `slots` are those already found and `wish` what is done with
/// hotels. Words that belong to slots are marked and do not count, except
/// where `plain`, the sentence before any rule, is asked.
pub(super) fn read(text: &Text, plain: &Text, slots: &Slots, wish: Wish) -> Intent {
    let criteria = slots.has_criteria();
    let several = slots.hotels.len() > 1;
    if wish.compare && (several || !criteria || slots.by.is_some()) {
        return Intent::Compare;
    }
    if wish.book && !slots.hotels.is_empty() {
        return Intent::Book;
    }
    if wish.book && books_that(plain) && !is_refusal(plain) {
        return Intent::Book;
    }
    if criteria {
        return Intent::Search;
    }
    if slots.by.is_some()
        && !plain.contains(&["cheaper", "closer", "nearer"])
        && plain.contains(&["which", "by", "on", "sort", "rank"])
    {
        return Intent::Compare;
    }
    match slots.hotels.len() {
        0 => {}
        1 => return Intent::Book,
        _ => return Intent::Compare,
    }
    set_phrase(text)
}

/// `book it`, `I'll take that one`.
fn books_that(plain: &Text) -> bool {
    if plain.contains(&["want the cheapest", "want that one", "want this one", "like that one", "like this one"]) {
        return true;
    }
    (0..plain.len()).any(|at| {
        plain
            .longest(
                at,
                &[
                    "book",
                    "reserve",
                    "take",
                    "go with",
                    "go for",
                    "choose",
                    "pick",
                    "confirm the booking",
                    "confirm my booking",
                    "confirm booking",
                    "booking",
                    "confirm the reservation",
                    "make the booking",
                    "make the reservation",
                ],
            )
            .is_some_and(|length| {
                let next = at + length;
                plain.longest(next, THAT_ONE).is_some()
                    || plain.get(next).is_none() && at > 0
                    || plain.longest(next, &["!", ".", "the first", "the last", "the same"]).is_some() && at < 4
                    || length > 1 && plain.any(at, &["confirm", "make"])
                    || plain.get(next).is_none() && plain.any(at, &["book", "reserve"])
            })
    })
}

fn is_refusal(plain: &Text) -> bool {
    plain.contains(&[
        "don't book",
        "do not book",
        "don't take",
        "not book",
        "don't want",
        "don't reserve",
        "won't take",
        "won't book",
    ])
}

fn set_phrase(text: &Text) -> Intent {
    let starts = |phrases: &[&str]| {
        let first = (0..text.len()).find(|at| {
            text.get(*at).is_some_and(|token| token.low.chars().all(char::is_alphanumeric) || token.low.contains('\''))
        });
        first.is_some_and(|at| text.longest(at, phrases).is_some())
    };
    let only_thanks = starts(NO) && text.contains(THANKS);
    if text.contains(&[
        "back to the list",
        "back to the offers",
        "back to the results",
        "back to the hotels",
        "back to the options",
        "go back to the list",
        "back to the offer",
    ]) {
        return Intent::Show;
    }
    if text.contains(BACK) {
        return Intent::Back;
    }
    if only_thanks && !text.contains(&["that's all", "bye", "goodbye", "that is all", "i'm done"]) {
        return Intent::No;
    }
    if is_quit(text) {
        return Intent::Quit;
    }
    if text.contains(HELP) {
        return Intent::Help;
    }
    if text.contains(SHOW) && !text.contains(&["cheaper", "closer"]) {
        return Intent::Show;
    }
    if starts(NO) {
        return Intent::No;
    }
    if text.contains(SEARCH) {
        return Intent::Search;
    }
    if text.contains(THANKS) {
        return Intent::Thanks;
    }
    if starts(GREET) {
        return Intent::Greet;
    }
    if starts(YES) || text.len() <= 4 && text.contains(YES) {
        return Intent::Yes;
    }
    if text.contains(NO) && text.len() <= 6 {
        return Intent::No;
    }
    if !text.is_spent() && text.len() <= 12 && text.contains(GREET) {
        return Intent::Greet;
    }
    if text.len() == 1 && text.is_mark(0, "?") {
        return Intent::Help;
    }
    Intent::Unknown
}

/// Words of leaving; the short ones only where they stand nearly alone.
fn is_quit(text: &Text) -> bool {
    const SHORT: &[&str] = &["leave", "later", "stop", "cancel", "end", "q", "finish", "done", "take care", "so long"];
    (0..text.len()).any(|at| {
        text.longest(at, QUIT)
            .is_some_and(|length| length > 1 && !text.any(at, &["take"]) || !text.any(at, SHORT) || text.len() <= 4)
    })
}
