//! One handler for several tools that are called together.

use std::fmt;
use std::future::Future;
use std::sync::Arc;

use async_trait::async_trait;
use futures_util::future::BoxFuture;
use graph_engine::{Need, State};

use super::{Confirm, GroupCalls, GroupReply, ToolError};

/// One handler for all calls of a response, when they name exactly a declared set of tools: one backend request for
/// several calls, one transaction, all or nothing.
///
/// A set matches by its distinct names, in any order and however often each is called. One name more or less, also
/// one that there is no tool of, and every call goes to its own tool.
///
/// # Contract
/// The group has the last word: when it fails, every call is answered with its error and no single tool runs. It is
/// reached only if the arguments of all calls fit their schemas; otherwise nothing runs, the faulty calls are told
/// what is wrong and the others that they wait for them. As with [`Tool`](super::Tool), a task that is tried again
/// calls again: use [`GroupCalls::idempotency_key`] for effects outside.
///
/// ```
/// use graph_engine::{State, async_trait};
/// use graph_nodes::tool::{GroupCalls, GroupHandler, GroupReply, ToolError};
///
/// #[derive(State, Clone, Default)]
/// struct Trip {
///     city: String,
/// }
///
/// struct Backend;
///
/// #[async_trait]
/// impl GroupHandler<Trip> for Backend {
///     async fn call(&self, calls: GroupCalls<'_, Trip>) -> Result<GroupReply<Trip>, ToolError> {
///         Ok(GroupReply::text(format!("{} answers in one request", calls.len())))
///     }
/// }
/// # let _ = Backend;
/// ```
#[async_trait]
pub trait GroupHandler<S: State>: Send + Sync + 'static {
    /// Runs all calls.
    ///
    /// # Errors
    /// What the model is told as the answer of every call.
    async fn call(&self, calls: GroupCalls<'_, S>) -> Result<GroupReply<S>, ToolError>;

    /// How a person is asked before these calls run, once for all of them; `None` runs them at once, unless one of their
    /// [tools](super::Tool::confirm) asks. A panic counts as a question.
    fn confirm(&self, calls: &GroupCalls<'_, S>) -> Option<Confirm> {
        let _ = calls;
        None
    }

    /// The resources that it asks for, so that they are found missing when a turn begins.
    fn needs(&self) -> Vec<Need> {
        Vec::new()
    }
}

/// A closure that can handle a group. Implemented for every such closure.
///
/// ```
/// use graph_engine::State;
/// use graph_nodes::tool::{GroupCalls, GroupFn, GroupReply, ToolError};
///
/// #[derive(State, Clone, Default)]
/// struct Trip {
///     city: String,
/// }
///
/// async fn both(calls: GroupCalls<'static, Trip>) -> Result<GroupReply<Trip>, ToolError> {
///     Ok(GroupReply::text(calls.state().city.as_str()))
/// }
///
/// fn is_group(_: impl GroupFn<Trip>) {}
/// is_group(both);
/// ```
#[diagnostic::on_unimplemented(
    message = "this is not a group handler over the state `{S}`",
    label = "not a group handler",
    note = "a group handler is `|calls| async move {{ .. }}` that returns `Result<GroupReply<{S}>, ToolError>` and holds \
            only what is `Send` over its awaits"
)]
pub trait GroupFn<S: State>: Fn(GroupCalls<'static, S>) -> Self::Future + Send + Sync + 'static {
    /// The calls while they run.
    type Future: Future<Output = Result<GroupReply<S>, ToolError>> + Send + 'static;
}

#[diagnostic::do_not_recommend]
impl<S, F, Fut> GroupFn<S> for F
where
    S: State,
    F: Fn(GroupCalls<'static, S>) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<GroupReply<S>, ToolError>> + Send + 'static,
{
    type Future = Fut;
}

type Run<S> = Arc<dyn Fn(GroupCalls<'static, S>) -> BoxFuture<'static, Result<GroupReply<S>, ToolError>> + Send + Sync>;

/// A group handler made of a closure by [`group`].
///
/// ```
/// use graph_engine::State;
/// use graph_nodes::tool::{FnGroup, GroupHandler, GroupReply, group};
///
/// #[derive(State, Clone, Default)]
/// struct Trip {
///     city: String,
/// }
///
/// struct Backend;
///
/// let both: FnGroup<Trip> = group(|_| async { Ok(GroupReply::text("done")) }).needs::<Backend>();
/// assert_eq!(GroupHandler::needs(&both).len(), 1);
/// ```
#[must_use = "a group does nothing until it is in a `ToolBox`"]
pub struct FnGroup<S: State> {
    needs: Vec<Need>,
    confirm: bool,
    run: Run<S>,
}

/// Makes a group handler of a closure.
///
/// ```
/// use graph_engine::State;
/// use graph_nodes::tool::{GroupReply, ToolBox, ToolBoxError, group, tool};
///
/// #[derive(State, Clone, Default)]
/// struct Trip {
///     city: String,
/// }
///
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// struct City {
///     city: String,
/// }
///
/// let one = |name: &str| tool::<Trip, City>(name, "Asks the weather office.", |_, _| async { Ok("sunny".into()) });
/// let tools = ToolBox::builder()
///     .tool(one("weather"))
///     .tool(one("forecast"))
///     .group(["weather", "forecast"], group(|calls| async move {
///         let mut reply = GroupReply::text("no report");
///         for call in calls.iter() {
///             let City { city } = call.arguments_as()?;
///             reply = reply.answer(call.id(), format!("{} of {city}: sunny", call.name()));
///         }
///         Ok(reply)
///     }))
///     .build()?;
/// # let _ = tools;
/// # Ok::<(), ToolBoxError>(())
/// ```
pub fn group<S: State>(run: impl GroupFn<S>) -> FnGroup<S> {
    FnGroup { needs: Vec::new(), confirm: false, run: Arc::new(move |calls| Box::pin(run(calls))) }
}

impl<S: State> FnGroup<S> {
    /// Declares a resource that the closure asks for.
    pub fn needs<T: ?Sized + Send + Sync + 'static>(mut self) -> Self {
        self.needs.push(Need::of::<T>());
        self
    }

    /// Asks a person once before the calls run, and shows all of them.
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
    /// let both = group::<Trip>(|_| async { Ok(GroupReply::text("paid")) }).confirm();
    /// # let _ = both;
    /// ```
    pub fn confirm(mut self) -> Self {
        self.confirm = true;
        self
    }
}

#[async_trait]
impl<S: State> GroupHandler<S> for FnGroup<S> {
    async fn call(&self, calls: GroupCalls<'_, S>) -> Result<GroupReply<S>, ToolError> {
        (self.run)(calls.into_owned()).await
    }

    fn confirm(&self, _: &GroupCalls<'_, S>) -> Option<Confirm> {
        self.confirm.then(Confirm::new)
    }

    fn needs(&self) -> Vec<Need> {
        self.needs.clone()
    }
}

impl<S: State> Clone for FnGroup<S> {
    fn clone(&self) -> Self {
        Self { needs: self.needs.clone(), confirm: self.confirm, run: self.run.clone() }
    }
}

impl<S: State> fmt::Debug for FnGroup<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FnGroup").finish_non_exhaustive()
    }
}
