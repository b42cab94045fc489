//! The state that simulated nodes share, its plain twin for the oracle, and the operations that both understand.

use graph_engine::{Log, State};
use serde::{Deserialize, Serialize};

/// One line of the log: which attempt of which task wrote it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Entry(pub u64, pub u32, pub usize, pub u32);

/// A field of every kind.
#[derive(State, Clone, Debug, Default, PartialEq)]
pub(super) struct Sim {
    /// Who wrote, in task order.
    #[state(append)]
    pub log: Log<Entry>,
    /// A sum that refuses some items.
    #[state(with = add)]
    pub total: i64,
    /// Finished tasks: what bounds every loop.
    #[state(with = burn)]
    pub fuel: u64,
    /// The last writer in task order wins.
    #[state(any)]
    pub last: u64,
    /// One writer a super-step.
    pub owner: u64,
    /// Lives for one turn.
    #[state(any, transient)]
    pub draft: u64,
}

/// The item that the sum refuses, and the one at which its reducer panics.
pub(super) const REFUSED: i64 = 1313;
/// See [`REFUSED`].
pub(super) const PANICS: i64 = 6666;

fn add(total: &i64, item: i64) -> Result<i64, String> {
    match item {
        REFUSED => Err("1313 is not welcome".to_owned()),
        PANICS => panic!("6666 breaks the reducer"),
        _ => Ok(total.wrapping_add(item)),
    }
}

fn burn(fuel: &u64, item: u64) -> Result<u64, std::convert::Infallible> {
    Ok(fuel + item)
}

/// The fields in the order of their declaration.
pub(super) const FIELDS: [&str; 6] = ["log", "total", "fuel", "last", "owner", "draft"];
/// The index of the single-writer field.
pub(super) const OWNER: usize = 4;

/// One write of an update.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Op {
    /// Appends a line.
    Log(Entry),
    /// Replaces the whole log.
    Rewrite(Vec<Entry>),
    /// Adds to the sum.
    Add(i64),
    /// Replaces the sum past its reducer.
    Replace(i64),
    /// Counts a finished task.
    Burn(u64),
    /// Writes `last`.
    Last(u64),
    /// Writes `owner`.
    Owner(u64),
    /// Writes `draft`.
    Draft(u64),
}

impl Op {
    /// The field that is written, and whether it is overwritten past its rule.
    #[must_use]
    pub(super) fn target(&self) -> (usize, bool) {
        match self {
            Self::Log(_) => (0, false),
            Self::Rewrite(_) => (0, true),
            Self::Add(_) => (1, false),
            Self::Replace(_) => (1, true),
            Self::Burn(_) => (2, false),
            Self::Last(_) => (3, false),
            Self::Owner(_) => (OWNER, false),
            Self::Draft(_) => (5, false),
        }
    }
}

/// The update that consists of these writes.
pub(super) fn update(ops: &[Op]) -> SimUpdate {
    ops.iter().cloned().fold(Sim::update(), |update, op| match op {
        Op::Log(entry) => update.log([entry]),
        Op::Rewrite(entries) => update.overwrite_log(entries.into_iter().collect::<Log<_>>()),
        Op::Add(item) => update.total(item),
        Op::Replace(total) => update.overwrite_total(total),
        Op::Burn(item) => update.fuel(item),
        Op::Last(last) => update.last(last),
        Op::Owner(owner) => update.owner(owner),
        Op::Draft(draft) => update.draft(draft),
    })
}

/// The state as plain values: what the oracle folds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Facts {
    /// Twin of [`Sim::log`], and so on.
    pub log: Vec<Entry>,
    /// The sum.
    pub total: i64,
    /// Finished tasks.
    pub fuel: u64,
    /// Any writer's.
    pub last: u64,
    /// One writer's.
    pub owner: u64,
    /// This turn's.
    pub draft: u64,
}

impl View {
    /// What results are cached by: it changes as the thread goes on, so that no cached move goes round for ever.
    #[must_use]
    pub(super) fn cache_key(&self) -> u64 {
        self.fuel / 8
    }

    /// All of it as numbers.
    #[must_use]
    pub(super) fn words(&self) -> [u64; 6] {
        let Self { fuel, total, lines, last, owner, draft } = *self;
        [fuel, total.cast_unsigned(), lines as u64, last, owner, draft]
    }
}

/// As much of the state as decisions depend on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct View {
    /// Finished tasks.
    pub fuel: u64,
    /// The sum.
    pub total: i64,
    /// Lines of the log.
    pub lines: usize,
    /// The rest.
    pub last: u64,
    /// See above.
    pub owner: u64,
    /// See above.
    pub draft: u64,
}

impl From<&Sim> for Facts {
    fn from(sim: &Sim) -> Self {
        let Sim { log, total, fuel, last, owner, draft } = sim;
        let log = log.iter().cloned().collect();
        Self { log, total: *total, fuel: *fuel, last: *last, owner: *owner, draft: *draft }
    }
}

impl Sim {
    /// What decisions depend on.
    #[must_use]
    pub(super) fn view(&self) -> View {
        let (lines, last, owner, draft) = (self.log.len(), self.last, self.owner, self.draft);
        View { fuel: self.fuel, total: self.total, lines, last, owner, draft }
    }
}

impl Facts {
    /// What decisions depend on.
    #[must_use]
    pub(super) fn view(&self) -> View {
        let (lines, last, owner, draft) = (self.log.len(), self.last, self.owner, self.draft);
        View { fuel: self.fuel, total: self.total, lines, last, owner, draft }
    }

    /// Carries out one write.
    ///
    /// # Errors
    /// When the reducer refuses the item, or panics at it.
    pub(super) fn apply(&mut self, op: &Op) -> Result<(), &'static str> {
        match op {
            Op::Add(REFUSED) => return Err("refused"),
            Op::Add(PANICS) => return Err("panicked"),
            Op::Log(entry) => self.log.push(entry.clone()),
            Op::Rewrite(entries) => self.log.clone_from(entries),
            Op::Add(item) => self.total = self.total.wrapping_add(*item),
            Op::Replace(total) => self.total = *total,
            Op::Burn(item) => self.fuel += item,
            Op::Last(last) => self.last = *last,
            Op::Owner(owner) => self.owner = *owner,
            Op::Draft(draft) => self.draft = *draft,
        }
        Ok(())
    }
}
