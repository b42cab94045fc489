//! Text made safe for a terminal: without control characters, escape
//! sequences and marks that turn the direction of writing.

/// The text without C0 and C1 controls (a line break stays, a tab becomes a
/// space), without ANSI escape sequences and without bidirectional controls.
#[must_use]
pub fn clean(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\u{1b}' => match chars.next_if(|next| matches!(next, '[' | ']' | 'P' | '^' | '_' | 'X')) {
                Some('[') => skip_control_sequence(&mut chars),
                Some(_) => skip_string(&mut chars),
                None => skip_escape(&mut chars),
            },
            '\u{9b}' => skip_control_sequence(&mut chars),
            '\u{90}' | '\u{98}' | '\u{9d}'..='\u{9f}' => skip_string(&mut chars),
            '\n' => out.push('\n'),
            '\t' => out.push(' '),
            _ if c.is_control() || is_direction(c) => {}
            _ => out.push(c),
        }
    }
    out
}

/// [`clean`] on one line: line breaks become spaces.
#[must_use]
pub fn clean_line(text: &str) -> String {
    clean(text).replace(['\n', '\u{2028}', '\u{2029}'], " ")
}

/// Marks that change the direction of writing, by which a text can be made to
/// look like another one.
fn is_direction(c: char) -> bool {
    matches!(
        c,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
    )
}

type Chars<'a> = std::iter::Peekable<std::str::Chars<'a>>;

/// Skips parameters and the final letter of a sequence such as `ESC [ 31 m`.
fn skip_control_sequence(chars: &mut Chars<'_>) {
    while chars.next_if(|c| matches!(c, ' '..='?')).is_some() {}
    chars.next_if(|c| matches!(c, '@'..='~'));
}

/// Skips a command string, such as a window title, with its terminator. An
/// unfinished one ends at the line, so that it cannot swallow a whole text.
fn skip_string(chars: &mut Chars<'_>) {
    while let Some(c) = chars.next_if(|c| *c != '\n') {
        match c {
            '\u{7}' | '\u{9c}' => return,
            '\u{1b}' => {
                chars.next_if_eq(&'\\');
                return;
            }
            _ => {}
        }
    }
}

/// Skips the rest of a two or three letter escape such as `ESC ( B`.
fn skip_escape(chars: &mut Chars<'_>) {
    while chars.next_if(|c| matches!(c, ' '..='/')).is_some() {}
    chars.next_if(|c| matches!(c, '0'..='~'));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_titles_and_charset_escapes_disappear() {
        assert_eq!(clean("a\u{1b}[31;1mred\u{1b}[0m b"), "ared b");
        assert_eq!(clean("x\u{1b}]0;title\u{7}y\u{1b}]2;t\u{1b}\\z"), "xyz");
        assert_eq!(clean("\u{1b}(Bplain\u{1b}c"), "plain");
        assert_eq!(clean("\u{9b}2Jcleared"), "cleared");
    }

    #[test]
    fn controls_go_but_line_breaks_stay() {
        assert_eq!(clean("a\0b\u{8}c\r\nd\te\u{7f}\u{85}"), "abc\nd e");
        assert_eq!(clean_line("a\nb"), "a b");
    }

    #[test]
    fn direction_marks_go_and_letters_of_any_script_stay() {
        assert_eq!(clean("evil\u{202e}txt\u{2066}\u{200f}"), "eviltxt");
        assert_eq!(clean("京都 São café 🙂"), "京都 São café 🙂");
    }

    #[test]
    fn an_unfinished_sequence_ends_with_its_line() {
        assert_eq!(clean("a\u{1b}]0;never\nnext"), "a\nnext");
        assert_eq!(clean("end\u{1b}"), "end");
        assert_eq!(clean("end\u{1b}["), "end");
    }
}
