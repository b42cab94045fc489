//! One scheduled execution of a node: what it is given, how it is identified, what it hands back.

mod again;
mod ask;
mod blocking;
mod cancel;
mod command;
mod ctx;
mod extract;
mod failed_task;
mod info;
mod interrupt;
mod journal;
mod named;
mod outcome;
mod payload;
mod pulse;
mod question_row;
mod resources;
mod route;
mod shared;
mod turn_id;
mod voice;

pub(crate) use again::Again;
pub use ask::Ask;
pub(crate) use ask::paused;
pub use blocking::BlockingWork;
pub(crate) use blocking::{Offload, on_tokio};
pub(crate) use cancel::{Cancel, CancelOnDrop, Cause};
pub use command::{Command, IntoNext, Move, Next};
pub(crate) use command::{Goto, Hop, Rare, Target};
pub use ctx::Ctx;
pub use extract::{FromTask, In, Res, Snap};
pub use failed_task::FailedTask;
pub use info::{NodeInfo, NodeKind};
pub(crate) use interrupt::Answers;
pub use interrupt::{BadAnswer, Interrupt, InterruptId};
pub(crate) use journal::{ChildRow, Journal, Verdict};
pub(crate) use named::NamedMoves;
pub use named::{IntoNamedNext, NamedNext};
pub use outcome::{IntoOutcome, Outcome};
pub use payload::{Payload, PayloadType};
pub(crate) use pulse::Pulse;
pub use resources::Need;
pub(crate) use resources::Resources;
pub use route::{CanDirect, CanFinish, CanStay, END, Nowhere, Route, RouteSpec, START, TargetSpec};
pub(crate) use shared::{
    Emitted, EmittedKind, Extra, Held, Host, Keeper, MakesHost, Nested, Shared, Sink, TurnContext,
};
pub(crate) use turn_id::{RandomIds, TurnId};

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::AtomicU32;
use std::time::Duration;

use serde::Serialize;

use crate::checkpoint_id::CheckpointId;
use crate::error::NodeError;
use crate::name::Name;
use crate::task_id::TaskId;
use voice::Voice;

/// Position of a node in its graph. Nodes are numbered in name order, so index order is merge order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct NodeIx(pub(crate) u32);

impl NodeIx {
    pub(crate) fn at(self) -> usize {
        self.0 as usize
    }
}

/// One scheduled execution of a node: a snapshot of the state, the task's own payload and the turn it belongs to.
///
/// A hand-written [`Node`](crate::Node) borrows it; functions take [extractors](FromTask) instead. A clone shares
/// everything, for parts of a node's work that need to own what they read.
#[derive(Clone)]
pub struct Task<S> {
    pub(crate) shared: Held<S>,
    pub(crate) id: TaskId,
    pub(crate) node: NodeIx,
    pub(crate) attempt: u32,
    /// The checkpoint that made the frontier; zero without a store.
    pub(crate) origin: CheckpointId,
    pub(crate) remaining_steps: u64,
    /// The turn began with this super-step.
    pub(crate) first_step: bool,
    /// No other task of its node runs in this super-step; only asked for nodes to which it matters.
    pub(crate) alone: bool,
    /// Whether the node may be called again for this task within the turn.
    pub(crate) again: Again,
    /// How long the driver waits before this attempt, after a failure.
    pub(crate) wait: Duration,
    pub(crate) payload: Option<Payload>,
    pub(crate) extra: Option<Arc<Extra>>,
    /// Events of this attempt so far; only there when somebody reads events.
    pub(crate) emitted: Option<Arc<AtomicU32>>,
    /// Signs of life; only there when the node has an idle timeout.
    pub(crate) pulse: Option<Arc<Pulse>>,
}

impl<S> Task<S> {
    /// The state as this super-step sees it.
    #[must_use]
    pub fn state(&self) -> &S {
        &self.shared.state
    }

    /// The snapshot, to keep. A snapshot that outlives the task costs one copy of the state at the next merge.
    #[must_use]
    pub fn snapshot(&self) -> Snap<S> {
        Snap::shared(Arc::clone(&self.shared))
    }

    /// What identifies the task.
    #[must_use]
    pub fn id(&self) -> TaskId {
        self.id
    }

    /// The name of the node.
    #[must_use]
    pub fn node(&self) -> &Name {
        self.shared.turn.node_name(self.node)
    }

    /// What was sent to this task alone.
    #[must_use]
    pub fn payload(&self) -> Option<&Payload> {
        self.payload.as_ref()
    }

    /// Run metadata, cancellation and events.
    #[must_use]
    pub fn ctx(&self) -> Ctx {
        Ctx::of(self)
    }

    /// The same as [`Ctx::emit`], for a node that has its task at hand and needs nothing else of a `Ctx`.
    ///
    /// ```
    /// use async_trait::async_trait;
    /// use graph_engine::{Node, NodeError, Outcome, State, Task};
    ///
    /// #[derive(State, Clone, Default)]
    /// struct Trip {
    ///     city: String,
    /// }
    ///
    /// struct Explore;
    ///
    /// #[async_trait]
    /// impl Node<Trip> for Explore {
    ///     async fn run(&self, task: &Task<Trip>) -> Result<Outcome<Trip>, NodeError> {
    ///         task.emit("looking").await?;
    ///         Ok(Outcome::default())
    ///     }
    /// }
    /// # let _ = Explore;
    /// ```
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

    /// The same as [`Ctx::token`].
    pub async fn token(&self, text: impl Into<String> + Send) {
        if self.voice().is_heard()
            && let Some(waiting) = self.voice().token(text)
        {
            waiting.room().await;
        }
    }

    #[inline]
    fn voice(&self) -> Voice<'_> {
        let (turn, emitted, pulse) = (&*self.shared.turn, self.emitted.as_deref(), self.pulse.as_deref());
        Voice { turn, task: self.id, node: self.node, attempt: self.attempt, emitted, pulse }
    }

    /// Starts work that blocks its thread.
    pub(crate) fn offload(&self, work: BlockingWork) -> Result<(), &'static str> {
        match &self.shared.turn.offload {
            Some(offload) => offload.run(work),
            None => on_tokio(work),
        }
    }

    /// A resource that the runner or the turn provides.
    #[must_use]
    pub fn resource<T: ?Sized + Send + Sync + 'static>(&self) -> Option<Arc<T>> {
        self.shared.turn.resources.get()
    }
}

impl<S> fmt::Debug for Task<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Task")
            .field("id", &self.id)
            .field("node", self.node())
            .field("attempt", &self.attempt)
            .finish_non_exhaustive()
    }
}
