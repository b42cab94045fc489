//! What became of a list: the summary, then every id.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::PendingWrites;
use super::ids::Prepared;

/// What became of a list. As JSON the summary comes first, so that a reader who sees only the beginning knows how it
/// went.
///
/// ```
/// use graph_nodes::batch::BatchLookup;
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
/// let lengths = BatchLookup::new(|ids: Vec<String>| async move {
///     Ok(ids.into_iter().filter(|id| id != "ghost").map(|id| (id.clone(), id.len())).collect())
/// });
/// let report = lengths.run(["oak", "ghost", " oak"]).await.unwrap();
/// assert_eq!(
///     serde_json::to_string(&report).unwrap(),
///     concat!(
///         r#"{"summary":{"status":"partial","requested":2,"ok":1,"not_found":1,"invalid":0,"error":0,"#,
///         r#""duplicates":1,"deferred":0},"#,
///         r#""results":[{"id":"oak","status":"ok","value":3},{"id":"ghost","status":"not_found"}],"deferred":[]}"#,
///     ),
/// );
/// # });
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BatchReport {
    /// How it went as a whole.
    pub summary: BatchSummary,
    /// Every different id but the deferred ones, in the order in which they were given.
    pub results: Vec<ItemResult>,
    /// The ids that were over the cap, in order. Another call with them goes on.
    pub deferred: Vec<String>,
    /// What somebody has to agree to before anything is written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confirmation: Option<PendingWrites>,
}

/// How a list went as a whole.
///
/// ```
/// use graph_nodes::batch::BatchSummary;
///
/// let summary: BatchSummary = serde_json::from_value(serde_json::json!({
///     "status": "ok", "requested": 1, "ok": 1, "not_found": 0, "invalid": 0, "error": 0, "duplicates": 0, "deferred": 0,
/// })).unwrap();
/// assert_eq!((summary.ok, summary.note), (1, None));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BatchSummary {
    /// The whole in one word.
    pub status: BatchStatus,
    /// How many different ids there were.
    pub requested: usize,
    /// Ids with a value, or written.
    pub ok: usize,
    /// Ids that the backend doesn't know.
    pub not_found: usize,
    /// Ids that were not sent because they are wrong.
    pub invalid: usize,
    /// Ids of requests that failed.
    pub error: usize,
    /// Writes that were left out because one before them failed.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub skipped: usize,
    /// Writes that wait for a confirmation.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub pending: usize,
    /// How many ids were repetitions.
    pub duplicates: usize,
    /// How many ids were over the cap.
    pub deferred: usize,
    /// What to do next, if there is anything.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// What was odd about the backend's answers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// A whole list in one word.
///
/// ```
/// use graph_nodes::batch::BatchStatus;
///
/// let word = serde_json::to_string(&BatchStatus::PendingConfirmation).unwrap();
/// assert_eq!(word, "\"pending_confirmation\"");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum BatchStatus {
    /// Every id that was asked for has its value, or is written.
    Ok,
    /// Some ids have an answer (which may be that they are unknown), others don't, or are deferred.
    Partial,
    /// No id has an answer.
    Error,
    /// Nothing was written: somebody has to agree first.
    PendingConfirmation,
}

/// What became of one id.
///
/// ```
/// use graph_nodes::batch::{ItemOutcome, ItemResult};
///
/// let failed = ItemOutcome::Error { message: "down".into(), retryable: true };
/// let result = ItemResult { id: "ORD-1".into(), outcome: failed };
/// assert_eq!(
///     serde_json::to_string(&result).unwrap(),
///     r#"{"id":"ORD-1","status":"error","message":"down","retryable":true}"#,
/// );
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ItemResult {
    /// The id, normalised.
    pub id: String,
    /// Its status, and what belongs to it.
    #[serde(flatten)]
    pub outcome: ItemOutcome,
}

/// The status of one id, and what belongs to it.
///
/// ```
/// use graph_nodes::batch::ItemOutcome;
///
/// assert_eq!(serde_json::to_string(&ItemOutcome::NotFound).unwrap(), r#"{"status":"not_found"}"#);
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "status", rename_all = "snake_case")]
#[non_exhaustive]
pub enum ItemOutcome {
    /// It has a value, or is written.
    Ok {
        /// The declared fields of the record, or what the write gave back.
        value: Value,
    },
    /// The backend doesn't know it.
    NotFound,
    /// It was not sent.
    Invalid {
        /// What is wrong with it.
        reason: String,
    },
    /// Its request failed.
    Error {
        /// What happened.
        message: String,
        /// Whether asking again may help.
        retryable: bool,
    },
    /// It was left out because a write before it failed.
    Skipped {
        /// Which one.
        reason: String,
    },
    /// It is written once somebody agrees.
    Pending,
}

impl BatchReport {
    pub(super) fn new<T>(prepared: &Prepared<T>, results: Vec<ItemResult>, warnings: Vec<String>) -> Self {
        let deferred = prepared.deferred.clone();
        let count = |is: fn(&ItemOutcome) -> bool| results.iter().filter(|result| is(&result.outcome)).count();
        let (ok, not_found) = (
            count(|outcome| matches!(outcome, ItemOutcome::Ok { .. })),
            count(|outcome| matches!(outcome, ItemOutcome::NotFound)),
        );
        let pending = count(|outcome| matches!(outcome, ItemOutcome::Pending));
        let status = match prepared.requested() {
            _ if pending > 0 => BatchStatus::PendingConfirmation,
            requested if ok == requested => BatchStatus::Ok,
            _ if ok + not_found == 0 => BatchStatus::Error,
            _ => BatchStatus::Partial,
        };
        let note = (!deferred.is_empty()).then(|| {
            format!("the list is too long; call again with exactly the deferred ids: {}", deferred.join(", "))
        });
        let summary = BatchSummary {
            status,
            requested: prepared.requested(),
            ok,
            not_found,
            invalid: count(|outcome| matches!(outcome, ItemOutcome::Invalid { .. })),
            error: count(|outcome| matches!(outcome, ItemOutcome::Error { .. })),
            skipped: count(|outcome| matches!(outcome, ItemOutcome::Skipped { .. })),
            pending,
            duplicates: prepared.duplicates,
            deferred: deferred.len(),
            note,
            warnings,
        };
        Self { summary, results, deferred, confirmation: None }
    }

    /// The outcome of an id, as it is written in the report.
    #[must_use]
    pub fn outcome(&self, id: &str) -> Option<&ItemOutcome> {
        self.results.iter().find(|result| result.id == id).map(|result| &result.outcome)
    }

    /// Whether asking again may help any id.
    #[must_use]
    pub fn is_retryable(&self) -> bool {
        self.results.iter().any(|result| matches!(result.outcome, ItemOutcome::Error { retryable: true, .. }))
    }
}
