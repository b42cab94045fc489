//! Run metadata, cancellation and events, as a node sees them.

use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio_util::sync::CancellationToken;

use super::shared::{Extra, TurnContext};
use super::voice::Voice;
use super::{NodeIx, Pulse, Task};
use crate::checkpoint_id::CheckpointId;
use crate::error::NodeError;
use crate::name::Name;
use crate::task_id::TaskId;

/// What a node may know of its run: the step and attempt, feedback, cancellation, and where events go.
///
/// ```
/// use graph_engine::{Ctx, NodeError};
///
/// async fn explore(ctx: Ctx) -> Result<(), NodeError> {
///     let hint = ctx.feedback::<String>()?;
///     ctx.emit(format!("attempt {}, hint {hint:?}", ctx.attempt())).await?;
///     Ok(())
/// }
/// # let _ = explore;
/// ```
#[derive(Clone)]
pub struct Ctx {
    pub(crate) turn: Arc<TurnContext>,
    pub(crate) id: TaskId,
    node: NodeIx,
    pub(super) attempt: u32,
    origin: CheckpointId,
    remaining_steps: u64,
    pub(super) first_step: bool,
    /// The task may run again within the turn, by its retry policy.
    pub(crate) retried: bool,
    /// Which of several concurrent parts of the node's work it is for.
    pub(crate) scope: Option<Name>,
    extra: Option<Arc<Extra>>,
    emitted: Option<Arc<AtomicU32>>,
    pulse: Option<Arc<Pulse>>,
}

impl Ctx {
    pub(crate) fn of<S>(task: &Task<S>) -> Self {
        Self {
            turn: task.shared.turn.clone(),
            id: task.id,
            node: task.node,
            attempt: task.attempt,
            origin: task.origin,
            remaining_steps: task.remaining_steps,
            first_step: task.first_step,
            retried: task.again.by_policy,
            scope: None,
            extra: task.extra.clone(),
            emitted: task.emitted.clone(),
            pulse: task.pulse.clone(),
        }
    }

    /// The same context within a scope.
    pub(super) fn within(&self, scope: Name) -> Self {
        Self { scope: Some(scope), ..self.clone() }
    }

    /// The thread's id.
    #[must_use]
    pub fn thread(&self) -> &Name {
        &self.turn.thread
    }

    /// The turn's id.
    #[must_use]
    pub fn turn(&self) -> &Name {
        self.turn.turn_id()
    }

    /// The node's name.
    #[must_use]
    pub fn node(&self) -> &Name {
        self.turn.node_name(self.node)
    }

    /// What identifies the task.
    #[must_use]
    pub fn task(&self) -> TaskId {
        self.id
    }

    /// Super-steps before this one since the thread began.
    #[must_use]
    pub fn step(&self) -> u64 {
        self.id.step
    }

    /// Which try of this task it is, from 1. A stay begins again at 1.
    #[must_use]
    pub fn attempt(&self) -> u32 {
        self.attempt
    }

    /// Super-steps that this turn may still make after this one.
    #[must_use]
    pub fn remaining_steps(&self) -> u64 {
        self.remaining_steps
    }

    /// A key for effects outside: the same in every attempt of this task, also after a restart from the last
    /// checkpoint, and in no other task of any run.
    #[must_use]
    pub fn idempotency_key(&self) -> String {
        let TurnContext { thread, namespace, .. } = &*self.turn;
        let scope = self.scope.as_deref().unwrap_or_default();
        self.with_origin(|origin| format!("{thread}/{namespace}{origin}/{}{scope}", self.id))
    }

    /// Gives somebody the text of what the task descends from. Without a store a task lives only in its turn.
    pub(crate) fn with_origin<T>(&self, see: impl FnOnce(&str) -> T) -> T {
        match self.origin == CheckpointId::default() {
            true => see(self.turn.lineage.as_ref().unwrap_or(self.turn.turn_id())),
            false => self.origin.with_text(see),
        }
    }

    /// The feedback of the stay that led here. When several tasks stayed at once it is the first in task order.
    ///
    /// # Errors
    /// A fatal error if the feedback is no `T`.
    pub fn feedback<T: DeserializeOwned>(&self) -> Result<Option<T>, NodeError> {
        self.feedbacks().next().transpose()
    }

    /// The feedback of every stay that led here, in task order.
    pub fn feedbacks<T: DeserializeOwned>(&self) -> impl Iterator<Item = Result<T, NodeError>> {
        self.extra.iter().flat_map(|extra| &extra.feedback).map(|value| {
            T::deserialize(value).map_err(|e| {
                NodeError::fatal({
                    let wanted = std::any::type_name::<T>();
                    format!("the feedback has not the type `{wanted}`: {e}; read it as the type that `stay` was given")
                })
            })
        })
    }

    /// Whether the task is to stop: the turn is cancelled or out of time, or a sibling failed in a graph where that
    /// [cancels](crate::Siblings::Cancel) the others. Work is also stopped at its next await by itself.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.turn.cancel.stops(self.id.step)
    }

    /// Resolves when the task is to stop.
    pub fn cancelled(&self) -> impl Future<Output = ()> + Send + 'static {
        self.turn.cancel.step_token(self.id.step).cancelled_owned()
    }

    /// The task's cancellation, to hand to other libraries.
    #[must_use]
    pub fn cancellation(&self) -> CancellationToken {
        self.turn.cancel.step_token(self.id.step).child_token()
    }

    /// Says that the node is alive, so that its idle timeout begins anew. Emitting says so too.
    pub fn heartbeat(&self) {
        if let Some(pulse) = &self.pulse {
            pulse.beat();
        }
    }

    /// Whether anybody reads events. Nothing needs to be made for `emit` when nobody does.
    #[must_use]
    pub fn is_observed(&self) -> bool {
        self.turn.cancel.is_read() && self.turn.sink().is_some_and(|sink| sink.is_read())
    }

    /// Sends an event of the node's own to whoever streams the turn. Waits for a slow reader, according to its
    /// policy; without a reader it does nothing.
    ///
    /// # Errors
    /// If the value is not JSON.
    pub async fn emit(&self, event: impl Serialize + Send) -> Result<(), NodeError> {
        if self.voice().is_heard()
            && let Some(waiting) = self.voice().emit(event)?
        {
            waiting.room().await;
        }
        Ok(())
    }

    /// Sends a piece of text that a person sees grow, such as a model's token.
    pub async fn token(&self, text: impl Into<String> + Send) {
        if self.voice().is_heard()
            && let Some(waiting) = self.voice().token(text)
        {
            waiting.room().await;
        }
    }

    /// Something within this attempt told readers something, which counts for nothing if the attempt fails.
    pub(crate) fn note_told(&self) {
        if let Some(emitted) = &self.emitted {
            emitted.fetch_add(1, Ordering::Relaxed);
        }
    }

    #[inline]
    fn voice(&self) -> Voice<'_> {
        let (turn, emitted, pulse) = (&*self.turn, self.emitted.as_deref(), self.pulse.as_deref());
        Voice { turn, task: self.id, node: self.node, attempt: self.attempt, emitted, pulse }
    }
}

impl fmt::Debug for Ctx {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ctx")
            .field("task", &self.id)
            .field("node", self.node())
            .field("attempt", &self.attempt)
            .finish_non_exhaustive()
    }
}
