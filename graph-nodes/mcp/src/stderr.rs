//! What a child writes to its error output.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::io::{AsyncRead, AsyncReadExt};

use crate::text::{Secrets, head};

/// How much of a line is kept, in bytes.
const LINE: usize = 1_024;

/// How many lines of one life of the server are logged.
const LINES: u32 = 1_000;

/// The last lines that a child wrote.
#[derive(Clone, Debug, Default)]
pub(crate) struct LastWords(Arc<Mutex<VecDeque<String>>>);

impl LastWords {
    /// How many lines are kept for errors.
    const KEPT: usize = 3;

    fn add(&self, line: &str) {
        let mut lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if lines.len() == Self::KEPT {
            lines.pop_front();
        }
        lines.push_back(line.to_owned());
    }

    /// As one line.
    pub(crate) fn text(&self) -> String {
        let lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        crate::text::clip(&lines.join(" | "), LINE)
    }
}

/// Reads until the child closes its error output, in bounded memory. It must be read: a child whose pipe is full stops.
pub(crate) async fn read(server: String, mut stderr: impl AsyncRead + Unpin, secrets: Secrets, last_words: LastWords) {
    let mut chunk = [0; 4_096];
    let (mut line, mut lines) = (Vec::new(), 0_u32);
    // A secret that begins in what is kept has to be seen whole.
    let most = LINE + secrets.longest();
    while let Ok(read @ 1..) = stderr.read(&mut chunk).await {
        for byte in &chunk[..read] {
            match byte {
                b'\n' => end(&server, &mut line, &mut lines, &secrets, &last_words),
                byte if line.len() < most => line.push(*byte),
                _ => {}
            }
        }
    }
    end(&server, &mut line, &mut lines, &secrets, &last_words);
}

fn end(server: &str, line: &mut Vec<u8>, lines: &mut u32, secrets: &Secrets, last_words: &LastWords) {
    let text = String::from_utf8_lossy(line);
    let text = secrets.hide(text.trim_end());
    // At the end of a line that was cut, a secret may be cut too.
    let is_cut = line.len() == LINE + secrets.longest();
    let text = head(&text, if is_cut { LINE.min(text.len().saturating_sub(secrets.longest())) } else { LINE });
    if !text.is_empty() {
        last_words.add(text);
        *lines = lines.saturating_add(1);
        match *lines {
            ..=LINES => tracing::debug!(server, line = text, "an MCP server wrote to its error output"),
            many if many == LINES + 1 => tracing::debug!(server, "further lines of its error output are not logged"),
            _ => {}
        }
    }
    line.clear();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn no_part_of_a_secret_is_kept_where_a_line_is_cut() {
        let mut secrets = Secrets::default();
        secrets.add("s3cret-s3cret");
        for before in LINE - 20..LINE + 20 {
            let text = format!("{}s3cret-s3cret s3cret-s3cret, and so on", "x".repeat(before));
            let words = LastWords::default();
            read("files".into(), text.as_bytes(), secrets.clone(), words.clone()).await;
            let kept = words.text();
            assert!(!kept.contains("s3") && kept.len() <= LINE, "{before}: {kept}");
        }
        // What is hidden may be longer than what stands for it, so more of the line comes into view.
        let words = LastWords::default();
        read("files".into(), "s3cret-s3cret".repeat(100).as_bytes(), secrets, words.clone()).await;
        assert!(!words.text().contains("s3"), "{}", words.text());
    }

    #[tokio::test]
    async fn the_last_lines_are_kept_without_secrets_and_cut() {
        let mut secrets = Secrets::default();
        secrets.add("s3cret-s3cret");
        let mut text = Vec::from("first\nsecond\n\nthird with s3cret-s3cret\nfourth ");
        text.extend([0xff; 10]);
        text.extend([b'x'; 100_000]);
        let words = LastWords::default();
        read("files".into(), &*text, secrets, words.clone()).await;
        let words = words.text();
        assert!(words.starts_with("second | third with [secret] | fourth \u{fffd}"), "{words}");
        assert!(words.len() < LINE + 40);
    }
}
