//! Text on its way into a file: gathered in a buffer and handed on in large pieces, because most of it is short.

use std::fmt::{self, Write};

use super::escape::{self, DotText, MermaidText};
use super::plan::Id;
use crate::name::Place;

/// How much is gathered at least.
const PIECE: usize = 4 * 1024;

pub(super) struct Writer<'a, 'f> {
    to: &'a mut fmt::Formatter<'f>,
    text: String,
}

impl<'a, 'f> Writer<'a, 'f> {
    pub(super) fn new(to: &'a mut fmt::Formatter<'f>) -> Self {
        Self { to, text: String::with_capacity(PIECE + PIECE / 8) }
    }

    pub(super) fn put(&mut self, text: &str) {
        self.text.push_str(text);
    }

    /// What is written by its own rules.
    pub(super) fn show(&mut self, shown: impl fmt::Display) -> fmt::Result {
        write!(self.text, "{shown}")
    }

    pub(super) fn number(&mut self, mut number: usize) {
        // 2^64 has 20 digits.
        let mut digits = [b'0'; 20];
        let mut at = digits.len();
        loop {
            at -= 1;
            digits[at] += (number % 10) as u8;
            number /= 10;
            if number == 0 {
                break;
            }
        }
        digits[at..].iter().for_each(|digit| self.text.push(char::from(*digit)));
    }

    pub(super) fn id(&mut self, id: Id) {
        match id {
            Id::Start => self.put("start"),
            Id::End => self.put("done"),
            Id::Node(index) => {
                self.put("n");
                self.number(index.index());
            }
            Id::Unknown(index) => {
                self.put("u");
                self.number(index.index());
            }
        }
    }

    /// Indentation of a line. Its width has a limit, so that a file grows with the topology and not with its depth.
    pub(super) fn pad(&mut self, depth: usize) {
        const DEEPEST: &str = "                                ";
        self.put(&DEEPEST[..2 * depth.min(DEEPEST.len() / 2)]);
    }

    /// A name between quotation marks in Graphviz's language.
    pub(super) fn dot(&mut self, name: &str) -> fmt::Result {
        if escape::is_plain(name) {
            self.put(name);
            return Ok(());
        }
        self.show(DotText(name))
    }

    /// A name between quotation marks in Mermaid's language.
    pub(super) fn mermaid(&mut self, name: &str) -> fmt::Result {
        if escape::is_plain(name) {
            self.put(name);
            return Ok(());
        }
        self.show(MermaidText(name))
    }

    /// The last text of a line.
    pub(super) fn end(&mut self, text: &str) -> fmt::Result {
        self.put(text);
        self.put("\n");
        if self.text.len() < PIECE {
            return Ok(());
        }
        self.to.write_str(&self.text)?;
        self.text.clear();
        Ok(())
    }

    /// Hands on what is left.
    pub(super) fn finish(self) -> fmt::Result {
        self.to.write_str(&self.text)
    }
}
