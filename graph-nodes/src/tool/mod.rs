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
//! | answer, write state, go somewhere | [`ToolReply`] |
//! | tell the model what was wrong | [`ToolError`] |
//! | keep the tools of a graph together | [`ToolBox`] |

mod args;
mod call;
mod error;
mod function;
mod reply;
mod schema;
mod tool_trait;
mod toolbox;

pub(crate) use args::ArgsSchema;
pub use args::SchemaError;
pub use call::Call;
pub use error::ToolError;
pub use function::{FnTool, ToolFn, tool};
pub(crate) use reply::Answer;
pub use reply::{ToolReply, ToolRoute};
pub use schema::schema_of;
pub use tool_trait::Tool;
pub(crate) use toolbox::{Entry, offered};
pub use toolbox::{ToolBox, ToolBoxBuilder, ToolBoxError};
