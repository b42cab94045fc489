//! What a handler is given.

use std::borrow::Cow;
use std::fmt;
use std::future::Future;
use std::sync::{Arc, LazyLock};

use graph_engine::{Ctx, FaultKind, Snap, State, Task};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::{AskedCall, CallAsk, Confirm, Confirmation, ToolError};
use crate::message::ToolCall;

/// One call as its handler sees it: checked arguments, the state, and the run around it.
///
/// The state is the one that the super-step began with: what earlier calls of the same response write is not in it
/// yet.
///
/// ```
/// use graph_engine::State;
/// use graph_nodes::tool::{ToolReply, tool};
///
/// #[derive(State, Clone, Default)]
/// struct Trip {
///     city: String,
/// }
///
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// struct NoArgs {}
///
/// let where_to = tool::<Trip, NoArgs>("where_to", "The city of the trip.", |_, call| async move {
///     call.ctx().emit("looking it up").await.map_err(|error| error.to_string())?;
///     Ok(ToolReply::text(&call.state().city))
/// });
/// # let _ = where_to;
/// ```
pub struct Call<'a, S: State> {
    call: Cow<'a, ToolCall>,
    task: Cow<'a, Task<S>>,
}

impl<'a, S: State> Call<'a, S> {
    pub(crate) fn new(call: &'a ToolCall, task: &'a Task<S>) -> Self {
        Self { call: Cow::Borrowed(call), task: Cow::Borrowed(task) }
    }

    /// The same, for what has to own it.
    #[must_use]
    pub fn into_owned(self) -> Call<'static, S> {
        Call { call: Cow::Owned(self.call.into_owned()), task: Cow::Owned(self.task.into_owned()) }
    }

    /// The id of the call, which its answer carries.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.call.id
    }

    /// The name of the tool.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.call.name
    }

    /// The arguments, which fit the tool's schema.
    #[must_use]
    pub fn arguments(&self) -> &Map<String, Value> {
        static NONE: LazyLock<Map<String, Value>> = LazyLock::new(Map::new);
        // Faulty arguments never reach a handler.
        self.call.arguments.parsed().unwrap_or(&*NONE)
    }

    /// The arguments as a type.
    ///
    /// # Errors
    /// If they are no `T`, which the schema should have said.
    pub fn arguments_as<T: DeserializeOwned>(&self) -> Result<T, ToolError> {
        T::deserialize(self.arguments()).map_err(|error| {
            format!("the arguments of `{}` can't be read ({error}); correct them and call again", self.name()).into()
        })
    }

    /// The state as the super-step found it.
    #[must_use]
    pub fn state(&self) -> &S {
        self.task.state()
    }

    /// The state, to keep.
    #[must_use]
    pub fn snapshot(&self) -> Snap<S> {
        self.task.snapshot()
    }

    /// Run metadata, cancellation and events. Its questions and memos are those of this call.
    #[must_use]
    pub fn ctx(&self) -> Ctx {
        self.task.ctx().scope(&self.call.id)
    }

    /// Asks a person or another system, and gives the answer.
    ///
    /// The first time there is none: the error pauses this call, whatever the handler makes of it, while the others of
    /// the response run. Once there is an answer the handler runs again from its first line, and its n-th question gets
    /// the n-th answer. What must not be done twice before a question stands in [`memo`](Self::memo).
    ///
    /// ```
    /// use graph_engine::State;
    /// use graph_nodes::tool::{ToolReply, tool};
    ///
    /// #[derive(State, Clone, Default)]
    /// struct Trip {
    ///     city: String,
    /// }
    ///
    /// #[derive(serde::Deserialize, schemars::JsonSchema)]
    /// struct NoArgs {}
    ///
    /// let book = tool::<Trip, NoArgs>("book", "Books a room.", |_, call| async move {
    ///     let price = call.memo("price", async { Ok::<_, std::io::Error>(120) }).await?;
    ///     let name: String = call.interrupt(format!("{price}; for whom?"))?;
    ///     Ok(ToolReply::text(format!("booked for {name}")))
    /// });
    /// # let _ = book;
    /// ```
    ///
    /// # Errors
    /// The one that pauses. Without a store, or with a question that is no JSON, the task fails.
    pub fn interrupt<T: DeserializeOwned>(&self, question: impl Serialize) -> Result<T, ToolError> {
        self.ask(question).answer()
    }

    /// A question that may have a deadline, such as [`interrupt`](Self::interrupt) asks without one.
    pub fn ask(&self, question: impl Serialize) -> CallAsk {
        CallAsk::new(self.ctx(), question)
    }

    /// Asks a person whether the call may do what it is about to do. For what can be said before the handler runs there
    /// is [`FnTool::confirm`](super::FnTool::confirm).
    ///
    /// ```
    /// use graph_engine::State;
    /// use graph_nodes::tool::{Confirm, ToolReply, tool};
    ///
    /// #[derive(State, Clone, Default)]
    /// struct Trip {
    ///     price: u32,
    /// }
    ///
    /// #[derive(serde::Deserialize, schemars::JsonSchema)]
    /// struct NoArgs {}
    ///
    /// let book = tool::<Trip, NoArgs>("book", "Books the room.", |_, call| async move {
    ///     call.confirm(Confirm::text("Book it?").details(call.state().price))?;
    ///     Ok(ToolReply::text("booked"))
    /// });
    /// # let _ = book;
    /// ```
    ///
    /// # Errors
    /// If the answer is no, one that is [declined](ToolError::declined); until there is one, as
    /// [`interrupt`](Self::interrupt).
    pub fn confirm(&self, confirm: impl Into<Confirm>) -> Result<Confirmation, ToolError> {
        super::confirm::confirm(&self.ctx(), confirm.into(), vec![AskedCall::of(&self.call, "")])
    }

    /// Runs the work once for this call: its result is stored before it is given back, and every later run of the handler
    /// gets the stored one. Errors are not stored.
    ///
    /// # Errors
    /// What the work says. Without a store, or if the key is used twice in one call, the task fails.
    pub async fn memo<T, E>(
        &self,
        key: impl AsRef<str> + Send,
        work: impl Future<Output = Result<T, E>> + Send,
    ) -> Result<T, ToolError>
    where
        T: Serialize + DeserializeOwned + Send,
        E: Into<ToolError>,
    {
        super::ask::memo(&self.ctx(), key.as_ref(), work).await
    }

    /// A key for effects outside: the same in every attempt of this call, and in no other call.
    #[must_use]
    pub fn idempotency_key(&self) -> String {
        format!("{}/{}", self.task.ctx().idempotency_key(), self.call.id)
    }

    /// Runs work that blocks its thread, as [`Task::blocking`] does: a database without async, a file, a long
    /// computation. Other calls of the response go on meanwhile, if their tools are
    /// [concurrency-safe](super::Tool::concurrency_safe).
    ///
    /// # Errors
    /// If there is no runtime for it, or it shuts down.
    ///
    /// # Panics
    /// If the work panics; the call is then answered as one whose handler panicked.
    ///
    /// ```
    /// use graph_engine::State;
    /// use graph_nodes::tool::{ToolReply, tool};
    ///
    /// #[derive(State, Clone, Default)]
    /// struct Trip {
    ///     city: String,
    /// }
    ///
    /// #[derive(serde::Deserialize, schemars::JsonSchema)]
    /// struct NoArgs {}
    ///
    /// let count = tool::<Trip, NoArgs>("count_scans", "Counts the scans.", |_, call| async move {
    ///     let scans = call.blocking(|| std::fs::read_dir("scans").map_or(0, Iterator::count)).await?;
    ///     Ok(ToolReply::text(scans.to_string()))
    /// });
    /// # let _ = count;
    /// ```
    pub async fn blocking<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> Result<T, ToolError> {
        self.task.blocking(work).await.map_err(|error| {
            if error.kind() == FaultKind::Panicked {
                std::panic::resume_unwind(Box::new(error.to_string()));
            }
            error.to_string().into()
        })
    }

    /// What the runner or the turn provides. Declare it with [`FnTool::needs`](super::FnTool::needs), so that it is
    /// found missing when a turn begins.
    ///
    /// # Errors
    /// If nobody provides a `T`.
    pub fn resource<T: ?Sized + Send + Sync + 'static>(&self) -> Result<Arc<T>, ToolError> {
        resource(&self.task)
    }
}

/// A resource, or what the model is told instead.
pub(super) fn resource<S: State, T: ?Sized + Send + Sync + 'static>(task: &Task<S>) -> Result<Arc<T>, ToolError> {
    task.resource().ok_or_else(|| {
        let name = std::any::type_name::<T>();
        format!("nobody provides a `{name}`; call `Runner::provide` or `Turn::with`").into()
    })
}

impl<S: State> Clone for Call<'_, S> {
    fn clone(&self) -> Self {
        Self { call: self.call.clone(), task: self.task.clone() }
    }
}

impl<S: State> fmt::Debug for Call<'_, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Call").field("id", &self.call.id).field("name", &self.call.name).finish_non_exhaustive()
    }
}
