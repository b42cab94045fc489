//! The namespaces of child graphs: bounded in length, safe for every store, readable where possible.

use crate::checkpoint_id::IdPrefix;

/// The most bytes of one name in a namespace.
const NAME: usize = 64;

/// The most bytes of the levels above the last one.
const ABOVE: usize = 512;

/// A text of 32 digits that no other parts have.
pub(super) fn digest(parts: [&str; 3]) -> String {
    IdPrefix::new(parts[0], parts[1], parts[2]).id(None, 0).to_string()
}

/// A name without anything that means something in a namespace or to a store.
pub(super) fn escaped(name: &str) -> String {
    let mut text = String::with_capacity(name.len());
    for c in name.chars() {
        if c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | ' ') {
            text.push(c);
        } else {
            text.push('%');
            c.to_string().bytes().for_each(|byte| text.push_str(&format!("{byte:02x}")));
        }
    }
    if text.len() <= NAME {
        return text;
    }
    let end = (0..=NAME - 32).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    // No escaped name has a `~`.
    format!("{}~{}", &text[..end], digest([name, "", ""]))
}

/// A level below others.
pub(super) fn joined(above: &str, level: &str) -> String {
    match above {
        "" => level.to_owned(),
        above if above.len() <= ABOVE => format!("{above}|{level}"),
        // What is too long to read is at least told apart.
        above => format!("~{}|{level}", digest([above, "", ""])),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_keep_apart_what_would_look_like_a_level_a_call_or_a_hash() {
        let names = ["a|b", "a:b", "a#1", "a%7cb", "a~b", "a/b", "a@b", "", "\0", "früh"];
        let mut texts: Vec<String> = names.iter().map(|name| escaped(name)).collect();
        assert_eq!(texts[0], "a%7cb");
        assert_eq!(texts[3], "a%257cb");
        assert_eq!(texts[9], "früh");
        assert!(texts.iter().all(|text| !text.contains(['|', ':', '#', '~', '/', '@', '\0'])));
        texts.sort();
        texts.dedup();
        assert_eq!(texts.len(), names.len());
    }

    #[test]
    fn however_long_the_names_are_and_however_deep_the_levels_a_namespace_stays_short() {
        let (long, other) = ("ö".repeat(5_000), format!("{}x", "ö".repeat(4_999)));
        assert!(escaped(&long).len() <= 65 + 32);
        assert_ne!(escaped(&long), escaped(&other));
        let deep = (0..1_000).fold(String::new(), |above, _| joined(&above, &escaped(&long)));
        assert!(deep.len() <= ABOVE + 2 * 100, "{}", deep.len());
        assert_ne!(joined(&"a".repeat(600), "x"), joined(&format!("{}b", "a".repeat(599)), "x"));
    }
}
