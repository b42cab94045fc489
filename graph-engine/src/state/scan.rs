//! Reads JSON that mostly has one form: the members in one order, nothing between them, no escapes in texts.
//!
//! Everything here gives `None` for what is not of that form. It may still be JSON: whoever scans leaves it to serde then.

use serde::Deserialize;

/// What is left to read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scan<'a>(&'a str);

impl<'a> Scan<'a> {
    pub(crate) fn new(json: &'a str) -> Self {
        Self(json)
    }

    pub(crate) fn is_at_end(self) -> bool {
        self.0.is_empty()
    }

    /// Goes past this text, if it comes next.
    #[inline]
    pub(crate) fn take(&mut self, text: &str) -> bool {
        let rest = self.0.strip_prefix(text);
        self.0 = rest.unwrap_or(self.0);
        rest.is_some()
    }

    /// Goes past this text, which must come next.
    #[inline]
    pub(crate) fn expect(&mut self, text: &str) -> Option<()> {
        self.take(text).then_some(())
    }

    /// A whole number.
    #[inline]
    pub(crate) fn number(&mut self) -> Option<u64> {
        let digits = self.0.bytes().take_while(u8::is_ascii_digit).count();
        let (number, rest) = self.0.split_at(digits);
        // What is longer may be too large; and no number begins with a zero.
        if digits == 0 || digits > 19 || (digits > 1 && number.starts_with('0')) {
            return None;
        }
        self.0 = rest;
        Some(number.bytes().fold(0, |sum, digit| sum * 10 + u64::from(digit - b'0')))
    }

    /// The same of 32 bits.
    pub(crate) fn short(&mut self) -> Option<u32> {
        self.number()?.try_into().ok()
    }

    /// A text between quotation marks.
    #[inline]
    pub(crate) fn text(&mut self) -> Option<&'a str> {
        let rest = self.0.strip_prefix('"')?;
        let end = rest.bytes().position(|byte| byte == b'"' || byte == b'\\' || byte < b' ')?;
        let (text, rest) = rest.split_at(end);
        self.0 = rest.strip_prefix('"')?;
        Some(text)
    }

    pub(crate) fn flag(&mut self) -> Option<bool> {
        if self.take("true") {
            return Some(true);
        }
        self.take("false").then_some(false)
    }

    /// Whatever serde makes of the value that comes next.
    pub(crate) fn value<T: Deserialize<'a>>(&mut self) -> Option<T> {
        let mut values = serde_json::Deserializer::from_str(self.0).into_iter();
        let value = values.next()?.ok()?;
        self.0 = self.0.get(values.byte_offset()..)?;
        Some(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_read_is_what_serde_reads() {
        for number in ["0", "7", "10", "1234567890123456789", "9999999999999999999"] {
            let mut scan = Scan::new(number);
            assert_eq!(scan.number(), Some(serde_json::from_str(number).unwrap()));
            assert!(scan.is_at_end());
        }
        for other in ["", "-1", "01", "00", "18446744073709551615", "99999999999999999999", "x"] {
            assert_eq!(Scan::new(other).number(), None, "{other}");
        }
        for (text, read) in [("\"\"", Some("")), ("\"größe\"", Some("größe")), ("\"a\\n\"", None), ("\"\u{1}\"", None)]
        {
            assert_eq!(Scan::new(text).text(), read);
        }
        for other in ["", "\"", "\"open", "x\"\""] {
            assert_eq!(Scan::new(other).text(), None, "{other}");
        }
        let mut scan = Scan::new("true,[1,\"}\"],{\"a\":null}false");
        assert_eq!((scan.flag(), scan.take(","), scan.value()), (Some(true), true, Some(serde_json::json!([1, "}"]))));
        assert_eq!((scan.flag(), scan.expect(",")), (None, Some(())));
        assert_eq!(scan.value(), Some(serde_json::json!({"a": null})));
        assert_eq!((scan.flag(), scan.flag(), scan.is_at_end()), (Some(false), None, true));
    }
}
