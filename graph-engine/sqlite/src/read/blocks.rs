//! The blocks of a place, each read once.

use std::borrow::Cow;
use std::ops::Range;

use graph_engine::{CheckpointId, StoreError};
use graph_engine_rows::{RowError, decode, decode_ref};
use rusqlite::Connection;

use crate::block::{Block, Damaged, Held, Slot};
use crate::error::Failed;
use crate::keys;

/// Whose rows are read, where they are, and for errors.
#[derive(Clone, Copy)]
pub(crate) struct Whose<'c> {
    pub(crate) connection: &'c Connection,
    pub(crate) space: i64,
    pub(crate) thread: &'c str,
    pub(crate) most: Most,
}

/// How much may be read for one answer. More is an error, of which nobody is told but whoever asks again without a limit.
#[derive(Clone, Copy)]
pub(crate) enum Most {
    /// A few hundred kilobytes: for whoever asks on a thread that has other things to do.
    Little,
    /// Everything.
    All,
}

impl Most {
    /// Blocks that are read at most.
    fn blocks(self) -> usize {
        match self {
            Self::Little => 96,
            Self::All => usize::MAX,
        }
    }

    /// Bytes of a value that has a row of its own.
    fn row(self) -> i64 {
        match self {
            Self::Little => 64 * 1_024,
            Self::All => i64::MAX,
        }
    }

    fn exceeded() -> Failed {
        StoreError::unavailable("this is too long to be read at once").into()
    }
}

/// What is looked at to answer one question.
pub(crate) struct Blocks<'c> {
    pub(crate) whose: Whose<'c>,
    loaded: Vec<Loaded>,
    /// The one that was asked for last.
    last: usize,
    /// How many are read at once when the next one before those that are there is asked for.
    ahead: usize,
}

/// Most blocks that are read at once.
const AHEAD: usize = 32;

/// What is missing if a number has no record that one after it was made upon.
const ADDED_TO: &str = "what was added to";

/// A block, and where its records are.
pub(crate) struct Loaded {
    pub(crate) first: i64,
    /// It is known to be the one for all numbers up to this one.
    upto: i64,
    pub(crate) bytes: Vec<u8>,
    pub(crate) slots: Vec<Slot>,
    /// What can't be read behind them.
    pub(crate) whole: Result<(), Damaged>,
}

impl Loaded {
    pub(crate) fn view(&self) -> Block<'_> {
        Block::new(self.first, &self.bytes)
    }

    /// The record of a number that has to be there.
    pub(crate) fn needed(&self, number: i64) -> Result<&Slot, Damaged> {
        self.slot(number).ok_or_else(|| self.whole.err().unwrap_or(Damaged(ADDED_TO)))
    }

    /// The record of a number.
    fn slot(&self, number: i64) -> Option<&Slot> {
        // Mostly nothing was pruned, and they follow each other.
        let guess = usize::try_from(number - self.first).ok().and_then(|at| self.slots.get(at));
        if let Some(slot) = guess.filter(|slot| slot.number == number) {
            return Some(slot);
        }
        self.slots.binary_search_by_key(&number, |slot| slot.number).ok().map(|at| &self.slots[at])
    }
}

impl Whose<'_> {
    /// The error of a block that can't be read.
    pub(crate) fn damaged(self, number: i64, Damaged(what): Damaged) -> Failed {
        let why = format!("the block of checkpoint number {number} is damaged: {what} can't be read");
        StoreError::corrupt(self.thread, why).into()
    }

    /// The error of a checkpoint that can't be read.
    pub(crate) fn corrupt(self, id: CheckpointId, Damaged(what): Damaged) -> Failed {
        StoreError::corrupt(self.thread, format!("{what} of checkpoint {id} can't be read, its record is damaged"))
            .into()
    }

    /// What was stored: the bytes of a row that is here, or of one of its own.
    pub(crate) fn row<'r>(
        self,
        held: Held<'r>,
        id: CheckpointId,
        what: impl Fn() -> String,
    ) -> Result<Cow<'r, [u8]>, Failed> {
        let corrupt = |error: RowError| error.corrupt(self.thread, Some(id), &what());
        match held {
            Held::Here(row) => Ok(decode_ref(row).map_err(corrupt)?),
            Held::Large(number) => {
                let sql = "SELECT bytes FROM large WHERE key = ?1 AND length(bytes) <= ?2";
                let mut query = self.connection.prepare_cached(sql)?;
                let mut rows = query.query([keys::key(self.space, number)?, self.most.row()])?;
                let Some(row) = rows.next()? else {
                    let why = format!("{} of checkpoint {id} is missing", what());
                    return Err(StoreError::corrupt(self.thread, why).into());
                };
                let bytes = decode(row.get_ref(0)?.as_blob().map_err(rusqlite::Error::from)?);
                Ok(Cow::Owned(bytes.map_err(corrupt)?))
            }
        }
    }
}

impl<'c> Blocks<'c> {
    pub(crate) fn new(connection: &'c Connection, space: i64, thread: &'c str) -> Self {
        Self::at_most(connection, space, thread, Most::All)
    }

    pub(crate) fn at_most(connection: &'c Connection, space: i64, thread: &'c str, most: Most) -> Self {
        Self { whose: Whose { connection, space, thread, most }, loaded: Vec::new(), last: 0, ahead: 1 }
    }

    /// The newest block that begins with this number or before it.
    pub(crate) fn before(&mut self, number: i64) -> Result<Option<&Loaded>, Failed> {
        Ok(self.place(number)?.map(|at| &self.loaded[at]))
    }

    /// Where that block is among those that were read.
    fn place(&mut self, number: i64) -> Result<Option<usize>, Failed> {
        let covers = |loaded: &Loaded| loaded.first <= number && number <= loaded.upto;
        if !self.loaded.get(self.last).is_some_and(covers) {
            // Mostly the one before it, which was read with it.
            let next = Some(self.last + 1).filter(|at| self.loaded.get(*at).is_some_and(covers));
            self.last = match next.or_else(|| self.loaded.iter().rposition(covers)) {
                Some(at) => at,
                None => match self.read(number)? {
                    Some(at) => at,
                    None => return Ok(None),
                },
            };
        }
        Ok(Some(self.last))
    }

    /// Reads the block of a number, and some before it for whoever walks back through all of them.
    fn read(&mut self, number: i64) -> Result<Option<usize>, Failed> {
        let near = |last: &Loaded| number < last.first && last.first - number <= 2 * last.slots.len() as i64;
        let walks = self.loaded.last().is_some_and(near);
        self.ahead = if walks { (self.ahead * 2).min(AHEAD) } else { 1 };
        let left = self.whose.most.blocks() - self.loaded.len();
        if left == 0 {
            return Err(Most::exceeded());
        }
        let range = keys::up_to(self.whose.space, number);
        // Without a limit: SQLite would plan the statement anew for each other one.
        let sql = "SELECT key, bytes FROM blocks WHERE key BETWEEN ?1 AND ?2 ORDER BY key DESC";
        let mut query = self.whose.connection.prepare_cached(sql)?;
        let mut rows = query.query([range.start(), range.end()])?;
        let (mut upto, mut found) = (number, None);
        for _ in 0..self.ahead.min(left) {
            let Some(row) = rows.next()? else { break };
            let first = keys::number(row.get(0)?);
            if let Some(at) = self.loaded.iter().position(|loaded| loaded.first == first) {
                // It reaches further than its records do, or it is damaged.
                let loaded = &mut self.loaded[at];
                loaded.upto = loaded.upto.max(upto);
                return Ok(found.or(Some(at)));
            }
            let bytes: Vec<u8> = row.get(1)?;
            let (slots, whole) = Block::new(first, &bytes).slots();
            // Where one ends is known by where the next one begins; of the newest one read its records say it.
            if found.is_none() {
                upto = slots.last().map_or(upto, |slot| slot.number.max(upto));
            }
            found = found.or(Some(self.loaded.len()));
            self.loaded.push(Loaded { first, upto, bytes, slots, whole });
            upto = first - 1;
        }
        Ok(found)
    }

    /// The record of a number, and its block.
    pub(crate) fn slot(&mut self, number: i64) -> Result<Option<(Block<'_>, &Slot)>, Failed> {
        let whose = self.whose;
        let Some(loaded) = self.before(number)? else { return Ok(None) };
        match (loaded.slot(number), loaded.whole) {
            (Some(slot), _) => Ok(Some((loaded.view(), slot))),
            (None, Ok(())) => Ok(None),
            (None, Err(damaged)) => Err(whose.damaged(number, damaged)),
        }
    }

    /// The same of one that has to be there.
    pub(crate) fn needed(&mut self, number: i64) -> Result<(Block<'_>, &Slot), Failed> {
        let whose = self.whose;
        self.slot(number)?.ok_or_else(|| whose.damaged(number, Damaged(ADDED_TO)))
    }

    /// The block of a number that has to be there, and its place among those that were read, for [`bytes`](Self::bytes).
    pub(crate) fn needed_block(&mut self, number: i64) -> Result<(usize, &Loaded), Failed> {
        let whose = self.whose;
        let place = self.place(number)?.ok_or_else(|| whose.damaged(number, Damaged(ADDED_TO)))?;
        Ok((place, &self.loaded[place]))
    }

    /// Bytes of a block that was read.
    pub(crate) fn bytes(&self, place: usize, range: Range<usize>) -> &[u8] {
        self.loaded.get(place).and_then(|loaded| loaded.bytes.get(range)).unwrap_or(&[])
    }

    /// All blocks, the oldest first.
    pub(crate) fn into_all(mut self) -> Result<Vec<Loaded>, Failed> {
        let mut next = keys::number(*keys::all(self.whose.space).end());
        while let Some(loaded) = self.before(next)? {
            next = loaded.first - 1;
            if next < 0 {
                break;
            }
        }
        self.loaded.sort_by_key(|loaded| loaded.first);
        Ok(self.loaded)
    }
}
