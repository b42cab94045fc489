//! What a machine can check of the project's own rules: module docs, file sizes, floors, silent libraries, few crates.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The longest a file may be, in lines.
const CAP: usize = 600;

/// What half of the files must not exceed, in lines.
const MEDIAN: usize = 150;

/// Crates below the engine, those of this workspace aside.
const CRATES: usize = 42;

/// Which modules of the engine may use which: only those on a lower floor, or themselves.
const ENGINE: &[(&str, u32)] = &[
    ("checkpoint_id", 0),
    ("edge_kind", 0),
    ("error", 0),
    ("name", 0),
    ("panic", 0),
    ("task_id", 0),
    ("executed", 1),
    ("stuck_task", 1),
    ("state", 1),
    ("task", 2),
    ("diagnostic", 3),
    ("node", 3),
    ("reply", 3),
    ("report", 3),
    ("compile_error", 4),
    ("longterm", 4),
    ("run_error", 4),
    ("spec", 4),
    ("store", 4),
    ("topology", 4),
    ("graph", 5),
    ("machine", 6),
    ("driver", 7),
    ("run", 8),
    ("functional", 9),
    ("testing", 9),
];

/// The same for the node library.
const NODES: &[(&str, u32)] = &[
    ("fnv", 0),
    ("message", 0),
    ("panics", 0),
    ("prompt", 0),
    ("schema", 0),
    ("assemble", 1),
    ("coalesce", 1),
    ("model", 2),
    ("gate", 3),
    ("tool", 4),
    ("batch", 5),
    ("stage", 5),
    ("flow", 6),
];

/// The same for the SQLite store.
const SQLITE: &[(&str, u32)] = &[
    ("error", 0),
    ("keys", 0),
    ("block", 1),
    ("options", 1),
    ("schema", 2),
    ("longterm", 3),
    ("read", 3),
    ("warm", 4),
    ("write", 4),
    ("queue", 5),
    ("readers", 5),
    ("store", 6),
];

/// The same for the store in PostgreSQL.
const POSTGRES: &[(&str, u32)] = &[
    ("fault", 0),
    ("options", 0),
    ("sql", 0),
    ("value", 0),
    ("error", 1),
    ("pool", 1),
    ("read", 1),
    ("remove", 1),
    ("commit", 2),
    ("migrate", 2),
    ("store", 3),
    ("longterm", 4),
];

/// The same for the adapter to OpenAI-compatible servers.
const OPENAI: &[(&str, u32)] = &[
    ("build_error", 0),
    ("http_date", 0),
    ("key", 0),
    ("pace", 0),
    ("schema", 0),
    ("secrets", 0),
    ("tiktoken", 0),
    ("timeouts", 0),
    ("tool_mode", 0),
    ("excerpt", 1),
    ("limits", 1),
    ("retry_after", 1),
    ("request", 1),
    ("meter", 2),
    ("wire", 2),
    ("read", 3),
    ("stream_reader", 3),
    ("http", 4),
    ("chunks", 5),
    ("embedder", 6),
    ("settings", 5),
    ("model", 6),
    ("openai", 7),
    ("testing", 6),
];

/// The same for tools of MCP servers, and graphs as such tools.
const MCP: &[(&str, u32)] = &[
    ("health", 0),
    ("policy", 0),
    ("serve_error", 0),
    ("text", 0),
    ("command", 1),
    ("content", 1),
    ("error", 1),
    ("handler", 1),
    ("name", 1),
    ("offer", 1),
    ("stderr", 1),
    ("http", 2),
    ("listing", 2),
    ("offered", 2),
    ("connect", 3),
    ("serve", 3),
    ("settings", 4),
    ("link", 5),
    ("tool", 6),
    ("server", 7),
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the tests are a member").to_owned()
}

fn rust_files(folder: &Path, found: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> =
        fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            if path.file_name().is_some_and(|name| name != "target") {
                rust_files(&path, found);
            }
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

fn sources(folders: &[&str]) -> Vec<(PathBuf, String)> {
    let mut files = Vec::new();
    folders.iter().for_each(|folder| rust_files(&root().join(folder), &mut files));
    assert!(!files.is_empty(), "no files in {folders:?}");
    files.into_iter().map(|path| (path.clone(), fs::read_to_string(path).expect("UTF-8"))).collect()
}

const ALL: &[&str] = &["graph-engine", "graph-nodes", "demos", "tests"];
const LIBRARIES: &[&str] = &[
    "graph-engine/src",
    "graph-engine/macros/src",
    "graph-engine/rows/src",
    "graph-engine/postgres/src",
    "graph-engine/sealed/src",
    "graph-engine/sqlite/src",
    "graph-nodes/src",
    "graph-nodes/macros/src",
    "graph-nodes/mcp/src",
    "graph-nodes/openai/src",
];

#[test]
fn every_file_says_what_it_is() {
    let bare: Vec<PathBuf> =
        sources(ALL).into_iter().filter(|(_, text)| !text.starts_with("//!")).map(|(path, _)| path).collect();
    // Programs for the compile-fail tests are read by the compiler, not by people.
    let bare: Vec<_> = bare.into_iter().filter(|path| !path.to_string_lossy().contains("/macros/tests/")).collect();
    assert!(bare.is_empty(), "files without a `//!` line at the top: {bare:#?}");
}

#[test]
fn no_file_is_long_and_half_of_them_are_short() {
    let mut lengths: Vec<(usize, PathBuf)> =
        sources(ALL).into_iter().map(|(path, text)| (text.lines().count(), path)).collect();
    lengths.sort();
    let long: Vec<_> = lengths.iter().filter(|(lines, _)| *lines > CAP).collect();
    assert!(long.is_empty(), "files over {CAP} lines: {long:#?}");
    let median = lengths[lengths.len() / 2].0;
    assert!(median <= MEDIAN, "the median file has {median} lines, more than {MEDIAN}");
}

#[test]
fn every_file_of_behaviour_tests_belongs_to_one_target() {
    let folder = root().join("tests");
    let manifest = fs::read_to_string(folder.join("Cargo.toml")).expect("UTF-8");
    let paths = manifest.lines().filter_map(|line| line.strip_prefix("path = \"tests/")?.strip_suffix(".rs\""));
    let targets: Vec<String> = paths.map(str::to_owned).collect();
    let mut run = targets.clone();
    for target in &targets {
        let text = fs::read_to_string(folder.join("tests").join(format!("{target}.rs"))).expect("UTF-8");
        // What stands under a `#[path]` is a part of its file and lies in a folder.
        let lines: Vec<&str> = text.lines().collect();
        let parts = lines.windows(2).filter(|pair| !pair[0].starts_with("#[path"));
        run.extend(parts.filter_map(|pair| Some(pair[1].strip_prefix("mod ")?.strip_suffix(';')?.to_owned())));
    }
    run.sort();
    let entries = fs::read_dir(folder.join("tests")).expect("a folder").map(|entry| entry.expect("an entry").path());
    let files = entries.filter(|path| path.extension().is_some_and(|extension| extension == "rs"));
    let mut files: Vec<String> = files.map(|path| path.file_stem().expect("a name").to_string_lossy().into()).collect();
    files.sort();
    assert_eq!(
        run, files,
        "a file without a target is never run: name it in `tests/Cargo.toml`, or as `mod` of a group"
    );
}

/// The modules that `use crate::..` lines of a file name.
fn used(text: &str) -> Vec<String> {
    let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
    let mut modules = Vec::new();
    for line in code {
        for (at, _) in line.match_indices("crate::") {
            let before = line[..at].chars().next_back();
            if before.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == '$') {
                continue;
            }
            let name: String =
                line[at + "crate::".len()..].chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
            modules.push(name);
        }
    }
    modules
}

fn check_floors(folder: &str, floors: &[(&str, u32)]) {
    let floors: BTreeMap<&str, u32> = floors.iter().copied().collect();
    let mut reaching = Vec::new();
    for (path, text) in sources(&[folder]) {
        let inside = path.strip_prefix(root().join(folder)).expect("inside").to_owned();
        let module = inside.components().next().expect("a name").as_os_str().to_string_lossy().replace(".rs", "");
        if module == "lib" {
            continue;
        }
        let own = *floors.get(&*module).unwrap_or_else(|| panic!("`{module}` has no floor in tidy.rs"));
        for name in used(&text).into_iter().filter(|name| *name != module) {
            // An item of the crate root, such as a macro, belongs to no module.
            let Some(floor) = floors.get(&*name) else {
                assert!(!name.starts_with(char::is_lowercase) || name.is_empty(), "{inside:?} uses unknown `{name}`");
                continue;
            };
            if *floor >= own {
                reaching.push(format!("{} (floor {own}) uses `{name}` (floor {floor})", inside.display()));
            }
        }
    }
    assert!(reaching.is_empty(), "modules that reach up: {reaching:#?}");
}

#[test]
fn modules_of_the_engine_know_lower_floors_only() {
    check_floors("graph-engine/src", ENGINE);
}

#[test]
fn modules_of_the_node_library_know_lower_floors_only() {
    check_floors("graph-nodes/src", NODES);
}

#[test]
fn modules_of_the_sqlite_store_know_lower_floors_only() {
    check_floors("graph-engine/sqlite/src", SQLITE);
}

#[test]
fn modules_of_the_store_in_postgresql_know_lower_floors_only() {
    check_floors("graph-engine/postgres/src", POSTGRES);
}

#[test]
fn modules_of_the_openai_adapter_know_lower_floors_only() {
    check_floors("graph-nodes/openai/src", OPENAI);
}

#[test]
fn modules_for_mcp_know_lower_floors_only() {
    check_floors("graph-nodes/mcp/src", MCP);
}

#[test]
fn libraries_do_not_print() {
    let mut printing = Vec::new();
    for (path, text) in sources(LIBRARIES) {
        let code = text.lines().take_while(|line| !line.contains("#[cfg(test)]"));
        let code = code.filter(|line| !line.trim_start().starts_with("//"));
        for line in code.filter(|line| ["println!", "eprintln!", "print!(", "dbg!("].iter().any(|p| line.contains(p))) {
            printing.push(format!("{}: {}", path.display(), line.trim()));
        }
    }
    assert!(printing.is_empty(), "library code that prints: {printing:#?}");
}

#[test]
fn the_engine_knows_nothing_of_models_and_tools() {
    for (path, text) in sources(&["graph-engine/src"]) {
        for word in ["graph_nodes", "ChatModel", "ToolCall"] {
            assert!(!text.contains(word), "{} names `{word}`", path.display());
        }
    }
}

#[test]
fn the_machine_is_pure() {
    for (path, text) in sources(&["graph-engine/src/machine"]) {
        let code: String = text.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
        for word in ["async ", ".await", "tokio", "Instant", "SystemTime", "HashMap", "spawn("] {
            assert!(!code.contains(word), "{} contains `{word}`", path.display());
        }
    }
}

#[test]
fn the_engine_stays_light() {
    let tree = Command::new(env!("CARGO"))
        .args(["tree", "--package", "graph-engine", "--edges", "normal", "--prefix", "none", "--locked"])
        .current_dir(root())
        .output()
        .expect("cargo runs");
    assert!(tree.status.success(), "{}", String::from_utf8_lossy(&tree.stderr));
    let text = String::from_utf8_lossy(&tree.stdout);
    let mut crates: Vec<&str> = text
        .lines()
        .filter_map(|line| line.split_once(" (").or(Some((line, ""))))
        .map(|(name, _)| name.trim())
        .collect();
    crates.sort_unstable();
    crates.dedup();
    let foreign: Vec<_> = crates.iter().filter(|name| !name.starts_with("graph-engine")).collect();
    assert!(foreign.len() > 20, "the list of crates could not be read: {text}");
    assert!(foreign.len() <= CRATES, "{} crates below the engine: {foreign:#?}", foreign.len());
}
