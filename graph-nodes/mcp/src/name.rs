//! Names: of servers, and what models are told their tools are called.

use crate::text::fnv;

/// The longest name of a server, in letters, so that there is room for that of a tool.
pub(crate) const LONGEST_SERVER: usize = 32;

/// The longest name that providers take, in letters.
const LONGEST: usize = 64;

/// Between the name of a server and that of its tool. No server's name holds it, so that the first one parts them.
const BETWEEN: &str = "__";

/// Why a server can't have this name.
pub(crate) fn fault_of_server(name: &str) -> Option<&'static str> {
    let fits = |letter: u8| letter.is_ascii_alphanumeric() || letter == b'_' || letter == b'-';
    if name.is_empty() {
        return Some("it is empty");
    }
    if name.len() > LONGEST_SERVER {
        return Some("it is longer than 32 letters");
    }
    if !name.bytes().all(fits) {
        return Some("it has other letters than a-z, A-Z, digits, `_` and `-`");
    }
    (name.contains(BETWEEN) || name.ends_with('_')).then_some("it has `__` in it, or ends with `_`")
}

/// The name for people and programs.
pub(crate) fn canonical(server: &str, tool: &str) -> String {
    format!("{server}.{tool}")
}

/// The name for models: `server__tool`. Where providers would refuse it, letters are replaced, it is cut, and a hash of
/// the whole name keeps it apart from others.
pub(crate) fn told(server: &str, tool: &str) -> String {
    let fits = |letter: char| letter.is_ascii_alphanumeric() || letter == '_' || letter == '-';
    let plain = format!("{server}{BETWEEN}{tool}");
    if plain.len() <= LONGEST && tool.chars().all(fits) {
        return plain;
    }
    let hash = format!("_{:08x}", fnv(tool.as_bytes()) & 0xffff_ffff);
    let room = LONGEST.saturating_sub(server.len() + BETWEEN.len() + hash.len());
    let kept: String = tool.chars().take(room).map(|letter| if fits(letter) { letter } else { '_' }).collect();
    format!("{server}{BETWEEN}{kept}{hash}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_providers_take_is_not_changed() {
        assert_eq!(told("files", "read_file"), "files__read_file");
        assert_eq!(canonical("files", "read_file"), "files.read_file");
    }

    #[test]
    fn names_that_providers_refuse_are_replaced_and_kept_apart() {
        let names = ["a.b", "a_b", "a/b", "a b", "a\u{1f600}b", "a\nb"];
        let told: std::collections::BTreeSet<String> = names.iter().map(|name| told("files", name)).collect();
        assert_eq!(told.len(), names.len());
        let fits = |letter: u8| letter.is_ascii_alphanumeric() || letter == b'_' || letter == b'-';
        assert!(told.iter().all(|name| name.len() <= 64 && name.bytes().all(fits)), "{told:?}");
    }

    #[test]
    fn long_names_are_cut_and_kept_apart() {
        let server = "s".repeat(LONGEST_SERVER);
        let (one, other) = (told(&server, &"t".repeat(100)), told(&server, &"t".repeat(101)));
        assert_eq!((one.len(), other.len()), (64, 64));
        assert_ne!(one, other);
    }

    #[test]
    fn the_names_of_two_servers_never_meet() {
        // `a__b` would be ambiguous; it is no name of a server.
        assert_eq!(fault_of_server("a__b"), Some("it has `__` in it, or ends with `_`"));
        assert_eq!(fault_of_server("a_"), Some("it has `__` in it, or ends with `_`"));
        assert_eq!(fault_of_server("a.b"), Some("it has other letters than a-z, A-Z, digits, `_` and `-`"));
        assert_eq!(fault_of_server(""), Some("it is empty"));
        assert_eq!(fault_of_server(&"a".repeat(33)), Some("it is longer than 32 letters"));
        assert_eq!(fault_of_server("files-2"), None);
    }
}
