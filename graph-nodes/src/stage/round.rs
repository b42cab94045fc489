//! What an agent changes of the book when it works, and what it finds there.

use std::borrow::Cow;
use std::num::NonZeroU32;
use std::sync::Arc;

use graph_engine::{Name, Outcome, State};

use super::correction::Told;
use super::{Draft, GateBook, Held, NextPrompt, Seat, ToolLedger};
use crate::model::{ChatModel, Request};

/// What stands before a model call.
#[expect(clippy::large_enum_variant, reason = "one lives for one call, and the large form is the usual one")]
pub(super) enum Prepared<'a, S: State> {
    /// The model is to be asked this.
    Ask { model: Arc<dyn ChatModel>, request: Request, book: RoundBook<'a>, told: Box<Told> },
    /// The turn may make no further call.
    OutOfCalls(Outcome<S>),
}

/// The book of one run of an agent: copied only if something changes.
pub(super) struct RoundBook<'a> {
    book: Cow<'a, GateBook>,
    stage: &'a Name,
}

impl<'a> RoundBook<'a> {
    pub(super) fn new<S: State>(seat: &Seat<S>, state: &'a S, stage: &'a Name) -> Self {
        Self { book: Cow::Borrowed(seat.book.get(state)), stage }
    }

    pub(super) fn get(&self) -> &GateBook {
        &self.book
    }

    /// The state as the round sees it, if that is another one than before: checks look into the book, and what earlier
    /// turns left in it counts no more.
    pub(super) fn seen<S: State>(&self, seat: &Seat<S>, state: &S) -> Option<S> {
        let Cow::Owned(book) = &self.book else { return None };
        let (mut seen, mut update) = (state.clone(), S::Update::default());
        seat.book.put(&mut update, book.clone());
        seen.apply(update);
        Some(seen)
    }

    /// The book, if it changed.
    pub(super) fn changed(self) -> Option<GateBook> {
        match self.book {
            Cow::Borrowed(_) => None,
            Cow::Owned(book) => Some(book),
        }
    }

    pub(super) fn into_owned(self) -> GateBook {
        self.book.into_owned()
    }

    /// Closes what earlier turns left open, and forgets what the tools did in them.
    pub(super) fn begin(&mut self, draft: Option<&Draft>, turn: &Name) {
        let unjudged = match draft {
            Some(Draft { stage, held: Held::Outcome { outcome, .. } }) => Some((stage, outcome)),
            _ => None,
        };
        if unjudged.is_some() || self.book.ledger(self.stage).is_some() {
            let book = self.book.to_mut();
            if let Some((stage, outcome)) = unjudged {
                book.abandon(stage, Some(outcome));
            }
            book.abandon(self.stage, None);
        }
        if self.book.tools.get(self.stage).is_some_and(|ledger| ledger.turn != *turn) {
            self.book.to_mut().tools.remove(self.stage);
        }
    }

    /// Takes the prompt that a tool set for this round: for the node, or for the stage.
    pub(super) fn take_prompt(&mut self, node: &Name) {
        let free = |key: &&Name| self.book.prompts.get(*key).is_some_and(|prompt| prompt.taken_by.is_none());
        let Some(key) = [node, self.stage].into_iter().find(free) else { return };
        if let Some(prompt) = self.book.to_mut().prompts.get_mut(key) {
            prompt.taken_by = Some(self.stage.clone());
        }
    }

    /// The prompt of this round, if a tool set one.
    pub(super) fn prompt(&self, node: &Name) -> Option<String> {
        let of = |key| {
            self.book.prompts.get(key).filter(|NextPrompt { taken_by, .. }| taken_by.as_ref() == Some(self.stage))
        };
        [node, self.stage].into_iter().find_map(of).map(|prompt| prompt.text.clone())
    }

    /// Counts one call of the model; whether this turn may still make it.
    pub(super) fn count(&mut self, limit: Option<NonZeroU32>, turn: &Name) -> bool {
        let Some(limit) = limit else { return true };
        let ledger = self.book.tools.get(self.stage).filter(|ledger| ledger.turn == *turn);
        if ledger.is_some_and(|ledger| ledger.model_calls >= limit.get()) {
            return false;
        }
        let mut ledger = ledger.cloned().unwrap_or_else(|| ToolLedger::of_turn(turn));
        ledger.model_calls += 1;
        self.book.to_mut().tools.insert(self.stage.clone(), ledger);
        true
    }

    /// Closes the round, which nobody goes on with.
    pub(super) fn give_up(mut self) -> GateBook {
        self.book.to_mut().abandon(self.stage, None);
        self.book.into_owned()
    }
}
