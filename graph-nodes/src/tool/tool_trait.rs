//! The trait that every tool implements.

use async_trait::async_trait;
use graph_engine::{Need, State};
use serde_json::{Map, Value};

use super::{Call, Confirm, ToolError, ToolReply};
use crate::model::ToolSpec;

/// A tool that a model may call, for graphs over the state `S`.
///
/// # Contract
/// `call` is reached only after the gate accepted the whole response and the arguments fit the schema of `spec`,
/// which is read once, when the [`ToolBox`](super::ToolBox) is built. An error, also a panic, is told to the model
/// as the answer of this call; the other calls are not touched by it. A task that is tried again, or a thread that
/// goes on after a crash, calls again: use [`Call::idempotency_key`] for effects outside.
///
/// ```
/// use graph_engine::{State, async_trait};
/// use graph_nodes::model::ToolSpec;
/// use graph_nodes::tool::{Call, Tool, ToolError, ToolReply, schema_of};
///
/// #[derive(State, Clone, Default)]
/// struct Trip {
///     city: String,
/// }
///
/// #[derive(schemars::JsonSchema)]
/// struct NoArgs {}
///
/// struct Forget(ToolSpec);
///
/// #[async_trait]
/// impl Tool<Trip> for Forget {
///     fn spec(&self) -> &ToolSpec {
///         &self.0
///     }
///
///     async fn call(&self, _: Call<'_, Trip>) -> Result<ToolReply<Trip>, ToolError> {
///         Ok(ToolReply::text("forgotten").update(Trip::update().city("")))
///     }
/// }
///
/// let forget = Forget(ToolSpec::new("forget", "Forgets the city.", schema_of::<NoArgs>()));
/// assert_eq!(forget.spec().name, "forget");
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no tool over the state `{S}`",
    label = "not a tool",
    note = "write `#[tool]` on an `async fn`, make one of a closure with `tool(..)`, or implement `Tool<{S}>`"
)]
#[async_trait]
pub trait Tool<S: State>: Send + Sync + 'static {
    /// What the model is told of the tool.
    fn spec(&self) -> &ToolSpec;

    /// A second name for programs, where providers would refuse the tool's own: `files.read_file` for what models are
    /// told of as `files__read_file`. It is read once, as `spec` is, and is as unique as a name.
    fn alias(&self) -> Option<&str> {
        None
    }

    /// Runs one call.
    ///
    /// # Errors
    /// What the model is told instead of a result.
    async fn call(&self, call: Call<'_, S>) -> Result<ToolReply<S>, ToolError>;

    /// Whether this call may run at the same time as its neighbours, judged by its arguments. Only neighbours that all
    /// say so run together; a call that doesn't runs alone. A panic counts as no.
    fn concurrency_safe(&self, arguments: &Map<String, Value>) -> bool {
        let _ = arguments;
        false
    }

    /// Whether a call changes nothing that another call could notice. A success of a tool that isn't read-only makes
    /// earlier results old: see [`Guards::with_repeats_intercepted`](crate::stage::Guards::with_repeats_intercepted).
    fn read_only(&self) -> bool {
        false
    }

    /// How a person is asked before a call with these arguments runs; `None` runs it at once. A panic counts as a question.
    fn confirm(&self, arguments: &Map<String, Value>) -> Option<Confirm> {
        let _ = arguments;
        None
    }

    /// The resources that it asks for, so that they are found missing when a turn begins.
    fn needs(&self) -> Vec<Need> {
        Vec::new()
    }
}
