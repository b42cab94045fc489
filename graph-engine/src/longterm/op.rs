//! What a long-term store can be asked to do.

use serde_json::Value;

use super::error::LongTermError;
use super::item::{Found, Item};
use super::listing::Listing;
use super::namespace::Namespace;
use super::search::Search;

/// How long an item is kept.
///
/// ```
/// use graph_engine::longterm::Ttl;
///
/// assert_eq!(Ttl::default(), Ttl::Default);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ttl {
    /// As long as the store's settings say.
    #[default]
    Default,
    /// Until it is deleted.
    Never,
    /// For so many milliseconds after it was put, or after it was read where reading refreshes.
    Millis(u64),
}

/// Remembers a value under a namespace and a key, in place of what was there.
///
/// ```
/// use graph_engine::longterm::{Namespace, Put, Ttl};
/// use serde_json::json;
///
/// let put = Put::new(&Namespace::new(["users", "7"])?, "code", json!(4711)).ttl_ms(60_000).embed(false);
/// assert_eq!(put.ttl, Ttl::Millis(60_000));
/// # Ok::<(), graph_engine::longterm::LongTermError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Put {
    /// Where.
    pub namespace: Namespace,
    /// Its name there; not empty, and without NUL.
    pub key: String,
    /// Any JSON value that is nested no deeper than 100.
    pub value: Value,
    /// How long it is kept.
    pub ttl: Ttl,
    /// Whether it can be found by meaning, if the store has an embedder (default: yes).
    pub embed: bool,
}

impl Put {
    /// Remembers this value as the settings of the store say.
    pub fn new(namespace: &Namespace, key: impl Into<String>, value: impl Into<Value>) -> Self {
        Self { namespace: namespace.clone(), key: key.into(), value: value.into(), ttl: Ttl::Default, embed: true }
    }

    /// Keeps it for so many milliseconds.
    #[must_use]
    pub fn ttl_ms(mut self, millis: u64) -> Self {
        self.ttl = Ttl::Millis(millis);
        self
    }

    /// Keeps it until it is deleted, whatever the settings say.
    #[must_use]
    pub fn forever(mut self) -> Self {
        self.ttl = Ttl::Never;
        self
    }

    /// Whether it can be found by meaning.
    #[must_use]
    pub fn embed(mut self, embed: bool) -> Self {
        self.embed = embed;
        self
    }
}

/// One operation of a batch.
///
/// ```
/// use graph_engine::longterm::{Namespace, Op, Put};
///
/// let user = Namespace::new(["users", "7"])?;
/// let ops = [Op::get(&user, "language"), Op::from(Put::new(&user, "language", "no")), Op::delete(&user, "code")];
/// assert_eq!(ops.len(), 3);
/// # Ok::<(), graph_engine::longterm::LongTermError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Op {
    /// Remembers a value.
    Put(Put),
    /// Looks one item up.
    Get {
        /// Where.
        namespace: Namespace,
        /// Its name there.
        key: String,
        /// Whether its time begins anew; `None` is what the settings say.
        refresh: Option<bool>,
    },
    /// Forgets one item.
    Delete {
        /// Where.
        namespace: Namespace,
        /// Its name there.
        key: String,
    },
    /// Finds items.
    Search(Search),
    /// Lists namespaces.
    List(Listing),
}

impl Op {
    /// Looks one item up.
    pub fn get(namespace: &Namespace, key: impl Into<String>) -> Self {
        Self::Get { namespace: namespace.clone(), key: key.into(), refresh: None }
    }

    /// Forgets one item.
    pub fn delete(namespace: &Namespace, key: impl Into<String>) -> Self {
        Self::Delete { namespace: namespace.clone(), key: key.into() }
    }

    /// The one check for single calls and batches.
    pub(super) fn check(&self) -> Result<(), LongTermError> {
        if let Self::Put(put) = self
            && is_deeper(&put.value, DEEPEST)
        {
            return Err(LongTermError::invalid(format!("the value of `{}` is nested deeper than {DEEPEST}", put.key)));
        }
        match self {
            Self::Put(Put { key, .. }) | Self::Get { key, .. } | Self::Delete { key, .. } => {
                if key.is_empty() {
                    return Err(LongTermError::invalid("the key of an item is empty"));
                }
                if key.contains('\0') {
                    return Err(LongTermError::invalid("the key of an item holds a NUL"));
                }
                Ok(())
            }
            Self::Search(search) => search.check(),
            Self::List(_) => Ok(()),
        }
    }
}

/// How deep a value may be nested: not every database and parser takes more.
const DEEPEST: usize = 100;

/// Looks no deeper than that.
fn is_deeper(value: &Value, levels: usize) -> bool {
    match value {
        Value::Array(list) => levels == 0 || list.iter().any(|value| is_deeper(value, levels - 1)),
        Value::Object(map) => levels == 0 || map.values().any(|value| is_deeper(value, levels - 1)),
        _ => false,
    }
}

impl From<Put> for Op {
    fn from(put: Put) -> Self {
        Self::Put(put)
    }
}

impl From<Search> for Op {
    fn from(search: Search) -> Self {
        Self::Search(search)
    }
}

impl From<Listing> for Op {
    fn from(listing: Listing) -> Self {
        Self::List(listing)
    }
}

/// What one operation of a batch gave.
///
/// ```
/// use graph_engine::longterm::Answer;
///
/// assert_eq!(Answer::Deleted(true), Answer::Deleted(true));
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Answer {
    /// The value is remembered.
    Put,
    /// The item, if there is one.
    Item(Option<Item>),
    /// Whether there was one.
    Deleted(bool),
    /// What a search found.
    Found(Vec<Found>),
    /// The namespaces that pass.
    Namespaces(Vec<Namespace>),
}
