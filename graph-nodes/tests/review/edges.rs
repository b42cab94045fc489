//! Predicates that panic.

use graph_engine::async_trait;
use graph_nodes::flow::Stage;
use graph_nodes::message::{CallStatus, Message, check_history};
use graph_nodes::model::{ToolSpec, Turn};
use graph_nodes::stage::Guards;
use graph_nodes::tool::{Call, Tool, ToolBox, ToolError, ToolReply};

use crate::support::{Trip, calls, flow, talk};

/// Can't say whether it only reads.
struct Unsure(ToolSpec);

#[async_trait]
impl Tool<Trip> for Unsure {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    async fn call(&self, _: Call<'_, Trip>) -> Result<ToolReply<Trip>, ToolError> {
        Ok(ToolReply::text("done"))
    }

    fn read_only(&self) -> bool {
        panic!("nobody knows")
    }
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_panics_when_asked_whether_it_only_reads_counts_as_one_that_writes() {
    let spec = ToolSpec::new("unsure", "Does it.", serde_json::json!({"type": "object"}));
    let tools = ToolBox::builder().tool(Unsure(spec)).build().unwrap();
    let explore = Stage::new("explore").tools(["unsure"]).guards(Guards::all());
    let graph = flow([]).tools(tools).stage(explore).build().unwrap();
    let end = talk(&graph, [calls(["unsure"]), Turn::text("ok")]).say("hi").await;
    assert_eq!(check_history(end.state.history.iter()), Ok(()));
    let statuses: Vec<CallStatus> = end.state.history.iter().filter_map(Message::status).collect();
    assert_eq!(statuses, [CallStatus::Ok]);
}
