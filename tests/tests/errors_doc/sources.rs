//! A small reader of Rust sources: the variants of an enum, and which enums are errors.

use std::fs;
use std::path::{Path, PathBuf};

/// The folder of the workspace.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the tests are a member").to_owned()
}

/// All files below a folder with this ending, by path.
pub(crate) fn files(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    for entry in entries {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            found.extend(files(&path, ending));
        } else if path.extension().is_some_and(|extension| extension == ending) {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// An enum or struct as its source says.
#[derive(Debug, PartialEq)]
pub(crate) struct Item {
    pub(crate) name: String,
    /// None for a struct.
    pub(crate) variants: Vec<String>,
}

/// Every `pub enum` (or `pub struct`) of a folder's sources that passes the filter, which is given the name and the
/// attributes.
pub(crate) fn items(folder: &str, keyword: &str, wanted: impl Fn(&str, &str) -> bool) -> Vec<Item> {
    let read = |path: &PathBuf| items_of(&fs::read_to_string(path).expect("UTF-8"), keyword, &wanted);
    files(&root().join(folder), "rs").iter().flat_map(read).collect()
}

/// The same of one source.
pub(crate) fn items_of(text: &str, keyword: &str, wanted: impl Fn(&str, &str) -> bool) -> Vec<Item> {
    let lines: Vec<&str> = text.lines().collect();
    let mut found = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let Some(rest) = line.strip_prefix("pub ").and_then(|rest| rest.strip_prefix(keyword)) else { continue };
        let name = word(rest.trim_start());
        let above = lines[..at].iter().rev().take_while(|line| !line.is_empty());
        let attributes: String = above.filter(|line| !line.starts_with("//")).copied().collect();
        if wanted(name, &attributes) {
            let body = lines[at + 1..].iter().take_while(|line| **line != "}");
            let variants = if keyword == "enum" { body.filter_map(|line| variant(line)).collect() } else { Vec::new() };
            found.push(Item { name: name.to_owned(), variants });
        }
    }
    found
}

/// rustfmt puts every variant on a line of its own, four spaces in; nothing else there begins with a capital letter.
fn variant(line: &str) -> Option<String> {
    let rest = line.strip_prefix("    ").filter(|rest| rest.starts_with(char::is_uppercase))?;
    Some(word(rest).to_owned())
}

fn word(text: &str) -> &str {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default()
}
