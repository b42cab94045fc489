//! How many people are coming.

mod words;

use crate::hotel::understand::change::is_correction;
use crate::hotel::understand::normalise::Text;
use words::*;

/// One phrase about people: how many, where it ends, and whether the speaker
/// is to be counted in.
#[derive(Clone, Copy, Debug)]
struct Party {
    count: u32,
    end: usize,
    /// Someone was named by relation ("my wife").
    relation: bool,
    me: bool,
    /// A number that cannot be told ("the kids").
    vague: bool,
}

/// Finds the number of people and marks the words.
pub(super) fn read(text: &mut Text) -> Option<u32> {
    let mut guests: Option<u32> = None;
    let mut last_end = None;
    let mut at = 0;
    while at < text.len() {
        let fixed = last_end.is_some_and(|end| is_correction(text, end, at));
        let found = whole_party(text, at).or_else(|| party(text, at)).or_else(|| for_number(text, at, fixed));
        match found {
            None => at += 1,
            Some((count, end)) => {
                guests = count.or(guests);
                text.take(at, end);
                last_end = Some(end);
                at = end;
            }
        }
    }
    guests
}

type Found = Option<(Option<u32>, usize)>;

/// `family of four`, `just me`, `the three of us`, `we are two`.
fn whole_party(text: &Text, at: usize) -> Found {
    const ALONE: &[&str] = &[
        "just me",
        "only me",
        "by myself",
        "on my own",
        "alone",
        "solo",
        "just myself",
        "only myself",
        "travelling alone",
        "traveling alone",
        "just for me",
        "for myself",
        "for me only",
        "me alone",
        "for me alone",
        "just for myself",
        "it's me",
        "it's just me",
        "only for me",
        "just the one of us",
        "for one",
    ];
    if let Some(length) = text.longest(at, ALONE) {
        let more = text.any(at + length, &["and", "&", "plus", "with", "+", ",", "night"]);
        let joined = more && party(text, at + length + 1).is_some() || text.any(at + length, &["night"]);
        if !joined {
            return Some((Some(1), at + length));
        }
    }
    let groups = [
        "family of",
        "party of",
        "group of",
        "total of",
        "table of",
        "the",
        "all",
        "both",
        "us",
        "we are",
        "we're",
        "we'll be",
        "we will be",
        "we would be",
        "there are",
        "there're",
        "there'll be",
        "there will be",
        "there's",
        "were",
        "it's",
        "that's",
        "we'd be",
        "guests :",
        "guests is",
        "number of guests",
        "guests",
        "people :",
        "for all",
        "it will be",
        "it'll be",
        "adults :",
    ];
    let lead = text.longest(at, &groups);
    let number_at = at + lead.unwrap_or(0);
    if text.any(at, &["both"]) && text.phrase(at + 1, "of us").is_some() {
        return Some((Some(2), at + 3));
    }
    let number = small(text, number_at)?;
    let end = number_at + 1;
    if text.phrase(end, "of us").is_some() || text.phrase(end, "in total").is_some() && lead.is_some() {
        return Some((Some(number), end + 2));
    }
    let lead = lead.map(|length| text.said(at, at + length).to_lowercase())?;
    let strong = lead.ends_with(" of")
        || lead.starts_with("guests")
        || lead.starts_with("number")
        || lead.starts_with("people")
        || lead == "us"
        || lead.starts_with("adults");
    let we = lead.starts_with("we") || lead == "there'll be" || lead == "there will be";
    let ends = text.get(end).is_none_or(|next| {
        matches!(
            next.low.as_str(),
            "." | ","
                | "!"
                | "?"
                | "and"
                | "in"
                | "so"
                | "from"
                | "this"
                | "on"
                | "now"
                | "-"
                | "with"
                | "staying"
                | "altogether"
                | "for"
        )
    });
    (strong && !is_unit(text, end) || we && ends && party(text, number_at).is_none())
        .then_some((Some(number), end + usize::from(strong && text.any(end, COUNTED))))
}

/// `2 adults and a child`, `my wife and I`, `a couple with two kids`.
fn party(text: &Text, at: usize) -> Found {
    let mut total = member(text, at)?;
    loop {
        let mut next = total.end;
        while next < total.end + 3 && text.any(next, &["and", ",", "with", "plus", "&", "+", "for", "also"]) {
            next += 1;
        }
        if next == total.end || next > total.end + 2 {
            break;
        }
        let Some(more) = member(text, next) else { break };
        total = Party {
            count: total.count.saturating_add(more.count),
            end: more.end,
            relation: total.relation || more.relation,
            me: total.me || more.me,
            vague: total.vague || more.vague,
        };
    }
    if total.me && total.count == 1 && !total.vague {
        return None;
    }
    // "With my wife" leaves the speaker to be counted, "for my parents" does not.
    let with = text.ends_before(at, &["with", "bringing", "taking", "bring", "take"]);
    let we = (at.saturating_sub(20)..at).any(|at| text.any(at, &["we", "we're", "us", "our"]));
    let starts_we = text.ends_before(at, &["we're", "we are", "are", "of", "as"]);
    let speaker = total.relation && !total.me && with && !(we && starts_we);
    let count = total.count + u32::from(speaker);
    Some(((!total.vague && count <= 99).then_some(count), total.end))
}

fn member(text: &Text, at: usize) -> Option<Party> {
    let mut start = at;
    while text.any(start, &["for", "just", "only", "both"]) && start < at + 2 && start > at {
        start += 1;
    }
    let plain = |count, end, me| Party { count, end, relation: false, me, vague: false };
    if text.any(start, ME) && !text.phrase(start, "i'm").is_some_and(|_| true) {
        // "I" is a guest only as "and I": "I want a room" is not about people.
        let joined = text.ends_before(start, &["and", "&", "plus"])
            || text.low(start) == "me" && !text.ends_before(start, VERBS)
            || text.low(start) == "myself";
        let opens = text.any(start + 1, &["and", "&", "plus", "+"]);
        let follows = text.ends_before(start, &["and", "&", "plus"]);
        return (joined && (opens || follows || text.low(start) == "myself")).then(|| plain(1, start + 1, true));
    }
    let owned = text.any(start, &["my", "our", "his", "her"]);
    let mut noun = start + usize::from(owned || text.any(start, &["the", "these"]));
    let number = small(text, noun);
    let single = text.any(noun, &["a", "an", "another"]);
    noun += usize::from(number.is_some() || single);
    noun += usize::from(text.is_mark(noun, "x") || text.any(noun, &["x"]));
    while text.any(
        noun,
        &[
            "small", "little", "young", "old", "grown", "adult", "year", "teenage", "good", "best", "more", "other",
            "younger", "older", "elderly", "single", "close", "lovely", "dear", "newborn",
        ],
    ) && noun < start + 5
        && !ends_here(text, noun + 1)
    {
        noun += 1;
    }
    if text.any(noun, &["couple"]) {
        if text.any(noun + 1, &["of"]) {
            let end = noun + 2;
            return text.any(end, COUNTED).then(|| Party { relation: true, ..plain(2, end + 1, false) });
        }
        return Some(plain(2, noun + 1, false));
    }
    if text.any(noun, &["couples"]) {
        return Some(plain(number? * 2, noun + 1, false));
    }
    if text.any(noun, PAIRS) {
        let count = if number == Some(1) { 1 } else { 2 };
        return Some(Party { relation: true, ..plain(count, noun + 1, false) });
    }
    let counted = text.any(noun, COUNTED);
    let relation = text.any(noun, RELATIONS);
    let known = ["friend", "friends", "colleague", "colleagues", "mate", "mates"];
    let company = text.any(noun, &known) || owned && (counted || relation);
    let end = noun + 1;
    match number {
        Some(count) if counted || relation => {
            Some(Party { relation: company || is_family(text, noun), ..plain(count, end, false) })
        }
        None if (single || owned) && relation || single && counted => {
            Some(Party { relation: company || relation, ..plain(1, end, false) })
        }
        // "With the kids": more than one, but how many?
        None if (owned || noun > start) && counted => {
            Some(Party { vague: true, relation: true, ..plain(0, end, false) })
        }
        _ => None,
    }
}

fn is_family(text: &Text, at: usize) -> bool {
    text.any(at, RELATIONS)
        || text
            .any(at, &["kids", "children", "sons", "daughters", "sisters", "brothers", "others", "cousins", "siblings"])
}

fn ends_here(text: &Text, at: usize) -> bool {
    text.get(at).is_none() || text.is_mark(at, ",") || text.is_mark(at, ".")
}

/// `for two`, and `actually three` after a number of people.
fn for_number(text: &Text, at: usize, fixed: bool) -> Found {
    let lead = text.longest(
        at,
        &[
            "for",
            "sleeps",
            "make it",
            "make that",
            "for just",
            "for only",
            "fits",
            "for exactly",
            "for up to",
            "for about",
            "for like",
        ],
    );
    if lead.is_none() && !fixed {
        return None;
    }
    let number_at = at + lead.unwrap_or(0);
    let number = small(text, number_at)?;
    let end = number_at + 1;
    let other = is_unit(text, end)
        || text.get(end).is_some_and(|next| {
            next.glued && matches!(next.low.as_str(), "." | "-" | "/" | "%") && text.number(end + 1).is_some()
        });
    (!other).then_some((Some(number), end))
}

fn is_unit(text: &Text, at: usize) -> bool {
    text.any(
        at,
        &[
            "night", "nights", "day", "days", "week", "weeks", "euro", "euros", "eur", "€", "star", "stars", "hundred",
            "of", "single", "double", "twin", "m", "km", "nite", "nites", "rooms", "beds", "hours", "months", "month",
        ],
    ) && text.phrase(at, "of us").is_none()
}

fn small(text: &Text, at: usize) -> Option<u32> {
    text.number(at).filter(|number| (1..100).contains(number))
}
