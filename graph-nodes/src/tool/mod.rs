//! Tools: what a model may call, with arguments checked before anything runs.
//!
//! Definition, exposure and dispatch are apart: a [`ToolBox`] holds all tools of
//! a graph, each stage [exposes](ToolBox::expose) some of them, and
//! [`ToolsNode`](crate::stage::ToolsNode) runs what the gate let through.
//!
//! | you want to | take |
//! | --- | --- |
//! | make a tool of an async function | [`#[tool]`](macro@tool) |
//! | make a tool of a closure | [`tool`](fn@tool) |
//! | make a tool by hand, also with a schema known at run time | [`Tool`] |
//! | answer, write state, go somewhere | [`ToolReply`] |
//! | tell the model what was wrong | [`ToolError`] |
//! | test one without an engine | `tool_once` (feature `testing`), or call a `#[tool]` function |
//! | keep the tools of a graph together | [`ToolBox`] |

mod args;
mod args_fault;
mod call;
mod content;
#[doc(hidden)]
pub mod derived;
mod error;
mod extract;
mod function;
#[cfg(feature = "testing")]
mod once;
mod reply;
mod schema;
mod tool_trait;
mod toolbox;

pub(crate) use args::ArgsSchema;
pub use args::SchemaError;
pub use call::Call;
pub use content::{IntoToolReply, Json};
pub use error::ToolError;
pub use extract::{Args, CallInfo, FromCall};
pub use function::{FnTool, ToolFn, tool};
#[doc(inline)]
pub use graph_nodes_macros::tool;
#[cfg(feature = "testing")]
pub use once::{ToolOnce, tool_once};
pub(crate) use reply::Answer;
pub use reply::{ToolReply, ToolRoute};
pub use schema::schema_of;
/// Says that a call is to stop; `#[tool]` functions ask for it.
pub use tokio_util::sync::CancellationToken;
pub use tool_trait::Tool;
pub(crate) use toolbox::{Entry, offered};
pub use toolbox::{ToolBox, ToolBoxBuilder, ToolBoxError};
