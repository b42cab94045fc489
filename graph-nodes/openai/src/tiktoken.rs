//! Counts of the vocabularies of known models (feature `tiktoken`).

use std::collections::HashSet;
use std::fmt;

use graph_nodes::model::TokenEstimate;
use tiktoken_rs::{CoreBPE, bpe_for_model};

/// Counts tokens with a known model's own vocabulary. Needs the feature `tiktoken`; the vocabularies are part of the
/// program, nothing is fetched.
///
/// Texts are counted exactly, except those that the vocabulary's reader can't take at once, such as a million blanks in a
/// row: these are counted in parts, which makes a few tokens more. What a provider writes around messages and tools is not public, so a whole request is
/// still an estimate.
///
/// ```
/// use graph_nodes::model::TokenEstimate;
/// use graph_nodes_openai::Tiktoken;
///
/// let tokens = Tiktoken::of("gpt-4o")?;
/// assert_eq!(tokens.text("Two people want a room in Oslo."), 8);
/// # Ok::<(), graph_nodes_openai::UnknownVocabulary>(())
/// ```
#[derive(Clone)]
pub struct Tiktoken {
    model: String,
    vocabulary: &'static CoreBPE,
}

/// Nobody knows the vocabulary of this model.
///
/// ```
/// use graph_nodes_openai::Tiktoken;
///
/// let error = Tiktoken::of("smollm2").unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "the vocabulary of the model `smollm2` is not known; take `BytesPerToken`, or name a model with the same vocabulary"
/// );
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the vocabulary of the model `{model}` is not known; take `BytesPerToken`, or name a model with the same vocabulary"
)]
pub struct UnknownVocabulary {
    /// The model.
    pub model: String,
}

impl Tiktoken {
    /// The vocabulary of this model. The first use of each takes some tenths of a second.
    ///
    /// # Errors
    /// [`UnknownVocabulary`]: the model is on no list.
    pub fn of(model: impl Into<String>) -> Result<Self, UnknownVocabulary> {
        let model = model.into();
        match bpe_for_model(&model) {
            Ok(vocabulary) => Ok(Self { model, vocabulary }),
            Err(_) => Err(UnknownVocabulary { model }),
        }
    }
}

impl Tiktoken {
    /// Nothing where the vocabulary's reader gives up. Its shorter ways of counting panic then.
    fn count(&self, text: &str) -> Option<u64> {
        Some(self.vocabulary.count(text, &HashSet::new()).ok()? as u64)
    }
}

/// The text in parts that every reader takes.
fn parts(text: &str) -> impl Iterator<Item = &str> {
    const PART: usize = 64 << 10;
    let mut rest = text;
    std::iter::from_fn(move || {
        let (part, after) = rest.split_at(rest.floor_char_boundary(PART));
        rest = after;
        (!part.is_empty()).then_some(part)
    })
}

impl TokenEstimate for Tiktoken {
    fn text(&self, text: &str) -> u64 {
        self.count(text).unwrap_or_else(|| {
            // No token is shorter than a byte.
            parts(text).map(|part| self.count(part).unwrap_or(part.len() as u64)).fold(0, u64::saturating_add)
        })
    }
}

impl fmt::Debug for Tiktoken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tiktoken").field("model", &self.model).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_that_can_not_be_read_at_once_is_counted_in_parts() {
        let tokens = Tiktoken::of("gpt-4o").unwrap();
        let text = " ".repeat(1_200_000) + "x";
        assert_eq!(tokens.count(&text), None);
        assert_eq!(parts(&text).collect::<String>(), text);
        // Most tokens are 128 blanks.
        assert_eq!(tokens.text(&text), 9_377);
        // What marks special places in other texts is a text like any other here.
        assert_eq!(tokens.text("<|endoftext|>"), tokens.vocabulary.count_ordinary("<|endoftext|>") as u64);
    }
}
