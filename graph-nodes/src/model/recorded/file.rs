//! A cassette as a file.

use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use super::answer::{Line, VERSION};
use super::cassette::Mode;
use super::error::CassetteError;
use crate::model::canonical::{canonical, hash};

/// One recorded answer, with the number of its line from 1.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) line: usize,
    pub(super) recorded: Line,
}

/// The file that new answers are added to.
#[derive(Debug)]
pub(super) struct Tape {
    path: PathBuf,
    file: File,
}

/// Reads what is there and opens what will be written.
pub(super) fn open(path: &Path, mode: Mode) -> Result<(Vec<Entry>, Option<Tape>), CassetteError> {
    let (entries, whole) = match mode {
        Mode::Record => (Vec::new(), 0),
        Mode::Replay | Mode::Auto => match fs::read(path) {
            Ok(bytes) => read(path, &bytes, mode)?,
            Err(error) if error.kind() == ErrorKind::NotFound && mode == Mode::Auto => (Vec::new(), 0),
            Err(error) => return Err(failed(path, "read", &error)),
        },
    };
    if mode == Mode::Replay {
        return Ok((entries, None));
    }
    let written = |error: &std::io::Error| failed(path, "written", error);
    let mut file = OpenOptions::new().create(true).append(true).open(path).map_err(|e| written(&e))?;
    // What a crash left of its last line, or the whole of an earlier recording.
    file.set_len(whole as u64).map_err(|e| written(&e))?;
    if !entries.is_empty() && !fs::read(path).map_err(|e| written(&e))?.ends_with(b"\n") {
        file.write_all(b"\n").map_err(|e| written(&e))?;
    }
    Ok((entries, Some(Tape { path: path.to_owned(), file })))
}

/// The entries, and how many bytes they are.
fn read(path: &Path, bytes: &[u8], mode: Mode) -> Result<(Vec<Entry>, usize), CassetteError> {
    let mut entries = Vec::new();
    let mut whole = 0;
    for (line, text) in (1..).zip(bytes.split_inclusive(|byte| *byte == b'\n')) {
        if !text.trim_ascii().is_empty() {
            match parse(text) {
                Ok(recorded) => entries.push(Entry { line, recorded }),
                // Only a line without its end can be one that a crash cut off.
                Err(_) if mode == Mode::Auto && !text.ends_with(b"\n") => return Ok((entries, whole)),
                Err(reason) => return Err(CassetteError::Corrupt { path: path.to_owned(), line, reason }),
            }
        }
        whole += text.len();
    }
    Ok((entries, whole))
}

fn parse(text: &[u8]) -> Result<Line, String> {
    let line: Line = serde_json::from_slice(text).map_err(|error| error.to_string())?;
    if line.version != VERSION {
        return Err(format!("it is of version {}, and this is version {VERSION}", line.version));
    }
    let of_request = hash(&canonical(&line.request));
    if line.hash != of_request {
        return Err(format!("its hash is {}, and that of its request {of_request}", line.hash));
    }
    Ok(line)
}

impl Tape {
    /// Adds a line, with one write.
    pub(super) fn add(&mut self, line: &Line) -> Result<(), CassetteError> {
        let unreadable =
            |error: serde_json::Error| CassetteError::Unreadable { path: self.path.clone(), reason: error.to_string() };
        let mut text = serde_json::to_vec(line).map_err(unreadable)?;
        serde_json::from_slice::<Line>(&text).map_err(unreadable)?;
        text.push(b'\n');
        let written = self.file.write_all(&text).and_then(|()| self.file.flush());
        written.map_err(|error| failed(&self.path, "written", &error))
    }
}

fn failed(path: &Path, doing: &'static str, error: &std::io::Error) -> CassetteError {
    CassetteError::File { path: path.to_owned(), doing, reason: error.to_string() }
}
