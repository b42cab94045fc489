//! A thread as lines of JSON: their form, and what can be wrong with them.

use std::io;

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;

use crate::checkpoint_id::CheckpointId;
use crate::error::StoreError;
use crate::name::Name;
use crate::run_error::RunError;
use crate::state::Encoding;
use crate::store::{CheckpointKind, Tags};
use crate::task_id::TaskId;

/// The form of the lines; a reader refuses any other.
pub(super) const VERSION: u32 = 1;

/// What the first line says it is.
pub(super) const FORMAT: &str = "graph-engine thread";

/// Why a thread can't be exported or imported. After an error nothing was imported.
///
/// ```
/// use graph_engine::{Graph, MemoryStore, START, State, TransferError};
///
/// #[derive(State, Clone, Default)]
/// struct Trip {
///     city: String,
/// }
///
/// async fn explore() {}
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let graph = Graph::<Trip>::builder("trip").node("explore", explore).edge(START, "explore").compile().unwrap();
/// let runner = graph.runner().store(MemoryStore::new());
/// let error = runner.import(&b"no thread\n"[..]).await.unwrap_err();
/// assert!(matches!(error, TransferError::Line { line: 1, .. }));
/// # });
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TransferError {
    /// The thread or its store refuses it.
    #[error(transparent)]
    Run(#[from] RunError),
    /// The lines can't be written.
    #[error("thread `{thread}` can't be exported: {cause}; what was written so far is not complete")]
    Write {
        /// The thread.
        thread: Name,
        /// What the writer said.
        #[source]
        cause: io::Error,
    },
    /// The lines can't be read.
    #[error("line {line} can't be read: {cause}; nothing was imported")]
    Read {
        /// The line, from 1.
        line: u64,
        /// What the reader said.
        #[source]
        cause: io::Error,
    },
    /// A line is not what it should be.
    #[error("line {line}: {why}; nothing was imported")]
    Line {
        /// The line, from 1.
        line: u64,
        /// What is wrong.
        why: String,
    },
    /// The lines are of another version of the format.
    #[error("line 1: the export has format {found}, this version reads {known}; nothing was imported")]
    Version {
        /// The version of the lines.
        found: u32,
        /// The version that can be read.
        known: u32,
    },
    /// The lines end too early.
    #[error("the export is cut off after line {line}: its last line is missing; nothing was imported, copy it again")]
    Truncated {
        /// The last whole line, from 1; 0 if there is none.
        line: u64,
    },
    /// The lines are not those that were written.
    #[error("line {line}: the export was changed: its {what} differs from what was written; nothing was imported")]
    Changed {
        /// The last line, from 1.
        line: u64,
        /// What differs.
        what: &'static str,
    },
    /// A checkpoint is there twice.
    #[error("line {line}: checkpoint {id} was there before; nothing was imported")]
    Duplicate {
        /// The line, from 1.
        line: u64,
        /// The checkpoint.
        id: CheckpointId,
    },
}

impl TransferError {
    pub(super) fn store(thread: &Name, cause: StoreError) -> Self {
        RunError::Store { thread: thread.clone(), cause }.into()
    }
}

/// The first line.
#[derive(Serialize, Deserialize)]
pub(super) struct Header {
    pub(super) format: String,
    pub(super) version: u32,
    pub(super) thread: Name,
}

/// Any other line.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum Line {
    Checkpoint(CheckpointLine),
    Saved(SavedLine),
    End(EndLine),
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CheckpointLine {
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) namespace: Name,
    pub(super) id: CheckpointId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) parent: Option<CheckpointId>,
    pub(super) kind: CheckpointKind,
    pub(super) turn: Name,
    pub(super) step: u64,
    pub(super) time_ms: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) due_ms: Option<u64>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) tags: Tags,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) fields: Vec<FieldLine>,
    pub(super) position: Blob,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FieldLine {
    pub(super) name: String,
    pub(super) encoding: Encoding,
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) items: (u64, u64),
    pub(super) value: Blob,
}

/// What was saved of one task after the head of a namespace.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SavedLine {
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) namespace: Name,
    pub(super) task: TaskId,
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) key: Name,
    pub(super) value: Blob,
}

/// The last line: how many lines there are before it, and their hash.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct EndLine {
    pub(super) lines: u64,
    pub(super) hash: String,
}

/// Bytes as they are stored: as JSON if that is what they are, else in hexadecimal digits.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(super) struct Blob {
    // A value may be null, which is not the same as none.
    #[serde(default, deserialize_with = "there", skip_serializing_if = "Option::is_none")]
    json: Option<Box<RawValue>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    hex: Option<String>,
}

fn there<'de, D: Deserializer<'de>>(json: D) -> Result<Option<Box<RawValue>>, D::Error> {
    Box::<RawValue>::deserialize(json).map(Some)
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

impl Blob {
    pub(super) fn of(bytes: &[u8]) -> Self {
        // What has a line break in it, or blanks around it, would not come back as it was.
        let broken = bytes.iter().any(|byte| matches!(byte, b'\n' | b'\r'));
        let json = if broken { None } else { serde_json::from_slice::<Box<RawValue>>(bytes).ok() };
        match json.filter(|json| json.get().len() == bytes.len()) {
            Some(json) => Self { json: Some(json), hex: None },
            None => Self { json: None, hex: Some(bytes.iter().map(|byte| format!("{byte:02x}")).collect()) },
        }
    }

    /// Adds the bytes to others.
    pub(super) fn append_to(self, out: &mut Vec<u8>) -> Result<(), String> {
        match (self.json, self.hex) {
            (Some(json), None) => out.extend_from_slice(json.get().as_bytes()),
            (None, Some(hex)) => {
                for pair in hex.as_bytes().chunks(2) {
                    let digit = |at: usize| pair.get(at).and_then(|digit| char::from(*digit).to_digit(16));
                    let (Some(high), Some(low)) = (digit(0), digit(1)) else {
                        return Err(format!("`{hex}` is not pairs of hexadecimal digits"));
                    };
                    out.push(u8::try_from(high * 16 + low).unwrap_or_default());
                }
            }
            _ => return Err("a value is either `json` or `hex`".into()),
        }
        Ok(())
    }
}
