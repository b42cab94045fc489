//! The document for people who come from LangGraph names tests and files that exist, in whole rows.

use std::fs;

use behaviour_tests::{is_name, quoted, root, tests_in};

#[test]
fn every_test_that_the_document_names_exists() {
    let document = fs::read_to_string(root().join("docs/from-langgraph.md")).unwrap();
    let (tests, mut named) = (tests_in(&["tests/tests", "graph-nodes/tests"]), 0);
    for text in quoted(&document) {
        if let Some((file, test)) = text.split_once("::")
            && file.split('/').all(is_name)
            && is_name(test)
        {
            named += 1;
            assert!(tests.get(file).is_some_and(|tests| tests.contains(test)), "there is no test `{text}`");
        }
        if text.ends_with(".rs") {
            assert!(root().join(text).exists(), "there is no file `{text}`");
        }
    }
    assert!(named > 130, "{named} tests are named");
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
