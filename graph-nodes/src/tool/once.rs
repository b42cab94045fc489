//! Runs one tool without an engine.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use graph_engine::testing::{NodeOnce, node_once};
use graph_engine::{Node, NodeError, Outcome, State, Task, async_trait};
use serde_json::Value;

use super::{Answer, ArgsSchema, Call, Tool, ToolError, ToolReply};
use crate::message::ToolCall;

/// One call of one tool: what it is given, then [`run`](Self::run).
///
/// ```
/// use graph_engine::State;
/// use graph_nodes::message::Content;
/// use graph_nodes::tool::{tool, tool_once};
/// use serde_json::json;
///
/// #[derive(State, Clone, Default)]
/// struct Trip {
///     city: String,
/// }
///
/// /// Counts nights.
/// #[tool(state = Trip)]
/// async fn count(nights: u8) -> String {
///     format!("{nights} nights")
/// }
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let reply = tool_once(count, &json!({"nights": 3})).run().await.unwrap();
/// assert_eq!(reply.content().unwrap(), [Content::text("3 nights")]);
///
/// let error = tool_once(count, &json!({"nights": "3"})).run().await.unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "the arguments of `count` don't fit its schema: at `/nights`: expected an integer, found the text \"3\"; \
///      correct them and call again",
/// );
/// # });
/// ```
#[must_use = "call `run`"]
pub struct ToolOnce<S: State> {
    node: NodeOnce<S>,
    answer: Slot<S>,
}

type Slot<S> = Arc<Mutex<Option<Answer<S>>>>;

/// Calls one tool with these arguments, which are checked as in a stage; see [`ToolOnce`]. The id of the call is
/// `test`.
pub fn tool_once<S: State>(tool: impl Tool<S>, arguments: &Value) -> ToolOnce<S> {
    let answer = Slot::default();
    let call = ToolCall::new("test", &tool.spec().name, arguments);
    ToolOnce { node: node_once(Once { tool, call, answer: answer.clone() }), answer }
}

impl<S: State> ToolOnce<S> {
    /// The state that the tool sees (default: `S::default()`).
    pub fn state(mut self, state: S) -> Self {
        self.node = self.node.state(state);
        self
    }

    /// A resource, found by its type.
    pub fn provide<T: Send + Sync + 'static>(mut self, value: T) -> Self {
        self.node = self.node.provide(value);
        self
    }

    /// A resource that is shared already, or a trait object.
    pub fn provide_arc<T: ?Sized + Send + Sync + 'static>(mut self, value: Arc<T>) -> Self {
        self.node = self.node.provide_arc(value);
        self
    }

    /// Runs the tool.
    ///
    /// # Errors
    /// What the model would be told: of the arguments, or of the tool.
    pub async fn run(self) -> Result<ToolReply<S>, ToolError>
    where
        S: Default,
    {
        if let Err(error) = self.node.run().await {
            return Err(error.to_string().into());
        }
        let answer = self.answer.lock().unwrap_or_else(PoisonError::into_inner).take();
        answer.unwrap_or_else(|| Err("the tool was not called".into()))
    }
}

struct Once<S: State, T> {
    tool: T,
    call: ToolCall,
    answer: Slot<S>,
}

impl<S: State, T: Tool<S>> Once<S, T> {
    async fn answer(&self, task: &Task<S>) -> Answer<S> {
        let arguments = self.call.arguments.parsed().map_err(ToString::to_string)?;
        let spec = self.tool.spec();
        ArgsSchema::compile(&spec.parameters)?.check(&spec.name, arguments)?;
        self.tool.call(Call::new(&self.call, task)).await
    }
}

#[async_trait]
impl<S: State, T: Tool<S>> Node<S> for Once<S, T> {
    async fn run(&self, task: &Task<S>) -> Result<Outcome<S>, NodeError> {
        let answer = self.answer(task).await;
        *self.answer.lock().unwrap_or_else(PoisonError::into_inner) = Some(answer);
        Ok(Outcome::of(S::Update::default()))
    }
}

impl<S: State> fmt::Debug for ToolOnce<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolOnce").finish_non_exhaustive()
    }
}
