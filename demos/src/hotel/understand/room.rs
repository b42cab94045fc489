//! The room type.

use crate::hotel::criteria::RoomType;
use crate::hotel::understand::normalise::Text;

const WORDS: &[(&str, RoomType)] = &[
    ("single", RoomType::Single),
    ("singles", RoomType::Single),
    ("single room", RoomType::Single),
    ("single bed", RoomType::Single),
    ("single bedroom", RoomType::Single),
    ("one bed", RoomType::Single),
    ("room for one", RoomType::Single),
    ("double", RoomType::Double),
    ("doubles", RoomType::Double),
    ("double room", RoomType::Double),
    ("double rooms", RoomType::Double),
    ("double bed", RoomType::Double),
    ("double bedroom", RoomType::Double),
    ("king bed", RoomType::Double),
    ("queen bed", RoomType::Double),
    ("king size bed", RoomType::Double),
    ("queen size bed", RoomType::Double),
    ("one big bed", RoomType::Double),
    ("one large bed", RoomType::Double),
    ("twin", RoomType::Twin),
    ("twin room", RoomType::Twin),
    ("twin beds", RoomType::Twin),
    ("twin bed", RoomType::Twin),
    ("twin bedroom", RoomType::Twin),
    ("two beds", RoomType::Twin),
    ("two single beds", RoomType::Twin),
    ("two separate beds", RoomType::Twin),
    ("separate beds", RoomType::Twin),
    ("family room", RoomType::Family),
    ("family rooms", RoomType::Family),
    ("family sized room", RoomType::Family),
    ("family size room", RoomType::Family),
    ("room for a family", RoomType::Family),
    ("room for the family", RoomType::Family),
    ("suite", RoomType::Suite),
    ("suites", RoomType::Suite),
    ("junior suite", RoomType::Suite),
    ("family suite", RoomType::Suite),
];

/// Finds the room type, the last one if several are said, and marks the words.
pub(super) fn read(text: &mut Text) -> Option<RoomType> {
    let mut room = None;
    let mut at = 0;
    while at < text.len() {
        let found = WORDS
            .iter()
            .filter_map(|(words, room)| Some((phrase(text, at, words)?, *room)))
            .max_by_key(|(length, _)| *length)
            .filter(|(length, _)| !is_other(text, at, *length));
        match found {
            None => at += 1,
            Some((length, kind)) => {
                let end = at + length;
                if !is_refused(text, at) {
                    room = Some(kind);
                }
                text.take(at, end);
                at = end;
            }
        }
    }
    room
}

/// Digits stand for the number words of the list.
fn phrase(text: &Text, at: usize, words: &str) -> Option<usize> {
    let rest = words.strip_prefix("two ").filter(|_| text.number(at) == Some(2));
    let rest = rest.or(words.strip_prefix("one ").filter(|_| text.number(at) == Some(1)));
    match rest {
        Some(rest) => Some(text.phrase(at + 1, rest)? + 1),
        None => text.phrase(at, words),
    }
}

/// The words mean something else: `en suite`, `double the budget`, `a single
/// night`, `a single traveller`.
fn is_other(text: &Text, at: usize, length: usize) -> bool {
    let alone = length == 1;
    text.before(at, 1) == "en"
        || alone
            && text.any(
                at + 1,
                &[
                    "the",
                    "check",
                    "night",
                    "traveller",
                    "traveler",
                    "person",
                    "guest",
                    "my",
                    "our",
                    "it",
                    "adult",
                    "parent",
                    "mother",
                    "mum",
                    "mom",
                    "dad",
                    "father",
                    "woman",
                    "man",
                    "one",
                    "that",
                    "sure",
                ],
            )
}

fn is_refused(text: &Text, at: usize) -> bool {
    let mut start = at;
    while start > 0 && start + 3 > at && text.any(start - 1, &["a", "the", "an", "any"]) {
        start -= 1;
    }
    text.ends_before(
        start,
        &["not", "instead of", "rather than", "don't want", "don't need", "without", "forget", "no"],
    )
}
