//! Hotels by name or by their place in the list, and what to compare by.

use crate::hotel::criteria::Feature;
use crate::hotel::understand::normalise::{Kind, Text};
use crate::hotel::understand::slots::HotelRef;
use crate::hotel::understand::words::NO_HOTEL;

/// What a sentence does with hotels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Wish {
    pub(super) compare: bool,
    pub(super) book: bool,
}

const COMPARE: &[&str] = &[
    "compare",
    "comparing",
    "comparison",
    "side by side",
    "versus",
    "vs",
    "difference between",
    "differences between",
    "stack up",
    "compared",
    "next to each other",
    "contrast",
    "vs .",
    "differ",
    "against each other",
    "compares",
    "how do",
    "comparision",
    "which is cheaper",
    "which one is cheaper",
    "which is closer",
    "which one is closer",
    "which of",
    "which is nearer",
    "which is better",
    "which one is better",
    "or is it better",
    "which has more",
    "which has better",
    "which has the",
    "which one has",
    "difference",
    "differences",
    "matchup",
    "match up",
    "against",
];
const BOOK: &[&str] = &[
    "book",
    "reserve",
    "i'll take",
    "we'll take",
    "i will take",
    "we will take",
    "i'd take",
    "take",
    "go with",
    "going with",
    "go for",
    "choose",
    "pick",
    "i want",
    "i choose",
    "we want",
    "booking",
    "i'd like",
    "we'd like",
    "i would like",
    "confirm",
    "settle on",
    "settle for",
    "i'll have",
    "we'll have",
    "i'll go with",
    "reservation at",
    "reservation for",
    "stay at",
    "room at",
    "a room at",
    "we choose",
    "i prefer",
    "sign me up for",
    "sign us up for",
    "get me",
    "get us",
    "make a reservation at",
    "make a reservation for",
    "booked",
    "secure",
    "put me down for",
    "opt for",
    "decided on",
    "went with",
];

/// Whether the sentence compares or books.
pub(super) fn wish(text: &Text) -> Wish {
    Wish { compare: text.contains(COMPARE), book: text.contains(BOOK) }
}

/// Marks the known names and returns them with their places.
pub(super) fn known(text: &mut Text, names: &[String]) -> Vec<(usize, HotelRef)> {
    let names: Vec<Vec<String>> = names.iter().map(|name| words_of(name)).collect();
    let mut found = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let longest = names.iter().filter_map(|name| match_name(text, at, name)).max();
        match longest {
            Some(length) => {
                let said = text.said(at, at + length).to_owned();
                found.push((at, HotelRef::Name(said)));
                text.take(at, at + length);
                at += length;
            }
            None => at += 1,
        }
    }
    found
}

fn words_of(name: &str) -> Vec<String> {
    let text = Text::new(name);
    let words: Vec<String> = (0..text.len()).map(|at| text.low(at).to_owned()).collect();
    // A guest leaves out the article.
    match words.as_slice() {
        [the, rest @ ..] if the == "the" && !rest.is_empty() => rest.to_vec(),
        _ => words,
    }
}

fn match_name(text: &Text, at: usize, name: &[String]) -> Option<usize> {
    let same = |(index, word): (usize, &String)| {
        let low = text.low(at + index);
        low == word || word == "and" && low == "&" || low.strip_suffix("'s") == Some(word)
    };
    (!name.is_empty() && name.iter().enumerate().all(same)).then_some(name.len())
}

/// Places in the list: `the first two`, `1 and 3`, `the last one`.
pub(super) fn places(text: &mut Text, wish: Wish) -> Vec<(usize, HotelRef)> {
    let mut found: Vec<(usize, HotelRef)> = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let Some((places, end)) = place(text, at, wish, !found.is_empty()) else {
            at += 1;
            continue;
        };
        found.extend(places.into_iter().map(|place| (at, HotelRef::Ordinal(place))));
        text.take(at, end);
        at = end;
    }
    found
}

const THINGS: &[&str] = &[
    "hotel",
    "hotels",
    "one",
    "ones",
    "option",
    "options",
    "offer",
    "offers",
    "place",
    "places",
    "result",
    "results",
    "choice",
    "on the list",
    "in the list",
];

fn place(text: &Text, at: usize, wish: Wish, listed: bool) -> Option<(Vec<i32>, usize)> {
    let the = text.any(at, &["the"]);
    let start = at + usize::from(the);
    let thing = |end: usize| end + text.longest(end, THINGS).unwrap_or(0);
    let count = |at: usize| {
        let number = text.number(at).filter(|count| (1..=11).contains(count))?;
        i32::try_from(number).ok()
    };
    if text.any(start, &["first", "top"])
        && let Some(last) = count(start + 1).filter(|_| !text.any(start + 1, &["one"]))
    {
        return Some(((1..=last).collect(), thing(start + 2)));
    }
    if text.any(start, &["last", "bottom", "final"]) {
        if let Some(last) = count(start + 1).filter(|_| !text.any(start + 1, &["one"])) {
            return Some(((-last..=-1).collect(), thing(start + 2)));
        }
        let end = thing(start + 1);
        let meant = end > start + 1 || the && (wish.book || wish.compare) && ends_phrase(text, end);
        return meant.then(|| (vec![-1], end));
    }
    if let Some(number) = text.ordinal(start).filter(|number| (1..=66).contains(number)) {
        let end = thing(start + 1);
        let meant = end > start + 1 || wish.book || wish.compare || listed || text.len() <= 3;
        return meant.then(|| (vec![i32::try_from(number).unwrap_or(1)], end));
    }
    let label = text.longest(start, &["number", "no .", "nr", "nr .", "#", "option", "hotel", "offer", "num", "no"]);
    let number_at = start + label.unwrap_or(0);
    let number = count(number_at)?;
    let end = number_at + 1;
    if label.is_some() {
        return Some((vec![number], end));
    }
    // Bare numbers are places only where hotels are compared or booked.
    let led = text.ends_before(
        at,
        &[
            "comparison of",
            "compare",
            "and",
            ",",
            "&",
            "vs",
            "with",
            "versus",
            "hotels",
            "options",
            "numbers",
            "to",
            "between",
            "offers",
            "against",
        ],
    );
    let led = led && (wish.compare || listed)
        || text.ends_before(at, &["book", "take", "pick", "choose", "reserve", "go with", "go for", "numbers"]);
    let pronoun = text.any(number_at, &["one"]) || is_counted(text, end);
    if !led || pronoun {
        return None;
    }
    let last = text.is_mark(end, "-").then(|| count(end + 1)).flatten();
    match last.filter(|last| *last > number) {
        Some(last) => Some(((number..=last).collect(), end + 2)),
        None => Some((vec![number], end)),
    }
}

fn is_counted(text: &Text, at: usize) -> bool {
    text.get(at).is_some_and(|next| next.kind == Kind::Word)
        && !text.any(
            at,
            &[
                "and", "vs", "versus", "with", "by", "on", "for", "please", "then", "side", "in", "to", "against",
                "or", "from", "next",
            ],
        )
}

fn ends_phrase(text: &Text, at: usize) -> bool {
    text.get(at).is_none_or(|next| {
        next.kind == Kind::Mark || matches!(next.low.as_str(), "please" | "and" | "with" | "by" | "on" | "for" | "then")
    })
}

/// Names that no list knows, as said after a word of comparing or booking.
pub(super) fn guessed(text: &mut Text, wish: Wish) -> Vec<(usize, HotelRef)> {
    const BETWEEN: &[&str] = &["and", ",", "with", "vs", "versus", "to", "&", "or", "against", "plus", "vs ."];
    let verbs = if wish.compare { COMPARE } else { BOOK };
    let mut found = Vec::new();
    let Some(mut start) = (0..text.len()).find_map(|at| Some(at + text.longest(at, verbs)?)) else {
        return found;
    };
    // "I'd like to book": the last of the verbs is the one before the name.
    while let Some(next) = (start..start + 2).find_map(|at| Some(at + text.longest(at, verbs)?)) {
        start = next;
    }
    let versus = wish.compare && text.ends_before(start, &["vs", "versus", "stack up", "against", "vs .", "compared"]);
    let which = wish.compare && text.contains(&["which is", "which one", "which has", "which of"]);
    let mut at = if versus { 0 } else { start };
    while at < text.len() {
        let end = name_end(text, at, wish);
        if let Some((from, to)) = trim(text, at, end) {
            let capital = (from..to).any(|at| text.capital(at));
            if !which || capital {
                found.push((from, HotelRef::Name(text.said(from, to).to_owned())));
            }
            text.take(from, to);
        }
        let joined =
            text.longest(end, BETWEEN).filter(|_| wish.compare || text.any(end, &["and", "or"]) && found.is_empty());
        let Some(length) = joined else {
            // "Which is cheaper, X or Y": the names come after the comma.
            let comma = text.is_mark(end, ",") && found.is_empty();
            if comma || wish.compare && text.is_used(end) {
                at = end + 1;
                continue;
            }
            if wish.compare && found.is_empty() && end < text.len() && !text.any(end, STOPS) {
                at = end + 1;
                continue;
            }
            break;
        };
        at = end + length;
    }
    if wish.compare && found.len() == 1 && !found.iter().any(|(at, _)| text.capital(*at)) {
        found.clear();
    }
    found
}

#[rustfmt::skip]
const STOPS: &[&str] = &[
    "for", "from", "by", "on", "in", "with", "at", "please", "thanks", "thank", "and", "or", "vs", "versus", "to", "based", "regarding", "when", "according", "side", "but", "instead",
    "against", "plus", "until", "this", "next", "tonight", "tomorrow", "then", "as", "is", "are", "has", "have", "now", "via", "under", "compare", "we", "i", "because", "stack", "differ", "if", "which", "side", "do", "does", "it's", "than", "looks", "sounds", "terms", "again", "that", "compared", "using", "cheaper", "closer", "nearer", "better", "concerning", "over",
];

fn name_end(text: &Text, at: usize, wish: Wish) -> usize {
    if text.is_mark(at, "\"") {
        let closing = (at + 1..at + 10).find(|end| text.is_mark(*end, "\""));
        if let Some(end) = closing {
            return end + 1;
        }
    }
    let mut end = at;
    while let Some(token) = text.get(end) {
        let inner = wish.book
            && !wish.compare
            && end > at
            && text.any(end, &["and", "&"])
            && text.capital(end + 1)
            && text.capital(end - 1);
        let stop = STOPS.contains(&token.low.as_str())
            || matches!(token.kind, Kind::Mark) && !matches!(token.low.as_str(), "&")
            || token.low == "&";
        if stop && !inner {
            break;
        }
        end += 1;
    }
    end
}

/// Cuts the words around a name; `None` if nothing of a name is left.
fn trim(text: &Text, from: usize, to: usize) -> Option<(usize, usize)> {
    let quoted = text.is_mark(from, "\"") && to > from + 2;
    if quoted {
        return Some((from + 1, to - 1));
    }
    let (mut from, mut to) = (from, to);
    const LEAD: &[&str] = &[
        "the", "me", "us", "a", "hotels", "between", "both", "it", "room", "how", "about", "prices", "of", "yes", "ok",
        "okay", "great", "what", "what's",
    ];
    while from < to && text.any(from, LEAD) && !text.capital(from) {
        from += 1;
    }
    if to > from + 1 && text.any(from, &["hotel"]) && !text.capital(from) {
        from += 1;
    }
    while from < to
        && text.any(to - 1, &["please", "now", "then", "hotel", "instead", "too", "again", "hotels", "compare"])
        && !text.capital(to - 1)
    {
        to -= 1;
    }
    let named = (from..to)
        .any(|at| text.get(at).is_some_and(|token| token.kind == Kind::Word) && !NO_HOTEL.contains(&text.low(at)));
    let cased = (from..to).any(|at| text.capital(at));
    let city = to == from + 1 && crate::hotel::understand::city::known(text, from).is_some();
    (named && !city && to - from <= 6 && (cased || to - from <= 4)).then_some((from, to))
}

/// What to compare by.
pub(super) fn feature(text: &Text) -> Option<Feature> {
    #[rustfmt::skip]
    const WORDS: &[(Feature, &[&str])] = &[
        (Feature::Price, &["price", "prices", "cost", "costs", "cheaper", "cheapest", "how much", "rate", "rates", "pricing", "money", "expensive", "price wise", "pricewise", "price tag", "cheap", "value"]),
        (Feature::Room, &["room", "rooms", "room type", "room types", "roomtype", "beds", "bedrooms", "kind of room", "kinds of room"]),
        (Feature::Amenities, &["amenities", "amenity", "facilities", "facility", "perks", "extras", "features", "what they offer", "equipment", "services", "offer more", "has more"]),
        (Feature::Distance, &["distance", "distances", "location", "locations", "closer", "closest", "how far", "nearer", "nearest", "centre", "center", "central", "far", "proximity", "walk", "close"]),
    ];
    (0..text.len()).find_map(|at| {
        let found = WORDS.iter().filter_map(|(feature, words)| Some((text.longest(at, words)?, *feature)));
        found.max_by_key(|(length, _)| *length).map(|(_, feature)| feature)
    })
}
