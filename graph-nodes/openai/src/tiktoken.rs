//! Counts of the vocabularies of known models (feature `tiktoken`).

use std::fmt;

use graph_nodes::model::TokenEstimate;
use tiktoken_rs::{CoreBPE, bpe_for_model};

/// Counts tokens with a known model's own vocabulary. Needs the feature `tiktoken`; the vocabularies are part of the
/// program, nothing is fetched.
///
/// Texts are counted exactly. What a provider writes around messages and tools is not public, so a whole request is
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

impl TokenEstimate for Tiktoken {
    fn text(&self, text: &str) -> u64 {
        self.vocabulary.count_ordinary(text) as u64
    }
}

impl fmt::Debug for Tiktoken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tiktoken").field("model", &self.model).finish_non_exhaustive()
    }
}
