//! How days and lengths are written: one mention at a place in the sentence.

use super::point::{Point, first_weekday};
use super::range::{Span, range, weekend};
use super::words::{COUNTED, FEASTS, month, weekday};
use super::{Context, Role};
use crate::hotel::calendar::add_days;
use crate::hotel::understand::normalise::Text;
use jiff::civil::{Date, Weekday};

/// What was said at one place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Mention {
    Range(Date, Date),
    Day(Date, Role),
    Nights(u32),
    Impossible(String),
}

const IN_WORDS: &[&str] = &[
    "from",
    "check in",
    "checking in",
    "checkin",
    "arrive",
    "arriving",
    "arrival",
    "starting",
    "start",
    "starts",
    "beginning",
    "coming",
    "in on",
    "as of",
    "get there",
    "getting there",
];
const OUT_WORDS: &[&str] = &[
    "until",
    "till",
    "til",
    "check out",
    "checking out",
    "checkout",
    "leave",
    "leaving",
    "departing",
    "depart",
    "departure",
    "through",
    "ending",
    "out on",
    "back on",
    "extend to",
    "extend it to",
    "go home",
    "going home",
    "extended to",
    "extend the stay to",
];

/// The mention at `at` and the token after it.
pub(super) fn mention(text: &Text, at: usize, today: Date, context: Context) -> Option<(Mention, usize)> {
    text.get(at)?;
    if let Some(found) = weekend(text, at, today) {
        return Some(found);
    }
    if let Some(found) = range(text, at, today) {
        return Some(found);
    }
    if let Some((nights, end)) = nights(text, at) {
        return Some((Mention::Nights(nights), end));
    }
    let (role, near) = role(text, at);
    let bare = role != Role::Open || context.corrects.is_some() || near == "on";
    let point = point(text, at, today, bare)?;
    let earliest = match (context.corrects, context.check_in) {
        (Some(day), _) if matches!(point.point, Point::Day(_)) => day.first_of_month().max(today),
        (None, Some(check_in)) if role != Role::In => add_days(check_in, 1),
        _ => today,
    };
    let is_night = point.one_night && role == Role::Open && context.corrects.is_none();
    Some(match point.point.resolve(earliest) {
        Some(day) if is_night => (Mention::Range(day, add_days(day, 1)), point.end),
        Some(day) => (Mention::Day(day, role), point.end),
        None => (Mention::Impossible(text.said(at, point.end).to_owned()), point.end),
    })
}

/// Which end of the stay the words before `at` announce, and the word right
/// before the day, articles left out.
fn role(text: &Text, at: usize) -> (Role, &str) {
    let mut end = at;
    while end > 0 && end + 4 > at && text.any(end - 1, &["the", "is", ":", "date", "day", "by", "around", "about"]) {
        end -= 1;
    }
    let near = text.before(end, 1);
    let before_on = if near == "on" { end - 1 } else { end };
    let role = if text.ends_before(before_on, OUT_WORDS) {
        Role::Out
    } else if text.ends_before(before_on, IN_WORDS) || text.ends_before(end, &["in on"]) {
        Role::In
    } else if text.ends_before(end, &["out on", "back on"]) {
        Role::Out
    } else {
        Role::Open
    };
    (role, near)
}

/// The day at `at`, if one is there. A bare day of the month, such as `the
/// 3rd`, counts only when `bare` says so.
pub(super) fn point(text: &Text, at: usize, today: Date, bare: bool) -> Option<Span> {
    relative(text, at, today)
        .or_else(|| numeric(text, at))
        .or_else(|| named(text, at))
        .or_else(|| on_weekday(text, at, today, bare))
        .or_else(|| feast(text, at))
        .or_else(|| bare_day(text, at).filter(|_| bare))
}

/// `tomorrow`, `in two weeks`, `next week`.
fn relative(text: &Text, at: usize, today: Date) -> Option<Span> {
    let on = |days, end| Some(Span::new(Point::On(add_days(today, days)), end));
    if let Some(length) = text.longest(at, &["the day after tomorrow", "day after tomorrow"]) {
        return on(2, at + length);
    }
    match text.low(at) {
        "today" => return on(0, at + 1),
        "tonight" | "tonite" => return Some(on(0, at + 1)?.night()),
        "tomorrow" | "tmrw" | "tomorow" | "tommorow" | "tommorrow" => {
            let span = on(1, at + 1)?;
            return match text.any(at + 1, &["night"]) {
                true => Some(Span::new(span.point, at + 2).night()),
                false => Some(span),
            };
        }
        "next" if text.any(at + 1, &["week"]) && weekday(text.low(at + 2)).is_none() => {
            let monday = first_weekday(add_days(today, 1), Weekday::Monday);
            let after = if text.any(at + 2, &["on"]) { at + 3 } else { at + 2 };
            return match weekday(text.low(after)) {
                Some(day) => Some(Span::new(Point::On(first_weekday(monday, day)), after + 1)),
                None => Some(Span::new(Point::On(monday), at + 2)),
            };
        }
        _ => {}
    }
    let start = at + usize::from(text.any(at, &["in"]));
    let count = match text.low(start) {
        "a" => 1,
        _ => text.number(start)?,
    };
    let days = match text.low(start + 1) {
        "day" | "days" => count,
        "week" | "weeks" | "week's" | "weeks'" => count.saturating_mul(7),
        "fortnight" => 14,
        _ => return None,
    };
    let mut end = start + 2;
    let later = text.longest(end, &["from now", "from today", "time", "' time", "later"]);
    if start == at && later.is_none() || days > 3650 {
        return None;
    }
    end += later.unwrap_or(0);
    on(days, end)
}

/// `2026-07-03`, `03.07.2026`, `3/7/26`, `3.7.`, `3/7`.
fn numeric(text: &Text, at: usize) -> Option<Span> {
    let first = digits(text, at)?;
    let mark = text.low(at + 1);
    if !matches!(mark, "-" | "." | "/") || !text.is_glued(at + 1) || !text.is_glued(at + 2) {
        return None;
    }
    let second = digits(text, at + 2)?;
    let again = text.low(at + 3) == mark && text.is_glued(at + 3);
    let third = digits(text, at + 4).filter(|_| again && text.is_glued(at + 4));
    if let Some(third) = third {
        let end = at + 5;
        return match (text.low(at).len(), text.low(at + 4).len()) {
            (4, 1 | 2) => Some(Span::new(Point::Full(first, second, third), end)),
            (1 | 2, length @ (2 | 4)) => {
                let year = if length == 2 { 2000 + third } else { third };
                // Day first, as in the six cities, unless only the other order is a date.
                let (day, month) = match (first, second) {
                    (1..=12, 13..) => (second, first),
                    _ => (first, second),
                };
                Some(Span::new(Point::Full(year, month, day), end))
            }
            _ => None,
        };
    }
    let fits = (1..=31).contains(&first) && (1..=12).contains(&second);
    match mark {
        "." if fits && again => Some(Span::new(Point::MonthDay(second, first), at + 4)),
        "/" if fits => Some(Span::new(Point::MonthDay(second, first), at + 3)),
        _ => None,
    }
}

fn digits(text: &Text, at: usize) -> Option<u32> {
    text.get(at).filter(|token| !token.spelled)?;
    text.number(at)
}

/// `3 July 2026`, `the 3rd of July`, `July 3rd`, `Friday, 3 July`.
fn named(text: &Text, at: usize) -> Option<Span> {
    let mut start = at;
    if weekday(text.low(start)).is_some() {
        start += 1 + usize::from(text.is_mark(start + 1, ","));
    }
    start += usize::from(text.any(start, &["the"]));
    if let Some(day) = day_number(text, start) {
        let mut next = start + 1;
        next += usize::from(text.is_mark(next, "."));
        next += usize::from(text.any(next, &["of"]));
        let month = month(text.low(next))?;
        return Some(with_year(text, month, day, next + 1));
    }
    let month = month(text.low(start))?;
    let next = start + 1 + usize::from(text.is_mark(start + 1, "."));
    let next = next + usize::from(text.any(next, &["the"]));
    let day = day_number(text, next).filter(|_| !counts(text, next))?;
    Some(with_year(text, month, day, next + 1))
}

/// A number that may be meant as a day of the month; up to 39, so that a slip
/// such as 32 July is reported instead of overheard.
fn day_number(text: &Text, at: usize) -> Option<u32> {
    let number = text.ordinal(at).or_else(|| text.number(at))?;
    (1..40).contains(&number).then_some(number)
}

/// Whether the number counts people, nights or the like.
fn counts(text: &Text, at: usize) -> bool {
    text.number(at).is_some() && text.any(at + 1, COUNTED)
}

fn with_year(text: &Text, month: u32, day: u32, at: usize) -> Span {
    let start = at + usize::from(text.is_mark(at, ",") || text.is_mark(at, "."));
    match digits(text, start).filter(|year| (1900..2200).contains(year)) {
        Some(year) => Span::new(Point::Full(year, month, day), start + 1),
        None => Span::new(Point::MonthDay(month, day), at),
    }
}

/// `Friday`, `this Friday`, `next Friday`, `Friday next week`.
fn on_weekday(text: &Text, at: usize, today: Date, bare: bool) -> Option<Span> {
    let mut start = at;
    let mut next = false;
    while start < at + 4 && text.any(start, &["this", "next", "coming", "the", "following", "upcoming"]) {
        next |= text.any(start, &["next"]);
        start += 1;
        if text.any(start, &["week"]) {
            start += 1;
        }
    }
    let day = weekday(text.low(start))?;
    let guarded = matches!(text.low(start), "sun" | "sat" | "wed");
    if guarded && start == at && !bare && text.get(start + 1).is_some_and(|next| !next.hyphen) {
        return None;
    }
    let mut end = start + 1;
    if text.any(end, &["night"]) {
        end += 1;
    }
    if let Some(length) = text.longest(end, &["next week", "of next week"]) {
        let monday = first_weekday(add_days(today, 1), Weekday::Monday);
        return Some(Span::new(Point::On(first_weekday(monday, day)), end + length));
    }
    Some(match next {
        true => Span::new(Point::On(first_weekday(add_days(today, 1), day)), end),
        false => Span::new(Point::Weekday(day), end),
    })
}

fn feast(text: &Text, at: usize) -> Option<Span> {
    FEASTS
        .iter()
        .find_map(|(words, month, day)| Some((text.phrase(at, words)?, *month, *day)))
        .map(|(length, month, day)| Span::new(Point::MonthDay(month, day), at + length))
}

/// `the 3rd`.
fn bare_day(text: &Text, at: usize) -> Option<Span> {
    let start = at + usize::from(text.any(at, &["the"]));
    let day = text.ordinal(start).filter(|day| (1..=31).contains(day))?;
    let other = text.any(start + 1, &["floor", "hotel", "one", "option", "offer", "two", "three", "choice", "place"]);
    (!other).then(|| Span::new(Point::Day(day), start + 1))
}

/// `3 nights`, `a week`, `overnight`.
fn nights(text: &Text, at: usize) -> Option<(u32, usize)> {
    if text.any(at, &["overnight"]) {
        return Some((1, at + 1));
    }
    if let Some(length) = text.longest(at, &["for the night", "just the night"]) {
        return Some((1, at + length));
    }
    if let Some(length) = text.longest(at, &["a couple of nights", "couple of nights", "a couple of days"]) {
        return Some((2, at + length));
    }
    if let Some(length) = text.longest(at, &["a fortnight", "two week stay"]) {
        return Some((14, at + length));
    }
    let article = matches!(text.low(at), "a" | "an" | "full" | "whole");
    let count = if article { 1 } else { text.number(at)? };
    let mut unit = at + 1;
    while unit < at + 4 && text.any(unit, &["full", "whole", "entire", "single", "more", "-"]) {
        unit += 1;
    }
    let each = match text.low(unit) {
        // "100 a night" is a price; "a night in Porto" a length.
        "night" if article && is_price(text, at) => return None,
        "night" | "nights" | "nite" | "nites" | "nights'" | "day" | "days" => 1,
        "week" | "weeks" if !(article && is_price(text, at)) => 7,
        _ => return None,
    };
    let nights = count.saturating_mul(each);
    let end = unit + 1 + usize::from(text.any(unit + 1, &["stay"]));
    (1..=3650).contains(&nights).then_some((nights, end))
}

fn is_price(text: &Text, at: usize) -> bool {
    let money = ["€", "euro", "euros", "eur", "£", "$", "bucks", "max", "budget"];
    at > 0 && (text.number(at - 1).is_some() || text.any(at - 1, &money))
}
