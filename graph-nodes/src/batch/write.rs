//! Writing to a list of ids, each at most once.

use std::collections::HashSet;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::future::BoxFuture;
use futures_util::stream::{self, StreamExt as _};
use graph_engine::BoxError;
use serde::Serialize;
use serde_json::Value;

use super::ids::{IdRules, Prepared};
use super::report::{ItemOutcome, ItemResult};
use super::{BatchError, BatchReport, MemoryWrites, PendingWrites, Write, WriteItem, WriteStore, WriteTool, Written};
use crate::panics::guarded_async;
use crate::tool::ToolError;

type Effect = Arc<dyn Fn(Write) -> BoxFuture<'static, Result<Value, BoxError>> + Send + Sync>;

/// Writes to a list of ids, each at most once. Cloning it copies pointers: clones share what was written.
///
/// A list is read as the [module](super) says. Each write has an idempotency key, made of the operation and the id. One
/// that succeeded is not done again: a later list gets the first result. One that failed, timed out or panicked may be
/// submitted again, with the same key. A write of the same operation and id with other content is refused: choose an
/// operation's name that says what may happen once (`refund of ticket 17`, not `refund`).
///
/// ```
/// use std::sync::Arc;
/// use std::sync::atomic::{AtomicUsize, Ordering};
///
/// use graph_nodes::batch::{BatchStatus, BatchWrite};
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
/// let effects = Arc::new(AtomicUsize::new(0));
/// let counted = effects.clone();
/// let cancel = BatchWrite::new("cancel", move |write| {
///     let number = counted.fetch_add(1, Ordering::Relaxed);
///     async move { Ok(format!("{} cancelled as number {number}", write.id)) }
/// });
///
/// let first = cancel.submit(["ORD-1", "ORD-2"]).await.unwrap();
/// let again = cancel.submit(["ORD-1", "ORD-2"]).await.unwrap();
/// assert_eq!(first.summary.status, BatchStatus::Ok);
/// assert_eq!((again, effects.load(Ordering::Relaxed)), (first, 2));
/// # });
/// ```
#[derive(Clone)]
#[must_use = "a batch does nothing until it is submitted"]
pub struct BatchWrite {
    operation: Arc<str>,
    rules: IdRules,
    effect: Effect,
    store: Arc<dyn WriteStore>,
    /// Keys of writes that are under way; held for one look-up, never over an await.
    busy: Arc<Mutex<HashSet<String>>>,
    concurrency: usize,
    timeout: Option<Duration>,
    ordered: bool,
    irreversible: bool,
}

impl BatchWrite {
    /// An operation, and how it is done to one id. Its error, panic or timeout concerns this id alone, and is
    /// retryable.
    pub fn new<V, F, Fut>(operation: impl Into<Arc<str>>, effect: F) -> Self
    where
        V: Serialize,
        F: Fn(Write) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<V, BoxError>> + Send + 'static,
    {
        let effect: Effect = Arc::new(move |write| {
            let done = effect(write);
            // What can't be shown is written all the same.
            Box::pin(async move { Ok(serde_json::to_value(done.await?).unwrap_or(Value::Null)) })
        });
        Self {
            operation: operation.into(),
            rules: IdRules::default(),
            effect,
            store: Arc::new(MemoryWrites::default()),
            busy: Arc::default(),
            concurrency: 4,
            timeout: Some(Duration::from_secs(2)),
            ordered: false,
            irreversible: false,
        }
    }

    /// How the one form of an id is made (default: it is trimmed). What is blank then is dropped.
    pub fn normalise(mut self, normalise: impl Fn(&str) -> String + Send + Sync + 'static) -> Self {
        self.rules.normalise = Arc::new(normalise);
        self
    }

    /// What is wrong with a normalised id, for the model (default: nothing ever is). Such an id is not written.
    pub fn validate(mut self, validate: impl Fn(&str) -> Result<(), String> + Send + Sync + 'static) -> Self {
        self.rules.validate = Arc::new(validate);
        self
    }

    /// How many valid ids are written by one call (default: 25). The rest is deferred. Zero counts as one.
    pub fn cap(mut self, cap: usize) -> Self {
        self.rules.cap = cap.max(1);
        self
    }

    /// How many writes are under way at a time (default: 4). Zero counts as one.
    pub fn concurrency(mut self, concurrency: usize) -> Self {
        self.concurrency = concurrency.max(1);
        self
    }

    /// How long a write may take (default: 2 s). Then it is dropped, and nobody knows whether it happened: submit it
    /// again.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Lets a write take as long as it likes.
    pub fn without_timeout(mut self) -> Self {
        self.timeout = None;
        self
    }

    /// Writes one after another, in the order of the list. After the first one that is invalid or fails, the others
    /// are skipped.
    pub fn ordered(mut self) -> Self {
        self.ordered = true;
        self
    }

    /// Writes nothing until somebody has agreed to the whole list. As a [tool](Self::into_tool) it asks a person and the
    /// turn pauses; elsewhere there is [`confirm`](Self::confirm).
    pub fn irreversible(mut self) -> Self {
        self.irreversible = true;
        self
    }

    /// Where writes that succeeded are remembered (default: in memory).
    pub fn store(mut self, store: impl WriteStore) -> Self {
        self.store = Arc::new(store);
        self
    }

    /// Writes a list, or says what would be written if the operation is irreversible.
    ///
    /// Dropping the future drops the writes that are under way; what succeeded before is remembered.
    ///
    /// # Errors
    /// [`BatchError::Empty`] if there is no id, [`BatchError::Conflicting`] if two writes to one id differ. Nothing is
    /// written then.
    pub async fn submit<I: Into<WriteItem>>(
        &self,
        items: impl IntoIterator<Item = I>,
    ) -> Result<BatchReport, BatchError> {
        let items: Vec<_> = items.into_iter().map(Into::into).map(|item| (item.id, item.payload)).collect();
        let prepared = self.rules.prepare(items)?;
        if !self.irreversible {
            return Ok(self.write(prepared).await);
        }
        let pending = self.pending(&prepared);
        let results = prepared.items.iter().map(|(id, item)| {
            let outcome = match item {
                Err(reason) => ItemOutcome::Invalid { reason: reason.clone() },
                Ok(_) => ItemOutcome::Pending,
            };
            ItemResult { id: id.clone(), outcome }
        });
        let mut report = BatchReport::new(&prepared, results.collect(), Vec::new());
        report.confirmation = (!pending.items.is_empty()).then_some(pending);
        Ok(report)
    }

    /// Writes as much of the list as `agree` agrees to, given as places from 0; it is not asked about a list without a
    /// valid id.
    pub(super) async fn submit_if(
        &self,
        ids: Vec<String>,
        agree: impl FnOnce(&PendingWrites) -> Result<Vec<usize>, ToolError> + Send,
    ) -> Result<BatchReport, ToolError> {
        let items = ids.into_iter().map(WriteItem::from).map(|item| (item.id, item.payload));
        let prepared = self.rules.prepare(items)?;
        if !self.irreversible {
            return Ok(self.write(prepared).await);
        }
        let mut pending = self.pending(&prepared);
        let mut written = None;
        if !pending.items.is_empty() {
            let chosen = agree(&pending)?;
            let mut place = 0..;
            pending.items.retain(|_| place.next().is_some_and(|place| chosen.contains(&place)));
            if !pending.items.is_empty() {
                written = Some(self.confirm(pending).await?);
            }
        }
        let results = prepared.items.iter().map(|(id, item)| {
            let outcome = match (item, written.as_ref().and_then(|report| report.outcome(id))) {
                (Err(reason), _) => ItemOutcome::Invalid { reason: reason.clone() },
                (Ok(_), Some(outcome)) => outcome.clone(),
                (Ok(_), None) => ItemOutcome::Skipped { reason: "a person left it out".to_owned() },
            };
            ItemResult { id: id.clone(), outcome }
        });
        let results = results.collect();
        Ok(BatchReport::new(&prepared, results, written.map(|report| report.summary.warnings).unwrap_or_default()))
    }

    /// What is to be written of a list.
    fn pending(&self, prepared: &Prepared<Value>) -> PendingWrites {
        let valid =
            prepared.items.iter().filter_map(|(id, item)| Some(WriteItem::new(id, item.as_ref().ok()?.clone())));
        PendingWrites { operation: self.operation.to_string(), items: valid.collect() }
    }

    /// Writes what was pending, exactly this list.
    ///
    /// # Errors
    /// [`BatchError::OtherOperation`] if it comes from another operation, [`BatchError::Empty`] or
    /// [`BatchError::Conflicting`] if it is no list that [`submit`](Self::submit) gives.
    pub async fn confirm(&self, pending: PendingWrites) -> Result<BatchReport, BatchError> {
        let PendingWrites { operation, items } = pending;
        if *operation != *self.operation {
            return Err(BatchError::OtherOperation { operation: self.operation.to_string(), confirmed: operation });
        }
        // Ids are taken as they were shown; everything was checked, and nothing is deferred a second time.
        let as_shown = IdRules { normalise: Arc::new(str::to_owned), cap: usize::MAX, ..IdRules::default() };
        let items = items.into_iter().map(|item| (item.id, item.payload));
        Ok(self.write(as_shown.prepare(items)?).await)
    }

    /// Makes a tool of it, whose one argument is `ids`. The report is its answer; if nothing was written, its status
    /// is error. For writes with content call [`submit`](Self::submit) in a tool of your own.
    ///
    /// If the operation is [irreversible](Self::irreversible), a person is asked once, and sees the whole list as
    /// [`PendingWrites`]. A yes writes all of it, or the parts that [`Confirmation::only`](crate::tool::Confirmation::only)
    /// names; anything else writes nothing.
    pub fn into_tool(self, name: impl Into<String>, description: impl Into<String>) -> WriteTool {
        WriteTool::new(self, name.into(), description.into())
    }

    async fn write(&self, prepared: Prepared<Value>) -> BatchReport {
        let outcomes = if self.ordered { self.one_by_one(&prepared).await } else { self.together(&prepared).await };
        let warnings = outcomes.iter().filter_map(|(_, warning)| warning.clone()).collect();
        let results = prepared.items.iter().zip(outcomes);
        let results = results.map(|((id, _), (outcome, _))| ItemResult { id: id.clone(), outcome }).collect();
        BatchReport::new(&prepared, results, warnings)
    }

    async fn together(&self, prepared: &Prepared<Value>) -> Vec<Done> {
        let writes: Vec<_> = prepared.items.iter().map(|(id, item)| self.one(id, item)).collect();
        stream::iter(writes).buffered(self.concurrency).collect().await
    }

    async fn one_by_one(&self, prepared: &Prepared<Value>) -> Vec<Done> {
        let mut outcomes: Vec<Done> = Vec::with_capacity(prepared.items.len());
        let mut failed: Option<&str> = None;
        for (id, item) in &prepared.items {
            outcomes.push(match failed {
                Some(first) => (ItemOutcome::Skipped { reason: format!("`{first}` before it failed") }, None),
                None => {
                    let done = self.one(id, item).await;
                    if !matches!(done.0, ItemOutcome::Ok { .. }) {
                        failed = Some(id);
                    }
                    done
                }
            });
        }
        outcomes
    }

    /// One write, unless it happened before.
    async fn one(&self, id: &str, item: &Result<Value, String>) -> Done {
        let payload = match item {
            Ok(payload) => payload,
            Err(reason) => return (ItemOutcome::Invalid { reason: reason.clone() }, None),
        };
        // As JSON, so that no operation and id can be taken for another pair.
        let key = Value::from(vec![&*self.operation, id]).to_string();
        let Some(_busy) = Busy::begin(&self.busy, &key) else {
            return (error("it is being written by another call; look again later", true), None);
        };
        // A panic of a store must not drop the writes that are under way beside this one.
        match unbroken(guarded_async(async { self.store.get(&key).await }).await) {
            Ok(None) => {}
            Ok(Some(written)) if written.payload == *payload => {
                return (ItemOutcome::Ok { value: written.result }, None);
            }
            Ok(Some(_)) => return (error("it was written before with other content, which stays", false), None),
            Err(why) => {
                return (error(format!("nobody knows whether it was written before ({why}); not written"), true), None);
            }
        }
        let write = Write { id: id.to_owned(), payload: payload.clone(), key: key.clone() };
        // The call itself is inside: it may panic before its first await.
        let writing = guarded_async(async { (self.effect)(write).await });
        let done = match self.timeout {
            None => writing.await,
            Some(after) => match tokio::time::timeout(after, writing).await {
                Ok(done) => done,
                Err(_) => Ok(Err(format!("the write took longer than {after:?}, it may have happened").into())),
            },
        };
        let result = match done {
            Ok(Ok(result)) => result,
            Ok(Err(why)) => return (error(why.to_string(), true), None),
            Err(message) => {
                tracing::error!(message, "a backend of a batch write panicked");
                return (error("the write failed because of a defect, it may have happened", true), None);
            }
        };
        let written = Written { payload: payload.clone(), result };
        let kept = unbroken(guarded_async(async { self.store.put(&key, &written).await }).await);
        let warning = kept.err().map(|why| {
            tracing::error!(key, error = %why, "a write succeeded and could not be remembered");
            format!("`{id}` was written, but this could not be remembered; don't write it again")
        });
        (ItemOutcome::Ok { value: written.result }, warning)
    }
}

/// An outcome, and what is odd about it.
type Done = (ItemOutcome, Option<String>);

fn error(message: impl Into<String>, retryable: bool) -> ItemOutcome {
    ItemOutcome::Error { message: message.into(), retryable }
}

/// What a store said, a panic as its error.
fn unbroken<T>(said: Result<Result<T, BoxError>, String>) -> Result<T, BoxError> {
    said.unwrap_or_else(|message| {
        tracing::error!(message, "a store of a batch write panicked");
        Err("the store failed because of a defect".into())
    })
}

/// A key whose write is under way, until this is dropped.
struct Busy<'a> {
    all: &'a Mutex<HashSet<String>>,
    key: String,
}

impl<'a> Busy<'a> {
    fn begin(all: &'a Mutex<HashSet<String>>, key: &str) -> Option<Self> {
        let is_new = all.lock().unwrap_or_else(PoisonError::into_inner).insert(key.to_owned());
        is_new.then(|| Self { all, key: key.to_owned() })
    }
}

impl Drop for Busy<'_> {
    fn drop(&mut self) {
        self.all.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.key);
    }
}

impl fmt::Debug for BatchWrite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BatchWrite")
            .field("operation", &self.operation)
            .field("rules", &self.rules)
            .field("concurrency", &self.concurrency)
            .field("timeout", &self.timeout)
            .field("ordered", &self.ordered)
            .field("irreversible", &self.irreversible)
            .finish_non_exhaustive()
    }
}
