//! Tools: what a model may call, with arguments checked before anything runs.
//!
//! Definition, exposure and dispatch are apart: a [`ToolBox`] holds all tools of
//! a graph, each stage [exposes](ToolBox::expose) some of them, and
//! [`ToolsNode`](crate::stage::ToolsNode) runs what the gate let through.
//!
//! | you want to | take |
//! | --- | --- |
//! | make a tool of a closure | [`tool`] |
//! | make a tool by hand, also with a schema known at run time | [`Tool`] |
//! | handle several tools that are called together at once | [`group`], [`GroupHandler`] |
//! | answer, write state, go somewhere | [`ToolReply`], [`GroupReply`] |
//! | tell the model what was wrong | [`ToolError`] |
//! | keep the tools of a graph together | [`ToolBox`] |

mod args;
mod call;
mod error;
mod function;
mod group;
mod group_calls;
mod group_key;
mod group_reply;
mod group_value;
mod reply;
mod schema;
mod tool_trait;
mod toolbox;
mod toolbox_error;
mod typed_reply;

pub(crate) use args::ArgsSchema;
pub use args::SchemaError;
pub use call::Call;
pub use error::ToolError;
pub use function::{FnTool, ToolFn, tool};
pub use group::{FnGroup, GroupFn, GroupHandler, group};
pub use group_calls::GroupCalls;
pub use group_key::GroupKey;
pub use group_reply::GroupReply;
pub use group_value::GroupReplyError;
pub(crate) use reply::{Answer, Extras};
pub use reply::{ToolReply, ToolRoute};
pub use schema::schema_of;
pub use tool_trait::Tool;
pub(crate) use toolbox::Entry;
pub use toolbox::{ToolBox, ToolBoxBuilder};
pub(crate) use toolbox_error::offered;
pub use toolbox_error::{ToolBoxError, ToolBoxWarning};
pub use typed_reply::TypedReply;
