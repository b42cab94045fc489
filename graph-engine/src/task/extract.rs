//! Extractors: what the arguments of a node function may be.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use serde::de::DeserializeOwned;

use super::Task;
use super::ctx::Ctx;
use super::info::NodeInfo;
use super::payload::PayloadType;
use super::resources::Need;
use super::shared::Shared;
use crate::error::NodeError;
use crate::state::State;

/// An argument of a node function.
///
/// Extraction is synchronous and happens before the function is called; it may fail, which fails the task.
///
/// ```
/// use graph_engine::{FromTask, NodeError, NodeInfo, State, Task};
///
/// struct City(String);
///
/// #[derive(State, Clone, Default)]
/// struct Trip {
///     city: String,
/// }
///
/// impl FromTask<Trip> for City {
///     fn describe(_: &mut NodeInfo) {}
///
///     fn from_task(task: &Task<Trip>) -> Result<Self, NodeError> {
///         Ok(City(task.state().city.clone()))
///     }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "a node of a `{S}` graph cannot ask for `{Self}`",
    label = "not an extractor",
    note = "a node may ask for `Snap<{S}>`, `In<payload>`, `Res<resource>` and `Ctx`"
)]
pub trait FromTask<S: State>: Sized {
    /// Adds what this argument needs, so that it is checked before the first run.
    fn describe(info: &mut NodeInfo);

    /// Takes the argument out of the task.
    ///
    /// # Errors
    /// Whatever keeps the node from running.
    fn from_task(task: &Task<S>) -> Result<Self, NodeError>;
}

/// The state as this super-step sees it. Reads like a `&S`.
///
/// A snapshot that is kept after the node has returned stays valid and costs one copy of the state at the next merge.
///
/// ```
/// use graph_engine::Snap;
///
/// let snap = Snap::from(vec![1, 2]);
/// assert_eq!(snap.len(), 2);
/// ```
pub struct Snap<S>(Inner<S>);

enum Inner<S> {
    Shared(Arc<Shared<S>>),
    Own(Arc<S>),
}

impl<S> Snap<S> {
    pub(crate) fn shared(shared: Arc<Shared<S>>) -> Self {
        Self(Inner::Shared(shared))
    }
}

impl<S> Clone for Snap<S> {
    fn clone(&self) -> Self {
        Self(match &self.0 {
            Inner::Shared(shared) => Inner::Shared(shared.clone()),
            Inner::Own(own) => Inner::Own(own.clone()),
        })
    }
}

impl<S> From<S> for Snap<S> {
    fn from(state: S) -> Self {
        Self(Inner::Own(Arc::new(state)))
    }
}

impl<S> Deref for Snap<S> {
    type Target = S;

    fn deref(&self) -> &S {
        match &self.0 {
            Inner::Shared(shared) => &shared.state,
            Inner::Own(own) => own,
        }
    }
}

/// Shows only the type, because a state may hold secrets: print `*snap` to see more.
impl<S> fmt::Debug for Snap<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Snap({})", std::any::type_name::<S>())
    }
}

impl<S: State> FromTask<S> for Snap<S> {
    fn describe(_: &mut NodeInfo) {}

    fn from_task(task: &Task<S>) -> Result<Self, NodeError> {
        Ok(task.snapshot())
    }
}

/// The payload that was sent to this task.
///
/// ```
/// use graph_engine::In;
///
/// async fn quote(In(hotel): In<String>) -> usize {
///     hotel.len()
/// }
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// assert_eq!(quote(In::from("Inn".to_owned())).await, 3);
/// # });
/// ```
#[derive(Debug)]
pub struct In<T>(pub Arc<T>);

impl<T> Clone for In<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<T> From<T> for In<T> {
    fn from(value: T) -> Self {
        Self(Arc::new(value))
    }
}

impl<T> Deref for In<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<S: State, T: DeserializeOwned + Send + Sync + 'static> FromTask<S> for In<T> {
    fn describe(info: &mut NodeInfo) {
        info.payload = Some(PayloadType::of::<T>());
    }

    fn from_task(task: &Task<S>) -> Result<Self, NodeError> {
        match &task.payload {
            Some(payload) => payload.get_of(format_args!("the stored payload of checkpoint {}", task.origin)).map(Self),
            None => Err(NodeError::fatal(format!(
                "the node asks for a payload of type `{}`, but this task was reached without one; send it with `fan_out`",
                std::any::type_name::<T>()
            ))),
        }
    }
}

/// A resource that [`Runner::provide`](crate::Runner::provide) or [`Turn::with`](crate::Turn::with) gives.
///
/// ```
/// use graph_engine::Res;
///
/// let shop = Res::from(vec!["Inn"]);
/// assert_eq!(shop.len(), 1);
/// ```
pub struct Res<T: ?Sized>(Arc<T>);

impl<T: ?Sized> Res<T> {
    /// The shared pointer itself.
    #[must_use]
    pub fn into_arc(self) -> Arc<T> {
        self.0
    }
}

impl<T: ?Sized> Clone for Res<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<T> From<T> for Res<T> {
    fn from(value: T) -> Self {
        Self(Arc::new(value))
    }
}

impl<T: ?Sized> From<Arc<T>> for Res<T> {
    fn from(value: Arc<T>) -> Self {
        Self(value)
    }
}

impl<T: ?Sized> Deref for Res<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: ?Sized> fmt::Debug for Res<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Res({})", std::any::type_name::<T>())
    }
}

impl<S: State, T: ?Sized + Send + Sync + 'static> FromTask<S> for Res<T> {
    fn describe(info: &mut NodeInfo) {
        info.needs.push(Need::of::<T>());
    }

    fn from_task(task: &Task<S>) -> Result<Self, NodeError> {
        task.resource().map(Self).ok_or_else(|| {
            NodeError::fatal(format!(
                "the node asks for a resource of type `{}`, which nobody provides; call `Runner::provide` or `Turn::with`",
                std::any::type_name::<T>()
            ))
        })
    }
}

impl<S: State> FromTask<S> for Ctx {
    fn describe(_: &mut NodeInfo) {}

    fn from_task(task: &Task<S>) -> Result<Self, NodeError> {
        Ok(task.ctx())
    }
}
