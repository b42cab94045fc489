//! What a node hands back to the engine.

use std::fmt;
use std::time::Duration;

use serde::Serialize;
use serde_json::Value;

use super::command::{Command, Goto, Hop, Move, Next, Rare, Target};
use super::info::NodeInfo;
use super::payload::Payload;
use super::route::Route;
use crate::error::NodeError;
use crate::name::Name;
use crate::state::State;
use crate::state::dynamic::{DynState, DynUpdate};

/// An update and a move: the result of every node, whatever its own type said.
///
/// A hand-written [`Node`](crate::Node) builds it with these methods and declares its moves in
/// [`describe`](crate::Node::describe).
///
/// ```
/// use graph_engine::{Move, Outcome, State};
///
/// #[derive(State, Clone, Default)]
/// struct Trip {
///     city: String,
/// }
///
/// let outcome = Outcome::<Trip>::of(Trip::update().city("Oslo")).go("present");
/// assert_eq!(outcome.to_move(), Move::Go(vec!["present".into()]));
/// ```
#[must_use = "an outcome does nothing until the node returns it"]
pub struct Outcome<S: State> {
    /// What the node writes.
    pub update: S::Update,
    pub(crate) goto: Goto,
}

impl<S: State> Outcome<S> {
    /// An update; the declared edges follow.
    pub fn of(update: S::Update) -> Self {
        Self { update, goto: Goto::Declared }
    }

    /// Goes to the named node instead of the declared edges.
    pub fn go(self, to: impl Into<Name>) -> Self {
        self.hops([(to.into(), None)], None)
    }

    /// Goes to several nodes; a node named twice runs once.
    pub fn go_all<N: Into<Name>>(self, to: impl IntoIterator<Item = N>) -> Self {
        self.hops(to.into_iter().map(|to| (to.into(), None)), None)
    }

    /// One task of the named node for each payload, in this order.
    pub fn fan_out<T: Serialize + Send + Sync + 'static>(
        self,
        to: impl Into<Name>,
        payloads: impl IntoIterator<Item = T>,
    ) -> Self {
        let to = to.into();
        self.hops(payloads.into_iter().map(|payload| (to.clone(), Some(Some(Payload::new(payload))))), None)
    }

    /// The same, and each attempt of these tasks may run so long, whatever the timeout of their node is.
    pub fn fan_out_within<T: Serialize + Send + Sync + 'static>(
        self,
        timeout: Duration,
        to: impl Into<Name>,
        payloads: impl IntoIterator<Item = T>,
    ) -> Self {
        let to = to.into();
        let hops = payloads.into_iter().map(|payload| (to.clone(), Some(Some(Payload::new(payload)))));
        self.hops(hops, Some(timeout))
    }

    /// Runs the entry of the innermost cluster again, with feedback.
    pub fn stay(self, feedback: Value) -> Self {
        self.rare(Rare::Stay(Some(feedback)))
    }

    /// Replies and ends the branch.
    pub fn direct(self, reply: Value) -> Self {
        self.rare(Rare::Direct(reply))
    }

    /// Replies and completes the thread.
    pub fn finish(self, reply: Value) -> Self {
        self.rare(Rare::Finish(reply))
    }

    /// The move as data.
    #[must_use]
    pub fn to_move(&self) -> Move {
        self.goto.to_move()
    }

    fn rare(mut self, rare: Rare) -> Self {
        self.goto = Goto::rare(rare);
        self
    }

    fn hops(self, hops: impl IntoIterator<Item = (Name, Option<Option<Payload>>)>, timeout: Option<Duration>) -> Self {
        let hops = hops.into_iter().map(|(to, send)| Hop { to: Target::Named(to), send }).collect();
        self.rare(Rare::Many(hops, timeout))
    }
}

impl<S: State> Default for Outcome<S> {
    fn default() -> Self {
        Self::of(S::Update::default())
    }
}

impl<S: State> fmt::Debug for Outcome<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Outcome").field("move", &self.to_move()).finish_non_exhaustive()
    }
}

/// What a node function may return: `()`, an update, a [`Command`], a [`Next`], a route, an [`Outcome`], or a
/// `Result` of one of them.
///
/// ```
/// use graph_engine::{IntoOutcome, State};
///
/// #[derive(State, Clone, Default)]
/// struct Trip {
///     city: String,
/// }
///
/// let outcome = IntoOutcome::<Trip>::into_outcome(Trip::update().city("Oslo")).unwrap();
/// assert_eq!(outcome.update.city.as_deref(), Some("Oslo"));
/// ```
#[diagnostic::on_unimplemented(
    message = "a node of a `{S}` graph cannot return `{Self}`",
    label = "not a result of a node",
    note = "return `()`, the update of `{S}`, a `Command<{S}, _>`, a route, or a `Result` of one of these"
)]
pub trait IntoOutcome<S: State> {
    /// Adds the moves that this type declares.
    fn describe(info: &mut NodeInfo);

    /// The result.
    ///
    /// # Errors
    /// The node's own failure.
    fn into_outcome(self) -> Result<Outcome<S>, NodeError>;
}

impl<S: State> IntoOutcome<S> for () {
    fn describe(_: &mut NodeInfo) {}

    fn into_outcome(self) -> Result<Outcome<S>, NodeError> {
        Ok(Outcome::default())
    }
}

impl<S: State> IntoOutcome<S> for Outcome<S> {
    fn describe(info: &mut NodeInfo) {
        info.dynamic = true;
    }

    fn into_outcome(self) -> Result<Self, NodeError> {
        Ok(self)
    }
}

#[diagnostic::do_not_recommend]
impl IntoOutcome<DynState> for DynUpdate {
    fn describe(_: &mut NodeInfo) {}

    fn into_outcome(self) -> Result<Outcome<DynState>, NodeError> {
        Ok(Outcome::of(self))
    }
}

impl<S: State, R: Route> IntoOutcome<S> for Next<R> {
    fn describe(info: &mut NodeInfo) {
        info.add_route(R::SPEC);
    }

    fn into_outcome(self) -> Result<Outcome<S>, NodeError> {
        Ok(Outcome { update: S::Update::default(), goto: self.goto })
    }
}

impl<S: State, R: Route> IntoOutcome<S> for Command<S, R> {
    fn describe(info: &mut NodeInfo) {
        info.add_route(R::SPEC);
    }

    fn into_outcome(self) -> Result<Outcome<S>, NodeError> {
        Ok(Outcome { update: self.update, goto: self.next.goto })
    }
}

impl<S: State, T: IntoOutcome<S>, E: Into<NodeError>> IntoOutcome<S> for Result<T, E> {
    fn describe(info: &mut NodeInfo) {
        T::describe(info);
    }

    fn into_outcome(self) -> Result<Outcome<S>, NodeError> {
        self.map_err(Into::into)?.into_outcome()
    }
}
