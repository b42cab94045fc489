//! Blocks: what a place committed, record after record in one row, so that a thousand small commits are a few dozen rows
//! and a commit touches one page.
//!
//! A block begins with its version. Each record follows with its length in front, so a damaged one doesn't hide the
//! others. Numbers are LEB128. A text is there once in a block; later ones refer to where it is (a number above 0 instead
//! of a 0 and the text).
//!
//! ```text
//! record     number - first number of the block, length of the header, header (none: the checkpoint was pruned), fields
//! header     flags, id, kind, step, time, parent, due, turn, tags, position, directory
//! fields     how many, then for each: name, how far back the field was written before, how many segments, segments
//! segment    encoding (with the highest bit: its bytes are a row of their own), first item, items, bytes or their number
//! directory  how many fields, then for each: name, how far back it was written last
//! position   a text, and where the digits of the step belong in it; or a row; or the number of a row of its own
//! ```
//!
//! A block knows nothing of its key and of other blocks but distances, so a thread is copied by copying rows.

mod build;
mod number;
mod record;
mod view;

pub(crate) use build::{Builder, Draft};
pub(crate) use record::{Group, Header, Held, Parent, Piece, Position, Record};
pub(crate) use view::{Block, Damaged, Slot};

/// The version of this form.
const VERSION: u8 = 1;

/// How large a block becomes, so that its row fills a page of 4,096 bytes. One record may be larger.
const SIZE: usize = 4_040;

/// How long a row may be that is kept in a block; a longer one is a row of the table of large ones.
pub(crate) const INLINE: usize = 1_024;

/// The kinds of checkpoints by their numbers; any other one is a text.
const KINDS: [&str; 6] = ["input", "step", "pending", "edit", "fork", "abandon"];
const OTHER_KIND: u8 = 0xff;

/// In the byte of a segment's encoding: its bytes are a row of their own.
const LARGE: u8 = 0x80;

// The flags of a header.
const BACK: u8 = 0x01;
const PRUNED: u8 = 0x02;
const DUE: u8 = 0x04;
const TAGS: u8 = 0x08;
const ROW: u8 = 0x10;
const LARGE_ROW: u8 = 0x20;
const DIRECTORY: u8 = 0x40;

#[cfg(test)]
mod tests;
