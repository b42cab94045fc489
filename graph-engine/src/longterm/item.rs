//! What a long-term store keeps and gives back.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::namespace::Namespace;

/// One thing that is remembered.
///
/// ```
/// use graph_engine::longterm::{Item, Namespace};
/// use serde_json::json;
///
/// let item = Item::new(Namespace::new(["users", "7"])?, "language", json!("no"), 1_000);
/// assert_eq!((item.created_ms, item.updated_ms), (1_000, 1_000));
/// # Ok::<(), graph_engine::longterm::LongTermError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Item {
    /// Where it is.
    pub namespace: Namespace,
    /// Its name there.
    pub key: String,
    /// What is remembered. It is the caller's own: changing it changes nothing in the store.
    pub value: Value,
    /// When it was first put, in milliseconds since 1970 on the store's clock.
    pub created_ms: u64,
    /// When it was last put, in milliseconds since 1970 on the store's clock.
    pub updated_ms: u64,
}

impl Item {
    /// An item that was put once, at this time.
    #[must_use]
    pub fn new(namespace: Namespace, key: impl Into<String>, value: Value, now_ms: u64) -> Self {
        Self { namespace, key: key.into(), value, created_ms: now_ms, updated_ms: now_ms }
    }
}

/// An item that a search found.
///
/// ```
/// use graph_engine::longterm::{Found, Item, Namespace};
/// use serde_json::json;
///
/// let item = Item::new(Namespace::new(["users", "7"])?, "language", json!("no"), 1_000);
/// let found = Found::new(item, Some(0.5));
/// assert_eq!((found.key.as_str(), found.score), ("language", Some(0.5)));
/// # Ok::<(), graph_engine::longterm::LongTermError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Found {
    /// The item.
    pub item: Item,
    /// How well it fits, if the search was by meaning (the cosine, from -1 to 1, equal on every store) or by text (only
    /// comparable with others of the same result). Higher is better.
    pub score: Option<f64>,
}

impl Found {
    /// An item with its score.
    #[must_use]
    pub fn new(item: Item, score: Option<f64>) -> Self {
        Self { item, score }
    }
}

impl std::ops::Deref for Found {
    type Target = Item;

    fn deref(&self) -> &Item {
        &self.item
    }
}
