//! A block that grows.

use super::number::{put, size};
use super::record::{Group, Header, Held, Parent, Position, Record};
use super::view::{Block, Damaged};
use super::{BACK, DIRECTORY, DUE, KINDS, LARGE, LARGE_ROW, OTHER_KIND, PRUNED, ROW, SIZE, TAGS, VERSION};

/// A block to which records are added.
#[derive(Clone, Debug)]
pub(crate) struct Builder {
    /// The number of its first record: the block's key.
    pub(crate) first: i64,
    bytes: Vec<u8>,
    /// Where its texts are.
    pub(super) texts: Vec<usize>,
}

/// A record that is being written: its bytes, and where in them new texts are. The buffers are used again.
#[derive(Debug, Default)]
pub(crate) struct Draft {
    bytes: Vec<u8>,
    texts: Vec<usize>,
}

impl Builder {
    pub(crate) fn new(first: i64) -> Self {
        let mut bytes = Vec::with_capacity(512);
        bytes.push(VERSION);
        Self { first, bytes, texts: Vec::new() }
    }

    /// Goes on with a block that was read.
    pub(crate) fn again(first: i64, bytes: Vec<u8>) -> Result<Self, Damaged> {
        let texts = Block::new(first, &bytes).texts()?;
        Ok(Self { first, bytes, texts })
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.bytes.len() == 1
    }

    /// Adds a record; `false` if it belongs into a new block, because this one is full.
    pub(crate) fn push(&mut self, record: &Record<'_>, draft: &mut Draft) -> bool {
        draft.bytes.clear();
        draft.texts.clear();
        put(&mut draft.bytes, (record.number - self.first) as u64);
        // The header's length is known once it is written, and mostly fits in the one byte that is kept for it.
        let start = draft.bytes.len();
        draft.bytes.push(0);
        if let Some(header) = &record.header {
            self.header(draft, header);
        }
        let length = draft.bytes.len() - start - 1;
        if length < 0x80 {
            draft.bytes[start] = length as u8;
        } else {
            let mut digits = Vec::new();
            put(&mut digits, length as u64);
            draft.texts.iter_mut().for_each(|text| *text += digits.len() - 1);
            draft.bytes.splice(start..=start, digits);
        }
        put(&mut draft.bytes, record.groups.len() as u64);
        for group in &record.groups {
            self.group(draft, group);
        }
        let whole = size(draft.bytes.len() as u64) + draft.bytes.len();
        if !self.is_empty() && self.bytes.len() + whole > SIZE {
            return false;
        }
        put(&mut self.bytes, draft.bytes.len() as u64);
        let at = self.bytes.len();
        self.texts.extend(draft.texts.iter().map(|text| at + text));
        self.bytes.extend_from_slice(&draft.bytes);
        true
    }

    fn header(&self, draft: &mut Draft, header: &Header<'_>) {
        let Header { id, parent, step, time_ms, kind, due_ms, turn, tags, position, directory } = header;
        let mut flags = match parent {
            Parent::None => 0,
            Parent::Back(_) => BACK,
            Parent::Pruned(_) => PRUNED,
        };
        flags |= if due_ms.is_some() { DUE } else { 0 };
        flags |= if tags.is_some() { TAGS } else { 0 };
        flags |= match position {
            Position::Around(..) => 0,
            Position::Row(_) => ROW,
            Position::Large(_) => LARGE_ROW,
        };
        flags |= if directory.is_some() { DIRECTORY } else { 0 };
        draft.bytes.push(flags);
        draft.bytes.extend_from_slice(&id.to_bytes());
        match KINDS.iter().position(|known| known == kind) {
            Some(at) => draft.bytes.push(at as u8),
            None => {
                draft.bytes.push(OTHER_KIND);
                self.text(draft, kind, "");
            }
        }
        put(&mut draft.bytes, *step);
        put(&mut draft.bytes, *time_ms);
        match parent {
            Parent::None => {}
            Parent::Back(back) => put(&mut draft.bytes, *back as u64),
            Parent::Pruned(id) => draft.bytes.extend_from_slice(&id.to_bytes()),
        }
        if let Some(due) = due_ms {
            put(&mut draft.bytes, *due);
        }
        self.text(draft, turn, "");
        if let Some(tags) = tags {
            self.text(draft, tags, "");
        }
        match position {
            Position::Around(before, after) => {
                self.text(draft, before, after);
                put(&mut draft.bytes, before.len() as u64);
            }
            Position::Row(row) => {
                put(&mut draft.bytes, row.len() as u64);
                draft.bytes.extend_from_slice(row);
            }
            Position::Large(number) => put(&mut draft.bytes, *number as u64),
        }
        if let Some(fields) = directory {
            put(&mut draft.bytes, fields.len() as u64);
            for (name, back) in fields {
                self.text(draft, name, "");
                put(&mut draft.bytes, *back as u64);
            }
        }
    }

    fn group(&self, draft: &mut Draft, group: &Group<'_>) {
        self.text(draft, group.name, "");
        put(&mut draft.bytes, group.back as u64);
        put(&mut draft.bytes, group.pieces.len() as u64);
        for piece in &group.pieces {
            let large = if matches!(piece.held, Held::Large(_)) { LARGE } else { 0 };
            draft.bytes.push(piece.encoding | large);
            put(&mut draft.bytes, piece.first);
            put(&mut draft.bytes, piece.items);
            match piece.held {
                Held::Here(bytes) => {
                    put(&mut draft.bytes, bytes.len() as u64);
                    draft.bytes.extend_from_slice(bytes);
                }
                Held::Large(number) => put(&mut draft.bytes, number as u64),
            }
        }
    }

    /// A text of two parts: where it is already, or itself.
    fn text(&self, draft: &mut Draft, before: &str, after: &str) {
        let length = before.len() + after.len();
        let known = self.texts.iter().rev().find(|at| {
            let bytes = &self.bytes[**at..];
            let digits = size(length as u64);
            // Its length first, as it was written.
            let mut start = 0;
            super::number::take(bytes, &mut start) == Some(length as u64)
                && bytes.get(digits..digits + before.len()) == Some(before.as_bytes())
                && bytes.get(digits + before.len()..digits + length) == Some(after.as_bytes())
        });
        if let Some(at) = known {
            put(&mut draft.bytes, *at as u64);
            return;
        }
        draft.bytes.push(0);
        draft.texts.push(draft.bytes.len());
        put(&mut draft.bytes, length as u64);
        draft.bytes.extend_from_slice(before.as_bytes());
        draft.bytes.extend_from_slice(after.as_bytes());
    }
}
