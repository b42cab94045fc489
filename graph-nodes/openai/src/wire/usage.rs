//! Tokens as a server reports them.

use graph_nodes::message::Usage;
use serde::Deserialize;

use super::lenient::lenient;

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct WireUsage {
    #[serde(deserialize_with = "lenient")]
    prompt_tokens: Option<u64>,
    #[serde(deserialize_with = "lenient")]
    completion_tokens: Option<u64>,
    #[serde(deserialize_with = "lenient")]
    total_tokens: Option<u64>,
    #[serde(deserialize_with = "lenient")]
    prompt_tokens_details: Option<Details>,
    /// Another name of the cached tokens.
    #[serde(deserialize_with = "lenient")]
    prompt_cache_hit_tokens: Option<u64>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Details {
    #[serde(deserialize_with = "lenient")]
    cached_tokens: Option<u64>,
}

impl WireUsage {
    /// Nothing, if nothing was reported: a report of zeros would hide that the tokens are unknown.
    pub(super) fn usage(&self) -> Option<Usage> {
        if self.prompt_tokens.is_none() && self.completion_tokens.is_none() && self.total_tokens.is_none() {
            return None;
        }
        let details = self.prompt_tokens_details.as_ref().and_then(|details| details.cached_tokens);
        let mut usage = Usage::new(self.prompt_tokens.unwrap_or(0), self.completion_tokens.unwrap_or(0));
        usage.total = self.total_tokens;
        usage.cached = details.or(self.prompt_cache_hit_tokens).unwrap_or(0);
        Some(usage)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str) -> Option<Usage> {
        serde_json::from_str::<WireUsage>(json).unwrap().usage()
    }

    #[test]
    fn cached_tokens_are_found_under_both_names() {
        let expected = Some(Usage { total: Some(7), cached: 3, ..Usage::new(5, 2) });
        let details =
            r#"{"prompt_tokens":5,"completion_tokens":2,"total_tokens":7,"prompt_tokens_details":{"cached_tokens":3}}"#;
        let flat = r#"{"prompt_tokens":5,"completion_tokens":2,"total_tokens":7,"prompt_cache_hit_tokens":3}"#;
        assert_eq!((read(details), read(flat)), (expected, expected));
    }

    #[test]
    fn a_report_without_numbers_is_none() {
        assert_eq!(read(r#"{"prompt_tokens":null,"completion_tokens":"many","prompt_tokens_details":null}"#), None);
        assert_eq!(read("{}"), None);
    }

    #[test]
    fn a_missing_half_counts_as_nothing() {
        assert_eq!(read(r#"{"prompt_tokens":5}"#), Some(Usage::new(5, 0)));
    }
}
