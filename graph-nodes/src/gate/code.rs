//! The short name of a reason, as key of counters and caps.

use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Serialize};

/// The short name of a reason: a counter's key, a cap's key, a route's value.
///
/// ```
/// use graph_nodes::gate::Code;
///
/// const NOT_POLITE: Code = Code::new("not_polite");
/// assert_eq!(NOT_POLITE.to_string(), "not_polite");
/// assert_eq!(Code::from("empty"), Code::EMPTY);
/// assert_eq!(NOT_POLITE.in_shadow().as_str(), "shadow:not_polite");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Code(Cow<'static, str>);

impl Code {
    /// Neither text nor calls.
    pub const EMPTY: Self = Self::new("empty");
    /// Structured output that is no JSON.
    pub const PARSE: Self = Self::new("parse");
    /// Structured output of another shape.
    pub const SCHEMA: Self = Self::new("schema");
    /// A text with something in it that must not be there.
    pub const FORBIDDEN: Self = Self::new("forbidden");
    /// A text that is too short.
    pub const TOO_SHORT: Self = Self::new("too_short");
    /// A text that is too long.
    pub const TOO_LONG: Self = Self::new("too_long");
    /// A judge's rejection.
    pub const JUDGED: Self = Self::new("judged");
    /// An error of the model that has no code of its own.
    pub const INVOCATION: Self = Self::new("invocation");
    /// The provider didn't accept the key.
    pub const AUTHENTICATION: Self = Self::new("authentication");
    /// The account at the provider is used up.
    pub const QUOTA: Self = Self::new("quota");
    /// The provider limits the rate.
    pub const RATE: Self = Self::new("rate");
    /// The request is longer than the model's context.
    pub const CONTEXT_TOO_LONG: Self = Self::new("context_too_long");
    /// A refusal, or a content filter.
    pub const BLOCKED: Self = Self::new("blocked");
    /// Cut off.
    pub const TRUNCATED: Self = Self::new("truncated");
    /// Cancelled.
    pub const CANCELLED: Self = Self::new("cancelled");
    /// Cut by the deadline of the gate.
    pub const DEADLINE: Self = Self::new("deadline");
    /// A call whose arguments can't be read, or without a name.
    pub const ARGUMENTS: Self = Self::new("arguments");
    /// A call of a tool that isn't offered.
    pub const UNKNOWN_TOOL: Self = Self::new("unknown_tool");
    /// A validator panicked, or couldn't do its work.
    pub const VALIDATOR_FAILED: Self = Self::new("validator_failed");
    /// There is a token budget, but the model reports no tokens.
    pub const USAGE_UNAVAILABLE: Self = Self::new("usage_unavailable");

    /// A code known when the program is written.
    pub const fn new(code: &'static str) -> Self {
        Self(Cow::Borrowed(code))
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The code that a rejection is counted under in shadow mode.
    #[must_use]
    pub fn in_shadow(&self) -> Self {
        Self(Cow::Owned(format!("shadow:{}", self.0)))
    }
}

impl From<&'static str> for Code {
    fn from(code: &'static str) -> Self {
        Self::new(code)
    }
}

impl From<String> for Code {
    fn from(code: String) -> Self {
        Self(Cow::Owned(code))
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
