//! How long a text may be.

use super::{CheckError, Code, Validator, Verdict};
use crate::model::Response;

/// Rejects a text that is too short (code `too_short`) or too long (code `too_long`), counted in characters. A
/// response that calls tools may be as short as it likes.
///
/// ```
/// use graph_nodes::gate::{Length, Validator, Verdict};
/// use graph_nodes::model::Response;
///
/// let length = Length::between(2, 5)?;
/// assert_eq!(length.validate(&Response::from_text("grüße"), &()), Verdict::Accept);
/// assert_eq!(
///     length.validate(&Response::from_text("grüße!"), &()),
///     Verdict::retry("too_long", "the answer has more than 5 characters; answer shorter"),
/// );
/// # Ok::<(), graph_nodes::gate::CheckError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Length {
    min: usize,
    max: usize,
}

impl Length {
    /// At most so many characters.
    pub fn at_most(max: usize) -> Self {
        Self { min: 0, max }
    }

    /// At least so many characters.
    pub fn at_least(min: usize) -> Self {
        Self { min, max: usize::MAX }
    }

    /// Both.
    ///
    /// # Errors
    /// [`CheckError::Length`], if no text can be like that.
    pub fn between(min: usize, max: usize) -> Result<Self, CheckError> {
        if min <= max { Ok(Self { min, max }) } else { Err(CheckError::Length { min, max }) }
    }
}

impl<S: ?Sized> Validator<S> for Length {
    fn name(&self) -> &str {
        "length"
    }

    fn validate(&self, response: &Response, _: &S) -> Verdict {
        let length = response.text.chars().count();
        if length > self.max {
            let told = format!("the answer has more than {} characters; answer shorter", self.max);
            return Verdict::retry(Code::TOO_LONG, told);
        }
        if length < self.min && response.calls.is_empty() {
            let told = format!("the answer has fewer than {} characters; answer in more detail", self.min);
            return Verdict::retry(Code::TOO_SHORT, told);
        }
        Verdict::Accept
    }
}
