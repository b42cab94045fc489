//! Typed routes: every place a node or router can go to is declared in a type.

use super::payload::{Payload, PayloadType};

/// The name under which edges and routes lead to the end of a branch.
pub const END: &str = "__end__";

/// The name under which edges and routes leave the beginning of a turn.
pub const START: &str = "__start__";

/// One declared target of a route.
///
/// ```
/// use graph_engine::{Route, RouteSpec};
///
/// #[derive(Route)]
/// enum AfterSearch {
///     Present,
///     Quote(String),
/// }
///
/// let spec: &RouteSpec = AfterSearch::SPEC;
/// assert_eq!(spec.targets[0].name, "present");
/// assert!(spec.targets[1].payload.is_some());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TargetSpec {
    /// The node's name, or [`END`].
    pub name: &'static str,
    /// The type of the payload that goes with it.
    pub payload: Option<PayloadType>,
}

impl TargetSpec {
    /// A target without a payload.
    #[must_use]
    pub const fn new(name: &'static str) -> Self {
        Self { name, payload: None }
    }

    /// A target whose tasks each get a payload of type `T`.
    #[must_use]
    pub const fn with_payload<T: 'static>(name: &'static str) -> Self {
        Self { name, payload: Some(PayloadType::of::<T>()) }
    }
}

/// All moves that a route type allows.
///
/// ```
/// use graph_engine::{Nowhere, Route};
///
/// assert!(Nowhere::SPEC.targets.is_empty());
/// assert!(!Nowhere::SPEC.stay);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RouteSpec {
    /// Where `go` and `fan_out` may lead.
    pub targets: &'static [TargetSpec],
    /// `stay` is possible.
    pub stay: bool,
    /// `direct` is possible.
    pub direct: bool,
    /// `finish` is possible.
    pub finish: bool,
    /// Targets may also be named at run time.
    pub dynamic: bool,
}

impl RouteSpec {
    /// Moves to these targets only.
    #[must_use]
    pub const fn new(targets: &'static [TargetSpec]) -> Self {
        Self { targets, stay: false, direct: false, finish: false, dynamic: false }
    }

    /// Says which other moves are possible.
    #[must_use]
    pub const fn moves(mut self, stay: bool, direct: bool, finish: bool) -> Self {
        (self.stay, self.direct, self.finish) = (stay, direct, finish);
        self
    }
}

/// A set of places to go to. Derive it on an enum: `#[derive(Route)]`.
///
/// A variant without a field is a plain target, a variant with one field a target whose task gets that value as its
/// payload. `#[route(stay, direct, finish)]` on the enum allows the other moves; what is not allowed doesn't compile.
///
/// ```
/// use graph_engine::Route;
///
/// #[derive(Route)]
/// #[route(stay, direct)]
/// enum FromExplore {
///     Present,
///     #[route(to = "explore_tools")]
///     Tools,
///     #[route(end)]
///     Done,
/// }
///
/// assert_eq!(FromExplore::SPEC.targets.len(), 3);
/// assert!(FromExplore::SPEC.stay);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a route",
    label = "not a route",
    note = "add `#[derive(Route)]` to an enum whose variants name the targets"
)]
pub trait Route: Send + 'static {
    /// Every possible move.
    const SPEC: &'static RouteSpec;

    /// The target's position in `SPEC.targets`, and the payload that goes with it.
    fn into_target(self) -> (usize, Option<Payload>);
}

/// A route that may stay. `#[derive(Route)]` with `#[route(stay)]` implements it.
///
/// ```
/// use graph_engine::{CanStay, Route};
///
/// #[derive(Route)]
/// #[route(stay)]
/// enum Again {}
///
/// fn stays<R: CanStay>() {}
/// stays::<Again>();
/// ```
#[diagnostic::on_unimplemented(
    message = "the route `{Self}` doesn't declare `stay`",
    label = "can't stay",
    note = "add `#[route(stay)]` to `{Self}`, so that diagrams and checks know of it"
)]
pub trait CanStay: Route {}

/// A route that may reply directly. `#[derive(Route)]` with `#[route(direct)]` implements it.
///
/// ```
/// use graph_engine::{CanDirect, Route};
///
/// #[derive(Route)]
/// #[route(direct)]
/// enum Reply {}
///
/// fn replies<R: CanDirect>() {}
/// replies::<Reply>();
/// ```
#[diagnostic::on_unimplemented(
    message = "the route `{Self}` doesn't declare `direct`",
    label = "can't reply directly",
    note = "add `#[route(direct)]` to `{Self}`, so that diagrams and checks know of it"
)]
pub trait CanDirect: Route {}

/// A route that may finish the thread. `#[derive(Route)]` with `#[route(finish)]` implements it.
///
/// ```
/// use graph_engine::{CanFinish, Route};
///
/// #[derive(Route)]
/// #[route(finish)]
/// enum Goodbye {}
///
/// fn finishes<R: CanFinish>() {}
/// finishes::<Goodbye>();
/// ```
#[diagnostic::on_unimplemented(
    message = "the route `{Self}` doesn't declare `finish`",
    label = "can't finish the thread",
    note = "add `#[route(finish)]` to `{Self}`, so that diagrams and checks know of it"
)]
pub trait CanFinish: Route {}

/// The route of a node that never leaves its declared edges.
///
/// ```
/// use graph_engine::{Nowhere, Route};
///
/// assert!(Nowhere::SPEC.targets.is_empty());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Nowhere {}

impl Route for Nowhere {
    const SPEC: &'static RouteSpec = &RouteSpec::new(&[]);

    fn into_target(self) -> (usize, Option<Payload>) {
        match self {}
    }
}
