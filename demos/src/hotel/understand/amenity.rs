//! Amenities wanted, no longer wanted, and asked for but unknown.

use crate::hotel::criteria::Amenity;
use crate::hotel::understand::change::{DENIALS, DROPS, WANTS, unwanted_after};
use crate::hotel::understand::normalise::{Kind, Text};
use crate::hotel::understand::slots::Slots;
use crate::hotel::understand::words::NO_AMENITY;

#[rustfmt::skip]
const WORDS: &[(Amenity, &[&str])] = &[
    (Amenity::Wifi, &["wifi", "wi fi", "wlan", "internet", "wireless", "wireless internet", "internet access", "wifi access", "internet connection", "broadband", "wify"]),
    (Amenity::Breakfast, &["breakfast", "breakfasts", "breakfast included", "breakfast buffet", "b & b", "bed and breakfast", "breakie", "brekkie", "brekky", "morning meal", "breakfeast", "brekfast"]),
    (Amenity::Pool, &["pool", "pools", "swimming pool", "swim", "swimming", "indoor pool", "outdoor pool", "rooftop pool", "heated pool", "pool to swim in", "place to swim", "somewhere to swim", "lap pool"]),
    (Amenity::Parking, &["parking", "car park", "carpark", "garage", "parking space", "parking spot", "parking lot", "parking place", "place to park", "somewhere to park", "park", "park the car", "park my car", "park our car", "valet parking", "space for my car", "space for the car", "place for the car", "place for my car", "spot for the car", "parking garage", "free parking", "car parking"]),
    (Amenity::Gym, &["gym", "gymnasium", "fitness", "fitness room", "fitness centre", "fitness center", "fitness studio", "workout room", "work out", "exercise room", "weights room", "gym access", "place to work out", "somewhere to work out", "workout", "fitness area", "treadmill"]),
    (Amenity::Spa, &["spa", "wellness", "wellness area", "wellness centre", "wellness center", "sauna", "massages", "massage", "spa area", "spa treatments", "spa and wellness", "steam room"]),
    (Amenity::Pets, &["pets", "pet", "pet friendly", "pets allowed", "dog", "dogs", "cat", "cats", "dog friendly", "dogs allowed", "pets welcome", "dogs welcome", "pet-friendly", "puppy", "animals", "cat friendly", "pets are allowed", "pet allowed", "dogs are allowed", "kitten", "dog allowed", "dogs are welcome", "pets are welcome"]),
    (Amenity::AirConditioning, &["air conditioning", "air conditioned", "air con", "aircon", "airconditioning", "a / c", "ac", "air conditioner", "a c", "cooled room", "aircondition", "air condition", "climate control", "airco", "aircon in the room", "a . c .", "cooling"]),
    (Amenity::Restaurant, &["restaurant", "restaurants", "on site restaurant", "in house restaurant", "onsite restaurant", "hotel restaurant", "place to eat", "dining room", "dining", "restaurant on site", "somewhere to eat", "dinner", "eat in"]),
    (Amenity::Bar, &["bar", "bars", "hotel bar", "cocktail bar", "rooftop bar", "lobby bar", "wine bar", "bar on site", "bar area"]),
    (Amenity::Kitchen, &["kitchen", "kitchens", "kitchenette", "self catering", "cook", "cooking", "cooking facilities", "place to cook", "cook for ourselves", "cook for myself", "cook our own meals", "somewhere to cook", "private kitchen", "self catered", "kitchenettes"]),
    (Amenity::AirportShuttle, &["airport shuttle", "shuttle", "shuttle bus", "airport transfer", "airport transfers", "airport pickup", "airport pick up", "airport bus", "shuttle service", "transfer from the airport", "transfer to the airport", "shuttle to the airport", "shuttle from the airport", "airport shuttle bus", "shuttle bus from the airport", "shuttle bus to the airport", "pickup from the airport", "pick up from the airport", "pick up at the airport", "shuttle to and from the airport", "transfers", "airport pick ups", "ride from the airport", "airport shuttles", "bus to the airport", "bus from the airport"]),
];

/// Words that may stand between "no" and the thing refused.
const FILLERS: &[&str] = &[
    "a",
    "an",
    "the",
    "any",
    "need",
    "needed",
    "for",
    "indoor",
    "outdoor",
    "private",
    "own",
    "and",
    "or",
    "nor",
    "more",
    ",",
    "/",
    "necessarily",
    "of",
    "free",
    "my",
    "our",
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Want,
    /// Taken away until a word of wanting.
    Drop,
    /// Taken away if the thing follows at once.
    Deny,
}

/// Finds the amenities, marks their words and fills the three lists.
pub(super) fn read(text: &mut Text, slots: &mut Slots) {
    let mut mode = Mode::Want;
    let mut asked = false;
    let mut last: Option<usize> = None;
    let mut at = 0;
    while at < text.len() {
        if text.is_used(at) {
            if mode == Mode::Deny {
                mode = Mode::Want;
            }
            asked = false;
            at += 1;
            continue;
        }
        if let Some((amenity, end)) = known(text, at) {
            let unwanted = unwanted_after(text, end);
            if mode != Mode::Want || unwanted.is_some() {
                drop_one(slots, amenity);
            } else {
                if let Some(end) = last {
                    replace(text, slots, end, at);
                }
                want_one(slots, amenity);
            }
            let stop = unwanted.unwrap_or(end);
            text.take(at, stop);
            (at, last) = (stop, Some(stop));
            asked = true;
            continue;
        }
        if mode == Mode::Want
            && (asked || asks(text, at))
            && let Some((from, to)) = unknown(text, at, asked)
        {
            let said = text.said(from, to).to_owned();
            if !slots.amenities_unknown.contains(&said) {
                slots.amenities_unknown.push(said);
            }
            text.take(from, to);
            (at, asked) = (to, true);
            continue;
        }
        asked = asked && text.any(at, &["and", "or", ",", "&", "plus", "a", "an", "the", "also", "maybe", "both"]);
        let (next, step) = turn(text, at, mode);
        mode = next;
        at += step;
    }
}

/// What the word at `at` does to the mode, and how many tokens it takes.
fn turn(text: &Text, at: usize, mode: Mode) -> (Mode, usize) {
    if let Some(length) = text.longest(at, DROPS) {
        return (Mode::Drop, length);
    }
    if text.any(at, DENIALS) {
        // "No, a pool" answers; "not too far" and "not only" refuse nothing.
        let other = text.any(at + 1, &[",", ".", "!", "too", "very", "so", "only", "just", "sure", "problem"]);
        let next = if other { Mode::Want } else { Mode::Deny };
        return (next, 1);
    }
    // "Not the pool, the spa": the article begins what is wanted instead.
    let instead = text.is_mark(at, ",") && text.any(at + 1, &["the", "a", "an"]);
    if mode == Mode::Deny && instead {
        return (Mode::Want, 1);
    }
    if mode == Mode::Deny && !text.any(at, FILLERS) {
        return (Mode::Want, 1);
    }
    if mode == Mode::Drop && text.any(at, WANTS) {
        return (Mode::Want, 1);
    }
    (mode, 1)
}

/// The longest amenity at `at`, unless the words mean something else.
fn known(text: &Text, at: usize) -> Option<(Amenity, usize)> {
    let (length, amenity) = WORDS
        .iter()
        .filter_map(|(amenity, words)| Some((text.longest(at, words)?, *amenity)))
        .max_by_key(|(length, _)| *length)?;
    let word = text.low(at);
    let before = text.before(at, 1);
    let alone = length == 1;
    let other = match word {
        "park" => alone && !matches!(before, "to" | "can" | "and" | "could"),
        "swim" | "cook" => !matches!(before, "to" | "can" | "could" | "a" | "and" | "i'll" | "we'll"),
        "bar" => alone && before == "mini",
        "dinner" => alone && !matches!(before, "serves" | "serve" | "with" | "and"),
        "ac" => text.capital(at) && text.any(at + 1, &["milan"]),
        _ => false,
    };
    (!other).then_some((amenity, at + length))
}

/// "A pool, no, a gym": what was said last is replaced.
fn replace(text: &Text, slots: &mut Slots, from: usize, to: usize) {
    const SWAPS: &[&str] = &[
        ", no ,",
        "no wait",
        "sorry",
        "i mean",
        "or rather",
        "scratch that",
        "i meant",
        "wait no",
        "- no -",
        "wait , no",
        ", no wait",
        "no sorry",
    ];
    let fixed = (from..to).any(|at| text.longest(at, SWAPS).is_some_and(|length| at + length <= to));
    if fixed {
        slots.amenities.pop();
    }
}

fn want_one(slots: &mut Slots, amenity: Amenity) {
    slots.drop_amenities.retain(|dropped| *dropped != amenity);
    if !slots.amenities.contains(&amenity) {
        slots.amenities.push(amenity);
    }
}

fn drop_one(slots: &mut Slots, amenity: Amenity) {
    slots.amenities.retain(|wanted| *wanted != amenity);
    if !slots.drop_amenities.contains(&amenity) {
        slots.drop_amenities.push(amenity);
    }
}

/// Whether an amenity may follow the words before `at`.
fn asks(text: &Text, at: usize) -> bool {
    const ASKING: &[&str] = &[
        "with",
        "has",
        "must have",
        "should have",
        "having",
        "including",
        "includes",
        "featuring",
        "offers",
        "that have",
        "which have",
        "offering",
        "needs to have",
        "has to have",
        "add",
        "also want",
        "is there",
        "are there",
        "needs",
        "must include",
        "should include",
        "and also",
        "to have",
        "to include",
        "include",
        "also need",
        "it have",
        "they have",
        "amenities :",
        "plus",
        "would love",
        "hotel have",
        "with access to",
        "access to",
    ];
    text.ends_before(at, ASKING)
}

/// The words of an unknown thing asked for: up to three words after an
/// article, or in a list after an amenity.
fn unknown(text: &Text, at: usize, listed: bool) -> Option<(usize, usize)> {
    let mut start = at;
    if listed {
        let joined = start;
        while start < joined + 3 && text.any(start, &["and", ",", "&", "or", "plus"]) {
            start += 1;
        }
        if start == joined {
            return None;
        }
    }
    let article = text.any(start, &["a", "an", "its", "some"]);
    start += usize::from(article || text.any(start, &["the", "any", "private", "own"]));
    let mut end = start;
    while end < start + 4 && is_plain(text, end) {
        end += 1;
    }
    // "Free wifi" asks for wifi, not for something free.
    let adjective = known(text, end).is_some();
    let fits = (1..=3).contains(&(end - start)) && !adjective;
    (fits && (article || !listed || ends_list(text, end))).then_some((start, end))
}

fn ends_list(text: &Text, at: usize) -> bool {
    text.raw(at)
        .is_none_or(|next| matches!(next.low.as_str(), "." | "," | "!" | "?" | "and" | "&" | "please" | "or" | "too"))
}

fn is_plain(text: &Text, at: usize) -> bool {
    text.get(at).is_some_and(|token| token.kind == Kind::Word)
        && !NO_AMENITY.contains(&text.low(at))
        && known(text, at).is_none()
        && text.low(at).parse::<crate::hotel::criteria::City>().is_err()
}
