//! What is to be written.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One write of a list.
///
/// ```
/// use graph_nodes::batch::WriteItem;
/// use serde_json::json;
///
/// assert_eq!(WriteItem::from("ORD-1").payload, json!(null));
/// assert_eq!(WriteItem::new("ORD-1", json!({"to": "Bern"})).id.as_deref(), Some("ORD-1"));
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WriteItem {
    /// What to write to.
    pub id: Option<String>,
    /// What to write, if an id is not enough.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub payload: Value,
}

impl WriteItem {
    /// A write with content.
    pub fn new(id: impl Into<String>, payload: impl Into<Value>) -> Self {
        Self { id: Some(id.into()), payload: payload.into() }
    }
}

impl From<&str> for WriteItem {
    fn from(id: &str) -> Self {
        Self { id: Some(id.to_owned()), payload: Value::Null }
    }
}

impl From<String> for WriteItem {
    fn from(id: String) -> Self {
        Self { id: Some(id), payload: Value::Null }
    }
}

/// One write as its backend sees it.
///
/// ```
/// use graph_nodes::batch::BatchWrite;
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
/// let cancel = BatchWrite::new("cancel", |write| async move { Ok(write.key) });
/// let report = cancel.submit(["ORD-1"]).await.unwrap();
/// assert_eq!(serde_json::to_value(&report).unwrap()["results"][0]["value"], r#"["cancel","ORD-1"]"#);
/// # });
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Write {
    /// What to write to, normalised.
    pub id: String,
    /// What to write.
    pub payload: Value,
    /// The same for every attempt to do this operation to this id, in this call and in later ones. Hand it on, so that
    /// a write whose answer was lost isn't done twice.
    pub key: String,
}

/// Writes that wait until somebody agrees. It can be stored, shown, and given to
/// [`BatchWrite::confirm`](super::BatchWrite::confirm).
///
/// ```
/// use graph_nodes::batch::BatchWrite;
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
/// let delete = BatchWrite::new("delete", |_| async { Ok("gone") }).irreversible();
/// let pending = delete.submit(["ORD-1", "ORD-2"]).await.unwrap().confirmation.unwrap();
/// assert_eq!(pending.items.len(), 2);
/// assert_eq!(delete.confirm(pending).await.unwrap().summary.ok, 2);
/// # });
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PendingWrites {
    /// The operation.
    pub operation: String,
    /// All writes, in order.
    pub items: Vec<WriteItem>,
}
