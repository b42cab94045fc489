//! Colours, where they are wanted.

use std::fmt;

/// Whether and how text is coloured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Style {
    colours: bool,
}

impl Style {
    /// No colours.
    pub const PLAIN: Self = Self { colours: false };

    /// Colours on a terminal, unless the variable `NO_COLOR` holds anything.
    #[must_use]
    pub fn detect(is_terminal: bool, no_color: Option<&std::ffi::OsStr>) -> Self {
        Self { colours: is_terminal && no_color.is_none_or(std::ffi::OsStr::is_empty) }
    }

    /// What a person types.
    pub(super) fn bold<T: fmt::Display>(self, text: T) -> Coloured<T> {
        Coloured { code: self.colours.then_some("1"), text }
    }

    /// What is beside the conversation.
    pub(super) fn dim<T: fmt::Display>(self, text: T) -> Coloured<T> {
        Coloured { code: self.colours.then_some("2"), text }
    }

    /// What went wrong.
    pub(super) fn alarm<T: fmt::Display>(self, text: T) -> Coloured<T> {
        Coloured { code: self.colours.then_some("31"), text }
    }
}

/// A text with its colour.
#[derive(Clone, Copy, Debug)]
pub(super) struct Coloured<T> {
    code: Option<&'static str>,
    text: T,
}

impl<T: fmt::Display> fmt::Display for Coloured<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.code {
            None => self.text.fmt(f),
            Some(code) => write!(f, "\u{1b}[{code}m{}\u{1b}[0m", self.text),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_need_a_terminal_and_no_objection() {
        let coloured = |terminal, no_color: Option<&str>| {
            Style::detect(terminal, no_color.map(AsRef::as_ref)).bold("x").to_string()
        };
        assert_eq!(coloured(true, None), "\u{1b}[1mx\u{1b}[0m");
        assert_eq!(coloured(true, Some("")), "\u{1b}[1mx\u{1b}[0m");
        assert_eq!(coloured(true, Some("1")), "x");
        assert_eq!(coloured(false, None), "x");
    }
}
