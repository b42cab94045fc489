//! What a model reads of a result.

use graph_nodes::message::Artifact;
use rmcp::model::{CallToolResult, ContentBlock, ResourceContents};

use crate::text::{Secrets, clip, head};

/// How many references of one result are kept as artifacts.
const MOST_LINKS: usize = 20;

/// The longest address that is kept, in bytes.
const LONGEST_LINK: usize = 512;

/// A result, bounded.
#[derive(Debug, PartialEq)]
pub(crate) struct Read {
    pub(crate) text: String,
    pub(crate) artifacts: Vec<Artifact>,
}

/// Texts stay texts, references become artifacts, and of pictures, sounds and files the model is told that there are
/// some. Structured content is read where no text says the same.
pub(crate) fn read(result: &CallToolResult, most: usize, secrets: &Secrets) -> Read {
    let mut read = Read { text: String::new(), artifacts: Vec::new() };
    let mut parts: Vec<String> = Vec::new();
    for block in &result.content {
        match block {
            ContentBlock::Text(text) => parts.push(text.text.clone()),
            ContentBlock::Image(image) => parts.push(media("image", &image.mime_type, &image.data)),
            ContentBlock::Audio(audio) => parts.push(media("audio", &audio.mime_type, &audio.data)),
            ContentBlock::Resource(resource) => match &resource.resource {
                ResourceContents::TextResourceContents { uri, text, .. } => {
                    parts.push(format!("[resource {}]\n{text}", clip(uri, LONGEST_LINK)));
                }
                ResourceContents::BlobResourceContents { uri, mime_type, blob, .. } => {
                    let kind = mime_type.as_deref().unwrap_or("application/octet-stream");
                    let artifact = Artifact::new(secrets.hide(uri)).media_type(clip(kind, 100)).bytes(decoded(blob));
                    read.link(artifact, &mut parts);
                }
                _ => parts.push("[a resource of a kind that is not known here]".to_owned()),
            },
            ContentBlock::ResourceLink(link) => {
                let mut artifact = Artifact::new(secrets.hide(&link.uri));
                artifact = artifact.title(clip(&secrets.hide(link.title.as_ref().unwrap_or(&link.name)), 200));
                if let Some(kind) = &link.mime_type {
                    artifact = artifact.media_type(clip(kind, 100));
                }
                if let Some(bytes) = link.size {
                    artifact = artifact.bytes(bytes);
                }
                read.link(artifact, &mut parts);
            }
            _ => parts.push("[content of a kind that is not known here]".to_owned()),
        }
    }
    if parts.is_empty()
        && read.artifacts.is_empty()
        && let Some(structured) = &result.structured_content
    {
        parts.push(structured.to_string());
    }
    let whole = parts.join("\n");
    let whole = secrets.hide(&whole);
    let kept = head(&whole, most);
    read.text = match whole.len() - kept.len() {
        0 => whole.into_owned(),
        cut => format!("{kept}\n[{cut} of {} bytes are left out; ask for less at once]", whole.len()),
    };
    read
}

impl Read {
    fn link(&mut self, artifact: Artifact, parts: &mut Vec<String>) {
        match (self.artifacts.len() < MOST_LINKS, artifact.uri.len() <= LONGEST_LINK) {
            (true, true) => self.artifacts.push(artifact),
            (true, false) => parts.push(format!("[a reference with an address of {} bytes]", artifact.uri.len())),
            (false, _) => parts.push("[one more reference]".to_owned()),
        }
    }
}

fn media(what: &str, kind: &str, data: &str) -> String {
    format!("[{what} of type {}, {} bytes, not shown]", clip(kind, 100), decoded(data))
}

/// The size of what is written in base64.
fn decoded(base64: &str) -> u64 {
    let letters = base64.trim_end_matches('=').len();
    u64::try_from(letters / 4 * 3 + (letters % 4).saturating_sub(1)).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use rmcp::model::Resource;
    use serde_json::json;

    use super::*;

    fn read(result: &CallToolResult, most: usize) -> Read {
        super::read(result, most, &Secrets::default())
    }

    #[test]
    fn a_text_is_cut_between_characters_and_says_so() {
        let result = CallToolResult::success(vec![ContentBlock::text("grüße an alle")]);
        assert_eq!(read(&result, 100).text, "grüße an alle");
        assert_eq!(read(&result, 3).text, "gr\n[13 of 15 bytes are left out; ask for less at once]");
        assert_eq!(read(&result, 0).text, "\n[15 of 15 bytes are left out; ask for less at once]");
    }

    #[test]
    fn structured_content_is_read_where_there_is_no_text() {
        let mut result = CallToolResult::success(Vec::new());
        result.structured_content = Some(json!({"rooms": 3}));
        assert_eq!(read(&result, 100).text, r#"{"rooms":3}"#);
        result.content = vec![ContentBlock::text("three rooms")];
        assert_eq!(read(&result, 100).text, "three rooms");
    }

    #[test]
    fn what_is_no_text_is_described_or_referred_to() {
        let link = Resource::new("file:///prices.csv", "prices").with_mime_type("text/csv").with_size(12);
        let blob = ResourceContents::blob("AAAA", "file:///a.bin");
        let result = CallToolResult::success(vec![
            ContentBlock::image("AAAAAA==", "image/png"),
            ContentBlock::audio("AAA=", "audio/wav"),
            ContentBlock::resource(ResourceContents::text("hello", "file:///a.txt")),
            ContentBlock::resource(blob),
            ContentBlock::resource_link(link),
        ]);
        let read = read(&result, 1_000);
        let text = "[image of type image/png, 4 bytes, not shown]\n[audio of type audio/wav, 2 bytes, not shown]\n\
                    [resource file:///a.txt]\nhello";
        assert_eq!(read.text, text);
        let prices = Artifact::new("file:///prices.csv").title("prices").media_type("text/csv").bytes(12);
        let bin = Artifact::new("file:///a.bin").media_type("application/octet-stream").bytes(3);
        assert_eq!(read.artifacts, [bin, prices]);
    }

    #[test]
    fn references_without_end_are_bounded() {
        let link = |uri: String| ContentBlock::resource_link(Resource::new(uri, "r"));
        let mut content: Vec<_> = (0..30).map(|n| link(format!("file:///{n}"))).collect();
        content.insert(0, link("x".repeat(3_000)));
        let read = read(&CallToolResult::success(content), 10_000);
        assert_eq!(read.artifacts.len(), 20);
        assert!(read.text.starts_with("[a reference with an address of 3000 bytes]\n[one more reference]"));
    }
}
