//! The blocks of a place, each read once.

use graph_engine::{CheckpointId, StoreError};
use graph_engine_rows::decode;
use rusqlite::{Connection, OptionalExtension, params};

use crate::block::{Block, Damaged, Held, Slot};
use crate::error::Failed;
use crate::keys;

/// Whose rows are read, where they are, and for errors.
#[derive(Clone, Copy)]
pub(crate) struct Whose<'c> {
    pub(crate) connection: &'c Connection,
    pub(crate) space: i64,
    pub(crate) thread: &'c str,
}

/// What is looked at to answer one question.
pub(crate) struct Blocks<'c> {
    pub(crate) whose: Whose<'c>,
    loaded: Vec<Loaded>,
    /// The one that was asked for last.
    last: usize,
}

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
    pub(crate) fn row(self, held: Held<'_>, id: CheckpointId, what: impl Fn() -> String) -> Result<Vec<u8>, Failed> {
        let read = |row: &[u8]| decode(row).map_err(|error| error.corrupt(self.thread, Some(id), &what()));
        match held {
            Held::Here(row) => Ok(read(row)?),
            Held::Large(number) => {
                let mut query = self.connection.prepare_cached("SELECT bytes FROM large WHERE key = ?1")?;
                let mut rows = query.query([keys::key(self.space, number)?])?;
                let Some(row) = rows.next()? else {
                    let why = format!("{} of checkpoint {id} is missing", what());
                    return Err(StoreError::corrupt(self.thread, why).into());
                };
                Ok(read(row.get_ref(0)?.as_blob().map_err(rusqlite::Error::from)?)?)
            }
        }
    }
}

impl<'c> Blocks<'c> {
    pub(crate) fn new(connection: &'c Connection, space: i64, thread: &'c str) -> Self {
        Self { whose: Whose { connection, space, thread }, loaded: Vec::new(), last: 0 }
    }

    /// The newest block that begins with this number or before it.
    pub(crate) fn before(&mut self, number: i64) -> Result<Option<&Loaded>, Failed> {
        let covers = |loaded: &Loaded| loaded.first <= number && number <= loaded.upto;
        if !self.loaded.get(self.last).is_some_and(covers) {
            self.last = match self.loaded.iter().rposition(covers) {
                Some(at) => at,
                None => match self.read(number)? {
                    Some(at) => at,
                    None => return Ok(None),
                },
            };
        }
        Ok(self.loaded.get(self.last))
    }

    fn read(&mut self, number: i64) -> Result<Option<usize>, Failed> {
        let range = keys::up_to(self.whose.space, number);
        let read = self
            .whose
            .connection
            .prepare_cached("SELECT key, bytes FROM blocks WHERE key BETWEEN ?1 AND ?2 ORDER BY key DESC LIMIT 1")?
            .query_row(params![range.start(), range.end()], |row| Ok((row.get(0)?, row.get::<_, Vec<u8>>(1)?)))
            .optional()?;
        let Some((key, bytes)) = read else { return Ok(None) };
        let first = keys::number(key);
        if let Some(at) = self.loaded.iter().position(|loaded| loaded.first == first) {
            self.loaded[at].upto = number;
            return Ok(Some(at));
        }
        let (slots, whole) = Block::new(first, &bytes).slots();
        let upto = slots.last().map_or(number, |slot| slot.number.max(number));
        self.loaded.push(Loaded { first, upto, bytes, slots, whole });
        Ok(Some(self.loaded.len() - 1))
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
        self.slot(number)?.ok_or_else(|| whose.damaged(number, Damaged("what was added to")))
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
