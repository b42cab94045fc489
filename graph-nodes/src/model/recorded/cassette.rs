//! The model, and how its cassette is opened.

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use futures_util::stream;
use serde_json::Value;

use super::answer::{Answer, Line, VERSION};
use super::difference::nearest;
use super::error::CassetteError;
use super::file::{self, Entry, Tape};
use super::recording::Recording;
use super::redact::redact;
use super::secrets::Secrets;
use crate::model::canonical::{canonical, hash};
use crate::model::{ChatModel, ChunkStream, ModelError, Request};

/// What is done with a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    Replay,
    Record,
    Auto,
}

/// How a [`RecordedModel`] is made: which file, in which mode, and what is secret.
///
/// | mode | a request that is in the file | another request |
/// | --- | --- | --- |
/// | [`replay`](Self::replay) | its answer from the file | [`ModelError::NotRecorded`] |
/// | [`record`](Self::record) | asked and recorded again: the file begins anew | asked and recorded |
/// | [`auto`](Self::auto) | its answer from the file | asked and recorded |
///
/// Secrets are replaced by `[secret]` in requests, answers and errors before they are hashed or written, so a cassette
/// is found again with another key. Whoever asks while it is recorded gets what the model said; later readers get
/// `[secret]`.
///
/// ```
/// use std::sync::Arc;
///
/// use graph_nodes::message::Message;
/// use graph_nodes::model::{Cassette, ChatModel, Request, ScriptedModel, Turn};
///
/// # let path = std::env::temp_dir().join(format!("graph-nodes-cassette-{}.jsonl", std::process::id()));
/// # let runtime = tokio::runtime::Builder::new_current_thread().build()?;
/// # runtime.block_on(async {
/// let provider = Arc::new(ScriptedModel::new([Turn::text("Hello, sk-1234!").cut_at([9])]));
/// let request = Request::new([Message::user("hi")]).with_parameter("key", "sk-1234");
///
/// let recording = Cassette::record(&path, provider).secret("sk-1234").open()?;
/// assert_eq!(recording.complete(request.clone()).await?.text, "Hello, sk-1234!");
/// assert!(!std::fs::read_to_string(&path)?.contains("1234"));
///
/// let replaying = Cassette::replay(&path).secret_pattern("sk-[0-9]+").open()?;
/// let other_key = request.with_parameter("key", "sk-99");
/// assert_eq!(replaying.complete(other_key).await?.text, "Hello, [secret]!");
/// assert_eq!(replaying.assert_done(), Ok(()));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # std::fs::remove_file(path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use = "a cassette does nothing until it is opened"]
pub struct Cassette {
    path: PathBuf,
    mode: Mode,
    inner: Option<Arc<dyn ChatModel>>,
    literals: Vec<String>,
    patterns: Vec<String>,
}

impl Cassette {
    fn new(path: impl AsRef<Path>, mode: Mode, inner: Option<Arc<dyn ChatModel>>) -> Self {
        let path = path.as_ref().to_owned();
        Self { path, mode, inner, literals: Vec::new(), patterns: Vec::new() }
    }

    /// Answers from the file alone.
    pub fn replay(path: impl AsRef<Path>) -> Self {
        Self::new(path, Mode::Replay, None)
    }

    /// Asks `model` and writes all answers; what the file held before is gone.
    pub fn record(path: impl AsRef<Path>, model: Arc<dyn ChatModel>) -> Self {
        Self::new(path, Mode::Record, Some(model))
    }

    /// Answers from the file, and asks `model` for what is not in it. A last line that a crash cut off is removed.
    pub fn auto(path: impl AsRef<Path>, model: Arc<dyn ChatModel>) -> Self {
        Self::new(path, Mode::Auto, Some(model))
    }

    /// Never writes this text, in any form in which JSON writes it. An empty text hides nothing.
    pub fn secret(mut self, secret: impl Into<String>) -> Self {
        self.literals.push(secret.into());
        self
    }

    /// Never writes what this regular expression finds (syntax of the crate `regex`).
    pub fn secret_pattern(mut self, pattern: impl Into<String>) -> Self {
        self.patterns.push(pattern.into());
        self
    }

    /// Reads the file. This blocks, so call it before the work begins; replaying never touches the file again, and
    /// recording adds one line when an answer has ended.
    ///
    /// # Errors
    /// [`CassetteError`]: the file can't be read or written, a line of it is corrupt, or a pattern is.
    pub fn open(self) -> Result<RecordedModel, CassetteError> {
        let mut secrets = Secrets::default();
        let refused = |pattern: &str, error: &regex::Error| CassetteError::Pattern {
            pattern: pattern.to_owned(),
            reason: last_line(&error.to_string()),
        };
        for literal in &self.literals {
            secrets.add(literal).map_err(|error| refused("(a literal)", &error))?;
        }
        for pattern in &self.patterns {
            secrets.add_pattern(pattern).map_err(|error| refused(pattern, &error))?;
        }
        let (entries, tape) = file::open(&self.path, self.mode)?;
        let mut waiting: BTreeMap<String, VecDeque<usize>> = BTreeMap::new();
        for (at, entry) in entries.iter().enumerate() {
            waiting.entry(entry.recorded.hash.clone()).or_default().push_back(at);
        }
        let recorded = || entries.first().map(|entry| entry.recorded.model.clone());
        let name = self.inner.as_ref().map(|model| model.name().to_owned());
        let name = name.or_else(recorded).unwrap_or_else(|| "recorded".to_owned());
        let inside = Inside { waiting, tape, missing: 0, broken: None };
        let shared = Shared { path: self.path, name, secrets, entries, inside: Mutex::new(inside) };
        Ok(RecordedModel { inner: self.inner, shared: Arc::new(shared) })
    }
}

/// The last line of an error of a regular expression says what is wrong; those before it draw the place.
fn last_line(text: &str) -> String {
    let line = text.lines().last().unwrap_or_default();
    line.trim_start_matches("error: ").to_owned()
}

impl fmt::Debug for Cassette {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cassette").field("path", &self.path).field("mode", &self.mode).finish_non_exhaustive()
    }
}

/// A model that answers from a [`Cassette`], records what another model answers, or both.
///
/// The same request gets its answers in the order in which they were recorded. Replayed are the chunks one by one, and
/// the errors, but no delays. Clones share the cassette.
///
/// ```
/// use graph_nodes::message::Message;
/// use graph_nodes::model::{Cassette, ChatModel, FnModel, Request, Response};
///
/// # let path = std::env::temp_dir().join(format!("graph-nodes-recorded-{}.jsonl", std::process::id()));
/// # let runtime = tokio::runtime::Builder::new_current_thread().build()?;
/// # runtime.block_on(async {
/// let provider = FnModel::new("rule", |_| Ok(Response::from_text("Hello!")));
/// let model = Cassette::auto(&path, std::sync::Arc::new(provider)).open()?;
/// model.complete(Request::new([Message::user("hi")])).await?;
///
/// let model = Cassette::replay(&path).open()?;
/// let error = model.complete(Request::new([Message::user("ho")])).await.unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "no answer is recorded for request 48795383fc58ac0d (the nearest is line 1: \
///      `messages[0].content` is `\"ho\"` instead of `\"hi\"`); record it, or correct the request",
/// );
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # std::fs::remove_file(path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct RecordedModel {
    inner: Option<Arc<dyn ChatModel>>,
    shared: Arc<Shared>,
}

/// A request without its secrets.
pub(super) struct Asked {
    request: Value,
    hash: String,
}

pub(super) struct Shared {
    path: PathBuf,
    name: String,
    secrets: Secrets,
    entries: Vec<Entry>,
    inside: Mutex<Inside>,
}

struct Inside {
    /// Answers that nobody asked for yet, by the hash of their request.
    waiting: BTreeMap<String, VecDeque<usize>>,
    tape: Option<Tape>,
    missing: usize,
    broken: Option<CassetteError>,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Inside> {
        // Nothing panics while it holds the lock, so the data is whole.
        self.inside.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn asked(&self, request: &Request) -> Asked {
        // As in `Request::canonical_json`.
        let request = self.secrets.hide_in(serde_json::to_value(request).expect("a request is plain JSON"));
        Asked { hash: hash(&canonical(&request)), request }
    }

    /// The next recorded answer.
    fn next(&self, asked: &Asked) -> Option<Answer> {
        let mut inside = self.lock();
        let waiting = inside.waiting.get_mut(&asked.hash)?;
        // Two requests of one hash are told apart.
        let position = waiting.iter().position(|at| self.entries[*at].recorded.request == asked.request)?;
        let at = waiting.remove(position)?;
        Some(self.entries[at].recorded.answer.clone())
    }

    fn not_recorded(&self, asked: &Asked) -> ModelError {
        self.lock().missing += 1;
        let recorded = self.entries.iter().map(|entry| (entry.line, &entry.recorded.request));
        ModelError::NotRecorded { request: asked.hash.clone(), nearest: nearest(recorded, &asked.request) }
    }

    pub(super) fn write(&self, asked: Asked, answer: Answer) -> Result<(), CassetteError> {
        let answer = redact(answer, &self.secrets);
        let Asked { request, hash } = asked;
        let model = self.secrets.hide(&self.name);
        let line = Line { version: VERSION, hash, model, request, answer };
        let mut inside = self.lock();
        let written = inside.tape.as_mut().map_or(Ok(()), |tape| tape.add(&line));
        if let Err(error) = &written {
            inside.broken.get_or_insert_with(|| error.clone());
        }
        written
    }
}

impl RecordedModel {
    /// Whether every recorded answer was asked for, every request found or made one, and all of them were written.
    ///
    /// # Errors
    /// [`CassetteError::Missing`], [`CassetteError::Unused`], or the first error of writing.
    pub fn assert_done(&self) -> Result<(), CassetteError> {
        let inside = self.shared.lock();
        let path = || self.shared.path.clone();
        if let Some(error) = &inside.broken {
            return Err(error.clone());
        }
        if inside.missing > 0 {
            return Err(CassetteError::Missing { path: path(), requests: inside.missing });
        }
        let mut lines: Vec<usize> = inside.waiting.values().flatten().map(|at| self.shared.entries[*at].line).collect();
        lines.sort_unstable();
        if lines.is_empty() { Ok(()) } else { Err(CassetteError::Unused { path: path(), lines }) }
    }
}

#[async_trait]
impl ChatModel for RecordedModel {
    /// The name of the model that is asked, or of the one that answered first in the file.
    fn name(&self) -> &str {
        &self.shared.name
    }

    async fn stream(&self, request: Request) -> Result<ChunkStream, ModelError> {
        request.check()?;
        let asked = self.shared.asked(&request);
        match (self.shared.next(&asked), &self.inner) {
            (Some(Answer::Failed(failure)), _) => Err(failure.into()),
            (Some(Answer::Stream(items)), _) => Ok(Box::pin(stream::iter(items.into_iter().map(Into::into)))),
            (None, None) => Err(self.shared.not_recorded(&asked)),
            (None, Some(inner)) => {
                let recording = Recording::new(self.shared.clone(), asked);
                match inner.stream(request).await {
                    Ok(stream) => Ok(recording.of(stream)),
                    Err(error) => Err(recording.failed(error)),
                }
            }
        }
    }
}

impl fmt::Debug for RecordedModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RecordedModel")
            .field("path", &self.shared.path)
            .field("name", &self.shared.name)
            .finish_non_exhaustive()
    }
}
