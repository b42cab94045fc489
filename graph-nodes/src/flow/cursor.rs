//! Where a conversation stands among the stages.

use std::collections::VecDeque;

use graph_engine::Name;
use serde::{Deserialize, Serialize};

/// Where a conversation stands among the stages of a [`Flow`](super::Flow): a field of the user's state.
///
/// Only a move from one stage to another changes the stage; a stay and a direct reply leave it. A thread that never ran
/// stands nowhere, and begins in the flow's first stage.
///
/// ```
/// use graph_nodes::flow::Cursor;
///
/// assert_eq!(Cursor::default().stage(), None);
/// // For the input of a turn that is to begin elsewhere, and for tests of single nodes.
/// assert_eq!(Cursor::at("present").stage().map(|stage| stage.as_str()), Some("present"));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Cursor {
    stage: Option<Name>,
    /// The turn in which the stage was entered or last begun.
    turn: Name,
    path: VecDeque<Name>,
    moves: u64,
}

/// What entering a stage means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Arrival {
    /// From another stage, or for the first time.
    Enter,
    /// A new turn begins in the stage where the last one ended.
    Restore,
    /// Again in the same turn, without having been elsewhere.
    Again,
}

impl Cursor {
    /// How many of the latest stages are kept.
    pub const KEPT: usize = 64;

    /// A cursor that stands in a stage without having entered it: no hook of entering runs there.
    #[must_use]
    pub fn at(stage: impl Into<Name>) -> Self {
        let stage = stage.into();
        Self { path: [stage.clone()].into(), stage: Some(stage), turn: Name::default(), moves: 0 }
    }

    /// The stage.
    #[must_use]
    pub fn stage(&self) -> Option<&Name> {
        self.stage.as_ref()
    }

    /// The latest stages that were entered, the current one last; a stay adds nothing.
    pub fn path(&self) -> impl ExactSizeIterator<Item = &Name> {
        self.path.iter()
    }

    /// How often a stage was entered since the thread began.
    #[must_use]
    pub fn moves(&self) -> u64 {
        self.moves
    }

    /// How a task arrives in a stage; only the first super-step of a turn finds the thread as it was loaded.
    pub(super) fn arrival(&self, stage: &Name, turn: &Name, is_first_step: bool) -> Arrival {
        match &self.stage {
            Some(current) if current == stage && (!is_first_step || self.turn == *turn) => Arrival::Again,
            Some(current) if current == stage => Arrival::Restore,
            _ => Arrival::Enter,
        }
    }

    pub(super) fn moved(mut self, stage: &Name, turn: &Name, arrival: Arrival) -> Self {
        self.turn = turn.clone();
        if arrival == Arrival::Enter {
            self.stage = Some(stage.clone());
            self.moves = self.moves.saturating_add(1);
            if self.path.len() == Self::KEPT {
                self.path.pop_front();
            }
            self.path.push_back(stage.clone());
        }
        self
    }
}
