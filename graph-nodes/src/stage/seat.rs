//! Which fields of the user's state a stage uses.

use std::fmt;

use graph_engine::{Field, Log, State};

use super::{Draft, GateBook};
use crate::message::Message;

/// Which fields of the user's state a stage uses.
///
/// Stages that never run in the same super-step may share one seat. None of the fields may be transient: a turn that
/// goes on after a failure needs the draft and the book.
///
/// ```
/// use graph_engine::{Log, State};
/// use graph_nodes::message::Message;
/// use graph_nodes::stage::{Draft, GateBook, Seat};
///
/// #[derive(State, Clone, Default)]
/// struct Trip {
///     #[state(append)]
///     history: Log<Message>,
///     draft: Option<Draft>,
///     book: GateBook,
/// }
///
/// let seat = Seat { history: Trip::HISTORY, draft: Trip::DRAFT, book: Trip::BOOK };
/// let mut trip = Trip::default();
/// trip.apply(seat.user("hello"));
/// assert_eq!(trip.history.last(), Some(&Message::user("hello")));
/// ```
pub struct Seat<S: State> {
    /// The conversation; an `append` field.
    pub history: Field<S, Log<Message>>,
    /// The response that no tool and no history has seen yet.
    pub draft: Field<S, Option<Draft>>,
    /// Every attempt and token.
    pub book: Field<S, GateBook>,
}

impl<S: State> Seat<S> {
    /// The input of a turn: words of the user, at the end of the history.
    pub fn user(&self, text: impl Into<String>) -> S::Update {
        self.said(Message::user(text))
    }

    /// Whether both are the same fields.
    pub(super) fn is(&self, other: &Self) -> bool {
        let fields = |seat: &Self| [seat.history.set(), seat.draft.set(), seat.book.set()];
        fields(self) == fields(other)
    }

    /// The input of a turn: any message, at the end of the history.
    pub fn said(&self, message: Message) -> S::Update {
        let mut update = S::Update::default();
        self.history.put(&mut update, Log::from([message]));
        update
    }
}

impl<S: State> Clone for Seat<S> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<S: State> Copy for Seat<S> {}

impl<S: State> fmt::Debug for Seat<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Seat")
            .field("history", &self.history.name())
            .field("draft", &self.draft.name())
            .field("book", &self.book.name())
            .finish()
    }
}
