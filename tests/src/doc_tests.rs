//! Documents that name tests: which tests there are, and what a document puts between backticks.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The folder of the whole project.
#[must_use]
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// What stands between backticks.
#[must_use]
pub fn quoted(text: &str) -> BTreeSet<&str> {
    text.split('`').skip(1).step_by(2).collect()
}

/// The tests below folders of the project, by the file that a document names: `gate` for `gate.rs`; for a file in a
/// folder `vertices` also `vertices`, `vertices/gate` and `vertices::gate`.
///
/// # Panics
/// If a file can't be read.
#[must_use]
pub fn tests_in(folders: &[&str]) -> BTreeMap<String, BTreeSet<String>> {
    let mut all = BTreeMap::new();
    for folder in folders {
        collect(&root().join(folder), None, &mut all);
    }
    all
}

fn collect(folder: &Path, parent: Option<&str>, all: &mut BTreeMap<String, BTreeSet<String>>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        let stem = path.file_stem().expect("a name").to_string_lossy().into_owned();
        if path.is_dir() {
            let parent = parent.map_or(stem.clone(), |parent| format!("{parent}/{stem}"));
            collect(&path, Some(&parent), all);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let tests = test_names(&fs::read_to_string(&path).expect("UTF-8"));
            let mut names = vec![stem.clone()];
            if let Some(parent) = parent {
                names.extend([
                    parent.to_owned(),
                    format!("{parent}/{stem}"),
                    format!("{parent}/{stem}").replace('/', "::"),
                ]);
            }
            for name in names {
                all.entry(name).or_default().extend(tests.iter().cloned());
            }
        }
    }
}

/// The test functions of a file: those with an attribute, and those that a macro of the file makes of `name: [..]`.
fn test_names(source: &str) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let mut is_test = false;
    let by_macro = source.contains("#[test] fn $name");
    for line in source.lines() {
        let code = line.trim_start();
        if code == "#[test]" || code.starts_with("#[tokio::test") {
            is_test = true;
        } else if let Some(rest) = code.trim_start_matches("async ").strip_prefix("fn ")
            && std::mem::take(&mut is_test)
        {
            names.extend(rest.split('(').next().map(str::to_owned));
        } else if by_macro
            && let Some((name, rest)) = code.split_once(':')
            && (rest.is_empty() || rest.starts_with(" ["))
            && is_name(name)
        {
            names.insert(name.to_owned());
        }
    }
    names
}

/// Whether a text is a name of a test or file.
#[must_use]
pub fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
}
