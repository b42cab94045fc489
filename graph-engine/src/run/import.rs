//! Reads a thread from lines of JSON.

use std::collections::BTreeSet;
use std::io::BufRead;
use std::sync::Arc;

use super::intake::Intake;
use super::runner::Runner;
use super::thread::Thread;
use super::transfer::{CheckpointLine, EndLine, FORMAT, Header, Line, SavedLine, TransferError, VERSION};
use crate::checkpoint_id::{CheckpointId, Fnv};
use crate::name::Name;
use crate::run_error::RunError;
use crate::state::State;
use crate::store::{Commit, FieldRow, SavedResult};

/// Reads lines, counts them and keeps their hash.
struct Lines<R> {
    reader: R,
    line: Vec<u8>,
    count: u64,
}

impl<R: BufRead> Lines<R> {
    /// The next line without its end. One without an end is cut off if it can't be understood.
    fn next(&mut self) -> Result<Option<(&[u8], bool)>, TransferError> {
        self.line.clear();
        let read = self.reader.read_until(b'\n', &mut self.line);
        let read = read.map_err(|cause| TransferError::Read { line: self.count + 1, cause })?;
        if read == 0 {
            return Ok(None);
        }
        self.count += 1;
        Ok(Some(match self.line.strip_suffix(b"\n") {
            Some(line) => (line, true),
            None => (&self.line, false),
        }))
    }
}

impl<S: State> Runner<S> {
    /// Reads a thread from the lines that [`Thread::export`] wrote, and stores it under its own id. Kept in memory are
    /// one line at a time and the ids of the checkpoints; until the last line was read, the store lists it as
    /// incomplete under an id of its own.
    ///
    /// # Errors
    /// [`TransferError`] with the number of the line, and nothing was imported: a thread that exists already, lines that
    /// are cut off, changed or of another version.
    pub async fn import(&self, lines: impl BufRead + Send) -> Result<Thread<S>, TransferError> {
        self.import_lines(None, lines).await
    }

    /// The same under another id.
    ///
    /// # Errors
    /// As [`import`](Self::import).
    pub async fn import_as(
        &self,
        thread: impl Into<Name>,
        lines: impl BufRead + Send,
    ) -> Result<Thread<S>, TransferError> {
        self.import_lines(Some(thread.into()), lines).await
    }

    async fn import_lines(&self, id: Option<Name>, reader: impl BufRead + Send) -> Result<Thread<S>, TransferError> {
        let mut lines = Lines { reader, line: Vec::new(), count: 0 };
        let mut hash = Fnv::default();
        let Some((first, whole)) = lines.next()? else { return Err(TransferError::Truncated { line: 0 }) };
        let header = header(first, whole)?;
        hash = hash.text(first);
        let thread = self.thread(id.unwrap_or(header.thread));
        let Some(store) = self.checkpoints().cloned() else {
            return Err(RunError::NoStore { thread: thread.id, operation: "import" }.into());
        };
        let _lease = self.take(&thread.id, None).await?;
        let mut wrong = None;
        let work = async {
            let mut intake = Intake::begin(store, thread.id.clone()).await?;
            match fill(&mut intake, &mut lines, hash).await {
                Ok(()) => intake.finish().await.map(|_| ()),
                Err(error) => {
                    wrong = Some(error);
                    intake.discard().await
                }
            }
        };
        let done = thread.guarded(work).await;
        match wrong {
            Some(error) => Err(error),
            None => Ok(done.map(|()| thread)?),
        }
    }
}

fn header(line: &[u8], whole: bool) -> Result<Header, TransferError> {
    let header: Header = match serde_json::from_slice(line) {
        Ok(header) => header,
        Err(_) if !whole => return Err(TransferError::Truncated { line: 0 }),
        Err(why) => return Err(TransferError::Line { line: 1, why: format!("it is no header of an export: {why}") }),
    };
    if header.format != FORMAT {
        let why = format!("it says it is a `{}`, not a `{FORMAT}`", header.format);
        return Err(TransferError::Line { line: 1, why });
    }
    if header.version != VERSION {
        return Err(TransferError::Version { found: header.version, known: VERSION });
    }
    Ok(header)
}

async fn fill<R: BufRead + Send>(
    intake: &mut Intake,
    lines: &mut Lines<R>,
    mut hash: Fnv,
) -> Result<(), TransferError> {
    let mut known: BTreeSet<(Name, CheckpointId)> = BTreeSet::new();
    loop {
        let before = lines.count;
        let Some((text, whole)) = lines.next()? else { return Err(TransferError::Truncated { line: before }) };
        let number = before + 1;
        let line: Line = match serde_json::from_slice(text) {
            Ok(line) => line,
            Err(_) if !whole => return Err(TransferError::Truncated { line: before }),
            Err(why) => return Err(TransferError::Line { line: number, why: format!("it is not understood: {why}") }),
        };
        let until_here = hash;
        hash = hash.text(text);
        let bad = |why| TransferError::Line { line: number, why };
        match line {
            Line::Checkpoint(line) => {
                let place = (line.namespace.clone(), line.id);
                if !known.insert(place) {
                    return Err(TransferError::Duplicate { line: number, id: line.id });
                }
                if let Some(parent) = line.parent.filter(|parent| !known.contains(&(line.namespace.clone(), *parent))) {
                    return Err(bad(format!("checkpoint {} follows {parent}, which is not before it", line.id)));
                }
                let (namespace, commit) = commit(line).map_err(bad)?;
                intake.commit(&namespace, commit).await?;
            }
            Line::Saved(SavedLine { namespace, task, key, value }) => {
                let mut bytes = Vec::new();
                value.append_to(&mut bytes).map_err(bad)?;
                intake.save(&namespace, &[SavedResult::new(task, key, bytes)]).await?;
            }
            Line::End(end) => {
                check_end(&end, before, until_here, number)?;
                return match lines.next()? {
                    None => Ok(()),
                    Some(_) => {
                        Err(TransferError::Line { line: number + 1, why: "it stands after the last one".into() })
                    }
                };
            }
        }
    }
}

fn check_end(end: &EndLine, lines: u64, hash: Fnv, number: u64) -> Result<(), TransferError> {
    let changed = |what| Err(TransferError::Changed { line: number, what });
    if end.lines != lines {
        return changed("number of lines");
    }
    if end.hash != format!("{:032x}", hash.folded()) {
        return changed("hash");
    }
    Ok(())
}

fn commit(line: CheckpointLine) -> Result<(Name, Commit), String> {
    let mut commit = Commit {
        id: line.id,
        parent: line.parent,
        fork: false,
        kind: line.kind,
        turn: line.turn,
        step: line.step,
        time_ms: line.time_ms,
        due_ms: line.due_ms,
        tags: Arc::new(line.tags),
        ..Commit::default()
    };
    for field in line.fields {
        let start = commit.bytes.len();
        field.value.append_to(&mut commit.bytes)?;
        let (items, bytes) = (field.items.0..field.items.1, start..commit.bytes.len());
        commit.fields.push(FieldRow::new(field.name, field.encoding, items, bytes));
    }
    line.position.append_to(&mut commit.bytes)?;
    Ok((line.namespace, commit))
}
