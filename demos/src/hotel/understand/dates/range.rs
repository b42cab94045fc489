//! Two days joined to a stay, and weekends.

use super::grammar::{Mention, point};
use super::point::{Point, first_weekday, make};
use super::words::month;
use crate::hotel::calendar::add_days;
use crate::hotel::understand::normalise::Text;
use jiff::ToSpan as _;
use jiff::civil::{Date, Weekday};

/// A day and the token after it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Span {
    pub(super) point: Point,
    pub(super) end: usize,
    /// Said as a night (`tonight`), so that the length is said too.
    pub(super) one_night: bool,
}

impl Span {
    pub(super) fn new(point: Point, end: usize) -> Self {
        Self { point, end, one_night: false }
    }

    pub(super) fn night(self) -> Self {
        Self { one_night: true, ..self }
    }
}

const JOINS: &[&str] = &[
    "-",
    "to",
    "until",
    "till",
    "til",
    "thru",
    "through",
    "up to",
    "- to",
    "and leave on",
    "and leaving on",
    ", leaving",
    "/",
    "- >",
    "and leave",
    "and out",
    "to the following",
];

/// `3-6 July`, `from Friday to Sunday`, `between 3 and 6 July`.
pub(super) fn range(text: &Text, at: usize, today: Date) -> Option<(Mention, usize)> {
    let lead = usize::from(text.any(at, &["from", "between"]));
    let between = text.any(at, &["between"]);
    let first = end_of_range(text, at + lead, today)?;
    let join = match text.longest(first.end, JOINS) {
        Some(length) => length,
        None if between && text.any(first.end, &["and"]) => 1,
        None if text.get(first.end).is_some_and(|token| token.hyphen) => 0,
        // Two ISO days side by side.
        None if matches!(first.point, Point::Full(..)) && text.low(at + lead).len() == 4 => 0,
        None => return None,
    };
    let second_at = first.end + join;
    let second = end_of_range(text, second_at, today)?;
    // Numbers alone are amounts or places in a list, not days.
    let ordinals = |at: usize| text.ordinal(at + usize::from(text.any(at, &["the"]))).is_some();
    if let (Point::Day(_), Point::Day(_)) = (first.point, second.point) {
        let announced = lead == 1 || text.any(at, &["the"]);
        if !(announced && ordinals(at + lead) && ordinals(second_at)) {
            return None;
        }
    }
    let said = || Mention::Impossible(text.said(at + lead, second.end).trim().to_owned());
    let alone = |from, span: &Span| Mention::Impossible(text.said(from, span.end).trim().to_owned());
    let mention = match resolve(first.point, second.point, today) {
        Ok((check_in, check_out)) => Mention::Range(check_in, check_out),
        Err(Fault::First) => alone(at + lead, &first),
        Err(Fault::Second) => alone(second_at, &second),
        Err(Fault::Both) => said(),
    };
    Some((mention, second.end))
}

/// A day that may also be a bare number, because the other end names the month.
fn end_of_range(text: &Text, at: usize, today: Date) -> Option<Span> {
    if let Some(span) = point(text, at, today, true) {
        return Some(span);
    }
    let start = at + usize::from(text.any(at, &["the"]));
    let day = text.number(start).filter(|day| (1..=31).contains(day))?;
    let counted = text.any(start + 1, super::words::COUNTED);
    // `03.-06.07.2026` has a full stop after the bare day.
    let dot = text.is_mark(start + 1, ".") && text.is_glued(start + 1);
    let dot = dot && text.any(start + 2, &["-", "to"]);
    (!counted).then(|| Span::new(Point::Day(day), start + 1 + usize::from(dot)))
}

enum Fault {
    First,
    Second,
    Both,
}

/// Lets each end inherit the month or year that only the other one names.
fn resolve(first: Point, second: Point, today: Date) -> Result<(Date, Date), Fault> {
    let (first, second) = match (first, second) {
        (Point::Day(day), Point::MonthDay(month, last)) => {
            let month = if day < last { month } else { (month + 10) % 12 + 1 };
            (Point::MonthDay(month, day), second)
        }
        (Point::Day(day), Point::Full(year, month, last)) if day < last => (Point::Full(year, month, day), second),
        (Point::Day(day), Point::Full(year, 1, _)) => (Point::Full(year - 1, 12, day), second),
        (Point::Day(day), Point::Full(year, month, _)) => (Point::Full(year, month - 1, day), second),
        (Point::MonthDay(month, day), Point::Full(year, last_month, last)) => {
            let before = (month, day) < (last_month, last);
            let year = if before { year } else { year - 1 };
            (Point::Full(year, month, day), second)
        }
        (Point::MonthDay(month, day), Point::Day(last)) if day < last => (first, Point::MonthDay(month, last)),
        (Point::Full(year, month, day), Point::Day(last)) if day < last => (first, Point::Full(year, month, last)),
        pair => pair,
    };
    let check_in = first.resolve(today).ok_or(Fault::First)?;
    let after = match second {
        // The months and years of a range said once belong to both ends.
        Point::MonthDay(month, day) if make(2028, month, day).is_none() => {
            return Err(Fault::Both);
        }
        // "Saturday to Saturday" is a week.
        _ => add_days(check_in, 1),
    };
    let check_out = second.resolve(after).ok_or(Fault::Second)?;
    Ok((check_in, check_out))
}

/// `this weekend`, `the weekend after next`, `a long weekend`: Friday to
/// Sunday, a long one to Monday. Said on a Saturday, `this weekend` is what is
/// left of it.
pub(super) fn weekend(text: &Text, at: usize, today: Date) -> Option<(Mention, usize)> {
    let mut start = at;
    let (mut next, mut long) = (false, false);
    while start < at + 4 && text.any(start, &["this", "next", "coming", "the", "a", "long", "following", "upcoming"]) {
        next |= text.any(start, &["next", "following"]);
        long |= text.any(start, &["long"]);
        start += 1;
    }
    let rank = match text.low(start) {
        "last" => Some(0),
        _ => text.ordinal(start).filter(|rank| *rank <= 5),
    };
    start += usize::from(rank.is_some());
    if !text.any(start, &["weekend", "week-end", "wknd", "weekends"]) {
        return None;
    }
    let mut end = start + 1;
    let month = month(text.low(end + 1)).filter(|_| text.any(end, &["of", "in"]));
    if let Some(friday) = month.and_then(|month| friday_of(month, rank.unwrap_or(1), today)) {
        let check_out = add_days(friday, if long { 3 } else { 2 });
        return Some((Mention::Range(friday, check_out), end + 2));
    }
    if rank.is_some() {
        return None;
    }
    let after_next = text.longest(end, &["after next"]);
    end += after_next.unwrap_or(0);
    let nights = if long { 3 } else { 2 };
    let from = add_days(today, u32::from(next));
    let friday = first_weekday(from, Weekday::Friday);
    let friday = add_days(friday, if after_next.is_some() { 7 } else { 0 });
    if today.weekday() == Weekday::Saturday && !next && after_next.is_none() {
        return Some((Mention::Range(today, add_days(today, nights - 1)), end));
    }
    Some((Mention::Range(friday, add_days(friday, nights)), end))
}

/// The Friday of a weekend of a month, counted from 1; 0 is the last one. The
/// next such day that is not in the past.
fn friday_of(month: u32, rank: u32, today: Date) -> Option<Date> {
    let year = u32::try_from(today.year()).ok()?;
    [year, year + 1].into_iter().find_map(|year| {
        let first = make(year, month, 1)?;
        let friday = match rank {
            0 => first_weekday(first.last_of_month().saturating_sub(6.days()), Weekday::Friday),
            rank => add_days(first_weekday(first, Weekday::Friday), 7 * (rank - 1)),
        };
        (friday >= today && friday.month() == first.month()).then_some(friday)
    })
}
