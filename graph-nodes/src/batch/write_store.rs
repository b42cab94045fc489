//! What was written already.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Mutex, PoisonError};

use async_trait::async_trait;
use graph_engine::BoxError;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A write that succeeded.
///
/// ```
/// use graph_nodes::batch::Written;
/// use serde_json::json;
///
/// let written = Written { payload: json!(null), result: json!("cancelled") };
/// assert_eq!(serde_json::to_string(&written).unwrap(), r#"{"payload":null,"result":"cancelled"}"#);
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Written {
    /// What was written.
    pub payload: Value,
    /// What the backend gave back.
    pub result: Value,
}

/// Remembers writes that succeeded, by their idempotency key.
///
/// # Contract
/// `get` returns what the last `put` of the key stored, also after a restart if the store outlives the process. A
/// [`BatchWrite`](super::BatchWrite) never does a write whose key `get` knows. It asks before the write and stores
/// after it; a process that ends between the two has written and doesn't know, which is why the key also goes to the
/// backend.
///
/// ```
/// use graph_nodes::batch::{MemoryWrites, WriteStore, Written};
/// use serde_json::json;
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let store: &dyn WriteStore = &MemoryWrites::default();
/// let written = Written { payload: json!(null), result: json!("cancelled") };
/// store.put("k", &written).await.unwrap();
/// assert_eq!(store.get("k").await.unwrap(), Some(written));
/// # });
/// ```
#[async_trait]
pub trait WriteStore: Send + Sync + 'static {
    /// The write of this key, if it succeeded.
    ///
    /// # Errors
    /// If it can't be known. Then nothing is written.
    async fn get(&self, key: &str) -> Result<Option<Written>, BoxError>;

    /// Remembers a write that succeeded.
    ///
    /// # Errors
    /// If it can't be stored. The write has happened, so it counts, with a warning.
    async fn put(&self, key: &str, written: &Written) -> Result<(), BoxError>;
}

/// Remembers writes for as long as it lives, all of them.
///
/// ```
/// use graph_nodes::batch::MemoryWrites;
///
/// assert!(MemoryWrites::default().is_empty());
/// ```
#[derive(Default)]
pub struct MemoryWrites {
    written: Mutex<HashMap<String, Written>>,
}

impl MemoryWrites {
    /// How many writes are remembered.
    #[must_use]
    pub fn len(&self) -> usize {
        self.written.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    /// Whether none is.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

#[async_trait]
impl WriteStore for MemoryWrites {
    async fn get(&self, key: &str) -> Result<Option<Written>, BoxError> {
        Ok(self.written.lock().unwrap_or_else(PoisonError::into_inner).get(key).cloned())
    }

    async fn put(&self, key: &str, written: &Written) -> Result<(), BoxError> {
        let mut all = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        all.insert(key.to_owned(), written.clone());
        Ok(())
    }
}

impl fmt::Debug for MemoryWrites {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryWrites").field("len", &self.len()).finish_non_exhaustive()
    }
}
