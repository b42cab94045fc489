//! The document as data: sections of entries, and how they are printed.

use std::fmt::{self, Debug, Display, Write};

/// Errors of one stage.
pub(crate) struct Section {
    pub(crate) title: &'static str,
    pub(crate) intro: &'static str,
    pub(crate) entries: Vec<Entry>,
}

/// One error: its name, its text in one or more situations, and what to do.
pub(crate) struct Entry {
    pub(crate) name: String,
    pub(crate) texts: Vec<String>,
    pub(crate) means: &'static str,
}

impl Entry {
    /// An error without a name of its own in the code.
    pub(crate) fn plain(name: &str, texts: impl IntoIterator<Item = impl Display>, means: &'static str) -> Self {
        let texts: Vec<String> = texts.into_iter().map(|text| text.to_string()).collect();
        assert!(!texts.is_empty(), "`{name}` was not triggered");
        Self { name: name.to_owned(), texts, means }
    }

    /// A variant of an error enum. Its name is read from the value, so that an entry can't stand under another name.
    pub(crate) fn variant<E: Display + Debug>(kind: &str, error: &E, means: &'static str) -> Self {
        Self::plain(&format!("`{kind}::{}`", variant_of(error)), [error], means)
    }

    /// One more situation of the same variant.
    pub(crate) fn and<E: Display + Debug>(mut self, error: &E) -> Self {
        let variant = variant_of(error);
        assert!(self.name.ends_with(&format!("::{variant}`")), "{variant} is not {}", self.name);
        self.texts.push(error.to_string());
        self
    }
}

/// The first word of the debug form: the variant's name.
pub(crate) fn variant_of(value: &impl Debug) -> String {
    format!("{value:?}").chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()
}

impl Display for Section {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "## {}\n\n{}", self.title, wrapped(self.intro))?;
        for Entry { name, texts, means } in &self.entries {
            writeln!(f, "\n### {name}\n\n```text\n{}\n```\n\n{}", texts.join("\n"), wrapped(means))?;
        }
        Ok(())
    }
}

/// The text in lines of at most 120 characters.
fn wrapped(text: &str) -> String {
    let mut lines = String::new();
    let mut width = 0;
    for word in text.split_whitespace() {
        let more = word.chars().count() + 1;
        let fits = width + more <= 121;
        lines.push_str(if lines.is_empty() {
            ""
        } else if fits {
            " "
        } else {
            "\n"
        });
        lines.push_str(word);
        width = if fits { width + more } else { more };
    }
    lines
}

/// The whole document.
pub(crate) fn render(sections: &[Section]) -> String {
    let mut text = INTRO.to_owned();
    for section in sections {
        write!(text, "\n{section}").expect("a string takes everything");
    }
    text
}

const INTRO: &str = "\
# Errors

Every error that the engine and the node library give, with its text as printed, what it means and what to do. The
test `tests/tests/errors_doc.rs` causes each of them (what only a provider or a defect can cause it makes by hand) and
writes this file: run it with `UPDATE_EXPECT=1` after a change.

Where a block has several lines, each line is one situation (only `CompileError`, `ExportError::Stale` and `SpecError`
print several lines). Names such as `trip` or `guest-7` are those of the test. Most texts end with what to do next; the
words below a block say what the text has no room for.
";
