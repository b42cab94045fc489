//! How many tokens a request will be, before a provider has counted them.

use super::Request;
use crate::message::{Content, Message};

/// Estimates how many tokens a text is, before a provider counts them: for limits of a context and allowances a minute.
///
/// An estimate decides what is sent and when, never what was paid: that is the provider's own [`Usage`].
///
/// [`Usage`]: crate::message::Usage
///
/// ```
/// use graph_nodes::message::Message;
/// use graph_nodes::model::{BytesPerToken, Request, TokenEstimate};
///
/// /// One token a word.
/// struct Words;
///
/// impl TokenEstimate for Words {
///     fn text(&self, text: &str) -> u64 {
///         text.split_whitespace().count() as u64
///     }
/// }
///
/// let request = Request::new([Message::user("Is it warm in Bern today?")]);
/// // Each message costs a few tokens of its own.
/// assert_eq!(Words.request(&request), 6 + 4);
/// assert_eq!(BytesPerToken::default().request(&request), 7 + 4);
/// ```
pub trait TokenEstimate: Send + Sync + 'static {
    /// The tokens of a text.
    fn text(&self, text: &str) -> u64;

    /// The tokens of a message: its texts, its calls, and what marks where it begins and ends.
    fn message(&self, message: &Message) -> u64 {
        let blocks = message.content.iter().map(|content| match content {
            Content::Text { text } => self.text(text),
            // A picture's tokens depend on its size and the provider; other blocks are as long as their JSON.
            other => serde_json::to_string(other).map_or(0, |json| self.text(&json)),
        });
        let calls = message.calls().iter();
        let calls = calls.flat_map(|call| [self.text(&call.name), self.text(call.arguments.raw())]);
        MARKS_OF_A_MESSAGE.saturating_add(blocks.chain(calls).fold(0, u64::saturating_add))
    }

    /// The tokens of a whole request: its messages, its tools and the schema of its answer.
    fn request(&self, request: &Request) -> u64 {
        let messages = request.messages.iter().map(|message| self.message(message));
        let tools = request.tools.iter().flat_map(|tool| {
            let parameters = self.text(&tool.parameters.to_string());
            [self.text(&tool.name), self.text(&tool.description), parameters]
        });
        let schema = request.response_schema.iter().map(|schema| self.text(&schema.to_string()));
        messages.chain(tools).chain(schema).fold(0, u64::saturating_add)
    }
}

/// What chat formats write around each message: the role and the marks of its two ends.
const MARKS_OF_A_MESSAGE: u64 = 4;

/// The estimate that needs no vocabulary: so many bytes are one token, rounded up. Four by default, which is near what
/// English text and JSON take in common vocabularies; other scripts take fewer bytes a token.
///
/// ```
/// use graph_nodes::model::{BytesPerToken, TokenEstimate};
///
/// assert_eq!(BytesPerToken::default().text("hotels"), 2);
/// assert_eq!(BytesPerToken::new(3).text("hotels"), 2);
/// // Never nothing: no bytes a token counts as one.
/// assert_eq!(BytesPerToken::new(0).text("hotels"), 6);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BytesPerToken(u64);

impl BytesPerToken {
    /// So many bytes are one token; 0 counts as 1.
    pub const fn new(bytes: u64) -> Self {
        Self(if bytes == 0 { 1 } else { bytes })
    }
}

impl Default for BytesPerToken {
    fn default() -> Self {
        Self::new(4)
    }
}

impl TokenEstimate for BytesPerToken {
    fn text(&self, text: &str) -> u64 {
        (text.len() as u64).div_ceil(self.0)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::message::ToolCall;
    use crate::model::ToolSpec;

    #[test]
    fn calls_tools_and_the_schema_of_the_answer_count() {
        let estimate = BytesPerToken::new(1);
        let call = Message::assistant("").with_calls([ToolCall::from_text("c1", "look", "{\"a\":1}")]);
        assert_eq!(estimate.message(&call), 4 + 4 + 7);
        let request = Request::new([call])
            .with_tools([ToolSpec::new("look", "Looks.", json!({}))])
            .with_response_schema(json!({"type": "object"}));
        assert_eq!(estimate.request(&request), 15 + (4 + 6 + 2) + 17);
    }

    #[test]
    fn blocks_that_are_no_text_are_as_long_as_their_json() {
        let message = Message::user("").with_content(Content::Reasoning { reasoning: json!("why") });
        let blocks: usize = message
            .content
            .iter()
            .map(|content| match content {
                Content::Text { text } => text.len(),
                other => serde_json::to_string(other).unwrap().len(),
            })
            .sum();
        assert_eq!(BytesPerToken::new(1).message(&message), 4 + blocks as u64);
        assert!(blocks > 10);
    }

    #[test]
    fn an_estimate_of_texts_that_are_too_many_stays_at_the_most() {
        struct Huge;
        impl TokenEstimate for Huge {
            fn text(&self, _: &str) -> u64 {
                u64::MAX / 2
            }
        }
        let said = ["a", "b", "c"].map(Message::user);
        let request = Request::new(said).with_tools([ToolSpec::new("look", "Looks.", json!({}))]);
        assert_eq!(Huge.request(&request), u64::MAX);
    }
}
