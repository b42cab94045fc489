//! Tools whose answers are for the guest.

use super::tell::words;
use crate::hotel::state::Hotel;
use graph_engine::{Need, async_trait};
use graph_nodes::message::Content;
use graph_nodes::model::ToolSpec;
use graph_nodes::tool::{Call, Confirm, Tool, ToolError, ToolReply, ToolRoute};
use serde_json::{Map, Value};

/// A tool that a small model is told of in few words, and that replies to the guest instead of the model where it stays
/// in its stage.
pub(super) struct Spoken<T> {
    tool: T,
    spec: ToolSpec,
}

impl<T: Tool<Hotel>> Spoken<T> {
    /// The tool under its own name, described anew. The schema allows nothing that the tool's own doesn't.
    pub(super) fn new(tool: T, about: &str, arguments: Value) -> Self {
        let spec = ToolSpec::new(&tool.spec().name, about, arguments);
        Self { tool, spec }
    }
}

#[async_trait]
impl<T: Tool<Hotel>> Tool<Hotel> for Spoken<T> {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn call(&self, call: Call<'_, Hotel>) -> Result<ToolReply<Hotel>, ToolError> {
        let reply = self.tool.call(call).await?;
        match reply.route() {
            None | Some(ToolRoute::Stay) => {
                let content = reply.content().map_err(|error| error.to_string())?;
                let text = content.iter().filter_map(|block| match block {
                    Content::Text { text } => Some(text.as_str()),
                    _ => None,
                });
                let text: String = text.collect();
                Ok(reply.direct(words(&self.spec.name, &text)))
            }
            Some(_) => Ok(reply),
        }
    }

    fn concurrency_safe(&self, arguments: &Map<String, Value>) -> bool {
        self.tool.concurrency_safe(arguments)
    }

    fn read_only(&self) -> bool {
        self.tool.read_only()
    }

    fn confirm(&self, arguments: &Map<String, Value>) -> Option<Confirm> {
        self.tool.confirm(arguments)
    }

    fn needs(&self) -> Vec<Need> {
        self.tool.needs()
    }
}
