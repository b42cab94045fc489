//! Lines of input: any bytes, any length.

use std::io;
use tokio::io::{AsyncBufRead, AsyncBufReadExt as _};

/// The most bytes of a line that are kept; the rest is read and dropped.
pub const LONGEST_LINE: usize = 8 * 1024;

/// One line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Line {
    /// Its text, without its end; bytes that are no UTF-8 are replaced.
    Text(String),
    /// It was longer than [`LONGEST_LINE`].
    TooLong,
}

/// Reads lines. [`Lines::next`] may be dropped at any time without losing input.
#[derive(Debug)]
pub struct Lines<R> {
    reader: R,
    partial: Vec<u8>,
    too_long: bool,
}

impl<R: AsyncBufRead + Unpin> Lines<R> {
    /// Lines of this input.
    pub fn new(reader: R) -> Self {
        Self { reader, partial: Vec::new(), too_long: false }
    }

    /// The next line; `None` at the end. A last line needs no line break.
    ///
    /// # Errors
    /// If the input cannot be read.
    pub async fn next(&mut self) -> io::Result<Option<Line>> {
        loop {
            let buffer = self.reader.fill_buf().await?;
            if buffer.is_empty() {
                let rest = !self.partial.is_empty() || self.too_long;
                return Ok(rest.then(|| self.take()));
            }
            let end = buffer.iter().position(|byte| *byte == b'\n');
            let piece = &buffer[..end.unwrap_or(buffer.len())];
            let room = LONGEST_LINE.saturating_sub(self.partial.len());
            self.too_long |= piece.len() > room;
            self.partial.extend_from_slice(&piece[..piece.len().min(room)]);
            let used = piece.len() + usize::from(end.is_some());
            self.reader.consume(used);
            if end.is_some() {
                return Ok(Some(self.take()));
            }
        }
    }

    fn take(&mut self) -> Line {
        let bytes = std::mem::take(&mut self.partial);
        if std::mem::take(&mut self.too_long) {
            return Line::TooLong;
        }
        Line::Text(String::from_utf8_lossy(bytes.strip_suffix(b"\r").unwrap_or(&bytes)).into_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn all(input: &[u8]) -> Vec<Line> {
        let mut lines = Lines::new(input);
        let mut found = Vec::new();
        while let Some(line) = lines.next().await.unwrap() {
            found.push(line);
        }
        found
    }

    #[tokio::test]
    async fn lines_of_any_bytes_are_read() {
        let text = |text: &str| Line::Text(text.into());
        assert_eq!(all(b"a\r\n\nb\xffc\nlast").await, [text("a"), text(""), text("b\u{fffd}c"), text("last")]);
        assert_eq!(all(b"").await, []);
    }

    #[tokio::test]
    async fn a_long_line_is_dropped_and_the_next_one_read() {
        let mut input = vec![b'x'; LONGEST_LINE + 1];
        input.extend_from_slice(b"\nhello\n");
        assert_eq!(all(&input).await, [Line::TooLong, Line::Text("hello".into())]);
        let exact = [vec![b'x'; LONGEST_LINE], b"\n".to_vec()].concat();
        assert_eq!(all(&exact).await, [Line::Text("x".repeat(LONGEST_LINE))]);
    }
}
