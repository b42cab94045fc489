//! Moves to nodes whose names are only known at run time: what routers of graphs that are read from files return.

use std::fmt;
use std::time::Duration;

use serde::Serialize;

use super::command::{Goto, Hop, Move, Rare, Target};
use super::payload::{Payload, PayloadType};
use super::route::END;
use crate::error::NodeError;
use crate::name::{Name, quoted};
use crate::state::to_json;

/// Where to go next, by name. The engine checks each choice against what the router declares.
///
/// ```
/// use graph_engine::{Move, NamedNext};
/// use serde_json::json;
///
/// let back = NamedNext::go("explore");
/// let quotes = NamedNext::fan_out("quote", [json!("Inn"), json!("Palace")]);
/// assert_eq!(back.to_move(), Move::Go(vec!["explore".into()]));
/// assert_eq!(quotes.to_move(), Move::FanOut(vec!["quote".into(), "quote".into()]));
/// ```
#[must_use = "a move does nothing until a router returns it"]
pub struct NamedNext(pub(crate) Goto);

impl NamedNext {
    /// This node runs in the next super-step.
    pub fn go(to: impl Into<Name>) -> Self {
        Self::go_all([to])
    }

    /// These nodes run in the next super-step; one that is named twice runs once. None at all ends the branch.
    pub fn go_all<N: Into<Name>>(to: impl IntoIterator<Item = N>) -> Self {
        Self::hops(to.into_iter().map(|to| Hop { to: Target::Named(to.into()), send: None }), None)
    }

    /// One task of the named node for each payload, in this order. None at all ends the branch.
    pub fn fan_out<T: Serialize + Send + Sync + 'static>(
        to: impl Into<Name>,
        payloads: impl IntoIterator<Item = T>,
    ) -> Self {
        Self::sends(to.into(), payloads, None)
    }

    /// The same with a timeout for each attempt of these tasks, in place of the one of the node.
    pub fn fan_out_within<T: Serialize + Send + Sync + 'static>(
        timeout: Duration,
        to: impl Into<Name>,
        payloads: impl IntoIterator<Item = T>,
    ) -> Self {
        Self::sends(to.into(), payloads, Some(timeout))
    }

    fn sends<T: Serialize + Send + Sync + 'static>(
        to: Name,
        payloads: impl IntoIterator<Item = T>,
        timeout: Option<Duration>,
    ) -> Self {
        let send = |payload| Hop { to: Target::Named(to.clone()), send: Some(Some(Payload::new(payload))) };
        Self::hops(payloads.into_iter().map(send), timeout)
    }

    /// The branch ends.
    pub fn end() -> Self {
        Self::go(END)
    }

    /// The entry of the innermost cluster runs again, with feedback.
    pub fn stay(feedback: impl Serialize) -> Self {
        Self::json(feedback, |value| Rare::Stay(Some(value)))
    }

    /// The caller gets exactly this reply and the branch ends.
    pub fn direct(reply: impl Serialize) -> Self {
        Self::json(reply, Rare::Direct)
    }

    /// The caller gets this reply and the thread is complete.
    pub fn finish(reply: impl Serialize) -> Self {
        Self::json(reply, Rare::Finish)
    }

    /// The move as data.
    #[must_use]
    pub fn to_move(&self) -> Move {
        self.0.to_move()
    }

    fn hops(hops: impl Iterator<Item = Hop>, timeout: Option<Duration>) -> Self {
        Self(Goto::rare(Rare::Many(hops.collect(), timeout)))
    }

    fn json(value: impl Serialize, make: impl FnOnce(serde_json::Value) -> Rare) -> Self {
        Self(Goto::rare(to_json(value).map_or_else(Rare::Invalid, make)))
    }
}

impl fmt::Debug for NamedNext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.to_move().fmt(f)
    }
}

/// What a router that is named in a file may return: a [`NamedNext`], the name of a node, or a `Result` of one.
///
/// ```
/// use graph_engine::{IntoNamedNext, Move};
///
/// let next = "present".into_named_next().unwrap();
/// assert_eq!(next.to_move(), Move::Go(vec!["present".into()]));
/// ```
#[diagnostic::on_unimplemented(
    message = "a router of names cannot return `{Self}`",
    label = "not a move",
    note = "return a `NamedNext`, a name, or a `Result` of one of these"
)]
pub trait IntoNamedNext {
    /// The move.
    ///
    /// # Errors
    /// The router's own failure.
    fn into_named_next(self) -> Result<NamedNext, NodeError>;
}

impl IntoNamedNext for NamedNext {
    fn into_named_next(self) -> Result<NamedNext, NodeError> {
        Ok(self)
    }
}

macro_rules! names {
    ($($type:ty),*) => {
        $(impl IntoNamedNext for $type {
            fn into_named_next(self) -> Result<NamedNext, NodeError> {
                Ok(NamedNext::go(self))
            }
        })*
    };
}

names!(&str, String, Name);

impl<N: IntoNamedNext, E: Into<NodeError>> IntoNamedNext for Result<N, E> {
    fn into_named_next(self) -> Result<NamedNext, NodeError> {
        self.map_err(Into::into)?.into_named_next()
    }
}

/// The moves that a router by names declares.
#[derive(Clone, Debug, Default)]
pub(crate) struct NamedMoves {
    pub(crate) targets: Vec<Name>,
    pub(crate) sends: Vec<(Name, PayloadType)>,
    pub(crate) stay: bool,
    pub(crate) direct: bool,
    pub(crate) finish: bool,
}

impl NamedMoves {
    /// The choice, if it is declared.
    pub(crate) fn check(&self, next: NamedNext) -> Result<Goto, NodeError> {
        match &next.0 {
            Goto::Rare(rare) => match &**rare {
                Rare::Many(hops, _) => hops.iter().try_for_each(|hop| self.check_hop(hop))?,
                Rare::Stay(_) => declared("stays", self.stay)?,
                Rare::Direct(_) => declared("replies directly", self.direct)?,
                Rare::Finish(_) => declared("finishes the thread", self.finish)?,
                // The engine refuses the one, and makes the other itself.
                Rare::Invalid(_) | Rare::Rescue(_) => {}
            },
            Goto::Declared | Goto::Go(_) => {}
        }
        Ok(next.0)
    }

    fn check_hop(&self, hop: &Hop) -> Result<(), NodeError> {
        let to = hop.to.name();
        let sends: Vec<&Name> = self.sends.iter().map(|(name, _)| name).collect();
        let (known, does, words) = match hop.send {
            Some(_) => (sends, "sends a payload to", "sends"),
            None => (self.targets.iter().collect(), "goes to", "targets"),
        };
        if known.iter().any(|name| **name == to) {
            return Ok(());
        }
        let names = quoted(known.iter().map(|name| name.as_str()));
        let names = if names.is_empty() { "none".to_owned() } else { names };
        Err(NodeError::fatal(format!("it {does} `{to}`, which it doesn't declare; its declared {words}: {names}")))
    }
}

fn declared(does: &str, declared: bool) -> Result<(), NodeError> {
    if declared { Ok(()) } else { Err(NodeError::fatal(format!("it {does}, which it doesn't declare"))) }
}
