//! The words of the calendar: months, days of the week, feast days.

use jiff::civil::Weekday;

const MONTHS: [&[&str]; 12] = [
    &["january", "jan"],
    &["february", "feb", "febr"],
    &["march", "mar"],
    &["april", "apr"],
    &["may"],
    &["june", "jun"],
    &["july", "jul"],
    &["august", "aug"],
    &["september", "sep", "sept"],
    &["october", "oct"],
    &["november", "nov"],
    &["december", "dec"],
];

/// The number of a month, 1 to 12.
pub(crate) fn month(word: &str) -> Option<u32> {
    let place = MONTHS.iter().position(|names| names.contains(&word))?;
    u32::try_from(place + 1).ok()
}

/// A day of the week.
pub(crate) fn weekday(word: &str) -> Option<Weekday> {
    Some(match word.trim_end_matches("'s") {
        "monday" | "mon" | "mondays" => Weekday::Monday,
        "tuesday" | "tue" | "tues" => Weekday::Tuesday,
        "wednesday" | "wed" | "weds" => Weekday::Wednesday,
        "thursday" | "thu" | "thur" | "thurs" => Weekday::Thursday,
        "friday" | "fri" | "fridays" => Weekday::Friday,
        "saturday" | "sat" | "saturdays" => Weekday::Saturday,
        "sunday" | "sun" | "sundays" => Weekday::Sunday,
        _ => return None,
    })
}

/// Month and day of a feast, by the words after which it is called.
pub(super) const FEASTS: [(&str, u32, u32); 9] = [
    ("christmas eve", 12, 24),
    ("christmas day", 12, 25),
    ("christmas", 12, 25),
    ("boxing day", 12, 26),
    ("new year's eve", 12, 31),
    ("new years eve", 12, 31),
    ("new year's day", 1, 1),
    ("new year's", 12, 31),
    ("valentine's day", 2, 14),
];

/// Words after a number which say that it is not a day of the month.
pub(crate) const COUNTED: &[&str] = &[
    "night",
    "nights",
    "nite",
    "nites",
    "day",
    "days",
    "week",
    "weeks",
    "people",
    "persons",
    "person",
    "guests",
    "guest",
    "adults",
    "adult",
    "kids",
    "kid",
    "child",
    "children",
    "of",
    "pax",
    "travellers",
    "travelers",
    "friends",
    "rooms",
    "room",
    "beds",
    "euros",
    "euro",
    "eur",
    "star",
    "stars",
    "km",
    "metres",
    "meters",
    "minutes",
    "single",
    "double",
    "twin",
    "months",
];
