//! The blocks a message is made of.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Artifact;

/// One block of a message's content.
///
/// ```
/// use graph_nodes::message::{Content, Message};
///
/// let message = Message::user("what is this?").with_content(Content::image("https://example.invalid/a.png"));
/// assert_eq!(message.content.len(), 2);
/// assert_eq!(message.text(), "what is this?");
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Content {
    /// Plain text.
    Text {
        /// The text.
        text: String,
    },
    /// A picture.
    #[serde(rename = "image_url")]
    Image {
        /// Where the picture is.
        #[serde(rename = "image_url")]
        image: ImageRef,
    },
    /// The model refused to answer.
    Refusal {
        /// What the model said instead.
        refusal: String,
    },
    /// The model's reasoning, kept as the provider sent it.
    Reasoning {
        /// Opaque: only the provider's adapter knows its shape.
        reasoning: Value,
    },
    /// A tool's result that is stored elsewhere. The text of the same message says so to the model.
    Artifact {
        /// Where it is.
        artifact: Artifact,
    },
}

impl Content {
    /// A text block.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text { text: text.into() }
    }

    /// A picture by its address (`https:` or `data:`).
    pub fn image(url: impl Into<String>) -> Self {
        Self::Image { image: ImageRef { url: url.into(), detail: None } }
    }

    /// A refusal block.
    pub fn refusal(refusal: impl Into<String>) -> Self {
        Self::Refusal { refusal: refusal.into() }
    }
}

/// Where a picture is and how closely the model should look at it.
///
/// ```
/// use graph_nodes::message::Content;
///
/// let Content::Image { image } = Content::image("data:image/png;base64,AAAA") else { unreachable!() };
/// assert_eq!((image.url.as_str(), image.detail), ("data:image/png;base64,AAAA", None));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImageRef {
    /// The address.
    pub url: String,
    /// The provider's word for the resolution, such as `low` or `high`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
}
