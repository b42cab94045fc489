//! From a model's list to the ids that are sent.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use super::BatchError;
use crate::panics::guarded;

/// What can stand in a list of ids: a text, or nothing.
///
/// ```
/// use graph_nodes::batch::RawId;
///
/// assert_eq!("ORD-1".into_raw().as_deref(), Some("ORD-1"));
/// assert_eq!(None::<String>.into_raw(), None);
/// ```
pub trait RawId {
    /// The text, if there is one.
    fn into_raw(self) -> Option<String>;
}

impl RawId for String {
    fn into_raw(self) -> Option<String> {
        Some(self)
    }
}

impl RawId for &str {
    fn into_raw(self) -> Option<String> {
        Some(self.to_owned())
    }
}

impl RawId for &String {
    fn into_raw(self) -> Option<String> {
        Some(self.clone())
    }
}

impl<T: RawId> RawId for Option<T> {
    fn into_raw(self) -> Option<String> {
        self?.into_raw()
    }
}

/// What is wrong with an id.
type Check = dyn Fn(&str) -> Result<(), String> + Send + Sync;

/// What makes ids of texts.
#[derive(Clone)]
pub(super) struct IdRules {
    pub(super) normalise: Arc<dyn Fn(&str) -> String + Send + Sync>,
    pub(super) validate: Arc<Check>,
    pub(super) cap: usize,
}

impl Default for IdRules {
    fn default() -> Self {
        Self { normalise: Arc::new(|id| id.trim().to_owned()), validate: Arc::new(|_| Ok(())), cap: 25 }
    }
}

impl fmt::Debug for IdRules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("IdRules").field("cap", &self.cap).finish_non_exhaustive()
    }
}

/// A list that was read.
#[derive(Debug, PartialEq)]
pub(super) struct Prepared<T> {
    /// Different ids in the order of their first occurrence: with what to send, or why not.
    pub(super) items: Vec<(String, Result<T, String>)>,
    /// Ids over the cap, in order.
    pub(super) deferred: Vec<String>,
    pub(super) duplicates: usize,
}

impl<T> Prepared<T> {
    /// How many different ids there were.
    pub(super) fn requested(&self) -> usize {
        self.items.len() + self.deferred.len()
    }
}

impl IdRules {
    /// Reads a list. What comes with an id must be the same wherever the id is repeated.
    pub(super) fn prepare<T: PartialEq>(
        &self,
        raw: impl IntoIterator<Item = (Option<String>, T)>,
    ) -> Result<Prepared<T>, BatchError> {
        let mut unique: Vec<(String, Result<T, String>)> = Vec::new();
        let mut places: HashMap<String, usize> = HashMap::new();
        let mut duplicates = 0;
        for (raw, with) in raw {
            let Some(raw) = raw.filter(|raw| !raw.trim().is_empty()) else { continue };
            let (id, fault) = match guarded(|| (self.normalise)(&raw)) {
                Ok(id) => (id, None),
                Err(_) => (raw.trim().to_owned(), Some(DEFECT)),
            };
            if id.trim().is_empty() {
                continue;
            }
            if let Some(first) = places.get(&id) {
                match &unique[*first].1 {
                    Ok(content) if *content != with => return Err(BatchError::Conflicting { id }),
                    _ => duplicates += 1,
                }
                continue;
            }
            places.insert(id.clone(), unique.len());
            unique.push((id, fault.map_or(Ok(with), |fault| Err(fault.to_owned()))));
        }
        if unique.is_empty() {
            return Err(BatchError::Empty);
        }
        let (mut items, mut deferred, mut taken) = (Vec::new(), Vec::new(), 0);
        for (id, with) in unique {
            let checked = match with {
                Ok(with) => match guarded(|| (self.validate)(&id)) {
                    Ok(Ok(())) => Ok(with),
                    Ok(Err(reason)) => Err(reason),
                    Err(_) => Err(DEFECT.to_owned()),
                },
                fault => fault,
            };
            match checked {
                Ok(_) if taken >= self.cap => deferred.push(id),
                Ok(with) => {
                    taken += 1;
                    items.push((id, Ok(with)));
                }
                Err(reason) => items.push((id, Err(reason))),
            }
        }
        Ok(Prepared { items, deferred, duplicates })
    }
}

/// What is said of an id that made a check panic.
const DEFECT: &str = "the check of the id failed because of a defect; leave it out";
