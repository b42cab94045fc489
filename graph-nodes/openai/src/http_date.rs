//! Dates of HTTP headers, of which only differences matter here.

/// Seconds since 1970 of a date in one of the three forms of HTTP.
///
/// `Sun, 06 Nov 1994 08:49:37 GMT`, `Sunday, 06-Nov-94 08:49:37 GMT`, `Sun Nov  6 08:49:37 1994`.
pub(crate) fn seconds(date: &str) -> Option<i64> {
    let words: Vec<&str> = date.split([' ', ',', '-']).filter(|word| !word.is_empty()).collect();
    let (day, month, year, time) = match words.as_slice() {
        [_, day, month, year, time, "GMT"] => (day, month, year, time),
        [_, month, day, time, year] => (day, month, year, time),
        _ => return None,
    };
    let month = MONTHS.iter().position(|name| name == month)?;
    let (day, year): (u32, i64) = (day.parse().ok()?, year.parse().ok()?);
    // Two digits: a server that still writes them means a year near to now.
    let year = match year {
        0..70 => 2000 + year,
        70..100 => 1900 + year,
        _ => year,
    };
    let clock: Vec<u32> = time.split(':').map(str::parse).collect::<Result<_, _>>().ok()?;
    let [hour, minute, second] = clock.as_slice() else { return None };
    // A second 60 is a leap second.
    if !(1..=31).contains(&day) || *hour > 23 || *minute > 59 || *second > 60 || !(1970..10_000).contains(&year) {
        return None;
    }
    let days = days_before(year, month) + i64::from(day) - 1;
    Some(days * 86_400 + i64::from(hour * 3_600 + minute * 60 + second))
}

const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// Days from 1970 to the first of a month, from 0.
fn days_before(year: i64, month: usize) -> i64 {
    const BEFORE: [i64; 12] = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334];
    let leaps = |year: i64| year / 4 - year / 100 + year / 400;
    let is_leap = leaps(year) > leaps(year - 1);
    let days = (year - 1970) * 365 + leaps(year - 1) - leaps(1969) + BEFORE[month];
    days + i64::from(is_leap && month > 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_three_forms_are_the_same_moment() {
        for date in ["Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994"] {
            assert_eq!(seconds(date), Some(784_111_777), "{date}");
        }
    }

    #[test]
    fn leap_days_are_counted() {
        let (before, after) = ("Wed, 28 Feb 2024 00:00:00 GMT", "Fri, 01 Mar 2024 00:00:00 GMT");
        assert_eq!(seconds(after).unwrap() - seconds(before).unwrap(), 2 * 86_400);
        assert_eq!(seconds("Thu, 01 Jan 1970 00:00:00 GMT"), Some(0));
        assert_eq!(seconds("Tue, 01 Jan 2030 00:00:00 GMT"), Some(1_893_456_000));
    }

    #[test]
    fn what_is_no_date_is_none() {
        for text in
            ["", "soon", "Sun, 06 Foo 1994 08:49:37 GMT", "Sun, 06 Nov 1994 25:49:37 GMT", "Sun, 06 Nov 1994 08:49 GMT"]
        {
            assert_eq!(seconds(text), None, "{text}");
        }
    }
}
