//! What a record holds, whether it is on its way into a block or read from one.

use graph_engine::CheckpointId;

/// A checkpoint, or what is left of one that was pruned.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Record<'a> {
    pub(crate) number: i64,
    /// `None` if it was pruned: only segments are left that later ones need.
    pub(crate) header: Option<Header<'a>>,
    /// The fields that it wrote.
    pub(crate) groups: Vec<Group<'a>>,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Header<'a> {
    pub(crate) id: CheckpointId,
    pub(crate) parent: Parent,
    pub(crate) step: u64,
    pub(crate) time_ms: u64,
    pub(crate) kind: &'a str,
    pub(crate) due_ms: Option<u64>,
    pub(crate) turn: &'a str,
    /// As JSON.
    pub(crate) tags: Option<&'a str>,
    pub(crate) position: Position<'a>,
    /// Of every field that the checkpoint sees: how far back it was written last.
    pub(crate) directory: Option<Vec<(&'a str, i64)>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Parent {
    None,
    /// So many numbers back.
    Back(i64),
    Pruned(CheckpointId),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Position<'a> {
    /// These two with the digits of the step between them.
    Around(&'a str, &'a str),
    /// A row, as the crate of rows writes them.
    Row(&'a [u8]),
    /// The number of a row of its own.
    Large(i64),
}

/// What a checkpoint wrote to one field.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Group<'a> {
    pub(crate) name: &'a str,
    /// How far back the field was written before; 0 if that doesn't matter, or it never was.
    pub(crate) back: i64,
    pub(crate) pieces: Vec<Piece<'a>>,
}

/// A segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Piece<'a> {
    pub(crate) encoding: u8,
    pub(crate) first: u64,
    pub(crate) items: u64,
    pub(crate) held: Held<'a>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Held<'a> {
    /// A row, as the crate of rows writes them.
    Here(&'a [u8]),
    /// The number of a row of its own.
    Large(i64),
}

impl<'a> Position<'a> {
    /// Longer ones are rows: a text is looked for among those of its block.
    const LONGEST_TEXT: usize = 512;

    /// A position that names its step, which is most of what sets one apart from the one before.
    pub(crate) fn around(position: &'a [u8], step: u64) -> Option<Self> {
        const KEY: &[u8] = b"\"step\":";
        if position.len() > Self::LONGEST_TEXT {
            return None;
        }
        let start = position.windows(KEY.len()).position(|bytes| bytes == KEY)? + KEY.len();
        let digits = position[start..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        let text = std::str::from_utf8(position).ok()?;
        let (before, rest) = text.split_at(start);
        let (number, after) = rest.split_at(digits);
        // Written again it has to be the same text.
        let same = number.parse() == Ok(step) && (digits == 1 || !number.starts_with('0'));
        same.then_some(Self::Around(before, after))
    }
}
