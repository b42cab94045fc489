//! Looking up a list of ids.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use futures_util::stream::{self, StreamExt as _};
use graph_engine::BoxError;
use serde::Serialize;
use serde_json::{Map, Value};

use super::ids::{IdRules, RawId};
use super::report::{ItemOutcome, ItemResult};
use super::{BatchError, BatchReport, LookupTool};
use crate::panics::guarded_async;

type Records = HashMap<String, Result<Value, String>>;
type Backend = Arc<dyn Fn(Vec<String>) -> BoxFuture<'static, Result<Records, BoxError>> + Send + Sync>;

/// Looks up a list of ids by few requests. Cloning it copies pointers.
///
/// The [module](super) says what happens to a list. `run` needs no graph and no model:
///
/// ```
/// use std::collections::HashMap;
///
/// use graph_nodes::batch::{BatchLookup, BatchStatus, ItemOutcome};
/// use serde_json::json;
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
/// let orders = BatchLookup::new(|ids: Vec<String>| async move {
///     let shipped = json!({"status": "shipped", "customer": "somebody"});
///     Ok(ids.into_iter().map(|id| (id, shipped.clone())).collect::<HashMap<_, _>>())
/// })
/// .normalise(|id| id.trim().to_uppercase())
/// .validate(|id| match id.starts_with("ORD-") {
///     true => Ok(()),
///     false => Err("order numbers begin with ORD-".into()),
/// })
/// .fields(["status"]);
///
/// let report = orders.run(["ord-1", "ORD-1 ", "17"]).await.unwrap();
/// assert_eq!(report.summary.status, BatchStatus::Partial);
/// assert_eq!(report.outcome("ORD-1"), Some(&ItemOutcome::Ok { value: json!({"status": "shipped"}) }));
/// assert_eq!(report.outcome("17"), Some(&ItemOutcome::Invalid { reason: "order numbers begin with ORD-".into() }));
/// # });
/// ```
#[derive(Clone)]
#[must_use = "a lookup does nothing until it is run"]
pub struct BatchLookup {
    rules: IdRules,
    backend: Backend,
    chunk: usize,
    concurrency: usize,
    timeout: Option<Duration>,
    fields: Option<Arc<[String]>>,
}

impl BatchLookup {
    /// A lookup in this backend.
    ///
    /// It is given different, valid ids, at most [`chunk`](Self::chunk), in the model's order, and answers with a map
    /// by exactly these ids: one that is not in it is unknown, others in it are ignored with a warning. Its error,
    /// panic or timeout concerns this chunk alone, and is retryable.
    pub fn new<V, F, Fut>(backend: F) -> Self
    where
        V: Serialize,
        F: Fn(Vec<String>) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<HashMap<String, V>, BoxError>> + Send + 'static,
    {
        let backend: Backend = Arc::new(move |ids| {
            let answer = backend(ids);
            Box::pin(async move {
                let json = |value| serde_json::to_value(value).map_err(|error| error.to_string());
                Ok(answer.await?.into_iter().map(|(id, value)| (id, json(value))).collect())
            })
        });
        Self {
            rules: IdRules::default(),
            backend,
            chunk: 10,
            concurrency: 4,
            timeout: Some(Duration::from_secs(2)),
            fields: None,
        }
    }

    /// How the one form of an id is made (default: it is trimmed). What is blank then is dropped.
    pub fn normalise(mut self, normalise: impl Fn(&str) -> String + Send + Sync + 'static) -> Self {
        self.rules.normalise = Arc::new(normalise);
        self
    }

    /// What is wrong with a normalised id, for the model (default: nothing ever is). Such an id is not sent.
    pub fn validate(mut self, validate: impl Fn(&str) -> Result<(), String> + Send + Sync + 'static) -> Self {
        self.rules.validate = Arc::new(validate);
        self
    }

    /// How many valid ids are looked up by one call (default: 25). The rest is deferred. Zero counts as one.
    pub fn cap(mut self, cap: usize) -> Self {
        self.rules.cap = cap.max(1);
        self
    }

    /// How many ids a request has at most (default: 10). Zero counts as one.
    pub fn chunk(mut self, chunk: usize) -> Self {
        self.chunk = chunk.max(1);
        self
    }

    /// How many requests are under way at a time (default: 4). Zero counts as one.
    pub fn concurrency(mut self, concurrency: usize) -> Self {
        self.concurrency = concurrency.max(1);
        self
    }

    /// How long a request may take (default: 2 s), from when it is sent. Then it is dropped.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Lets a request take as long as it likes.
    pub fn without_timeout(mut self) -> Self {
        self.timeout = None;
        self
    }

    /// The fields of a record that the model is told (default: all). A record that is no object is an error then.
    pub fn fields<N: Into<String>>(mut self, fields: impl IntoIterator<Item = N>) -> Self {
        self.fields = Some(fields.into_iter().map(Into::into).collect());
        self
    }

    /// Looks up a list. Dropping the future drops the requests.
    ///
    /// # Errors
    /// [`BatchError::Empty`] if there is no id.
    pub async fn run<I: RawId>(&self, ids: impl IntoIterator<Item = I>) -> Result<BatchReport, BatchError> {
        let raw: Vec<_> = ids.into_iter().map(|id| (id.into_raw(), ())).collect();
        let prepared = self.rules.prepare(raw)?;
        let valid: Vec<&String> = prepared.items.iter().filter(|(_, item)| item.is_ok()).map(|(id, _)| id).collect();
        let chunks: Vec<Vec<String>> =
            valid.chunks(self.chunk).map(|chunk| chunk.iter().copied().cloned().collect()).collect();
        let answers: Vec<(Vec<ItemOutcome>, usize)> = stream::iter(chunks.into_iter().map(|chunk| self.request(chunk)))
            .buffered(self.concurrency)
            .collect()
            .await;
        let unasked: usize = answers.iter().map(|(_, unasked)| unasked).sum();
        let mut outcomes = answers.into_iter().flat_map(|(outcomes, _)| outcomes);
        let results = prepared.items.iter().map(|(id, item)| {
            let outcome = match item {
                Err(reason) => ItemOutcome::Invalid { reason: reason.clone() },
                // Every id that was sent has an outcome.
                Ok(()) => outcomes.next().unwrap_or(ItemOutcome::NotFound),
            };
            ItemResult { id: id.clone(), outcome }
        });
        let results = results.collect();
        // Which ids they are is not said: they may be somebody else's.
        let warning = |count| {
            tracing::warn!(count, "a backend answered ids that it was not asked for; they are ignored");
            format!("the backend answered ids that it was not asked for ({count}); they are ignored")
        };
        let warnings = (unasked > 0).then(|| warning(unasked)).into_iter().collect();
        Ok(BatchReport::new(&prepared, results, warnings))
    }

    /// Makes a tool of it, whose one argument is `ids`. The report is its answer; if no id has an answer, its status
    /// is error.
    pub fn into_tool(self, name: impl Into<String>, description: impl Into<String>) -> LookupTool {
        LookupTool::new(self, name.into(), description.into())
    }

    /// The outcomes of a chunk in its order, and how many ids were answered unasked.
    async fn request(&self, ids: Vec<String>) -> (Vec<ItemOutcome>, usize) {
        let sent = ids.clone();
        // The call itself is inside: it may panic before its first await.
        let asking = guarded_async(async { (self.backend)(sent).await });
        let answer = match self.timeout {
            None => asking.await,
            Some(after) => match tokio::time::timeout(after, asking).await {
                Ok(answer) => answer,
                Err(_) => Ok(Err(format!("the request took longer than {after:?}").into())),
            },
        };
        let message = match answer {
            Ok(Ok(mut records)) => {
                let outcomes = ids.iter().map(|id| self.outcome(records.remove(id))).collect();
                return (outcomes, records.len());
            }
            Ok(Err(error)) => error.to_string(),
            Err(message) => {
                tracing::error!(message, "a backend of a batch lookup panicked");
                "the request failed because of a defect".to_owned()
            }
        };
        (vec![ItemOutcome::Error { message, retryable: true }; ids.len()], 0)
    }

    fn outcome(&self, record: Option<Result<Value, String>>) -> ItemOutcome {
        let fault = match (record, &self.fields) {
            (None, _) => return ItemOutcome::NotFound,
            (Some(Ok(value)), None) => return ItemOutcome::Ok { value },
            (Some(Ok(Value::Object(mut record))), Some(fields)) => {
                let kept = fields.iter().filter_map(|field| record.remove_entry(field));
                return ItemOutcome::Ok { value: Value::Object(kept.collect::<Map<_, _>>()) };
            }
            (Some(Ok(_)), Some(_)) => "it is no object with fields".to_owned(),
            (Some(Err(error)), _) => error,
        };
        ItemOutcome::Error { message: format!("the record can't be shown: {fault}"), retryable: false }
    }
}

impl fmt::Debug for BatchLookup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BatchLookup")
            .field("rules", &self.rules)
            .field("chunk", &self.chunk)
            .field("concurrency", &self.concurrency)
            .field("timeout", &self.timeout)
            .field("fields", &self.fields)
            .finish_non_exhaustive()
    }
}
