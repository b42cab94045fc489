//! A reference to something that is stored elsewhere.

use serde::{Deserialize, Serialize};

/// Where a result is that is too large, or of the wrong kind, for a conversation: a file, a table, a picture.
///
/// The model reads it as one line of JSON in the text of the tool message; a program finds it typed, as
/// [`Content::Artifact`](super::Content::Artifact) of the same message.
///
/// ```
/// use graph_nodes::message::Artifact;
///
/// let report = Artifact::new("s3://reports/7.pdf").media_type("application/pdf").bytes(48_213).title("Prices in May");
/// assert_eq!(
///     report.to_string(),
///     r#"{"artifact":"s3://reports/7.pdf","title":"Prices in May","media_type":"application/pdf","bytes":48213}"#,
/// );
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Artifact {
    /// An address, or an id that the program knows.
    #[serde(rename = "artifact")]
    pub uri: String,
    /// What a person calls it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The media type, such as `text/csv`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub media_type: Option<String>,
    /// The size in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
}

impl Artifact {
    /// A reference by address or id.
    pub fn new(uri: impl Into<String>) -> Self {
        Self { uri: uri.into(), title: None, media_type: None, bytes: None }
    }

    /// Sets what a person calls it.
    #[must_use]
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into());
        self
    }

    /// Sets the media type.
    #[must_use]
    pub fn media_type(mut self, media_type: impl Into<String>) -> Self {
        self.media_type = Some(media_type.into());
        self
    }

    /// Sets the size in bytes.
    #[must_use]
    pub fn bytes(mut self, bytes: u64) -> Self {
        self.bytes = Some(bytes);
        self
    }
}

/// One line of JSON, as the model reads it.
impl std::fmt::Display for Artifact {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Texts and a number are always JSON.
        f.write_str(&serde_json::to_string(self).map_err(|_| std::fmt::Error)?)
    }
}
