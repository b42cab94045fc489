//! How a name is shown, and how the shown form is written in each language. No export writes a string without this.

use std::borrow::Cow;
use std::fmt;

use super::Topology;

impl Topology {
    /// A name as diagrams show it, in every language the same.
    ///
    /// Line ends of all kinds become a newline and a tab becomes a space. Other control characters are left out.
    /// Characters that reorder the text around them or that nobody can see are spelled out, as `U+202E`. A line is
    /// broken after 100 characters, because Graphviz gives up on very wide nodes. A name of which nothing remains is
    /// shown as two quotation marks. `ﬂ°` and `¶ß`, which Mermaid replaces wherever they are, are shown with the code of
    /// their second character.
    ///
    /// ```
    /// use graph_engine::Topology;
    ///
    /// assert_eq!(Topology::visible("explore"), "explore");
    /// assert_eq!(Topology::visible("one\r\ntwo\0"), "one\ntwo");
    /// assert_eq!(Topology::visible("a\u{202e}b"), "aU+202Eb");
    /// assert_eq!(Topology::visible(""), "\"\"");
    /// ```
    #[must_use]
    pub fn visible(name: &str) -> Cow<'_, str> {
        if name.is_empty() {
            return Cow::Borrowed(NOTHING);
        }
        // Most names are short and of printable ASCII.
        if name.len() <= LINE && name.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
            return Cow::Borrowed(name);
        }
        let is_plain = name.chars().all(|c| Shown::of(c) == Shown::AsItIs);
        let has_pair = PAIRS.iter().any(|pair| name.contains(&String::from_iter(pair)));
        if is_plain && !has_pair && name.chars().nth(LINE).is_none() {
            return Cow::Borrowed(name);
        }
        let mut lines = Lines { text: String::with_capacity(name.len()), column: 0 };
        let mut chars = name.chars().peekable();
        while let Some(c) = chars.next() {
            match Shown::of(c) {
                Shown::AsItIs => lines.push(c),
                Shown::Space => lines.push(' '),
                Shown::Newline if c == '\r' && chars.peek() == Some(&'\n') => {}
                Shown::Newline => lines.end(),
                Shown::Code => lines.push_code(c),
                Shown::Nothing => {}
            }
        }
        if lines.text.is_empty() { Cow::Borrowed(NOTHING) } else { Cow::Owned(lines.text) }
    }
}

/// Any text in one line of a message or a terminal: as [`Topology::visible`] says, but line ends are shown as `↵` and
/// long lines are left alone.
pub(super) fn one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match Shown::of(c) {
            Shown::AsItIs => line.push(c),
            Shown::Space => line.push(' '),
            Shown::Newline if c == '\r' && chars.peek() == Some(&'\n') => {}
            Shown::Newline => line.push('↵'),
            Shown::Code => line.push_str(&format!("U+{:04X}", u32::from(c))),
            Shown::Nothing => {}
        }
    }
    line
}

/// What is shown for a name of which nothing remains: an empty label isn't valid Mermaid.
const NOTHING: &str = "\"\"";

/// The most characters in a line.
const LINE: usize = 100;

/// Mermaid's own stand-ins for the `&` and the `;` of an entity. It decodes them in the finished picture once more, so
/// no code of a character protects a name that has them.
const PAIRS: [[char; 2]; 2] = [['ﬂ', '°'], ['¶', 'ß']];

struct Lines {
    text: String,
    column: usize,
}

impl Lines {
    fn push(&mut self, c: char) {
        let is_pair = |pair: &[char; 2]| c == pair[1] && self.text.ends_with(pair[0]);
        if PAIRS.iter().any(is_pair) {
            return self.push_code(c);
        }
        if self.column == LINE {
            self.end();
        }
        self.text.push(c);
        self.column += 1;
    }

    fn push_code(&mut self, c: char) {
        format!("U+{:04X}", u32::from(c)).chars().for_each(|c| self.push(c));
    }

    fn end(&mut self) {
        self.text.push('\n');
        self.column = 0;
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Shown {
    AsItIs,
    Space,
    Newline,
    Code,
    Nothing,
}

impl Shown {
    fn of(c: char) -> Self {
        match c {
            '\n' | '\r' | '\u{85}' | '\u{2028}' | '\u{2029}' => Self::Newline,
            '\t' => Self::Space,
            _ if c.is_control() => Self::Nothing,
            // Marks, embeddings, overrides and isolates of bidirectional text.
            '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => Self::Code,
            // Without any width, and not needed by a script or an emoji as the joiners are.
            '\u{ad}' | '\u{180e}' | '\u{200b}' | '\u{2060}'..='\u{2064}' | '\u{206a}'..='\u{206f}' | '\u{feff}' => {
                Self::Code
            }
            // Not allowed in XML, and so not in an SVG.
            '\u{fff9}'..='\u{fffb}' | '\u{fffe}' | '\u{ffff}' => Self::Code,
            _ => Self::AsItIs,
        }
    }
}

/// Whether a name is written as it is in every language, as most are: letters and digits of ASCII, and single marks
/// between them.
pub(super) fn is_plain(name: &str) -> bool {
    let mut ends_well = false;
    for byte in name.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' => ends_well = true,
            b'_' | b'-' | b'.' if ends_well => ends_well = false,
            _ => return false,
        }
    }
    ends_well && name.len() <= LINE
}

/// A name as it may stand between quotation marks in Graphviz's language.
pub(super) struct DotText<'a>(pub(super) &'a str);

impl fmt::Display for DotText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = Topology::visible(self.0);
        // Runs of characters that stand for themselves are written at once.
        let mut run = 0;
        for (at, c) in text.char_indices() {
            let code = match c {
                '"' => "\\\"",
                '\\' => "\\\\",
                '\n' => "\\n",
                // Graphviz decodes HTML's entities in every label.
                '&' => "&amp;",
                _ => continue,
            };
            f.write_str(&text[run..at])?;
            f.write_str(code)?;
            run = at + c.len_utf8();
        }
        f.write_str(&text[run..])
    }
}

/// A name as it may stand between quotation marks in Mermaid's language.
///
/// Everything that isn't known to be harmless becomes the code of the character, so that neither the parser nor what
/// comes after it (Markdown, icons, formulas, links, HTML) sees it.
pub(super) struct MermaidText<'a>(pub(super) &'a str);

impl fmt::Display for MermaidText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = Topology::visible(self.0);
        // Runs of harmless characters are written at once.
        let (mut before, mut run) = (None, 0);
        let mut chars = text.char_indices().peekable();
        while let Some((at, c)) = chars.next() {
            let around = (before.replace(c), chars.peek().map(|(_, after)| *after));
            if c != '\n' && is_harmless(around.0, c, around.1) {
                continue;
            }
            f.write_str(&text[run..at])?;
            run = at + c.len_utf8();
            match c {
                '\n' => f.write_str("\\n")?,
                _ => write!(f, "#{};", u32::from(c))?,
            }
        }
        f.write_str(&text[run..])
    }
}

fn is_harmless(before: Option<char>, c: char, after: Option<char>) -> bool {
    let between = |wanted: fn(char) -> bool| before.is_some_and(wanted) && after.is_some_and(wanted);
    match c {
        'a'..='z' | 'A'..='Z' | '0'..='9' | ',' | '\'' | '?' | '!' | '/' => true,
        // At an edge or in a row they are markers of lists, emphasis and comments.
        '_' | '-' | '.' => between(char::is_alphanumeric),
        // At an edge or in a row it is trimmed or makes a block of code.
        ' ' => between(|other| !other.is_whitespace()),
        _ => !c.is_ascii() && !c.is_whitespace(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nobody_sees_is_spelled_out_or_left_out() {
        assert_eq!(Topology::visible("a\tb\u{7}c\u{1b}[0m\u{7f}\u{9b}"), "a bc[0m");
        assert_eq!(Topology::visible("a\rb\r\nc\n\rd\u{2028}e"), "a\nb\nc\n\nd\ne");
        assert_eq!(Topology::visible("\u{feff}a\u{2066}b\u{200b}"), "U+FEFFaU+2066bU+200B");
        assert_eq!(Topology::visible("\0"), "\"\"");
        assert_eq!(Topology::visible("ﬂ°°60¶ß ﬂ\0° ß"), "ﬂU+00B0°60¶U+00DF ﬂU+00B0 ß");
        assert!(matches!(Topology::visible("שלום 👩‍👩‍👧 é"), Cow::Borrowed(_)));
    }

    #[test]
    fn a_long_line_is_broken_and_nothing_is_lost() {
        let long = "é".repeat(100);
        assert!(matches!(Topology::visible(&long), Cow::Borrowed(_)));
        assert_eq!(Topology::visible(&format!("{long}b")), format!("{long}\nb"));
        assert_eq!(Topology::visible(&format!("{long}\n{long}c")), format!("{long}\n{long}\nc"));
    }

    #[test]
    fn one_line_has_no_control_character() {
        assert_eq!(one_line("a\tb\u{1b}[31m\r\nc\u{202e}d\0"), "a b[31m↵cU+202Ed");
        assert_eq!(one_line(&"é".repeat(101)), "é".repeat(101));
        assert_eq!(one_line(""), "");
    }

    #[test]
    fn a_plain_name_is_the_same_in_every_language() {
        let long = "a".repeat(100);
        for name in ["a", "n00000", "explore_agent", "v1.2-rc.1", &long] {
            assert!(is_plain(name), "{name}");
            assert_eq!((DotText(name).to_string(), MermaidText(name).to_string()), (name.to_owned(), name.to_owned()));
        }
        let longer = "a".repeat(101);
        for name in ["", "_", "_a", "a_", "a__b", "a-.b", "a b", "a\"", "é", "a/b", &longer] {
            assert!(!is_plain(name), "{name}");
        }
    }

    #[test]
    fn dot_text_keeps_inside_its_quotation_marks() {
        assert_eq!(DotText("explore").to_string(), "explore");
        assert_eq!(DotText("\\d+ \"x\"\n\0\\").to_string(), r#"\\d+ \"x\"\n\\"#);
        assert_eq!(DotText("<b>&lt;\\N").to_string(), r"<b>&amp;lt;\\N");
        assert_eq!(DotText("").to_string(), r#"\"\""#);
    }

    #[test]
    fn mermaid_text_has_codes_for_all_that_means_something() {
        assert_eq!(MermaidText("explore_agent v1.2, a-b?").to_string(), "explore_agent v1.2, a-b?");
        assert_eq!(MermaidText("a[1] \"x\"").to_string(), "a#91;1#93; #34;x#34;");
        assert_eq!(MermaidText("1. a\n- b").to_string(), "1#46; a\\n#45; b");
        assert_eq!(MermaidText("\\n #quot; &amp;").to_string(), "#92;n #35;quot#59; #38;amp#59;");
        assert_eq!(MermaidText("  __a__ ").to_string(), "#32;#32;#95;#95;a#95;#95;#32;");
        assert_eq!(MermaidText("é 猫").to_string(), "é 猫");
        assert_eq!(MermaidText("").to_string(), "#34;#34;");
    }
}
