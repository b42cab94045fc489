//! As much of a foreign text as an error may hold.

use crate::secrets::Secrets;

/// The longest text of a server that an error repeats, in characters.
const LONGEST: usize = 1_000;

/// The beginning of the text, without secrets. These are taken out first: a cut could leave half of one.
pub(crate) fn excerpt(text: &str, secrets: &Secrets) -> String {
    let text = secrets.hide(text);
    match text.char_indices().nth(LONGEST) {
        None => text,
        Some((end, _)) => format!("{}.. ({} bytes in all)", &text[..end], text.len()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_is_cut_between_characters() {
        let none = Secrets::default();
        assert_eq!(excerpt("short", &none), "short");
        let long = "ü".repeat(1_001);
        assert_eq!(excerpt(&long, &none), format!("{}.. (2002 bytes in all)", "ü".repeat(1_000)));
    }

    #[test]
    fn a_secret_at_the_cut_leaves_nothing_of_itself() {
        let mut secrets = Secrets::default();
        secrets.add("sk-12345678");
        let text = format!("{}sk-12345678", "x".repeat(995));
        assert_eq!(excerpt(&text, &secrets), format!("{}[secr.. (1003 bytes in all)", "x".repeat(995)));
    }
}
