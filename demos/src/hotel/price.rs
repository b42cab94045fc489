//! What a night costs: level x month x room x day of the week x holiday, in
//! whole cents.
//!
//! Every factor is a whole per cent; the product is rounded once, half up, to
//! a cent. A night is priced by the day on which it begins, so the check-out
//! day costs nothing.

use crate::hotel::calendar::Stay;
use crate::hotel::criteria::{Budget, RoomType};
use jiff::civil::{Date, Weekday};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// An amount of euros in whole cents.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Cents(pub u64);

impl Cents {
    /// The amount of so many whole euros.
    #[must_use]
    pub const fn euros(euros: u64) -> Self {
        Self(euros.saturating_mul(100))
    }
}

impl std::fmt::Display for Cents {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(&format!("€{}.{:02}", self.0 / 100, self.0 % 100))
    }
}

/// One night of a quote.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NightPrice {
    /// The day on which the night begins.
    pub night: Date,
    /// What it costs.
    pub price: Cents,
}

/// The price of a stay, night by night.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Quote {
    /// The nights in order; never empty.
    pub nights: Vec<NightPrice>,
    /// The sum of the nights.
    pub total: Cents,
}

impl Quote {
    /// Whether every night lies within the budget: a stay is dropped if any
    /// night costs more than the maximum or less than the minimum.
    #[must_use]
    pub fn fits(&self, budget: &Budget) -> bool {
        self.nights.iter().all(|night| budget.allows(night.price))
    }

    /// The cheapest night.
    #[must_use]
    pub fn lowest(&self) -> Cents {
        self.prices().min().unwrap_or_default()
    }

    /// The dearest night.
    #[must_use]
    pub fn highest(&self) -> Cents {
        self.prices().max().unwrap_or_default()
    }

    fn prices(&self) -> impl Iterator<Item = Cents> {
        self.nights.iter().map(|night| night.price)
    }
}

/// Prices every night of a stay in a hotel of the given level.
#[must_use]
pub fn quote(level: u32, room: RoomType, stay: &Stay) -> Quote {
    let nights: Vec<NightPrice> =
        stay.days().map(|night| NightPrice { night, price: nightly(level, room, night) }).collect();
    let total = Cents(nights.iter().map(|night| night.price.0).sum());
    Quote { nights, total }
}

/// The price of the night that begins on `night`. The level is what a double
/// room costs, in euros, on an ordinary weekday in March.
#[must_use]
pub fn nightly(level: u32, room: RoomType, night: Date) -> Cents {
    let factors = [
        month_percent(night.month()),
        room_percent(room),
        weekday_percent(night.weekday()),
        if is_holiday(night) { 130 } else { 100 },
    ];
    // 4e9 x 100 x at most 150 x 220 x 120 x 130 stays below 2^128.
    let product = factors.iter().fold(u128::from(level) * 100, |sum, percent| sum * u128::from(*percent));
    let scale = 100_u128.pow(4);
    Cents(u64::try_from((product + scale / 2) / scale).unwrap_or(u64::MAX))
}

/// Whether prices are raised on this day: New Year's Day, May Day, Christmas
/// (24 to 26 December) and New Year's Eve, the same in every city.
#[must_use]
pub fn is_holiday(day: Date) -> bool {
    matches!((day.month(), day.day()), (1, 1) | (5, 1) | (12, 24..=26 | 31))
}

fn month_percent(month: i8) -> u32 {
    match month {
        1 | 2 => 85,
        3 => 100,
        4 => 115,
        5 | 9 => 125,
        6 => 130,
        7 => 145,
        8 => 150,
        10 => 110,
        11 => 90,
        _ => 120,
    }
}

fn room_percent(room: RoomType) -> u32 {
    match room {
        RoomType::Single => 80,
        RoomType::Double => 100,
        RoomType::Twin => 105,
        RoomType::Family => 160,
        RoomType::Suite => 220,
    }
}

fn weekday_percent(day: Weekday) -> u32 {
    match day {
        Weekday::Friday => 110,
        Weekday::Saturday => 120,
        Weekday::Sunday => 105,
        _ => 100,
    }
}
