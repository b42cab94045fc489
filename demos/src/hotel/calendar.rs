//! A stay: the nights between a check-in and a check-out day.
//!
//! Days are civil dates without a time zone, so a holiday or a weekend never
//! moves with the place where the program runs.

use jiff::ToSpan as _;
use jiff::civil::Date;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The longest stay that can be booked, in nights.
pub const MAX_NIGHTS: u32 = 30;

/// The season: hotels set their prices for so many days ahead, about a year and
/// a half. A later night can be neither priced nor booked.
pub const SEASON_DAYS: u32 = 540;

/// A stay that passed [`Stay::new`]: at least one and at most [`MAX_NIGHTS`]
/// nights. The check-out day itself is not a night.
///
/// Deserialising checks the order and the length again; only the rule that a
/// stay lies inside the season depends on the day and is left to
/// [`Stay::check_today`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "RawStay")]
pub struct Stay {
    check_in: Date,
    check_out: Date,
}

/// Why two days are not a stay.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StayError {
    /// The text names a day that no calendar has, such as 31 June.
    #[error("`{said}` is not a day of the calendar, give a date such as 2026-07-03")]
    ImpossibleDate {
        /// The day as said.
        said: String,
    },
    /// The check-out is on or before the check-in.
    #[error("check-out `{check_out}` is not after check-in `{check_in}`, give a later check-out")]
    OutNotAfterIn {
        /// The check-in day.
        check_in: Date,
        /// The check-out day.
        check_out: Date,
    },
    /// The check-in lies before today. Today itself is allowed.
    #[error("check-in `{check_in}` is before today `{today}`, give today or a later day")]
    InThePast {
        /// The check-in day.
        check_in: Date,
        /// The day on which it was asked.
        today: Date,
    },
    /// The check-out lies after the season. Its last day itself is allowed.
    #[error("check-out `{check_out}` is after `{last}`, the last day with prices, give an earlier stay")]
    AfterSeason {
        /// The check-out day.
        check_out: Date,
        /// The last day of the season.
        last: Date,
    },
    /// The stay has more than [`MAX_NIGHTS`] nights.
    #[error("`{nights}` nights are too long, stay at most {MAX_NIGHTS} nights")]
    TooLong {
        /// How many nights were asked for.
        nights: u32,
    },
}

impl Stay {
    /// Makes a stay that may begin today or later.
    ///
    /// # Errors
    ///
    /// One [`StayError`] per rule, in this order: check-out after check-in,
    /// check-in not in the past, check-out inside the season, length.
    pub fn new(check_in: Date, check_out: Date, today: Date) -> Result<Self, StayError> {
        if check_out <= check_in {
            return Err(StayError::OutNotAfterIn { check_in, check_out });
        }
        Self::undated(check_in, check_out).check_today(today)?.check_length()
    }

    /// Reads both days from `YYYY-MM-DD` text and makes a stay of them.
    ///
    /// # Errors
    ///
    /// [`StayError::ImpossibleDate`] for text that is no day, else as
    /// [`Stay::new`].
    pub fn parse(check_in: &str, check_out: &str, today: Date) -> Result<Self, StayError> {
        Self::new(parse_day(check_in)?, parse_day(check_out)?, today)
    }

    /// The same stay if it neither begins before `today` nor ends after the season
    /// that begins today.
    ///
    /// # Errors
    ///
    /// [`StayError::InThePast`] or [`StayError::AfterSeason`] otherwise.
    pub fn check_today(self, today: Date) -> Result<Self, StayError> {
        if self.check_in < today {
            return Err(StayError::InThePast { check_in: self.check_in, today });
        }
        let last = last_day(today);
        if self.check_out > last {
            return Err(StayError::AfterSeason { check_out: self.check_out, last });
        }
        Ok(self)
    }

    /// The day of arrival.
    #[must_use]
    pub fn check_in(&self) -> Date {
        self.check_in
    }

    /// The day of departure.
    #[must_use]
    pub fn check_out(&self) -> Date {
        self.check_out
    }

    /// How many nights the stay has.
    #[must_use]
    pub fn nights(&self) -> u32 {
        days_between(self.check_in, self.check_out)
    }

    /// The day on which each night begins, check-in first.
    pub fn days(&self) -> impl Iterator<Item = Date> + use<> {
        let check_out = self.check_out;
        std::iter::successors(Some(self.check_in), |day| day.tomorrow().ok()).take_while(move |day| *day < check_out)
    }

    fn undated(check_in: Date, check_out: Date) -> Self {
        Self { check_in, check_out }
    }

    fn check_length(self) -> Result<Self, StayError> {
        match self.nights() {
            nights if nights > MAX_NIGHTS => Err(StayError::TooLong { nights }),
            _ => Ok(self),
        }
    }
}

/// Reads a `YYYY-MM-DD` day.
///
/// # Errors
///
/// [`StayError::ImpossibleDate`] if the text is no day.
pub fn parse_day(text: &str) -> Result<Date, StayError> {
    text.trim().parse().map_err(|_| StayError::ImpossibleDate { said: text.trim().to_owned() })
}

/// The day `days` days after `day`; the last day of the calendar if there is
/// none.
#[must_use]
pub fn add_days(day: Date, days: u32) -> Date {
    day.checked_add(i64::from(days.min(1_000_000)).days()).unwrap_or(Date::MAX)
}

/// The last day of the season as it is on `today`: see [`SEASON_DAYS`].
#[must_use]
pub fn last_day(today: Date) -> Date {
    add_days(today, SEASON_DAYS)
}

fn days_between(from: Date, to: Date) -> u32 {
    u32::try_from((to - from).get_days()).unwrap_or(0)
}

#[derive(Deserialize, JsonSchema)]
struct RawStay {
    #[schemars(with = "String")]
    check_in: Date,
    #[schemars(with = "String")]
    check_out: Date,
}

impl TryFrom<RawStay> for Stay {
    type Error = StayError;

    fn try_from(raw: RawStay) -> Result<Self, StayError> {
        Self::new(raw.check_in, raw.check_out, raw.check_in)
    }
}

impl JsonSchema for Stay {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Stay".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        RawStay::json_schema(generator)
    }
}
