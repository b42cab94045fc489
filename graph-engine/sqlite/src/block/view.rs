//! Reading a block. Whatever its bytes are, nothing here panics.

use std::ops::Range;

use graph_engine::CheckpointId;

use super::number::take;
use super::record::{Group, Header, Held, Parent, Piece, Position, Record};
use super::{BACK, DIRECTORY, DUE, KINDS, LARGE, LARGE_ROW, OTHER_KIND, PRUNED, ROW, TAGS, VERSION};

/// What can't be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Damaged(pub(crate) &'static str);

/// A block as it is stored.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Block<'a> {
    first: i64,
    bytes: &'a [u8],
}

/// Where a record is.
#[derive(Clone, Debug)]
pub(crate) struct Slot {
    pub(crate) number: i64,
    header: Range<usize>,
    groups: Range<usize>,
}

impl Slot {
    /// Whether it is a checkpoint still.
    pub(crate) fn is_checkpoint(&self) -> bool {
        !self.header.is_empty()
    }
}

/// The part of a record that is being read: the block up to its end, so that places of texts mean what they say.
struct Reader<'a> {
    block: &'a [u8],
    at: usize,
}

fn number(value: Option<u64>, what: &'static str) -> Result<u64, Damaged> {
    value.ok_or(Damaged(what))
}

/// A distance, or a number of a row: more than these are never given out.
fn distance(value: u64, what: &'static str) -> Result<i64, Damaged> {
    u32::try_from(value).map(i64::from).map_err(|_| Damaged(what))
}

impl<'a> Reader<'a> {
    #[inline]
    fn new(block: &'a [u8], part: Range<usize>) -> Self {
        Self { block: block.get(..part.end).unwrap_or(&[]), at: part.start }
    }

    #[inline]
    fn number(&mut self, what: &'static str) -> Result<u64, Damaged> {
        number(take(self.block, &mut self.at), what)
    }

    #[inline]
    fn bytes(&mut self, length: u64, what: &'static str) -> Result<&'a [u8], Damaged> {
        let length = usize::try_from(length).map_err(|_| Damaged(what))?;
        let (bytes, _) =
            self.block.get(self.at..).and_then(|rest| rest.split_at_checked(length)).ok_or(Damaged(what))?;
        self.at += length;
        Ok(bytes)
    }

    #[inline]
    fn byte(&mut self, what: &'static str) -> Result<u8, Damaged> {
        let byte = *self.block.get(self.at).ok_or(Damaged(what))?;
        self.at += 1;
        Ok(byte)
    }

    fn id(&mut self, what: &'static str) -> Result<CheckpointId, Damaged> {
        let bytes = self.bytes(16, what)?;
        Ok(CheckpointId::from_bytes(bytes.try_into().map_err(|_| Damaged(what))?))
    }

    /// The bytes of a text, and where it is if it is written here.
    #[inline]
    fn text_bytes(&mut self, what: &'static str) -> Result<(&'a [u8], Option<usize>), Damaged> {
        let place = self.number(what)?;
        if place == 0 {
            let here = self.at;
            let length = self.number(what)?;
            return Ok((self.bytes(length, what)?, Some(here)));
        }
        // It is in a record before this one.
        let at = usize::try_from(place).ok().filter(|at| *at < self.at).ok_or(Damaged(what))?;
        let mut there = Reader::new(self.block, at..self.at);
        let length = there.number(what)?;
        Ok((there.bytes(length, what)?, None))
    }

    fn text(&mut self, what: &'static str) -> Result<(&'a str, Option<usize>), Damaged> {
        let (bytes, here) = self.text_bytes(what)?;
        std::str::from_utf8(bytes).map(|text| (text, here)).map_err(|_| Damaged(what))
    }

    #[inline]
    fn piece(&mut self) -> Result<Piece<'a>, Damaged> {
        const WHAT: &str = "a segment";
        let code = self.byte(WHAT)?;
        let (first, items) = (self.number(WHAT)?, self.number(WHAT)?);
        let of = self.number(WHAT)?;
        let held = if code & LARGE == 0 { Held::Here(self.bytes(of, WHAT)?) } else { Held::Large(distance(of, WHAT)?) };
        Ok(Piece { encoding: code & !LARGE, first, items, held })
    }
}

impl<'a> Block<'a> {
    pub(crate) fn new(first: i64, bytes: &'a [u8]) -> Self {
        Self { first, bytes }
    }

    /// Where its records are, the oldest first, and what can't be read behind them.
    pub(crate) fn slots(&self) -> (Vec<Slot>, Result<(), Damaged>) {
        let mut slots = Vec::with_capacity(32);
        let Some((&VERSION, _)) = self.bytes.split_first() else {
            return (slots, Err(Damaged("its version, which another program may know")));
        };
        let mut at = 1;
        while at < self.bytes.len() {
            match self.record_at(at, slots.last()) {
                Ok(slot) => {
                    at = slot.groups.end;
                    slots.push(slot);
                }
                Err(damaged) => return (slots, Err(damaged)),
            }
        }
        (slots, Ok(()))
    }

    fn record_at(&self, at: usize, last: Option<&Slot>) -> Result<Slot, Damaged> {
        const WHAT: &str = "where its records are";
        let mut record = Reader { block: self.bytes, at };
        let length = record.number(WHAT)?;
        let start = record.at;
        record.bytes(length, WHAT)?;
        let end = record.at;
        let mut record = Reader::new(self.bytes, start..end);
        let number = self.first + distance(record.number(WHAT)?, WHAT)?;
        if last.is_some_and(|last| last.number >= number) {
            return Err(Damaged(WHAT));
        }
        let length = record.number(WHAT)?;
        let header = record.at;
        record.bytes(length, WHAT)?;
        Ok(Slot { number, header: header..record.at, groups: record.at..end })
    }

    /// The id of a checkpoint; `None` for one that was pruned, or is damaged.
    pub(crate) fn id(&self, slot: &Slot) -> Option<CheckpointId> {
        let bytes = self.bytes.get(slot.header.clone())?.get(1..17)?;
        Some(CheckpointId::from_bytes(bytes.try_into().ok()?))
    }

    /// What is said of a checkpoint; `None` for one that was pruned.
    pub(crate) fn header(&self, slot: &Slot) -> Result<Option<Header<'a>>, Damaged> {
        self.read_header(slot, &mut |_| {})
    }

    fn read_header(&self, slot: &Slot, text: &mut dyn FnMut(usize)) -> Result<Option<Header<'a>>, Damaged> {
        if slot.header.is_empty() {
            return Ok(None);
        }
        let mut from = Reader::new(self.bytes, slot.header.clone());
        let mut note = |(read, here): (&'a str, Option<usize>)| {
            here.into_iter().for_each(&mut *text);
            read
        };
        let flags = from.byte("the flags")?;
        let id = from.id("the id")?;
        let kind = match from.byte("the kind")? {
            OTHER_KIND => note(from.text("the kind")?),
            code => *KINDS.get(usize::from(code)).ok_or(Damaged("the kind"))?,
        };
        let (step, time_ms) = (from.number("the step")?, from.number("the time")?);
        let parent = match flags & (BACK | PRUNED) {
            0 => Parent::None,
            BACK => Parent::Back(distance(from.number("the parent")?, "the parent")?),
            PRUNED => Parent::Pruned(from.id("the parent")?),
            _ => return Err(Damaged("the parent")),
        };
        let due_ms = if flags & DUE == 0 { None } else { Some(from.number("when it is due")?) };
        let turn = note(from.text("the turn")?);
        let tags = if flags & TAGS == 0 { None } else { Some(note(from.text("the tags")?)) };
        const WHAT: &str = "the position";
        let position = match flags & (ROW | LARGE_ROW) {
            0 => {
                let text = note(from.text(WHAT)?);
                let at = usize::try_from(from.number(WHAT)?).map_err(|_| Damaged(WHAT))?;
                let (before, after) = text.split_at_checked(at).ok_or(Damaged(WHAT))?;
                Position::Around(before, after)
            }
            ROW => {
                let length = from.number(WHAT)?;
                Position::Row(from.bytes(length, WHAT)?)
            }
            LARGE_ROW => Position::Large(distance(from.number(WHAT)?, WHAT)?),
            _ => return Err(Damaged(WHAT)),
        };
        let directory = if flags & DIRECTORY == 0 {
            None
        } else {
            const WHAT: &str = "where its fields are";
            let mut fields = Vec::new();
            for _ in 0..from.number(WHAT)? {
                let name = note(from.text(WHAT)?);
                fields.push((name, distance(from.number(WHAT)?, WHAT)?));
            }
            Some(fields)
        };
        Ok(Some(Header { id, parent, step, time_ms, kind, due_ms, turn, tags, position, directory }))
    }

    /// The fields that a record wrote.
    pub(crate) fn groups(&self, slot: &Slot) -> Result<Groups<'a>, Damaged> {
        let mut from = Reader::new(self.bytes, slot.groups.clone());
        let left = from.number("how many fields it wrote")?;
        Ok(Groups { from, left, pieces: 0, here: None })
    }

    /// All of a record.
    pub(crate) fn record(&self, slot: &Slot) -> Result<Record<'a>, Damaged> {
        let mut groups = Vec::new();
        let mut from = self.groups(slot)?;
        while let Some((name, back)) = from.next_field()? {
            let mut pieces = Vec::new();
            while let Some(piece) = from.next_piece()? {
                pieces.push(piece);
            }
            groups.push(Group { name, back, pieces });
        }
        Ok(Record { number: slot.number, header: self.header(slot)?, groups })
    }

    /// Where its texts are.
    pub(super) fn texts(&self) -> Result<Vec<usize>, Damaged> {
        let mut texts = Vec::new();
        let (slots, whole) = self.slots();
        whole?;
        for slot in slots {
            self.read_header(&slot, &mut |at| texts.push(at))?;
            let mut from = self.groups(&slot)?;
            while from.next_field()?.is_some() {
                texts.extend(from.here);
            }
        }
        Ok(texts)
    }
}

/// The fields of a record, one after the other, each with its segments.
pub(crate) struct Groups<'a> {
    from: Reader<'a>,
    left: u64,
    pieces: u64,
    /// Where the name of the field is, if it is written there.
    here: Option<usize>,
}

impl<'a> Groups<'a> {
    /// The next field, and how far back it was written before. Segments of the one before that were not asked for are
    /// passed over.
    pub(crate) fn next_field(&mut self) -> Result<Option<(&'a str, i64)>, Damaged> {
        let Some((name, back)) = self.next()? else { return Ok(None) };
        std::str::from_utf8(name).map(|name| Some((name, back))).map_err(|_| Damaged("a field"))
    }

    /// Goes on to the field of that name: how far back it was written before.
    pub(crate) fn find(&mut self, name: &str) -> Result<i64, Damaged> {
        loop {
            match self.next()? {
                Some((field, back)) if field == name.as_bytes() => return Ok(back),
                Some(_) => {}
                None => return Err(Damaged("a field that was written in it")),
            }
        }
    }

    #[inline]
    fn next(&mut self) -> Result<Option<(&'a [u8], i64)>, Damaged> {
        while self.pieces > 0 {
            self.next_piece()?;
        }
        if self.left == 0 {
            return Ok(None);
        }
        self.left -= 1;
        const WHAT: &str = "a field";
        let (name, here) = self.from.text_bytes(WHAT)?;
        self.here = here;
        let back = distance(self.from.number(WHAT)?, WHAT)?;
        self.pieces = self.from.number(WHAT)?;
        Ok(Some((name, back)))
    }

    /// How far its block was read: where the row of the last segment ends, if it is there.
    pub(crate) fn at(&self) -> usize {
        self.from.at
    }

    /// The next segment of the field.
    #[inline]
    pub(crate) fn next_piece(&mut self) -> Result<Option<Piece<'a>>, Damaged> {
        if self.pieces == 0 {
            return Ok(None);
        }
        self.pieces -= 1;
        self.from.piece().map(Some)
    }
}
