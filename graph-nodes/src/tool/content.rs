//! What a `#[tool]` function may return.

use graph_engine::State;
use serde::Serialize;
use serde_json::Value;

use super::{ToolError, ToolReply};
use crate::message::Artifact;

/// A result of a [`#[tool]`](macro@super::tool) function.
///
/// | result | what the model reads |
/// | --- | --- |
/// | [`ToolReply<S>`] | its text; and it may write state and route |
/// | `String`, `&'static str` | the text |
/// | [`Json<T>`], [`Value`] | compact JSON |
/// | [`Artifact`] | where it is |
/// | `Result` of one of these, and what converts to a [`ToolError`] | the same, or the error |
///
/// ```
/// use graph_engine::State;
/// use graph_nodes::tool::{IntoToolReply, Json, ToolReply};
///
/// #[derive(State, Clone, Default)]
/// struct Trip {
///     city: String,
/// }
///
/// let reply: ToolReply<Trip> = Ok::<_, std::fmt::Error>(Json([1, 2])).into_tool_reply().unwrap();
/// assert_eq!(reply.content().unwrap(), [graph_nodes::message::Content::text("[1,2]")]);
/// ```
#[diagnostic::on_unimplemented(
    message = "a tool over the state `{S}` cannot return `{Self}`",
    label = "no reply of a tool",
    note = "a tool may return `ToolReply<{S}>`, `String`, `Json<value>`, `Artifact`, or a `Result` of one of these",
    note = "`#[tool(state = ..)]` names the state"
)]
pub trait IntoToolReply<S: State> {
    /// The reply, or what the model is told instead.
    ///
    /// # Errors
    /// The failure of the call.
    fn into_tool_reply(self) -> Result<ToolReply<S>, ToolError>;
}

impl<S: State> IntoToolReply<S> for ToolReply<S> {
    fn into_tool_reply(self) -> Result<Self, ToolError> {
        Ok(self)
    }
}

impl<S: State> IntoToolReply<S> for String {
    fn into_tool_reply(self) -> Result<ToolReply<S>, ToolError> {
        Ok(self.into())
    }
}

impl<S: State> IntoToolReply<S> for &'static str {
    fn into_tool_reply(self) -> Result<ToolReply<S>, ToolError> {
        Ok(self.into())
    }
}

impl<S: State> IntoToolReply<S> for Value {
    fn into_tool_reply(self) -> Result<ToolReply<S>, ToolError> {
        Ok(ToolReply::json(self))
    }
}

impl<S: State> IntoToolReply<S> for Artifact {
    fn into_tool_reply(self) -> Result<ToolReply<S>, ToolError> {
        Ok(ToolReply::text("").artifact(self))
    }
}

impl<S: State, T: Serialize> IntoToolReply<S> for Json<T> {
    fn into_tool_reply(self) -> Result<ToolReply<S>, ToolError> {
        Ok(ToolReply::json(self.0))
    }
}

impl<S: State, T: IntoToolReply<S>, E: Into<ToolError>> IntoToolReply<S> for Result<T, E> {
    fn into_tool_reply(self) -> Result<ToolReply<S>, ToolError> {
        self.map_err(Into::into)?.into_tool_reply()
    }
}

/// A value for the model, as compact JSON: a result of a [`#[tool]`](macro@super::tool) function.
///
/// ```
/// use graph_nodes::tool::{Json, tool};
///
/// /// Finds hotels.
/// #[tool]
/// async fn search(city: String) -> Json<Vec<String>> {
///     Json(vec![format!("{city} Inn")])
/// }
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// assert_eq!(search("Oslo".into()).await.0, ["Oslo Inn"]);
/// # });
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Json<T>(pub T);
