//! One call while its fragments arrive.

use std::collections::BTreeSet;

use super::scan::Scanner;
use crate::fnv::Fnv;

/// A call that is being assembled.
#[derive(Clone, Debug, Default)]
pub(super) struct Slot {
    pub(super) index: Option<u32>,
    pub(super) id: Option<String>,
    pub(super) name: Option<String>,
    /// Of the name so far.
    pub(super) name_hash: Fnv,
    pub(super) arguments: String,
    pub(super) scanner: Scanner,
    /// The start of this call was reported.
    pub(super) started: bool,
    pub(super) told_repeated_name: bool,
    pub(super) told_value: bool,
    /// Other ids that were seen for this call.
    pub(super) told_ids: BTreeSet<String>,
}

impl Slot {
    pub(super) fn is_complete(&self) -> bool {
        self.scanner.is_complete()
    }

    pub(super) fn append(&mut self, text: &str) {
        self.scanner.feed(text);
        self.arguments.push_str(text);
    }
}

/// A fragment after normalisation: no blank id or name, arguments as text.
#[derive(Debug)]
pub(super) struct Piece {
    pub(super) index: Option<u32>,
    pub(super) id: Option<String>,
    pub(super) name: Option<String>,
    pub(super) text: String,
    pub(super) was_value: bool,
}

impl Piece {
    /// Whether this may be the first fragment of a call: a name, and text that
    /// starts a JSON container.
    pub(super) fn starts_container(&self) -> bool {
        self.name.is_some() && self.text.trim_start().starts_with(['{', '['])
    }

    /// Whether there is nothing in it.
    pub(super) fn is_blank(&self) -> bool {
        self.id.is_none() && self.name.is_none() && self.text.trim().is_empty()
    }
}
