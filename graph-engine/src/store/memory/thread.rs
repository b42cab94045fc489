//! One thread with its namespaces.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::rows::Rows;
use crate::error::StoreError;
use crate::name::Name;
use crate::store::AtOnce;
use crate::store::checkpoint::Commit;

pub(super) struct Thread {
    pub(super) id: Name,
    spaces: Mutex<Spaces>,
}

#[derive(Clone, Default)]
pub(super) struct Spaces {
    /// Of the thread itself; without a checkpoint it isn't there.
    own: Rows,
    children: BTreeMap<Name, Rows>,
    /// It was deleted: what has it still in hand must look for it again.
    pub(super) gone: bool,
}

impl Thread {
    pub(super) fn new(id: Name, spaces: Spaces) -> Self {
        Self { id, spaces: Mutex::new(spaces) }
    }

    pub(super) fn spaces(&self) -> MutexGuard<'_, Spaces> {
        // A panic while it is held would leave at most a row of which nothing speaks.
        self.spaces.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Stores a checkpoint, unless the thread is gone.
    pub(super) fn commit(&self, namespace: &str, commit: &Commit) -> Option<Result<(), StoreError>> {
        let mut spaces = self.spaces();
        (!spaces.gone).then(|| spaces.commit(&self.id, namespace, commit))
    }
}

impl AtOnce for Thread {
    fn commit(&self, commit: &Commit) -> Option<Result<(), StoreError>> {
        Self::commit(self, "", commit)
    }
}

impl Spaces {
    fn commit(&mut self, thread: &str, namespace: &str, commit: &Commit) -> Result<(), StoreError> {
        if namespace.is_empty() {
            return self.own.commit(thread, commit);
        }
        if let Some(rows) = self.children.get_mut(namespace) {
            return rows.commit(thread, commit);
        }
        // A commit that is refused leaves no empty namespace behind.
        let mut rows = Rows::default();
        rows.commit(thread, commit)?;
        self.children.insert(namespace.into(), rows);
        Ok(())
    }

    pub(super) fn get(&self, namespace: &str) -> Option<&Rows> {
        if namespace.is_empty() { Some(&self.own).filter(|own| !own.is_empty()) } else { self.children.get(namespace) }
    }

    pub(super) fn get_mut(&mut self, namespace: &str) -> Option<&mut Rows> {
        if namespace.is_empty() {
            Some(&mut self.own).filter(|own| !own.is_empty())
        } else {
            self.children.get_mut(namespace)
        }
    }

    /// Drops a namespace; `false` if it wasn't there.
    pub(super) fn remove(&mut self, namespace: &str) -> bool {
        if namespace.is_empty() {
            return !std::mem::take(&mut self.own).is_empty();
        }
        self.children.remove(namespace).is_some()
    }

    /// In the order of their bytes.
    pub(super) fn names(&self) -> impl Iterator<Item = Name> {
        let own = (!self.own.is_empty()).then(Name::default);
        own.into_iter().chain(self.children.keys().cloned())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.own.is_empty() && self.children.is_empty()
    }

    pub(super) fn bytes(&self) -> usize {
        self.own.bytes() + self.children.values().map(Rows::bytes).sum::<usize>()
    }
}
