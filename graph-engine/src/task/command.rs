//! Where to go next: what nodes and routers return.

use std::fmt;
use std::marker::PhantomData;
use std::time::Duration;

use serde::Serialize;
use serde_json::Value;

use super::payload::Payload;
use super::route::{CanDirect, CanFinish, CanStay, Nowhere, Route, TargetSpec};
use crate::error::NodeError;
use crate::name::Name;
use crate::state::{State, to_json};

/// A move as the engine handles it. The frequent ones are two words; the rest is behind one box, so that an outcome
/// stays small.
#[derive(Clone, Default)]
pub(crate) enum Goto {
    /// The declared edges, or the declared router.
    #[default]
    Declared,
    Go(&'static TargetSpec),
    Rare(Box<Rare>),
}

#[derive(Clone)]
pub(crate) enum Rare {
    /// Several targets, or sends: `plain` ones are deduplicated, sends never. Sends may have a timeout of their own.
    Many(Vec<Hop>, Option<Duration>),
    /// A failed task was taken over by its error route.
    Rescue(Hop),
    Stay(Option<Value>),
    Direct(Value),
    Finish(Value),
    /// A reply or a feedback that is not JSON.
    Invalid(String),
}

#[derive(Clone)]
pub(crate) struct Hop {
    pub(crate) to: Target,
    /// `None` is a plain target; a send may still carry nothing.
    pub(crate) send: Option<Option<Payload>>,
}

#[derive(Clone)]
pub(crate) enum Target {
    Declared(&'static TargetSpec),
    Named(Name),
}

impl Target {
    pub(crate) fn name(&self) -> &str {
        match self {
            Self::Declared(spec) => spec.name,
            Self::Named(name) => name,
        }
    }
}

impl Goto {
    pub(crate) fn rare(rare: Rare) -> Self {
        Self::Rare(Box::new(rare))
    }

    fn json(value: impl Serialize, make: impl FnOnce(Value) -> Rare) -> Self {
        Self::rare(match to_json(value) {
            Ok(value) => make(value),
            Err(error) => Rare::Invalid(error),
        })
    }

    /// The word for the move.
    pub(crate) fn word(&self) -> &'static str {
        match self {
            Self::Declared => "declared",
            Self::Go(_) => "go",
            Self::Rare(rare) => match &**rare {
                Rare::Many(hops, _) if hops.iter().all(|hop| hop.send.is_none()) => "go",
                Rare::Many(..) => "fan_out",
                Rare::Rescue(_) => "error",
                Rare::Stay(_) => "stay",
                Rare::Direct(_) => "direct",
                Rare::Finish(_) => "finish",
                Rare::Invalid(_) => "invalid",
            },
        }
    }

    /// The move as users see it.
    pub(crate) fn to_move(&self) -> Move {
        match self {
            Self::Declared => Move::Declared,
            Self::Go(to) => Move::Go(vec![to.name.into()]),
            Self::Rare(rare) => match &**rare {
                Rare::Rescue(hop) => Move::FanOut(vec![hop.to.name().into()]),
                Rare::Many(hops, _) => {
                    if hops.iter().all(|hop| hop.send.is_none()) {
                        Move::Go(hops.iter().map(|hop| hop.to.name().into()).collect())
                    } else {
                        Move::FanOut(hops.iter().map(|hop| hop.to.name().into()).collect())
                    }
                }
                Rare::Stay(feedback) => Move::Stay(feedback.clone()),
                Rare::Direct(reply) => Move::Direct(reply.clone()),
                Rare::Finish(reply) => Move::Finish(reply.clone()),
                Rare::Invalid(error) => Move::Invalid(error.clone()),
            },
        }
    }
}

/// A move, for tests and events.
///
/// ```
/// use graph_engine::{Move, Next, Route};
///
/// #[derive(Route)]
/// enum FromA {
///     B,
/// }
///
/// assert_eq!(Next::go(FromA::B).to_move(), Move::Go(vec!["b".into()]));
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Move {
    /// The declared edges, or the declared router.
    Declared,
    /// These nodes.
    Go(Vec<Name>),
    /// The entry of the innermost cluster again, with feedback.
    Stay(Option<Value>),
    /// This reply, and the branch ends.
    Direct(Value),
    /// One task for each of these.
    FanOut(Vec<Name>),
    /// This reply, and the thread is complete.
    Finish(Value),
    /// The reply or feedback could not be turned into JSON; the task fails with this message.
    Invalid(String),
}

/// Where to go next, typed by the route that declares what is possible. Nodes return it (alone or with an update, as
/// a [`Command`]); routers return it.
///
/// ```
/// use graph_engine::{Next, Route};
///
/// #[derive(Route)]
/// #[route(stay)]
/// enum FromPresent {
///     Quote(String),
///     Explore,
/// }
///
/// let back = Next::go(FromPresent::Explore);
/// let quotes = Next::fan_out(["Inn", "Palace"].map(|name| FromPresent::Quote(name.to_owned())));
/// let again: Next<FromPresent> = Next::stay("name a city");
/// # let _ = (back, quotes, again);
/// ```
#[must_use = "a route does nothing until a node or router returns it"]
pub struct Next<R: Route = Nowhere> {
    pub(crate) goto: Goto,
    route: PhantomData<fn() -> R>,
}

impl<R: Route> Next<R> {
    fn new(goto: Goto) -> Self {
        Self { goto, route: PhantomData }
    }

    fn hops(targets: impl IntoIterator<Item = R>, always_send: bool, timeout: Option<Duration>) -> Goto {
        let hop = |target: R| {
            let (index, payload) = target.into_target();
            let send = (always_send || payload.is_some()).then_some(payload);
            Hop { to: Target::Declared(&R::SPEC.targets[index]), send }
        };
        Goto::rare(Rare::Many(targets.into_iter().map(hop).collect(), timeout))
    }

    /// The declared edges, or the declared router.
    pub fn declared() -> Self {
        Self::new(Goto::Declared)
    }

    /// This target runs in the next super-step. A target with a payload gets a task of its own.
    pub fn go(to: R) -> Self {
        let (index, payload) = to.into_target();
        let to = &R::SPEC.targets[index];
        Self::new(match payload {
            None => Goto::Go(to),
            Some(payload) => {
                Goto::rare(Rare::Many(vec![Hop { to: Target::Declared(to), send: Some(Some(payload)) }], None))
            }
        })
    }

    /// These targets run in the next super-step; a plain target named twice runs once. None at all ends the branch.
    pub fn go_all(to: impl IntoIterator<Item = R>) -> Self {
        Self::new(Self::hops(to, false, None))
    }

    /// One task for each item, in this order, never deduplicated. None at all ends the branch.
    pub fn fan_out(to: impl IntoIterator<Item = R>) -> Self {
        Self::new(Self::hops(to, true, None))
    }

    /// The same, and each attempt of these tasks may run so long, whatever the timeout of their node is.
    pub fn fan_out_within(timeout: Duration, to: impl IntoIterator<Item = R>) -> Self {
        Self::new(Self::hops(to, true, Some(timeout)))
    }

    /// The entry of the innermost cluster of this node runs again (without a cluster this task), with the feedback
    /// in [`Ctx::feedback`](crate::Ctx::feedback).
    pub fn stay(feedback: impl Serialize) -> Self
    where
        R: CanStay,
    {
        Self::new(Goto::json(feedback, |value| Rare::Stay(Some(value))))
    }

    /// The caller gets exactly this reply and the branch ends.
    pub fn direct(reply: impl Serialize) -> Self
    where
        R: CanDirect,
    {
        Self::new(Goto::json(reply, Rare::Direct))
    }

    /// The caller gets this reply and the thread is complete: later input is refused.
    pub fn finish(reply: impl Serialize) -> Self
    where
        R: CanFinish,
    {
        Self::new(Goto::json(reply, Rare::Finish))
    }

    /// Adds an update.
    pub fn with<S: State>(self, update: S::Update) -> Command<S, R> {
        Command { update, next: self }
    }

    /// The move as data.
    #[must_use]
    pub fn to_move(&self) -> Move {
        self.goto.to_move()
    }
}

impl<R: Route> fmt::Debug for Next<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.to_move().fmt(f)
    }
}

/// An update and where to go.
///
/// ```
/// use graph_engine::{Command, Route, State};
///
/// #[derive(State, Clone, Default)]
/// struct Trip {
///     city: String,
/// }
///
/// #[derive(Route)]
/// #[route(stay)]
/// enum FromExplore {
///     Present,
/// }
///
/// fn decide(city: &str) -> Command<Trip, FromExplore> {
///     if city.is_empty() {
///         return Command::stay("which city?");
///     }
///     Command::go(FromExplore::Present).with(Trip::update().city(city))
/// }
/// # let _ = decide("Oslo");
/// ```
#[must_use = "a command does nothing until the node returns it"]
pub struct Command<S: State, R: Route = Nowhere> {
    pub(crate) update: S::Update,
    pub(crate) next: Next<R>,
}

impl<S: State, R: Route> Command<S, R> {
    /// See [`Next::declared`].
    pub fn declared() -> Self {
        Next::declared().into()
    }

    /// See [`Next::go`].
    pub fn go(to: R) -> Self {
        Next::go(to).into()
    }

    /// See [`Next::go_all`].
    pub fn go_all(to: impl IntoIterator<Item = R>) -> Self {
        Next::go_all(to).into()
    }

    /// See [`Next::fan_out`].
    pub fn fan_out(to: impl IntoIterator<Item = R>) -> Self {
        Next::fan_out(to).into()
    }

    /// See [`Next::fan_out_within`].
    pub fn fan_out_within(timeout: Duration, to: impl IntoIterator<Item = R>) -> Self {
        Next::fan_out_within(timeout, to).into()
    }

    /// See [`Next::stay`].
    pub fn stay(feedback: impl Serialize) -> Self
    where
        R: CanStay,
    {
        Next::stay(feedback).into()
    }

    /// See [`Next::direct`].
    pub fn direct(reply: impl Serialize) -> Self
    where
        R: CanDirect,
    {
        Next::direct(reply).into()
    }

    /// See [`Next::finish`].
    pub fn finish(reply: impl Serialize) -> Self
    where
        R: CanFinish,
    {
        Next::finish(reply).into()
    }

    /// Adds an update, after one that is already there.
    pub fn with(mut self, update: S::Update) -> Self {
        self.update = S::compose(self.update, update);
        self
    }

    /// The move as data.
    #[must_use]
    pub fn to_move(&self) -> Move {
        self.next.to_move()
    }

    /// The update as it stands.
    #[must_use]
    pub fn update(&self) -> &S::Update {
        &self.update
    }
}

impl<S: State, R: Route> From<Next<R>> for Command<S, R> {
    fn from(next: Next<R>) -> Self {
        Self { update: S::Update::default(), next }
    }
}

impl<S: State, R: Route> fmt::Debug for Command<S, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Command").field("next", &self.next).finish_non_exhaustive()
    }
}

/// What a router may return: a route, a [`Next`], or a `Result` of one of them.
///
/// ```
/// use graph_engine::{IntoNext, Next, Nowhere};
///
/// let next: Next<Nowhere> = Next::declared();
/// assert!(next.into_next().is_ok());
/// ```
#[diagnostic::on_unimplemented(
    message = "a router cannot return `{Self}`",
    label = "not a route",
    note = "return an enum with `#[derive(Route)]`, a `Next` of one, or a `Result` of these"
)]
pub trait IntoNext {
    /// What the router may choose.
    type Route: Route;

    /// The choice.
    ///
    /// # Errors
    /// The router's own failure.
    fn into_next(self) -> Result<Next<Self::Route>, NodeError>;
}

impl<R: Route> IntoNext for Next<R> {
    type Route = R;

    fn into_next(self) -> Result<Self, NodeError> {
        Ok(self)
    }
}

impl<N: IntoNext, E: Into<NodeError>> IntoNext for Result<N, E> {
    type Route = N::Route;

    fn into_next(self) -> Result<Next<N::Route>, NodeError> {
        self.map_err(Into::into)?.into_next()
    }
}
