//! What a group handler is given.

use std::borrow::Cow;
use std::fmt;
use std::future::Future;
use std::sync::Arc;

use graph_engine::{Ctx, State, Task};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{AskedCall, Call, CallAsk, Confirm, Confirmation, ToolError};
use crate::message::ToolCall;

/// All calls of a group in request order, with checked arguments; never empty.
///
/// ```
/// use graph_engine::State;
/// use graph_nodes::tool::{GroupReply, group};
///
/// #[derive(State, Clone, Default)]
/// struct Trip {
///     city: String,
/// }
///
/// let both = group::<Trip>(|calls| async move {
///     let names: Vec<&str> = calls.names().collect();
///     Ok(GroupReply::text(names.join(" and ")))
/// });
/// # let _ = both;
/// ```
pub struct GroupCalls<'a, S: State> {
    calls: Cow<'a, [ToolCall]>,
    task: Cow<'a, Task<S>>,
}

impl<'a, S: State> GroupCalls<'a, S> {
    pub(crate) fn new(calls: &'a [ToolCall], task: &'a Task<S>) -> Self {
        Self { calls: Cow::Borrowed(calls), task: Cow::Borrowed(task) }
    }

    /// The same, for what has to own it.
    #[must_use]
    pub fn into_owned(self) -> GroupCalls<'static, S> {
        GroupCalls { calls: Cow::Owned(self.calls.into_owned()), task: Cow::Owned(self.task.into_owned()) }
    }

    /// The calls, each with its id, name and arguments.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Call<'_, S>> {
        self.calls.iter().map(|call| Call::new(call, &self.task))
    }

    /// The names of the calls' tools, in request order; a tool that is called twice is named twice.
    pub fn names(&self) -> impl ExactSizeIterator<Item = &str> {
        self.calls.iter().map(|call| call.name.as_str())
    }

    /// The ids of the calls, in request order.
    pub fn ids(&self) -> impl ExactSizeIterator<Item = &str> {
        self.calls.iter().map(|call| call.id.as_str())
    }

    /// How many calls.
    #[must_use]
    pub fn len(&self) -> usize {
        self.calls.len()
    }

    /// Never: a group has at least one call.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.calls.is_empty()
    }

    /// The state as the super-step found it.
    #[must_use]
    pub fn state(&self) -> &S {
        self.task.state()
    }

    /// Run metadata, cancellation and events. Its questions and memos are those of the group; each
    /// [call](Call::ctx) has its own too.
    #[must_use]
    pub fn ctx(&self) -> Ctx {
        self.task.ctx().scope(self.scope())
    }

    pub(crate) fn scope(&self) -> String {
        self.ids().collect::<Vec<_>>().join("+")
    }

    /// Asks a person or another system on behalf of the whole group: see [`Call::interrupt`].
    ///
    /// # Errors
    /// As [`Call::interrupt`].
    pub fn interrupt<T: DeserializeOwned>(&self, question: impl Serialize) -> Result<T, ToolError> {
        self.ask(question).answer()
    }

    /// A question that may have a deadline.
    pub fn ask(&self, question: impl Serialize) -> CallAsk {
        CallAsk::new(self.ctx(), question)
    }

    /// Asks once whether all calls of the group may run: see [`Call::confirm`].
    ///
    /// # Errors
    /// As [`Call::confirm`].
    pub fn confirm(&self, confirm: impl Into<Confirm>) -> Result<Confirmation, ToolError> {
        let calls = self.calls.iter().map(|call| AskedCall::of(call, "")).collect();
        super::confirm::confirm(&self.ctx(), confirm.into(), calls)
    }

    /// Runs the work once for this group: see [`Call::memo`].
    ///
    /// # Errors
    /// As [`Call::memo`].
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

    /// A key for effects outside: the same in every attempt of this group, and in no other group. Each
    /// [call](Call::idempotency_key) has its own one too.
    #[must_use]
    pub fn idempotency_key(&self) -> String {
        let ids: Vec<&str> = self.ids().collect();
        format!("{}/{}", self.task.ctx().idempotency_key(), ids.join("+"))
    }

    /// What the runner or the turn provides. Declare it with [`FnGroup::needs`](super::FnGroup::needs), so that it is
    /// found missing when a turn begins.
    ///
    /// # Errors
    /// If nobody provides a `T`.
    pub fn resource<T: ?Sized + Send + Sync + 'static>(&self) -> Result<Arc<T>, ToolError> {
        super::call::resource(&self.task)
    }
}

impl<S: State> fmt::Debug for GroupCalls<'_, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GroupCalls").field("calls", &self.calls).finish_non_exhaustive()
    }
}
