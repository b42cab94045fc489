//! Closures as tools.

use std::fmt;
use std::future::Future;
use std::sync::Arc;

use async_trait::async_trait;
use futures_util::future::BoxFuture;
use graph_engine::{Need, State};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::args_fault::unreadable;
use super::{Call, Confirm, Tool, ToolError, ToolReply, schema_of};
use crate::model::ToolSpec;

/// A closure that can be a tool: takes the arguments and the [`Call`], returns a future of a [`ToolReply`] or a
/// [`ToolError`]. Implemented for every such closure.
///
/// ```
/// use graph_engine::State;
/// use graph_nodes::tool::{Call, ToolError, ToolFn, ToolReply};
///
/// #[derive(State, Clone, Default)]
/// struct Trip {
///     city: String,
/// }
///
/// async fn echo(text: String, _: Call<'static, Trip>) -> Result<ToolReply<Trip>, ToolError> {
///     Ok(text.into())
/// }
///
/// fn is_tool(_: impl ToolFn<Trip, String>) {}
/// is_tool(echo);
/// ```
#[diagnostic::on_unimplemented(
    message = "this is not a tool over the state `{S}` with arguments `{Args}`",
    label = "not a tool",
    note = "a tool is `|args: {Args}, call| async move {{ .. }}` that returns `Result<ToolReply<{S}>, ToolError>` and \
            holds only what is `Send` over its awaits"
)]
pub trait ToolFn<S: State, Args>: Fn(Args, Call<'static, S>) -> Self::Future + Send + Sync + 'static {
    /// The call while it runs.
    type Future: Future<Output = Result<ToolReply<S>, ToolError>> + Send + 'static;
}

#[diagnostic::do_not_recommend]
impl<S, Args, F, Fut> ToolFn<S, Args> for F
where
    S: State,
    F: Fn(Args, Call<'static, S>) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<ToolReply<S>, ToolError>> + Send + 'static,
{
    type Future = Fut;
}

type Run<S> = Arc<dyn Fn(Call<'static, S>) -> BoxFuture<'static, Result<ToolReply<S>, ToolError>> + Send + Sync>;

/// A tool made of a closure by [`tool`](fn@tool).
///
/// ```
/// use graph_engine::State;
/// use graph_nodes::tool::{FnTool, Tool, tool};
///
/// #[derive(State, Clone, Default)]
/// struct Trip {
///     city: String,
/// }
///
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// struct NoArgs {}
///
/// struct Catalogue(Vec<&'static str>);
///
/// let count: FnTool<Trip> = tool::<Trip, NoArgs>("count", "Counts the hotels.", |_, call| async move {
///     Ok(call.resource::<Catalogue>()?.0.len().to_string().into())
/// })
/// .needs::<Catalogue>();
/// assert_eq!(Tool::needs(&count).len(), 1);
/// ```
#[must_use = "a tool does nothing until it is in a `ToolBox`"]
pub struct FnTool<S: State> {
    spec: ToolSpec,
    needs: Vec<Need>,
    safe: Option<Safe>,
    read_only: bool,
    confirm: Option<Asks>,
    run: Run<S>,
}

/// Says of arguments how a person is asked about a call with them.
type Asks = Arc<dyn Fn(&Map<String, Value>) -> Option<Confirm> + Send + Sync>;

/// Says of arguments whether a call with them may run beside others.
type Safe = Arc<dyn Fn(&Map<String, Value>) -> bool + Send + Sync>;

/// Makes a tool of a closure; the schema comes from the arguments' type.
///
/// ```
/// use graph_engine::State;
/// use graph_nodes::tool::{Tool, ToolReply, tool};
///
/// #[derive(State, Clone, Default)]
/// struct Trip {
///     city: String,
/// }
///
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// struct Capture {
///     /// Where to go.
///     city: String,
/// }
///
/// let capture = tool::<Trip, Capture>("capture_city", "Saves the city.", |args: Capture, call| async move {
///     if args.city == call.state().city {
///         return Err("that city is saved already".into());
///     }
///     Ok(ToolReply::text("saved").update(Trip::update().city(args.city)).go("present_agent"))
/// });
/// assert_eq!(capture.spec().parameters["required"][0], "city");
/// ```
pub fn tool<S: State, Args: JsonSchema + DeserializeOwned + Send + 'static>(
    name: impl Into<String>,
    description: impl Into<String>,
    run: impl ToolFn<S, Args>,
) -> FnTool<S> {
    let run: Run<S> = Arc::new(move |call: Call<'static, S>| {
        let arguments = Value::Object(call.arguments().clone());
        match serde_json::from_value::<Args>(arguments) {
            Ok(args) => Box::pin(run(args, call)),
            Err(error) => {
                let message = unreadable(call.name(), &error.to_string());
                Box::pin(std::future::ready(Err(message.into())))
            }
        }
    });
    FnTool {
        spec: ToolSpec::new(name, description, schema_of::<Args>()),
        needs: Vec::new(),
        safe: None,
        read_only: false,
        confirm: None,
        run,
    }
}

impl<S: State> FnTool<S> {
    /// Declares a resource that the closure asks for.
    pub fn needs<T: ?Sized + Send + Sync + 'static>(mut self) -> Self {
        self.needs.push(Need::of::<T>());
        self
    }

    /// Says that calls may run at the same time as their neighbours (default: each runs alone).
    ///
    /// ```
    /// # use graph_engine::State;
    /// # #[derive(State, Clone, Default)]
    /// # struct Trip { city: String }
    /// # #[derive(serde::Deserialize, schemars::JsonSchema)]
    /// # struct NoArgs {}
    /// use graph_nodes::tool::{Tool, tool};
    ///
    /// let search = tool::<Trip, NoArgs>("search", "Finds hotels.", |_, _| async { Ok("none".into()) });
    /// assert!(search.concurrent().read_only().concurrency_safe(&Default::default()));
    /// ```
    pub fn concurrent(self) -> Self {
        self.concurrent_if(|_| true)
    }

    /// The same for calls with such arguments.
    pub fn concurrent_if(mut self, safe: impl Fn(&Map<String, Value>) -> bool + Send + Sync + 'static) -> Self {
        self.safe = Some(Arc::new(safe));
        self
    }

    /// Says that calls change nothing that another call could notice.
    pub fn read_only(mut self) -> Self {
        self.read_only = true;
        self
    }

    /// Asks a person before each call: with its name, description and arguments. Only a yes runs it, and no other call of
    /// the response waits for the answer that may run beside others. See
    /// [`ToolsNode`](crate::stage::ToolsNode#confirmation).
    ///
    /// ```
    /// # use graph_engine::State;
    /// # #[derive(State, Clone, Default)]
    /// # struct Trip { city: String }
    /// # #[derive(serde::Deserialize, schemars::JsonSchema)]
    /// # struct NoArgs {}
    /// use graph_nodes::tool::{Confirm, Tool, tool};
    ///
    /// let book = tool::<Trip, NoArgs>("book", "Books a room.", |_, _| async { Ok("booked".into()) }).confirm();
    /// assert_eq!(Tool::confirm(&book, &Default::default()), Some(Confirm::new()));
    /// ```
    pub fn confirm(self) -> Self {
        self.confirm_with(|_| Some(Confirm::new()))
    }

    /// The same for calls with such arguments.
    pub fn confirm_if(self, asks: impl Fn(&Map<String, Value>) -> bool + Send + Sync + 'static) -> Self {
        self.confirm_with(move |arguments| asks(arguments).then(Confirm::new))
    }

    /// The same with words, details or a deadline of its own.
    pub fn confirm_with(
        mut self,
        asks: impl Fn(&Map<String, Value>) -> Option<Confirm> + Send + Sync + 'static,
    ) -> Self {
        self.confirm = Some(Arc::new(asks));
        self
    }
}

#[async_trait]
impl<S: State> Tool<S> for FnTool<S> {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn call(&self, call: Call<'_, S>) -> Result<ToolReply<S>, ToolError> {
        (self.run)(call.into_owned()).await
    }

    fn concurrency_safe(&self, arguments: &Map<String, Value>) -> bool {
        self.safe.as_ref().is_some_and(|safe| safe(arguments))
    }

    fn read_only(&self) -> bool {
        self.read_only
    }

    fn confirm(&self, arguments: &Map<String, Value>) -> Option<Confirm> {
        self.confirm.as_ref().and_then(|asks| asks(arguments))
    }

    fn needs(&self) -> Vec<Need> {
        self.needs.clone()
    }
}

impl<S: State> Clone for FnTool<S> {
    fn clone(&self) -> Self {
        Self {
            spec: self.spec.clone(),
            needs: self.needs.clone(),
            safe: self.safe.clone(),
            read_only: self.read_only,
            confirm: self.confirm.clone(),
            run: self.run.clone(),
        }
    }
}

impl<S: State> fmt::Debug for FnTool<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FnTool").field("spec", &self.spec).finish_non_exhaustive()
    }
}
