//! The budget: amounts with their direction, and a budget that no longer
//! matters.

use crate::hotel::price::Cents;
use crate::hotel::understand::change::{DROPS, is_correction, unwanted_after};
use crate::hotel::understand::dates::COUNTED;
use crate::hotel::understand::normalise::Text;
use crate::hotel::understand::slots::{SlotProblem, Slots};

const MAX_BEFORE: &[&str] = &[
    "under",
    "below",
    "up to",
    "max",
    "maximum",
    "max of",
    "maximum of",
    "at most",
    "no more than",
    "not more than",
    "less than",
    "cheaper than",
    "no higher than",
    "not over",
    "not above",
    "within",
    "budget",
    "budget of",
    "budget is",
    "budget to",
    "budget's",
    "spend",
    "spending",
    "pay",
    "paying",
    "cap",
    "cap at",
    "capped at",
    "cap of",
    "limit",
    "limit of",
    "limit is",
    "limit to",
    "ceiling",
    "ceiling of",
    "around",
    "about",
    "roughly",
    "approximately",
    "circa",
    "approx",
    "ca",
    "~",
    "<",
    "not exceeding",
    "not exceed",
    "lower than",
    "beneath",
    "nothing over",
    "nothing above",
    "afford",
    "no dearer than",
    "price",
    "price to",
    "raise it to",
    "increase it to",
    "lower it to",
    "make it",
    "make that",
    "budget at",
    "limit at",
    "max is",
    "maximum is",
    "=",
    "up to a maximum of",
    "max price",
    "budget now",
    "budget up to",
    "budget down to",
    "go to",
    "go up to",
    "stretch to",
    "budget would be",
    "never more than",
    "nothing more than",
    "budget was",
    "not beyond",
    "most",
    "no greater than",
    "tops",
    "inside",
    "budget max",
];
const MIN_BEFORE: &[&str] = &[
    "at least",
    "from",
    "minimum",
    "min",
    "minimum of",
    "min of",
    "no less than",
    "not less than",
    "not under",
    "not below",
    "starting at",
    "starting from",
    "upwards of",
    "more than",
    "over",
    "above",
    ">",
    "no cheaper than",
    "not cheaper than",
    "nothing under",
    "nothing below",
    "higher than",
    "minimum is",
    "nothing cheaper than",
    "north of",
    "beyond",
    "dearer than",
    "budget min",
    "no lower than",
    "not lower than",
    "exceeding",
    "budget from",
];
const MAX_AFTER: &[&str] = &[
    "max",
    "maximum",
    "tops",
    "or less",
    "at most",
    "or under",
    "or below",
    "or cheaper",
    "limit",
    "budget",
    "at the most",
    "or lower",
    "and under",
    "and below",
    "cap",
    "is my limit",
    "top",
    "is my budget",
    "is the limit",
    "is my max",
    "is my maximum",
    "is the max",
    "is the maximum",
];
const MIN_AFTER: &[&str] = &[
    "or more",
    "minimum",
    "min",
    "at least",
    "plus",
    "+",
    "upwards",
    "and up",
    "or above",
    "and above",
    "or higher",
    "at minimum",
    "and upwards",
    "upward",
    "or over",
    "and over",
];
const EURO: &[&str] = &["€", "eur", "euro", "euros", "eu", "eur."];
const FOREIGN: &[&str] = &[
    "$", "£", "dollars", "dollar", "usd", "pounds", "pound", "gbp", "quid", "yen", "jpy", "nok", "kroner", "francs",
    "chf", "bucks",
];
const NIGHTLY: &[&str] = &[
    "a night",
    "per night",
    "/ night",
    "nightly",
    "each night",
    "pn",
    "a nite",
    "/ nt",
    "per nite",
    "every night",
    "p / n",
    "a room a night",
    "per room per night",
    "per room",
    "/ n",
    "for a night",
    "one night",
    "the night",
    "night",
];
const WHOLE: &[&str] = &[
    "in total",
    "total",
    "altogether",
    "for the whole stay",
    "overall",
    "for the entire stay",
    "all in",
    "for the stay",
    "for everything",
    "for the whole trip",
    "for the trip",
];

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
    slots.drop_budget = drop_budget(text);
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
        if let Some(second) = second.filter(|second| is_pair(text, &first, second, bound)) {
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
        let hinted = bound.is_some() || after.is_some() || fixes.is_some() || about_budget(text);
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

const UNITS: &[&str] = &[
    "m", "metre", "meter", "%", "percent", "min", "mins", "minute", "km", "sqm", "hours", "am", "pm", "years", "year",
];

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

fn is_pair(text: &Text, first: &Amount, second: &Amount, bound: Option<Bound>) -> bool {
    let said = first.euro || second.euro || first.nightly || second.nightly;
    let between = text.any(first.start.wrapping_sub(1), &["between"]);
    let and = text.any(first.end, &["and"]);
    let money = said || between || bound.is_some() || about_budget(text);
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
    if mark && text.is_glued(end) && text.is_glued(end + 1) {
        if let (Some(part), Some(token)) = (text.number(end + 1), text.get(end + 1)) {
            match token.low.len() {
                1 => cents += u64::from(part) * 10,
                2 => cents += u64::from(part),
                _ => return None,
            }
            end += 2;
        }
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
    while at > 0
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

/// Finds a budget that no longer matters and marks the words.
fn drop_budget(text: &mut Text) -> bool {
    const MONEY: &[&str] =
        &["budget", "limit", "cap", "ceiling", "price", "prices", "money", "cost", "costs", "spending"];
    const SAID: &[&str] = &[
        "any price",
        "whatever it costs",
        "whatever the price",
        "whatever the cost",
        "no limit",
        "sky's the limit",
        "unlimited budget",
        "no budget",
        "money no object",
        "regardless of price",
        "at any cost",
        "regardless of cost",
        "no matter the price",
        "no matter the cost",
        "no matter what it costs",
        "price no object",
        "open budget",
        "no price limit",
        "sky is the limit",
        "no matter how much",
        "i don't mind the price",
        "no max price",
        "no maximum price",
        "no upper limit",
    ];
    for at in 0..text.len() {
        let verb = text.longest(at, DROPS).or_else(|| {
            let length = text.longest(
                at,
                &[
                    "no",
                    "lift",
                    "clear",
                    "don't mind",
                    "no more",
                    "don't worry about",
                    "don't care",
                    "do not care about",
                    "doesn't have to",
                ],
            );
            length.filter(|_| !text.any(at + 1, &["more"]) || text.any(at + 2, MONEY))
        });
        if let Some(length) = verb {
            let stop = (at + length..at + length + 6)
                .take_while(|next| !matches!(text.low(*next), "," | "." | "and" | "but" | "with" | "for"))
                .find(|next| text.any(*next, MONEY));
            if let Some(stop) = stop {
                let end = stop + 1 + usize::from(text.any(stop + 1, &["limit", "cap", "constraint"]));
                text.take(at, end);
                return true;
            }
        }
        if let Some(length) = text.longest(at, SAID) {
            text.take(at, at + length);
            return true;
        }
        if text.any(at, MONEY) {
            if let Some(end) = unwanted_after(text, at + 1) {
                text.take(at, end);
                return true;
            }
        }
    }
    false
}
