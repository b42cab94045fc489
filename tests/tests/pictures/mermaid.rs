//! Reads diagrams with Mermaid's own parser.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::Deserialize;

use super::expected::Picture;

/// The script that runs the parser, if it is installed.
pub(crate) fn checker() -> Option<PathBuf> {
    let path = PathBuf::from(std::env::var_os("GRAPH_ENGINE_MERMAID")?);
    path.exists().then_some(path)
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Parsed {
    Failed { error: String },
    Read { nodes: BTreeMap<String, String>, clusters: BTreeMap<String, String>, edges: Vec<(String, String, String)> },
}

/// Parses all diagrams in one process.
pub(crate) fn read(checker: &Path, file: &Path, texts: &[String]) -> Vec<Result<Picture, String>> {
    fs::write(file, serde_json::to_vec(texts).expect("text is JSON")).expect("a temporary file");
    let output = Command::new("node").arg(checker).arg(file).output().expect("node runs");
    let errors = String::from_utf8_lossy(&output.stderr);
    let parsed: Vec<Parsed> =
        serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("the checker failed: {error}\n{errors}"));
    let picture = |parsed| match parsed {
        Parsed::Failed { error } => Err(error),
        Parsed::Read { nodes, clusters, mut edges } => {
            edges.sort();
            Ok(Picture { name: String::new(), nodes, clusters, edges })
        }
    };
    parsed.into_iter().map(picture).collect()
}
