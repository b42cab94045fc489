//! The budget: amounts with their direction, and a budget that no longer
//! matters.

mod forget;
mod words;

use crate::hotel::price::Cents;
use crate::hotel::understand::change::is_correction;
use crate::hotel::understand::dates::COUNTED;
use crate::hotel::understand::normalise::Text;
use crate::hotel::understand::slots::{SlotProblem, Slots};
use words::*;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Bound {
    Min,
    Max,
}

#[derive(Clone, Copy, Debug)]
struct Amount {
    cents: u64,
    start: usize,
    end: usize,
    euro: bool,
    foreign: bool,
    nightly: bool,
}

/// Finds the budget, marks its tokens and fills the slots. `nights` is the
/// length of the stay if it is known, for amounts that are said in total.
pub(super) fn read(text: &mut Text, slots: &mut Slots, nights: Option<u32>) -> Vec<SlotProblem> {
    slots.drop_budget = forget::budget(text);
    let budget = about_budget(text);
    let mut problems = Vec::new();
    let mut last: Option<(Bound, usize)> = None;
    let mut at = 0;
    while at < text.len() {
        let Some(first) = amount(text, at) else {
            at += 1;
            continue;
        };
        let join = text.longest(first.end, &["-", "to", "and", "up to", "- to", "and max"]);
        let second = join.and_then(|length| amount(text, first.end + length));
        let bound = bound_before(text, first.start);
        if let Some(second) = second.filter(|second| is_pair(text, &first, second, bound.is_some() || budget)) {
            slots.budget_min = Some(Cents(first.cents));
            slots.budget_max = Some(Cents(second.cents));
            finish(text, &first, second.end);
            last = Some((Bound::Max, second.end));
            at = second.end;
            continue;
        }
        let after = bound_after(text, first.end);
        let fixes = last.filter(|(_, end)| is_correction(text, *end, first.start));
        let worth = first.cents >= 2000 && !text.any(first.end, COUNTED) && !text.any(first.end, UNITS);
        let said = first.euro || first.foreign || first.nightly;
        let hinted = bound.is_some() || after.is_some() || fixes.is_some() || budget;
        if !(said || worth && hinted) {
            at += 1;
            continue;
        }
        let end = after.map_or(first.end, |(_, end)| end);
        let words = text.said(first.start, first.end).to_owned();
        let whole = text.longest(end, WHOLE).is_some() || text.before(first.start, 1) == "total";
        let cents = match (whole, nights) {
            (true, None) => {
                problems.push(SlotProblem::WholeStay { said: words });
                None
            }
            (true, Some(nights)) => Some(first.cents / u64::from(nights.max(1))),
            _ if first.foreign => {
                problems.push(SlotProblem::Currency { said: words });
                None
            }
            _ => Some(first.cents),
        };
        let bound = bound.or(after.map(|(bound, _)| bound)).or(fixes.map(|(bound, _)| bound)).unwrap_or(Bound::Max);
        if let Some(cents) = cents {
            match bound {
                Bound::Max => slots.budget_max = Some(Cents(cents)),
                Bound::Min => slots.budget_min = Some(Cents(cents)),
            }
        }
        finish(text, &first, end);
        last = Some((bound, end));
        at = end;
    }
    problems
}

/// Marks an amount and the qualifier before it.
fn finish(text: &mut Text, first: &Amount, end: usize) {
    let longest = MAX_BEFORE
        .iter()
        .chain(MIN_BEFORE)
        .filter(|phrase| text.ends_before(first.start, &[phrase]))
        .map(|phrase| phrase.split(' ').count())
        .max()
        .unwrap_or(0);
    text.take(first.start - longest, end);
}

/// Whether the sentence speaks of a budget at all.
fn about_budget(text: &Text) -> bool {
    text.contains(&["budget", "spend", "price limit", "price cap", "spending limit"])
}

fn is_pair(text: &Text, first: &Amount, second: &Amount, hinted: bool) -> bool {
    let said = first.euro || second.euro || first.nightly || second.nightly;
    let between = text.any(first.start.wrapping_sub(1), &["between"]);
    let and = text.any(first.end, &["and"]);
    let money = said || between || hinted;
    let counted = text.any(second.end, COUNTED) || text.any(second.end, UNITS);
    money && (between || !and) && first.cents < second.cents && (said || !counted && first.cents >= 1000)
}

fn amount(text: &Text, at: usize) -> Option<Amount> {
    let before = text.any(at, EURO);
    let foreign_before = text.any(at, FOREIGN);
    let start = at;
    let at = at + usize::from(before || foreign_before);
    let whole = u64::from(text.number(at)?);
    if whole > 1_000_000 {
        return None;
    }
    let mut end = at + 1;
    let mut cents = whole * 100;
    let mark = text.is_mark(end, ".") || text.is_mark(end, ",");
    if mark
        && text.is_glued(end)
        && text.is_glued(end + 1)
        && let (Some(part), Some(token)) = (text.number(end + 1), text.get(end + 1))
    {
        match token.low.len() {
            1 => cents += u64::from(part) * 10,
            2 => cents += u64::from(part),
            _ => return None,
        }
        end += 2;
    }
    if text.is_mark(end, ",") && text.is_mark(end + 1, "-") && text.is_glued(end + 1) {
        end += 2;
    }
    let after = text.any(end, EURO);
    let foreign_after = text.any(end, FOREIGN);
    end += usize::from(after || foreign_after);
    let nightly = text.longest(end, NIGHTLY).filter(|length| *length > 1 || text.any(end, &["pn", "nightly"]));
    end += nightly.unwrap_or(0);
    Some(Amount {
        cents,
        start,
        end,
        euro: before || after,
        foreign: foreign_before || foreign_after,
        nightly: nightly.is_some(),
    })
}

fn bound_before(text: &Text, at: usize) -> Option<Bound> {
    let mut at = at;
    let stop = at.saturating_sub(4);
    while at > stop
        && text.any(
            at - 1,
            &[
                "a",
                "the",
                "of",
                ":",
                "like",
                "say",
                "maybe",
                "something",
                "only",
                "about",
                "around",
                "roughly",
                "is",
                "to",
            ],
        )
        && !text.ends_before(at, MAX_BEFORE)
        && !text.ends_before(at, MIN_BEFORE)
    {
        at -= 1;
    }
    let longest = |phrases: &[&str]| {
        phrases
            .iter()
            .filter(|phrase| text.ends_before(at, &[phrase]))
            .map(|phrase| phrase.split(' ').count())
            .max()
            .unwrap_or(0)
    };
    let (max, min) = (longest(MAX_BEFORE), longest(MIN_BEFORE));
    match max.cmp(&min) {
        std::cmp::Ordering::Greater => Some(Bound::Max),
        std::cmp::Ordering::Equal => None,
        // "I don't want to pay more than 100" is an upper bound.
        std::cmp::Ordering::Less if denied(text, at - min) => Some(Bound::Max),
        std::cmp::Ordering::Less => Some(Bound::Min),
    }
}

fn denied(text: &Text, at: usize) -> bool {
    const NOT: &[&str] = &[
        "not",
        "don't",
        "won't",
        "never",
        "can't",
        "cannot",
        "nothing",
        "dont",
        "wouldn't",
        "shouldn't",
        "without",
        "no",
        "couldn't",
        "mustn't",
        "wont",
        "cant",
        "isn't",
        "doesn't",
    ];
    (1..=6)
        .take_while(|steps| !matches!(text.before(at, *steps), "." | "," | "but"))
        .any(|steps| NOT.contains(&text.before(at, steps)))
}

fn bound_after(text: &Text, at: usize) -> Option<(Bound, usize)> {
    let start = at + usize::from(text.is_mark(at, ",") || text.is_mark(at, "("));
    let max = text.longest(start, MAX_AFTER).map(|length| (Bound::Max, start + length));
    let min = text.longest(start, MIN_AFTER).map(|length| (Bound::Min, start + length));
    let found = max.into_iter().chain(min).max_by_key(|(_, end)| *end)?;
    // "80 min 120 max": a word before the next amount belongs to this one, but
    // "at least 80, at most 120" does not.
    let next = amount(text, found.1).is_some();
    let loose = start > at || text.low(start) != "max" && text.low(start) != "min";
    (!(next && loose)).then_some(found)
}
