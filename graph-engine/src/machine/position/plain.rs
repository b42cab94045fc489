//! The position of a thread whose next tasks are nothing but the names of their nodes: the frequent case, written
//! straight into the buffer. What it writes is what [`Position`](super::rows::Position) would be.

use super::super::wrote::Writer;
use crate::graph::JsonNames;
use crate::state::FieldSet;
use crate::task::NodeIx;

pub(super) struct Plain<'a> {
    pub(super) schema: u32,
    pub(super) step: u64,
    pub(super) began: u64,
    /// Who wrote in the last super-step, and in those before it that share the checkpoint.
    pub(super) wrote: &'a [(Writer, FieldSet)],
    pub(super) earlier: &'a [(Writer, FieldSet)],
    pub(super) nodes: &'a JsonNames,
    pub(super) fields: &'a JsonNames,
}

/// What was written behind the number of the super-step, for when the same comes again: a loop has few such ends.
#[derive(Default)]
pub(in super::super) struct Tails {
    known: Vec<(Key, Vec<u8>)>,
    /// The one that makes place for the next.
    oldest: usize,
}

/// All that an end depends on within a turn, where one node wrote and one is next.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Key {
    began: u64,
    next: NodeIx,
    writer: Writer,
    wrote: FieldSet,
}

/// How many ends are known at most.
const ENDS: usize = 4;

/// Super-steps of a turn before it counts as a loop.
const SHORT: u64 = 8;

impl Tails {
    fn find(&self, key: Key) -> Option<&[u8]> {
        self.known.iter().find(|(known, _)| *known == key).map(|(_, tail)| &tail[..])
    }

    fn keep(&mut self, key: Key, tail: &[u8]) {
        if self.known.len() < ENDS {
            return self.known.push((key, tail.to_vec()));
        }
        let (known, old) = &mut self.known[self.oldest];
        *known = key;
        old.clear();
        old.extend_from_slice(tail);
        self.oldest = (self.oldest + 1) % ENDS;
    }
}

impl Plain<'_> {
    /// Writes the whole position.
    pub(super) fn encode(
        &self,
        next: impl ExactSizeIterator<Item = NodeIx> + Clone,
        tails: &mut Tails,
        out: &mut Vec<u8>,
    ) -> serde_json::Result<()> {
        if self.schema > 0 {
            out.extend_from_slice(b"{\"schema\":");
            serde_json::to_writer(&mut *out, &self.schema)?;
            out.extend_from_slice(b",\"step\":");
        } else {
            out.extend_from_slice(b"{\"step\":");
        }
        serde_json::to_writer(&mut *out, &self.step)?;
        let key = match (self.wrote, self.earlier) {
            ([(writer, wrote)], []) if next.len() == 1 && self.step.saturating_sub(self.began) >= SHORT => {
                let key = |next| Key { began: self.began, next, writer: *writer, wrote: *wrote };
                next.clone().next().map(key)
            }
            _ => None,
        };
        if let Some(tail) = key.and_then(|key| tails.find(key)) {
            out.extend_from_slice(tail);
            return Ok(());
        }
        let start = out.len();
        self.end(next, out)?;
        if let Some(key) = key {
            tails.keep(key, &out[start..]);
        }
        Ok(())
    }

    /// What comes behind the number of the super-step.
    fn end(&self, next: impl Iterator<Item = NodeIx>, out: &mut Vec<u8>) -> serde_json::Result<()> {
        if self.began > 0 {
            out.extend_from_slice(b",\"began\":");
            serde_json::to_writer(&mut *out, &self.began)?;
        }
        let mut any = false;
        for node in next {
            if std::mem::replace(&mut any, true) {
                out.push(b',');
            } else {
                out.extend_from_slice(b",\"next\":[");
            }
            out.extend_from_slice(self.nodes.get(node.at()));
        }
        if any {
            out.push(b']');
        }
        if !self.wrote.is_empty() {
            out.extend_from_slice(b",\"wrote\":");
            self.rows(self.wrote, out);
        }
        if !self.earlier.is_empty() {
            out.extend_from_slice(b",\"earlier\":");
            self.rows(self.earlier, out);
        }
        out.push(b'}');
        Ok(())
    }

    /// One writer alone has no list around it.
    fn rows(&self, writers: &[(Writer, FieldSet)], out: &mut Vec<u8>) {
        let several = writers.len() > 1;
        if several {
            out.push(b'[');
        }
        for (at, (writer, wrote)) in writers.iter().enumerate() {
            if at > 0 {
                out.push(b',');
            }
            out.push(b'[');
            out.extend_from_slice(writer.json(self.nodes));
            for field in wrote.iter() {
                out.push(b',');
                out.extend_from_slice(self.fields.get(field));
            }
            out.push(b']');
        }
        if several {
            out.push(b']');
        }
    }
}

#[cfg(test)]
#[path = "plain_tests.rs"]
mod tests;
