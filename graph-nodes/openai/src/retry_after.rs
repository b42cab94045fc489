//! How long a server asks to wait.

use std::time::Duration;

use reqwest::header::{DATE, HeaderMap, RETRY_AFTER};

use crate::http_date;

/// How long the headers ask to wait: `retry-after-ms`, else `Retry-After` in seconds or as a date.
///
/// A date is compared with the server's own `Date`: whether the two clocks agree makes no difference. Without that
/// header a date says nothing.
pub(crate) fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim);
    let seconds = |number: f64| number.is_finite().then(|| Duration::try_from_secs_f64(number.max(0.0)).ok())?;
    if let Some(wait) = text("retry-after-ms").and_then(|text| text.parse::<f64>().ok()) {
        return seconds(wait / 1_000.0);
    }
    let after = text(RETRY_AFTER.as_str())?;
    if let Ok(wait) = after.parse::<u64>() {
        return Some(Duration::from_secs(wait));
    }
    if let Ok(wait) = after.parse::<f64>() {
        return seconds(wait);
    }
    let now = http_date::seconds(text(DATE.as_str())?)?;
    let then = http_date::seconds(after)?;
    Some(Duration::from_secs(u64::try_from(then - now).unwrap_or(0)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use reqwest::header::{HeaderName, HeaderValue};

    fn wait(headers: &[(&'static str, &'static str)]) -> Option<Duration> {
        let pairs =
            headers.iter().map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value)));
        retry_after(&pairs.collect())
    }

    #[test]
    fn seconds_and_milliseconds() {
        assert_eq!(wait(&[("retry-after", "7")]), Some(Duration::from_secs(7)));
        assert_eq!(wait(&[("retry-after", "1.5")]), Some(Duration::from_millis(1_500)));
        assert_eq!(wait(&[("retry-after", "7"), ("retry-after-ms", "250")]), Some(Duration::from_millis(250)));
        assert_eq!(wait(&[("retry-after", "-3")]), Some(Duration::ZERO));
    }

    #[test]
    fn a_date_is_measured_from_the_servers_own_date() {
        let now = ("date", "Sun, 06 Nov 1994 08:49:37 GMT");
        assert_eq!(wait(&[now, ("retry-after", "Sun, 06 Nov 1994 08:51:07 GMT")]), Some(Duration::from_secs(90)));
        assert_eq!(wait(&[now, ("retry-after", "Sun, 06 Nov 1994 08:00:00 GMT")]), Some(Duration::ZERO));
        assert_eq!(wait(&[("retry-after", "Sun, 06 Nov 1994 08:51:07 GMT")]), None);
    }

    #[test]
    fn what_says_nothing_is_none() {
        assert_eq!(wait(&[]), None);
        for text in ["soon", "NaN", "1e300", "inf"] {
            assert_eq!(wait(&[("date", "Sun, 06 Nov 1994 08:49:37 GMT"), ("retry-after", text)]), None, "{text}");
        }
    }
}
