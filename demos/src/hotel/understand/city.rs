//! The city, known or not. The last one said counts.

use crate::hotel::choice::edit_distance;
use crate::hotel::criteria::City;
use crate::hotel::understand::dates::{month, weekday};
use crate::hotel::understand::normalise::{Kind, Text};
use crate::hotel::understand::slots::Slots;
use crate::hotel::understand::words::{NO_CITY, OTHER_CITIES};

const ALIASES: &[(&str, City)] = &[
    ("lisboa", City::Lisbon),
    ("lissabon", City::Lisbon),
    ("oporto", City::Porto),
    ("wien", City::Vienna),
    ("kioto", City::Kyoto),
    ("edinburg", City::Edinburgh),
    ("edinboro", City::Edinburgh),
    ("vienne", City::Vienna),
];

/// Words near a city's name that are not misspelt.
const NOT_MISSPELT: &[&str] = &["port", "ports", "portable", "portion"];

/// Finds the cities, marks their words and fills `city` or `city_unknown`.
pub(super) fn read(text: &mut Text, slots: &mut Slots) {
    let mut at = 0;
    while at < text.len() {
        if let Some(city) = known(text, at) {
            if !is_refused(text, at, at + 1) {
                slots.city = Some(city);
                slots.city_unknown = None;
            }
            text.take(at, at + 1);
        } else if let Some(end) = unknown(text, at) {
            if !is_refused(text, at, end) {
                slots.city_unknown = Some(text.said(at, end).to_owned());
                slots.city = None;
            }
            text.take(at, end);
            at = end;
            continue;
        }
        at += 1;
    }
}

/// The city of the catalogue that the word names, allowing one slip (two in
/// long names).
pub(super) fn known(text: &Text, at: usize) -> Option<City> {
    let token = text.get(at).filter(|token| token.kind == Kind::Word)?;
    let word = token.low.trim_end_matches("'s");
    if let Some((_, city)) = ALIASES.iter().find(|(alias, _)| *alias == word) {
        return Some(*city);
    }
    if let Ok(city) = word.parse() {
        return Some(city);
    }
    let length = word.chars().count();
    if !(5..=12).contains(&length) || NOT_MISSPELT.contains(&word) {
        return None;
    }
    City::ALL.iter().copied().find(|city| {
        let name = city.as_str().to_lowercase();
        let slips = if name.len() > 7 { 2 } else { 1 };
        let alike = edit_distance(&name, word) <= slips;
        alike && name.as_bytes().first() == word.as_bytes().first() && (name.len() > 5 || length == name.len())
    })
}

/// The end of a city that is not in the catalogue.
fn unknown(text: &Text, at: usize) -> Option<usize> {
    let lead = [
        "in", "to", "visit", "visiting", "around", "near", "at", "into", "try", "for", "about", "explore", "or", "not",
        "see", "city :", "of",
    ];
    let led = text.ends_before(at, &lead);
    if text.ends_before(at, &["from"]) {
        return None;
    }
    if let Some(length) = text.longest(at, OTHER_CITIES) {
        let everyday = ["nice", "bath", "york", "washington", "wellington", "cork"];
        let plain = text.any(at, &everyday) && !(text.capital(at) && led);
        return (!plain).then_some(at + length);
    }
    let strong = text.ends_before(at, &["in", "to", "visit", "visiting", "to see", "explore", "try"]);
    if !strong || !is_name(text, at) {
        return None;
    }
    let mut end = at + 1;
    while end < at + 3 && is_name(text, end) {
        end += 1;
    }
    Some(end)
}

fn is_name(text: &Text, at: usize) -> bool {
    let word = text.low(at);
    text.get(at).is_some_and(|token| token.kind == Kind::Word)
        && text.capital(at)
        && word.chars().count() > 2
        && !NO_CITY.contains(&word)
        && month(word).is_none()
        && weekday(word).is_none()
        && word.parse::<City>().is_err()
}

/// "Not Porto", "instead of Porto", "from Porto to Oslo".
fn is_refused(text: &Text, at: usize, end: usize) -> bool {
    let mut start = at;
    while start > 0 && start + 3 > at && text.any(start - 1, &["in", "to"]) {
        start -= 1;
    }
    let before = [
        "not",
        "instead of",
        "rather than",
        "forget",
        "forget about",
        "don't want",
        "drop",
        "skip",
        "never mind",
        "not going",
        "from",
        "isn't",
        "than",
    ];
    text.ends_before(start, &before) && text.get(start.wrapping_sub(1)).is_some()
        || text.phrase(end, "is out").is_some()
}
