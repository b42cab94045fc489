//! A long-term store in the memory of this process.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::ops::Bound;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::LongTermStore;
use super::backend::{PreparedPut, PreparedSearch, Step, Vectors, expires_ms};
use super::condition::Condition;
use super::error::LongTermError;
use super::item::{Found, Item};
use super::namespace::Namespace;
use super::op::{Answer, Op};
use super::settings::LongTermSettings;

/// Remembers in memory: for tests, and where what is remembered need not outlive the process. Cloning it gives another
/// handle to the same items.
///
/// ```
/// use graph_engine::longterm::{LongTermStore, MemoryLongTerm, Namespace};
/// use serde_json::json;
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let memories = MemoryLongTerm::new();
/// let user = Namespace::new(["users", "7"])?;
/// memories.put(&user, "language", json!("Norwegian")).await?;
/// assert_eq!(memories.get(&user, "language").await?.map(|item| item.value), Some(json!("Norwegian")));
/// # Ok::<(), graph_engine::longterm::LongTermError>(())
/// # }).unwrap();
/// ```
#[derive(Clone)]
pub struct MemoryLongTerm {
    settings: LongTermSettings,
    kept: Arc<Mutex<Kept>>,
}

type Id = (Namespace, String);

#[derive(Default)]
struct Kept {
    items: BTreeMap<Id, Entry>,
    /// What will be gone, by when.
    expiring: BTreeSet<(u64, Id)>,
}

struct Entry {
    item: Item,
    ttl_ms: Option<u64>,
    expires_ms: Option<u64>,
    words: BTreeMap<String, u32>,
    vectors: Vectors,
}

impl MemoryLongTerm {
    /// An empty store with the default settings.
    #[must_use]
    pub fn new() -> Self {
        Self::with(LongTermSettings::default())
    }

    /// An empty store with these settings.
    #[must_use]
    pub fn with(settings: LongTermSettings) -> Self {
        Self { settings, kept: Arc::default() }
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        // What could panic was done before it is held.
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for MemoryLongTerm {
    fn default() -> Self {
        Self::new()
    }
}

/// Shows how many items there are, and none of them.
impl fmt::Debug for MemoryLongTerm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryLongTerm").field("items", &self.kept().items.len()).finish()
    }
}

impl Entry {
    fn is_live(&self, now_ms: u64) -> bool {
        self.expires_ms.is_none_or(|expires| expires > now_ms)
    }

    /// How well it fits; `None` if it doesn't.
    fn found(&self, wanted: &PreparedSearch) -> Option<Option<f64>> {
        let mut score = None;
        if !wanted.words.is_empty() {
            let times: Option<Vec<u32>> = wanted.words.iter().map(|word| self.words.get(word).copied()).collect();
            let all: u32 = self.words.values().sum();
            score = Some(f64::from(times?.iter().sum::<u32>()) / f64::from(all.max(1)));
        }
        if let Some(near) = &wanted.near {
            score = Some(self.vectors.score(near)?);
        }
        let passes = |condition: &Condition| condition.passes(&self.item.value);
        wanted.search.filter.iter().all(passes).then_some(score)
    }
}

impl Kept {
    fn sweep(&mut self, now_ms: u64) -> u64 {
        let mut swept = 0;
        while self.expiring.first().is_some_and(|(expires, _)| *expires <= now_ms) {
            if let Some((_, id)) = self.expiring.pop_first() {
                self.items.remove(&id);
                swept += 1;
            }
        }
        swept
    }

    fn remove(&mut self, id: &Id) -> bool {
        let removed = self.items.remove(id);
        if let Some(expires) = removed.as_ref().and_then(|entry| entry.expires_ms) {
            self.expiring.remove(&(expires, id.clone()));
        }
        removed.is_some()
    }

    fn put(&mut self, put: PreparedPut, now_ms: u64) {
        let id = (put.namespace.clone(), put.key.clone());
        let created_ms = self.items.get(&id).map_or(now_ms, |entry| entry.item.created_ms);
        self.remove(&id);
        if let Some(expires) = put.expires_ms {
            self.expiring.insert((expires, id.clone()));
        }
        let updated_ms = now_ms.max(created_ms);
        let item = Item { namespace: put.namespace, key: put.key, value: put.value, created_ms, updated_ms };
        let PreparedPut { ttl_ms, expires_ms, words, vectors, .. } = put;
        self.items.insert(id, Entry { item, ttl_ms, expires_ms, words, vectors });
    }

    fn refresh(&mut self, id: &Id, now_ms: u64) {
        let Some(entry) = self.items.get_mut(id) else { return };
        let fresh = expires_ms(now_ms, entry.ttl_ms);
        if let (Some(before), Some(after)) = (std::mem::replace(&mut entry.expires_ms, fresh), fresh) {
            self.expiring.remove(&(before, id.clone()));
            self.expiring.insert((after, id.clone()));
        }
    }

    /// The entries of a namespace and of everything inside of it.
    fn under<'a>(&'a self, namespace: Option<&Namespace>) -> Box<dyn Iterator<Item = (&'a Id, &'a Entry)> + 'a> {
        let Some(own) = namespace.cloned() else { return Box::new(self.items.iter()) };
        let (from, to) = own.bounds();
        let start = (own.clone(), String::new());
        let itself = self.items.range(start..).take_while(move |((namespace, _), _)| *namespace == own);
        let inside = (Bound::Included((from, String::new())), Bound::Excluded((to, String::new())));
        Box::new(itself.chain(self.items.range(inside)))
    }

    fn search(&mut self, wanted: &PreparedSearch, now_ms: u64) -> Vec<Found> {
        let live = self.under(wanted.search.under.as_ref()).filter(|(_, entry)| entry.is_live(now_ms));
        let found = live.filter_map(|(_, entry)| Some(Found::new(entry.item.clone(), entry.found(wanted)?)));
        let page = wanted.page(found.collect());
        if wanted.refresh {
            for found in &page {
                self.refresh(&(found.namespace.clone(), found.key.clone()), now_ms);
            }
        }
        page
    }

    fn run(&mut self, step: Step, now_ms: u64) -> Answer {
        match step {
            Step::Put(put) => {
                self.sweep(now_ms);
                self.put(put, now_ms);
                Answer::Put
            }
            Step::Get { namespace, key, refresh } => {
                let id = (namespace, key);
                let item = self.items.get(&id).filter(|entry| entry.is_live(now_ms)).map(|entry| entry.item.clone());
                if refresh && item.is_some() {
                    self.refresh(&id, now_ms);
                }
                Answer::Item(item)
            }
            Step::Delete { namespace, key } => {
                self.sweep(now_ms);
                Answer::Deleted(self.remove(&(namespace, key)))
            }
            Step::Search(search) => Answer::Found(self.search(&search, now_ms)),
            Step::List(listing) => {
                let live = self.under(listing.prefix.as_ref()).filter(|(_, entry)| entry.is_live(now_ms));
                Answer::Namespaces(listing.page(live.map(|((namespace, _), _)| namespace.clone())))
            }
        }
    }
}

#[async_trait::async_trait]
impl LongTermStore for MemoryLongTerm {
    async fn batch(&self, ops: Vec<Op>) -> Result<Vec<Answer>, LongTermError> {
        let prepared = self.settings.prepare(ops).await?;
        let mut kept = self.kept();
        Ok(prepared.steps.into_iter().map(|step| kept.run(step, prepared.now_ms)).collect())
    }

    async fn sweep(&self, now_ms: u64) -> Result<u64, LongTermError> {
        Ok(self.kept().sweep(now_ms))
    }
}
