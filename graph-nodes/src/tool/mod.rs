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
//! | handle several tools that are called together at once | [`group`], [`GroupHandler`] |
//! | ask a person before a tool runs | [`FnTool::confirm`], `#[tool(confirm)]`, [`Call::confirm`] |
//! | answer, write state, go somewhere | [`ToolReply`], [`GroupReply`] |
//! | tell the model what was wrong | [`ToolError`] |
//! | test one without an engine | `tool_once` (feature `testing`), or call a `#[tool]` function |
//! | keep the tools of a graph together | [`ToolBox`] |

mod args;
mod args_fault;
mod ask;
mod call;
mod confirm;
mod content;
#[doc(hidden)]
pub mod derived;
mod error;
mod extract;
mod function;
mod group;
mod group_calls;
mod group_key;
mod group_reply;
mod group_value;
#[cfg(feature = "testing")]
mod once;
mod reply;
mod schema;
mod tool_trait;
mod toolbox;
mod toolbox_error;
mod typed_reply;

pub(crate) use args::ArgsSchema;
pub use args::SchemaError;
pub use ask::CallAsk;
pub use call::Call;
pub use confirm::{AskedCall, Confirm, ConfirmQuestion, Confirmation};
pub use content::{IntoToolReply, Json};
pub use error::ToolError;
pub use extract::{Args, CallInfo, FromCall};
pub use function::{FnTool, ToolFn, tool};
#[doc(inline)]
pub use graph_nodes_macros::tool;
pub use group::{FnGroup, GroupFn, GroupHandler, group};
pub use group_calls::GroupCalls;
pub use group_key::GroupKey;
pub use group_reply::GroupReply;
pub use group_value::GroupReplyError;
#[cfg(feature = "testing")]
pub use once::{ToolOnce, tool_once};
pub(crate) use reply::{Answer, Extras};
pub use reply::{ToolReply, ToolRoute};
pub use schema::schema_of;
/// Says that a call is to stop; `#[tool]` functions ask for it.
pub use tokio_util::sync::CancellationToken;
pub use tool_trait::Tool;
pub(crate) use toolbox::Entry;
pub use toolbox::{ToolBox, ToolBoxBuilder};
pub(crate) use toolbox_error::offered;
pub use toolbox_error::{ToolBoxError, ToolBoxWarning};
pub use typed_reply::TypedReply;
