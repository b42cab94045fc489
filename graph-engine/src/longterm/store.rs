//! The trait of all long-term stores.

use serde_json::Value;

use super::error::LongTermError;
use super::item::{Found, Item};
use super::listing::Listing;
use super::namespace::Namespace;
use super::op::{Answer, Op, Put};
use super::search::Search;

/// Keeps what agents remember across threads.
///
/// An implementation writes [`batch`](Self::batch) and [`sweep`](Self::sweep); every other method is a batch of one, so
/// single calls and batches are checked in the same way. The checks of `long_term_store_conformance!` (feature
/// `testing`) say whether an implementation is right.
///
/// # Contract
/// - The operations of a batch are all checked before any is done, and are done in order and all or not at all: each
///   sees what those before it did.
/// - An item is known by its namespace and key. Putting it again keeps `created_ms` and moves `updated_ms`.
/// - What was given and what is given back are copies: nothing that a caller changes later changes what is stored. A
///   value comes back as it was put.
/// - Reading creates nothing: a namespace is there for as long as an item is in it.
/// - An item whose time is over isn't there any more, whether or not it was swept. A put, a delete and
///   [`sweep`](Self::sweep) clear such items away.
/// - Namespaces, keys, paths and values are data: they are compared byte by byte and never become part of a query.
///
/// ```
/// use graph_engine::longterm::{Condition, LongTermStore, MemoryLongTerm, Namespace, Search};
/// use serde_json::json;
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let memories = MemoryLongTerm::new();
/// let hotels = Namespace::new(["hotels", "oslo"])?;
/// memories.put(&hotels, "inn", json!({"name": "Harbour Inn", "price": {"amount": 120}})).await?;
/// memories.put(&hotels, "palace", json!({"name": "Palace", "price": {"amount": 400}})).await?;
///
/// let cheap = Search::under(&Namespace::new(["hotels"])?).filter(Condition::lt("/price/amount", 200));
/// let found = memories.search(cheap).await?;
/// assert_eq!(found.iter().map(|found| found.key.as_str()).collect::<Vec<_>>(), ["inn"]);
/// # Ok::<(), graph_engine::longterm::LongTermError>(())
/// # }).unwrap();
/// ```
#[async_trait::async_trait]
pub trait LongTermStore: Send + Sync + 'static {
    /// Does several things at once. There is one answer for each operation, of its kind.
    ///
    /// # Errors
    /// [`LongTermError`]; then nothing of the batch was done, or with [`LongTermError::Unavailable`] all of it may have
    /// been.
    async fn batch(&self, ops: Vec<Op>) -> Result<Vec<Answer>, LongTermError>;

    /// Clears away what is over at this time, in milliseconds since 1970, and says how many items that were.
    ///
    /// # Errors
    /// [`LongTermError`] of the backend.
    async fn sweep(&self, now_ms: u64) -> Result<u64, LongTermError>;

    /// Remembers a value as the settings say, in place of what was there.
    ///
    /// # Errors
    /// [`LongTermError`]; nothing was stored then.
    async fn put(&self, namespace: &Namespace, key: &str, value: Value) -> Result<(), LongTermError> {
        self.put_with(Put::new(namespace, key, value)).await
    }

    /// Remembers a value and says how.
    ///
    /// # Errors
    /// [`LongTermError`]; nothing was stored then.
    async fn put_with(&self, put: Put) -> Result<(), LongTermError> {
        self.batch(vec![Op::Put(put)]).await.map(drop)
    }

    /// The item of a key, if there is one.
    ///
    /// # Errors
    /// [`LongTermError`]
    async fn get(&self, namespace: &Namespace, key: &str) -> Result<Option<Item>, LongTermError> {
        match self.batch(vec![Op::get(namespace, key)]).await?.pop() {
            Some(Answer::Item(item)) => Ok(item),
            other => Err(unexpected(other.as_ref())),
        }
    }

    /// Forgets the item of a key; `false` if there was none.
    ///
    /// # Errors
    /// [`LongTermError`]
    async fn delete(&self, namespace: &Namespace, key: &str) -> Result<bool, LongTermError> {
        match self.batch(vec![Op::delete(namespace, key)]).await?.pop() {
            Some(Answer::Deleted(deleted)) => Ok(deleted),
            other => Err(unexpected(other.as_ref())),
        }
    }

    /// Finds items.
    ///
    /// # Errors
    /// [`LongTermError`]
    async fn search(&self, search: Search) -> Result<Vec<Found>, LongTermError> {
        match self.batch(vec![Op::Search(search)]).await?.pop() {
            Some(Answer::Found(found)) => Ok(found),
            other => Err(unexpected(other.as_ref())),
        }
    }

    /// Lists the namespaces that hold an item, in the order of their bytes.
    ///
    /// # Errors
    /// [`LongTermError`]
    async fn list_namespaces(&self, listing: Listing) -> Result<Vec<Namespace>, LongTermError> {
        match self.batch(vec![Op::List(listing)]).await?.pop() {
            Some(Answer::Namespaces(namespaces)) => Ok(namespaces),
            other => Err(unexpected(other.as_ref())),
        }
    }
}

/// A store that answers something else than what it was asked.
fn unexpected(answer: Option<&Answer>) -> LongTermError {
    let kind = match answer {
        None => "nothing",
        Some(Answer::Put) => "a put",
        Some(Answer::Item(_)) => "an item",
        Some(Answer::Deleted(_)) => "a delete",
        Some(Answer::Found(_)) => "a search",
        Some(Answer::Namespaces(_)) => "namespaces",
    };
    LongTermError::unavailable(format!("the store answered {kind} where something else was asked"))
}
