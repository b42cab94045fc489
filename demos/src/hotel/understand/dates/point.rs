//! One day as said, and the day of the calendar that it is.

use crate::hotel::calendar::add_days;
use jiff::civil::{Date, Weekday};

/// A day as said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Point {
    /// `the 3rd`.
    Day(u32),
    /// `3 July`.
    MonthDay(u32, u32),
    /// `3 July 2026`.
    Full(u32, u32, u32),
    /// `tomorrow`, or anything else that depends on today only.
    On(Date),
    /// `Friday`: the first one from the earliest possible day.
    Weekday(Weekday),
}

impl Point {
    /// The first such day that is not before `earliest`; `None` if there is
    /// none. A day with its year, and one that depends on today, stay as said.
    pub(super) fn resolve(self, earliest: Date) -> Option<Date> {
        match self {
            Self::On(date) => Some(date),
            Self::Full(year, month, day) => make(year, month, day),
            Self::MonthDay(month, day) => {
                let year = u32::try_from(earliest.year()).ok()?;
                // A leap day may be up to eight years away.
                (year..=year + 8).filter_map(|year| make(year, month, day)).find(|date| *date >= earliest)
            }
            Self::Day(day) => {
                let mut year = u32::try_from(earliest.year()).ok()?;
                let mut month = u32::try_from(earliest.month()).ok()?;
                for _ in 0..12 {
                    if let Some(date) = make(year, month, day).filter(|date| *date >= earliest) {
                        return Some(date);
                    }
                    (year, month) = if month == 12 { (year + 1, 1) } else { (year, month + 1) };
                }
                None
            }
            Self::Weekday(weekday) => Some(first_weekday(earliest, weekday)),
        }
    }
}

/// The day of the calendar, if there is one.
pub(super) fn make(year: u32, month: u32, day: u32) -> Option<Date> {
    Date::new(i16::try_from(year).ok()?, i8::try_from(month).ok()?, i8::try_from(day).ok()?).ok()
}

/// The first such day of the week on or after a date.
pub(super) fn first_weekday(from: Date, weekday: Weekday) -> Date {
    let ahead = from.weekday().until(weekday);
    add_days(from, u32::try_from(ahead).unwrap_or(0))
}
