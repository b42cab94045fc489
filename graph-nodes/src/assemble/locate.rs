//! Which call a fragment belongs to.

use std::collections::{BTreeMap, BTreeSet};

use super::slot::{Piece, Slot};
use crate::fnv::Fnv;

/// The answer: a call that is there, a new one, or nothing to do.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Place {
    Call(usize),
    New,
    Nowhere,
}

/// What is known of the calls so far, so that no fragment searches all of them.
#[derive(Clone, Debug, Default)]
pub(super) struct Places {
    /// The latest call at each index.
    pub(super) by_index: BTreeMap<u32, usize>,
    /// Some index has, or had, several calls.
    pub(super) is_shared: bool,
    /// The latest call with each id.
    pub(super) by_id: BTreeMap<String, usize>,
    /// Calls whose arguments are not complete.
    pub(super) open: BTreeSet<usize>,
    /// Those of them without an index.
    pub(super) unindexed: BTreeSet<usize>,
    /// The open calls by the hash of their name so far.
    pub(super) named: BTreeSet<(u64, usize)>,
    /// Calls without a name.
    pub(super) unnamed: BTreeSet<usize>,
}

impl Places {
    /// Finds the place of `piece` among `calls`.
    ///
    /// `joins(first, second)` says whether two pieces of a name make a known
    /// tool's name, which only a registry can tell.
    pub(super) fn locate(&self, calls: &[Slot], piece: &Piece, joins: impl Fn(&str, &str) -> bool) -> Place {
        let place = match piece.index {
            Some(index) => self.at_index(calls, piece, index),
            None => self.without_index(calls, piece, joins),
        };
        match place {
            Place::Call(call) if calls[call].is_complete() && piece.starts_container() => Place::New,
            place => place,
        }
    }

    /// The latest call at this index.
    pub(super) fn latest_at(&self, calls: &[Slot], index: u32) -> Option<usize> {
        // Nearly always the calls are numbered as they come.
        let same = usize::try_from(index).ok().filter(|call| !self.is_shared && *call < calls.len());
        let same = same.filter(|call| calls[*call].index == Some(index));
        same.or_else(|| self.by_index.get(&index).copied())
    }

    fn at_index(&self, calls: &[Slot], piece: &Piece, index: u32) -> Place {
        let Some(&latest) = self.by_index.get(&index) else {
            return self.unindexed(calls, piece).map_or(Place::New, Place::Call);
        };
        let Some(id) = &piece.id else { return Place::Call(latest) };
        if calls[latest].id.as_ref() == Some(id) {
            return Place::Call(latest);
        }
        match self.by_id.get(id) {
            // Calls that share an index are told apart by their ids.
            Some(&known) if calls[known].index == Some(index) => return Place::Call(known),
            _ => {}
        }
        let takes_over = calls[latest].id.is_some() && (piece.name.is_some() || calls[latest].is_complete());
        // A call without an id gets it late.
        if takes_over { Place::New } else { Place::Call(latest) }
    }

    /// A call that was started without the index its later fragments have.
    fn unindexed(&self, calls: &[Slot], piece: &Piece) -> Option<usize> {
        let is_unindexed = |call: &usize| calls[*call].index.is_none();
        match &piece.id {
            Some(id) => self.by_id.get(id).copied().filter(is_unindexed),
            None if piece.name.is_none() => self.unindexed.first().copied(),
            None => None,
        }
    }

    fn without_index(&self, calls: &[Slot], piece: &Piece, joins: impl Fn(&str, &str) -> bool) -> Place {
        let last = calls.len().checked_sub(1);
        match (&piece.id, &piece.name) {
            (Some(id), name) => {
                if let Some(&known) = self.by_id.get(id) {
                    return Place::Call(known);
                }
                let Some(last) = last else { return Place::New };
                let open = !calls[last].is_complete();
                let continues = match name {
                    Some(_) => open && calls[last].id.is_none() && calls[last].name.is_none(),
                    None => open || (calls[last].id.is_none() && piece.text.trim().is_empty()),
                };
                if continues { Place::Call(last) } else { Place::New }
            }
            (None, Some(name)) => {
                let halved = |call: &usize| {
                    self.open.contains(call)
                        && calls[*call].arguments.is_empty()
                        && calls[*call].name.as_deref().is_some_and(|known| joins(known, name))
                };
                let unnamed = self.unnamed.last().copied();
                let found = unnamed.or_else(|| last.filter(halved)).or_else(|| self.open_named(calls, name));
                found.map_or(Place::New, Place::Call)
            }
            (None, None) => match self.open.last().copied() {
                Some(open) => Place::Call(open),
                None if piece.is_blank() => Place::Nowhere,
                None => last.map_or(Place::New, Place::Call),
            },
        }
    }

    /// The last open call of this name.
    fn open_named(&self, calls: &[Slot], name: &str) -> Option<usize> {
        let hash = Fnv::of(name).get();
        let same_hash = self.named.range((hash, 0)..=(hash, usize::MAX)).rev().map(|(_, call)| *call);
        same_hash.into_iter().find(|call| calls[*call].name.as_deref() == Some(name))
    }
}
