//! How a name is shown, and how the shown form is written in each language. No export writes a string without this.

use std::borrow::Cow;
use std::fmt::{self, Write};

use super::Topology;

impl Topology {
    /// A name as diagrams show it, in every language the same.
    ///
    /// Line ends of all kinds become a newline and a tab becomes a space. Other control characters are left out.
    /// Characters that reorder the text around them or that nobody can see are spelled out, as `U+202E`. A name of
    /// which nothing remains is shown as two quotation marks.
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
        if name.chars().all(|c| Shown::of(c) == Shown::AsItIs) {
            return Cow::Borrowed(name);
        }
        let mut text = String::with_capacity(name.len());
        let mut chars = name.chars().peekable();
        while let Some(c) = chars.next() {
            match Shown::of(c) {
                Shown::AsItIs => text.push(c),
                Shown::Space => text.push(' '),
                Shown::Newline if c == '\r' && chars.peek() == Some(&'\n') => {}
                Shown::Newline => text.push('\n'),
                Shown::Code => text.push_str(&format!("U+{:04X}", u32::from(c))),
                Shown::Nothing => {}
            }
        }
        if text.is_empty() { Cow::Borrowed(NOTHING) } else { Cow::Owned(text) }
    }
}

/// What is shown for a name of which nothing remains: an empty label isn't valid Mermaid.
const NOTHING: &str = "\"\"";

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

/// A name as it may stand between quotation marks in Graphviz's language.
pub(super) struct DotText<'a>(pub(super) &'a str);

impl fmt::Display for DotText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for c in Topology::visible(self.0).chars() {
            match c {
                '"' => f.write_str("\\\"")?,
                '\\' => f.write_str("\\\\")?,
                '\n' => f.write_str("\\n")?,
                // Graphviz decodes HTML's entities in every label.
                '&' => f.write_str("&amp;")?,
                _ => f.write_char(c)?,
            }
        }
        Ok(())
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
        let mut before = None;
        let mut chars = text.chars().peekable();
        while let Some(c) = chars.next() {
            if c == '\n' {
                f.write_str("\\n")?;
            } else if is_harmless(before, c, chars.peek().copied()) {
                f.write_char(c)?;
            } else {
                write!(f, "#{};", u32::from(c))?;
            }
            before = Some(c);
        }
        Ok(())
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
        // Mermaid's own stand-ins for the `&` and `;` of an entity begin with these two.
        '\u{fb02}' | '\u{b6}' => false,
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
        assert!(matches!(Topology::visible("שלום 👩‍👩‍👧 é"), Cow::Borrowed(_)));
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
        assert_eq!(MermaidText("ﬂ°lt¶ß é 猫").to_string(), "#64258;°lt#182;ß é 猫");
        assert_eq!(MermaidText("").to_string(), "#34;#34;");
    }
}
