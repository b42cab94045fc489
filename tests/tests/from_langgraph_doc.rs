//! The document for people who come from LangGraph names tests and files that exist, in whole rows.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// What stands between backticks.
fn quoted(text: &str) -> BTreeSet<&str> {
    text.split('`').skip(1).step_by(2).collect()
}

/// The tests of each file in `tests/tests`.
fn tests() -> BTreeMap<String, BTreeSet<String>> {
    let mut all = BTreeMap::new();
    for entry in fs::read_dir(root().join("tests/tests")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "rs") {
            continue;
        }
        let source = fs::read_to_string(&path).unwrap();
        let lines: Vec<&str> = source.lines().collect();
        let is_test = |line: &str| line == "#[test]" || line.starts_with("#[tokio::test");
        let names = lines.windows(2).filter(|pair| is_test(pair[0])).map(|pair| {
            let name = pair[1].trim_start_matches("async ").trim_start_matches("fn ");
            name.split('(').next().unwrap().to_owned()
        });
        all.insert(path.file_stem().unwrap().to_str().unwrap().to_owned(), names.collect());
    }
    all
}

#[test]
fn every_test_that_the_document_names_exists() {
    let document = fs::read_to_string(root().join("docs/from-langgraph.md")).unwrap();
    let (tests, mut named) = (tests(), 0);
    let is_name =
        |name: &str| !name.is_empty() && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
    for text in quoted(&document) {
        if let Some((file, test)) = text.split_once("::")
            && is_name(file)
            && is_name(test)
        {
            named += 1;
            assert!(tests.get(file).is_some_and(|tests| tests.contains(test)), "there is no test `{text}`");
        }
        if text.ends_with(".rs") {
            assert!(root().join(text).exists(), "there is no file `{text}`");
        }
    }
    assert!(named > 80, "{named} tests are named");
}

#[test]
fn differences_are_told_in_full_rows() {
    let document = fs::read_to_string(root().join("docs/from-langgraph.md")).unwrap();
    let mut columns = 0;
    for line in document.lines() {
        let cells = line.replace("\\|", "").matches('|').count();
        match (line.starts_with('|'), columns) {
            (false, _) => columns = 0,
            (true, 0) => columns = cells,
            (true, _) => assert_eq!(cells, columns, "{line}"),
        }
    }
}
