//! Runs one node through the engine's own extraction, without a graph.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use super::ctx::test_json;
use crate::checkpoint_id::CheckpointId;
use crate::error::NodeError;
use crate::node::{IntoNode, NodeSpec};
use crate::state::State;
use crate::task::{Again, Extra, Held, NodeIx, Outcome, Payload, Resources, Shared, Task, TurnContext};
use crate::task_id::TaskId;
use serde::Serialize;
use serde_json::Value;

/// One run of one node: what it is given, then [`run`](Self::run).
///
/// ```
/// use graph_engine::testing::node_once;
/// use graph_engine::{In, Move, NodeError, Outcome, Res, State};
///
/// #[derive(State, Clone, Default)]
/// struct Trip {
///     #[state(append)]
///     quotes: Vec<(String, u32)>,
/// }
///
/// struct Prices(Vec<(&'static str, u32)>);
///
/// async fn quote(In(hotel): In<String>, prices: Res<Prices>) -> Result<TripUpdate, NodeError> {
///     let (_, price) = prices.0.iter().find(|(name, _)| **hotel == **name).ok_or("unknown hotel")?;
///     Ok(Trip::update().quotes([((*hotel).clone(), *price)]))
/// }
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let outcome: Outcome<Trip> =
///     node_once(quote).state(Trip::default()).payload("Inn".to_owned()).provide(Prices(vec![("Inn", 120)])).run().await.unwrap();
/// assert_eq!(outcome.update.quotes.unwrap().items, [("Inn".to_owned(), 120)]);
/// # });
/// ```
#[must_use = "call `run`"]
pub struct NodeOnce<S: State> {
    spec: NodeSpec<S>,
    state: Option<S>,
    payload: Option<Payload>,
    resources: Resources,
    feedback: Vec<Value>,
    answers: Vec<Value>,
    attempt: u32,
}

/// Runs one node through the same extraction as the engine; see [`NodeOnce`].
pub fn node_once<S: State, M>(node: impl IntoNode<S, M>) -> NodeOnce<S> {
    NodeOnce {
        spec: node.into_node(),
        state: None,
        payload: None,
        resources: Resources::default(),
        feedback: Vec::new(),
        answers: Vec::new(),
        attempt: 1,
    }
}

impl<S: State> NodeOnce<S> {
    /// The state that the node sees (default: `S::default()`, for states that have one).
    pub fn state(mut self, state: S) -> Self {
        self.state = Some(state);
        self
    }

    /// What was sent to the task.
    pub fn payload<T: Serialize + Send + Sync + 'static>(mut self, payload: T) -> Self {
        self.payload = Some(Payload::new(payload));
        self
    }

    /// A resource, found by its type.
    pub fn provide<T: Send + Sync + 'static>(self, value: T) -> Self {
        self.provide_arc(Arc::new(value))
    }

    /// A resource that is shared already, or a trait object.
    pub fn provide_arc<T: ?Sized + Send + Sync + 'static>(mut self, value: Arc<T>) -> Self {
        self.resources.insert(value);
        self
    }

    /// Adds the feedback of a stay.
    ///
    /// # Panics
    /// If the value is not JSON.
    pub fn feedback(mut self, value: impl Serialize) -> Self {
        self.feedback.push(test_json("feedback", value));
        self
    }

    /// Adds the answer to the next question that the node asks outside of every scope. A question without an answer is
    /// a failure of kind [`FaultKind::Interrupted`](crate::FaultKind::Interrupted).
    ///
    /// # Panics
    /// If the value is not JSON.
    ///
    /// ```
    /// use graph_engine::testing::node_once;
    /// use graph_engine::{Ctx, NodeError, State};
    ///
    /// #[derive(State, Clone, Default)]
    /// struct Trip {
    ///     booked: bool,
    /// }
    ///
    /// async fn book(ctx: Ctx) -> Result<TripUpdate, NodeError> {
    ///     Ok(Trip::update().booked(ctx.interrupt::<bool>("Book?")?))
    /// }
    ///
    /// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
    /// let outcome = node_once::<Trip, _>(book).answer(true).run().await.unwrap();
    /// assert_eq!(outcome.update.booked, Some(true));
    /// # });
    /// ```
    pub fn answer(mut self, answer: impl Serialize) -> Self {
        self.answers.push(test_json("answer", answer));
        self
    }

    /// The attempt, from 1.
    pub fn attempt(mut self, attempt: u32) -> Self {
        self.attempt = attempt;
        self
    }

    /// Runs the node.
    ///
    /// # Errors
    /// The failure of the extraction or of the node.
    pub async fn run(self) -> Result<Outcome<S>, NodeError>
    where
        S: Default,
    {
        let mut turn = TurnContext::new("test".into(), "test".into(), Arc::new(["test".into()]));
        turn.resources = self.resources;
        turn.durable = true;
        turn.journals.preset(TaskId::default(), self.answers);
        let task = Task {
            shared: Held::new(Arc::new(Shared { state: self.state.unwrap_or_default(), turn: Arc::new(turn) })),
            id: TaskId::default(),
            node: NodeIx(0),
            attempt: self.attempt,
            origin: CheckpointId::default(),
            remaining_steps: 99,
            alone: true,
            again: Again::default(),
            first_step: true,
            wait: Duration::ZERO,
            payload: self.payload,
            extra: (!self.feedback.is_empty()).then(|| Arc::new(Extra { feedback: self.feedback, timeout: None })),
            emitted: None,
            pulse: None,
        };
        self.spec.node.run(&task).await
    }
}

impl<S: State> fmt::Debug for NodeOnce<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NodeOnce").field("node", &self.spec).finish_non_exhaustive()
    }
}
