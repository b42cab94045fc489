//! Why a check can't be built.

/// Why a check can't be built.
///
/// ```
/// use graph_nodes::gate::{CheckError, ForbiddenPatterns};
///
/// let error = ForbiddenPatterns::new([("a secret", "(")]).unwrap_err();
/// assert!(matches!(error, CheckError::Pattern { .. }));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CheckError {
    /// The pattern is no regular expression that is matched in linear time.
    #[error(
        "the pattern for `{what}` can't be used: {message}; correct it, without look-around and back-references, \
         which can't be matched in linear time"
    )]
    Pattern {
        /// What it finds.
        what: String,
        /// What is wrong, in one line.
        message: String,
    },
    /// The compiled pattern is too large.
    #[error("the pattern for `{what}` needs more than {limit} bytes; use smaller counts of repetition")]
    PatternTooLarge {
        /// What it finds.
        what: String,
        /// The limit, in bytes.
        limit: usize,
    },
    /// The schema breaks the rules of JSON Schema.
    #[error("the schema of {of} is no JSON schema, at `{place}`: {message}; correct it")]
    Schema {
        /// Of what: the structured output, or the arguments of a tool.
        of: String,
        /// Where in the schema, as a JSON pointer; empty for the schema as a whole.
        place: String,
        /// What is wrong.
        message: String,
    },
    /// No text can be as long as that.
    #[error("no text has at least {min} and at most {max} characters; swap the two")]
    Length {
        /// At least, in characters.
        min: usize,
        /// At most, in characters.
        max: usize,
    },
}
