//! What can be wrong with a cassette.

use std::fmt;
use std::path::PathBuf;

/// Why a cassette can't be used, or does not fit what was asked.
///
/// ```
/// use graph_nodes::model::{Cassette, CassetteError};
///
/// let error = Cassette::replay("/nowhere/talk.jsonl").open().unwrap_err();
/// assert!(matches!(error, CassetteError::File { .. }));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CassetteError {
    /// The file can't be read or written.
    #[error("the cassette `{}` can't be {doing} ({reason}); look at its path and rights", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// `read` or `written`.
        doing: &'static str,
        /// The system's message.
        reason: String,
    },
    /// A line is no recorded answer.
    #[error("line {line} of the cassette `{}` is corrupt ({reason}); remove it, or record again", path.display())]
    Corrupt {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What is wrong with it.
        reason: String,
    },
    /// A pattern for secrets is no regular expression.
    #[error("the pattern `{pattern}` for secrets can't be used ({reason}); correct the regular expression")]
    Pattern {
        /// The pattern.
        pattern: String,
        /// Why.
        reason: String,
    },
    /// An answer is nested too deeply to be read back.
    #[error("the answer can't be recorded in `{}`, because it could not be read back ({reason}); record without it", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// Not all recorded answers were asked for.
    #[error("{} of the cassette `{}` {} not asked for; remove {}, or find out why nobody asked",
        Lines(lines), path.display(), if lines.len() == 1 { "was" } else { "were" }, if lines.len() == 1 { "it" } else { "them" })]
    Unused {
        /// The file.
        path: PathBuf,
        /// The lines, from 1.
        lines: Vec<usize>,
    },
    /// Requests found no recorded answer.
    #[error("{requests} {} no answer in the cassette `{}`; record {}, or find out who asked",
        if *requests == 1 { "request found" } else { "requests found" }, path.display(), if *requests == 1 { "it" } else { "them" })]
    Missing {
        /// The file.
        path: PathBuf,
        /// How many requests.
        requests: usize,
    },
}

struct Lines<'a>(&'a [usize]);

impl fmt::Display for Lines<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.len() == 1 { "line " } else { "lines " })?;
        for (n, line) in self.0.iter().enumerate() {
            write!(f, "{}{line}", if n == 0 { "" } else { ", " })?;
        }
        Ok(())
    }
}
