//! For implementations of [`LongTermStore`](super::LongTermStore): operations that were checked, with everything that
//! doesn't depend on the database done already.
//!
//! A store calls [`prepare`](LongTermSettings::prepare) and then carries the steps out, in order and in one transaction.
//! So all stores refuse the same things, make the same vectors and find the same words.

use std::collections::BTreeMap;

use serde_json::Value;

use super::error::LongTermError;
use super::item::Found;
use super::listing::Listing;
use super::namespace::Namespace;
use super::op::{Op, Put, Ttl};
use super::search::{Near, Order, Search};
use super::settings::{Embedding, LongTermSettings};
pub use super::vectors::Vectors;
use super::words::{words, words_of};

/// A batch that was checked.
///
/// ```
/// use graph_engine::longterm::{LongTermSettings, Namespace, Op};
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let settings = LongTermSettings::new().clock(|| 1_000);
/// let prepared = settings.prepare(vec![Op::get(&Namespace::new(["users"])?, "kari")]).await?;
/// assert_eq!((prepared.now_ms, prepared.steps.len(), prepared.writes()), (1_000, 1, false));
/// # Ok::<(), graph_engine::longterm::LongTermError>(())
/// # }).unwrap();
/// ```
#[derive(Clone, Debug)]
pub struct Prepared {
    /// The time of the whole batch, in milliseconds since 1970, at most `i64::MAX`.
    pub now_ms: u64,
    /// What to do, in order.
    pub steps: Vec<Step>,
}

impl Prepared {
    /// Whether any step may change something.
    #[must_use]
    pub fn writes(&self) -> bool {
        self.steps.iter().any(|step| match step {
            Step::Put(_) | Step::Delete { .. } => true,
            Step::Get { refresh, .. } => *refresh,
            Step::Search(search) => search.refresh,
            Step::List(_) => false,
        })
    }
}

/// One operation that was checked. An item whose `expires_ms` is at or before the time of the batch isn't there any
/// more, for every kind of step.
///
/// ```
/// use graph_engine::longterm::backend::Step;
/// use graph_engine::longterm::Listing;
///
/// assert!(matches!(Step::List(Listing::default()), Step::List(_)));
/// ```
#[derive(Clone, Debug)]
pub enum Step {
    /// Store an item. One that is there keeps its `created_ms`.
    Put(PreparedPut),
    /// Look an item up.
    Get {
        /// Where.
        namespace: Namespace,
        /// Its name there.
        key: String,
        /// Whether its time begins anew.
        refresh: bool,
    },
    /// Forget an item.
    Delete {
        /// Where.
        namespace: Namespace,
        /// Its name there.
        key: String,
    },
    /// Find items.
    Search(PreparedSearch),
    /// List namespaces.
    List(Listing),
}

/// An item to store.
///
/// ```
/// use graph_engine::longterm::backend::{PreparedPut, Step};
/// use graph_engine::longterm::{LongTermSettings, Namespace, Op, Put};
/// use serde_json::json;
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let settings = LongTermSettings::new().clock(|| 1_000).ttl_ms(500);
/// let put = Put::new(&Namespace::new(["users"])?, "kari", json!({"likes": "the sea"}));
/// let prepared = settings.prepare(vec![Op::from(put)]).await?;
/// let Step::Put(PreparedPut { expires_ms, words, .. }) = &prepared.steps[0] else { unreachable!() };
/// assert_eq!((*expires_ms, words.keys().map(String::as_str).collect::<Vec<_>>()), (Some(1_500), vec!["sea", "the"]));
/// # Ok::<(), graph_engine::longterm::LongTermError>(())
/// # }).unwrap();
/// ```
#[derive(Clone, Debug)]
pub struct PreparedPut {
    /// Where.
    pub namespace: Namespace,
    /// Its name there.
    pub key: String,
    /// What is remembered.
    pub value: Value,
    /// How long it is kept after it was put or refreshed.
    pub ttl_ms: Option<u64>,
    /// When it is gone, at most `i64::MAX`.
    pub expires_ms: Option<u64>,
    /// How often each word occurs in it. A word has letters and digits in lower case, at most 64.
    pub words: BTreeMap<String, u32>,
    /// Its vectors.
    pub vectors: Vectors,
}

/// A search to carry out.
///
/// ```
/// use graph_engine::longterm::backend::{PreparedSearch, Step};
/// use graph_engine::longterm::{LongTermSettings, Op, Search};
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let prepared = LongTermSettings::new().prepare(vec![Op::from(Search::default().text("The sea, the SEA"))]).await?;
/// let Step::Search(PreparedSearch { words, .. }) = &prepared.steps[0] else { unreachable!() };
/// assert_eq!(words, &["sea", "the"]);
/// # Ok::<(), graph_engine::longterm::LongTermError>(())
/// # }).unwrap();
/// ```
#[derive(Clone, Debug)]
pub struct PreparedSearch {
    /// What was asked for.
    pub search: Search,
    /// The words of its text, each once; all of them must occur. Empty if it has no text.
    pub words: Vec<String>,
    /// The vector to be near to.
    pub near: Option<Vec<f32>>,
    /// Whether the time of what is found begins anew.
    pub refresh: bool,
}

impl PreparedSearch {
    /// Whether the best score comes first.
    #[must_use]
    pub fn is_ranked(&self) -> bool {
        self.search.order == Order::Best && (self.near.is_some() || !self.words.is_empty())
    }

    /// Puts what was found in order and takes the page that is asked for.
    #[must_use]
    pub fn page(&self, mut found: Vec<Found>) -> Vec<Found> {
        found.sort_by(|a, b| {
            let order = match self.search.order {
                Order::Best => b.score.unwrap_or(f64::MIN).total_cmp(&a.score.unwrap_or(f64::MIN)),
                Order::Key => std::cmp::Ordering::Equal,
                Order::Updated => b.updated_ms.cmp(&a.updated_ms),
                Order::Created => b.created_ms.cmp(&a.created_ms),
            };
            order.then_with(|| (&a.namespace, &a.key).cmp(&(&b.namespace, &b.key)))
        });
        found.into_iter().skip(self.search.offset).take(self.search.limit).collect()
    }
}

/// When an item is gone that is kept for so long from now on, at most `i64::MAX`.
///
/// ```
/// use graph_engine::longterm::backend::expires_ms;
///
/// assert_eq!(expires_ms(1_000, Some(500)), Some(1_500));
/// assert_eq!(expires_ms(1_000, None), None);
/// ```
#[must_use]
pub fn expires_ms(now_ms: u64, ttl_ms: Option<u64>) -> Option<u64> {
    ttl_ms.map(|ttl| now_ms.saturating_add(ttl).min(i64::MAX as u64))
}

impl LongTermSettings {
    /// Checks a batch, and makes all vectors of it in one call of the embedder.
    ///
    /// # Errors
    /// [`LongTermError::Invalid`], [`LongTermError::NoEmbedder`] or [`LongTermError::Embedder`]; nothing may be done
    /// then.
    pub async fn prepare(&self, ops: Vec<Op>) -> Result<Prepared, LongTermError> {
        ops.iter().try_for_each(Op::check)?;
        let mut made = self.vectors(&ops).await?.into_iter();
        let now_ms = self.now_ms();
        let steps = ops.into_iter().map(|op| self.step(op, now_ms, &mut made)).collect();
        Ok(Prepared { now_ms, steps })
    }

    fn step(&self, op: Op, now_ms: u64, made: &mut impl Iterator<Item = Vec<f32>>) -> Step {
        match op {
            Op::Put(put) => {
                let count = self.texts_of(&put).len();
                let dims = self.embedding.as_ref().map_or(0, |embedding| embedding.embedder.dims());
                let ttl_ms = match put.ttl {
                    Ttl::Default => self.ttl_ms,
                    Ttl::Never => None,
                    Ttl::Millis(millis) => Some(millis),
                };
                Step::Put(PreparedPut {
                    expires_ms: expires_ms(now_ms, ttl_ms),
                    ttl_ms: ttl_ms.map(|ttl| ttl.min(i64::MAX as u64)),
                    words: words_of(&put.value),
                    vectors: Vectors::new(dims, made.take(count)),
                    namespace: put.namespace,
                    key: put.key,
                    value: put.value,
                })
            }
            Op::Get { namespace, key, refresh } => {
                Step::Get { namespace, key, refresh: refresh.unwrap_or(self.refresh_on_read) }
            }
            Op::Delete { namespace, key } => Step::Delete { namespace, key },
            Op::Search(search) => {
                let text = search.text.as_deref();
                Step::Search(PreparedSearch {
                    words: words(text).into_keys().collect(),
                    near: match &search.near {
                        Some(Near::Text(_)) => made.next(),
                        Some(Near::Vector(vector)) => Some(vector.clone()),
                        None => None,
                    },
                    refresh: search.refresh.unwrap_or(self.refresh_on_read),
                    search,
                })
            }
            Op::List(listing) => Step::List(listing),
        }
    }

    /// The vectors of all texts of a batch, in order.
    async fn vectors(&self, ops: &[Op]) -> Result<Vec<Vec<f32>>, LongTermError> {
        let mut texts = Vec::new();
        for op in ops {
            match op {
                Op::Put(put) => texts.extend(self.texts_of(put)),
                Op::Search(Search { near: Some(near), .. }) => {
                    let embedding = self.embedding.as_ref().ok_or(LongTermError::NoEmbedder)?;
                    match near {
                        Near::Text(text) => texts.push(text.clone()),
                        Near::Vector(vector) => check_vector(vector, embedding).map_err(LongTermError::invalid)?,
                    }
                }
                _ => {}
            }
        }
        let Some(embedding) = self.embedding.as_ref().filter(|_| !texts.is_empty()) else { return Ok(Vec::new()) };
        let vectors = embedding.embedder.embed(&texts).await.map_err(LongTermError::embedder)?;
        if vectors.len() != texts.len() {
            let why = format!("it made {} vectors of {} texts", vectors.len(), texts.len());
            return Err(LongTermError::embedder(why));
        }
        vectors.iter().try_for_each(|vector| check_vector(vector, embedding)).map_err(LongTermError::embedder)?;
        Ok(vectors)
    }

    /// What is embedded of an item.
    fn texts_of(&self, put: &Put) -> Vec<String> {
        let Some(embedding) = self.embedding.as_ref().filter(|_| put.embed) else { return Vec::new() };
        let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let texts: Vec<String> = match embedding.fields.as_slice() {
            [] => vec![text(&put.value)],
            fields => fields.iter().filter_map(|path| path.find(&put.value)).map(text).collect(),
        };
        texts.into_iter().filter(|text| !text.is_empty()).collect()
    }
}

fn check_vector(vector: &[f32], embedding: &Embedding) -> Result<(), String> {
    let dims = embedding.embedder.dims();
    if vector.len() != dims || dims == 0 {
        return Err(format!("a vector has {} numbers where {dims} were said", vector.len()));
    }
    if vector.iter().any(|number| !number.is_finite()) {
        return Err("a vector holds a number that is not finite".to_owned());
    }
    Ok(())
}
