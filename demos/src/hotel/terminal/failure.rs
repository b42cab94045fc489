//! Why the program ends early.

use super::local::LocalError;
use crate::hotel::catalogue::CatalogueError;
use crate::hotel::clean::clean_line;
use crate::hotel::graph::GraphError;
use graph_engine::{ExportError, Name, RunError, StoreError};
use graph_nodes_openai::{BuildError, KeyError};
use std::io;
use std::path::PathBuf;

/// Why the program ends early.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Failure {
    /// The catalogue cannot be opened.
    #[error(transparent)]
    Catalogue(#[from] CatalogueError),
    /// The graph is not consistent.
    #[error(transparent)]
    Graph(#[from] GraphError),
    /// The graph cannot be drawn, or a drawing of it is stale.
    #[error(transparent)]
    Drawing(#[from] ExportError),
    /// The script cannot be read.
    #[error("`{path}` cannot be read, check the file that `--script` names", path = path.display())]
    Script {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The language model's key cannot be used.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// The language model needs a key.
    #[error("there is no key for `{url}`; set `{variable}` in the environment, to anything if the server wants none")]
    NoKey {
        /// The base URL.
        url: String,
        /// The variable.
        variable: &'static str,
    },
    /// The language model cannot be described so.
    #[error("the language model can't be used: {0}")]
    Model(#[from] BuildError),
    /// The language model of this machine cannot be started.
    #[error(transparent)]
    Local(#[from] LocalError),
    /// The input or the output broke.
    #[error("the terminal cannot be read or written")]
    Terminal(#[from] io::Error),
    /// The conversations cannot be kept.
    #[error(
        "conversations can't be kept in `{store}`; name another file with `--store FILE`, or keep nothing with `--store memory`"
    )]
    Store {
        /// The file.
        store: String,
        /// What the store said.
        source: StoreError,
    },
    /// A conversation cannot be read or copied.
    #[error(transparent)]
    Thread(Box<RunError>),
    /// There is nothing of the conversation that was asked for.
    #[error("there is no conversation{} in `{store}`; {}", .thread.as_ref().map_or_else(String::new, |name| format!(" `{name}`")), instead(.known))]
    UnknownThread {
        /// What was asked for, if it was named.
        thread: Option<Name>,
        /// The file.
        store: String,
        /// What there is, or the first of it.
        known: Vec<Name>,
    },
    /// The history has no such entry.
    #[error("`{thread}` has no entry {number} in its history, they are 1 to {count}; `--history` lists them")]
    UnknownEntry {
        /// The conversation.
        thread: Name,
        /// What was asked for.
        number: usize,
        /// How many there are.
        count: usize,
    },
    /// A script cannot go on: the store failed, or another program has its conversation.
    #[error("`{thread}` can't go on here; what was kept of it is whole, go on later with `--thread {thread} --resume`")]
    Lost {
        /// The conversation.
        thread: Name,
    },
}

impl From<RunError> for Failure {
    fn from(error: RunError) -> Self {
        Self::Thread(Box::new(error))
    }
}

/// What can be named instead.
fn instead(threads: &[Name]) -> String {
    if threads.is_empty() {
        return "begin one without `--resume`, `--history` and `--fork`".to_owned();
    }
    let names: Vec<String> = threads.iter().map(|name| format!("`{}`", clean_line(name))).collect();
    format!("name one that is there with `--thread`: {}", names.join(", "))
}
