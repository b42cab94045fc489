//! What must not be in a text.

use regex::{Error, Regex, RegexBuilder};

use super::{CheckError, Code, Validator, Verdict};
use crate::model::Response;

/// Rejects a text in which one of these regular expressions matches. Code `forbidden`. Matching takes time that is
/// linear in the text's length, whatever the text is.
///
/// Each pattern comes with what it finds, in words for the model: what was found is not quoted. Arguments of calls are
/// not looked at.
///
/// ```
/// use graph_nodes::gate::{ForbiddenPatterns, Validator, Verdict};
/// use graph_nodes::model::Response;
///
/// let private = ForbiddenPatterns::new([("an e-mail address", r"\S@\S"), ("a card number", r"\b\d{4}( ?\d{4}){3}\b")])?;
/// assert_eq!(
///     private.validate(&Response::from_text("Write to ann@example.org."), &()),
///     Verdict::retry("forbidden", "the answer contains an e-mail address; leave it out"),
/// );
/// # Ok::<(), graph_nodes::gate::CheckError>(())
/// ```
#[derive(Clone, Debug)]
pub struct ForbiddenPatterns {
    patterns: Vec<(String, Regex)>,
}

impl ForbiddenPatterns {
    /// The most memory that one compiled pattern may need, in bytes.
    pub const LIMIT: usize = 1 << 20;

    /// Pairs of what is found, in words, and the regular expression.
    ///
    /// # Errors
    /// [`CheckError::Pattern`], [`CheckError::PatternTooLarge`].
    pub fn new<W: Into<String>, P: AsRef<str>>(patterns: impl IntoIterator<Item = (W, P)>) -> Result<Self, CheckError> {
        let compile = |(what, pattern): (W, P)| {
            let what = what.into();
            let compiled = RegexBuilder::new(pattern.as_ref()).size_limit(Self::LIMIT).build();
            match compiled {
                Ok(regex) => Ok((what, regex)),
                Err(Error::CompiledTooBig(limit)) => Err(CheckError::PatternTooLarge { what, limit }),
                Err(error) => Err(CheckError::Pattern { what, message: last_line(&error) }),
            }
        };
        let patterns = patterns.into_iter().map(compile).collect::<Result<_, _>>()?;
        Ok(Self { patterns })
    }
}

/// The parser's error is a drawing of several lines; the last one says what is wrong.
fn last_line(error: &Error) -> String {
    let text = error.to_string();
    let last = text.lines().last().unwrap_or_default();
    last.strip_prefix("error: ").unwrap_or(last).to_owned()
}

impl<S: ?Sized> Validator<S> for ForbiddenPatterns {
    fn name(&self) -> &str {
        "forbidden_patterns"
    }

    fn validate(&self, response: &Response, _: &S) -> Verdict {
        let found: Vec<&str> = self
            .patterns
            .iter()
            .filter(|(_, pattern)| pattern.is_match(&response.text))
            .map(|(what, _)| what.as_str())
            .collect();
        match found.as_slice() {
            [] => Verdict::Accept,
            found => {
                Verdict::retry(Code::FORBIDDEN, format!("the answer contains {}; leave it out", found.join(" and ")))
            }
        }
    }
}
