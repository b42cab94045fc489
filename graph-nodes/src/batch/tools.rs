//! Lists of ids as tools.

use async_trait::async_trait;
use graph_engine::State;
use serde_json::{Map, Value, json};

use super::{BatchError, BatchLookup, BatchReport, BatchStatus, BatchWrite, PendingWrites};
use crate::model::ToolSpec;
use crate::tool::{Call, Confirm, Tool, ToolError, ToolReply};

/// A [`BatchLookup`] as a tool over any state. It changes nothing, so neighbouring calls run at the same time. A list of
/// which nothing was found is answered, but [unproductive](ToolReply::unproductive).
///
/// ```
/// use std::collections::HashMap;
///
/// use graph_engine::State;
/// use graph_nodes::batch::BatchLookup;
/// use graph_nodes::tool::ToolBox;
///
/// #[derive(State, Clone, Default)]
/// struct Shop {
///     customer: String,
/// }
///
/// let lookup = BatchLookup::new(|_| async { Ok(HashMap::<String, u32>::new()) });
/// let tools = ToolBox::<Shop>::builder()
///     .tool(lookup.into_tool("order_status", "Looks up orders, all of them in one call."))
///     .build()?;
/// assert_eq!(tools.specs()[0].parameters["required"][0], "ids");
/// # Ok::<(), graph_nodes::tool::ToolBoxError>(())
/// ```
#[derive(Clone, Debug)]
pub struct LookupTool {
    lookup: BatchLookup,
    spec: ToolSpec,
}

impl LookupTool {
    pub(super) fn new(lookup: BatchLookup, name: String, description: String) -> Self {
        Self { lookup, spec: spec(name, description) }
    }
}

#[async_trait]
impl<S: State> Tool<S> for LookupTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn call(&self, call: Call<'_, S>) -> Result<ToolReply<S>, ToolError> {
        answer(self.lookup.run(ids(&call)).await)
    }

    fn concurrency_safe(&self, _: &Map<String, Value>) -> bool {
        true
    }

    fn read_only(&self) -> bool {
        true
    }
}

/// A [`BatchWrite`] as a tool over any state. Its calls run alone.
///
/// ```
/// use graph_engine::State;
/// use graph_nodes::batch::BatchWrite;
/// use graph_nodes::tool::ToolBox;
///
/// #[derive(State, Clone, Default)]
/// struct Shop {
///     customer: String,
/// }
///
/// let cancel = BatchWrite::new("cancel", |write| async move { Ok(format!("{} is cancelled", write.id)) });
/// let tools = ToolBox::<Shop>::builder().tool(cancel.into_tool("cancel_orders", "Cancels orders.")).build()?;
/// assert_eq!(tools.names(), ["cancel_orders"]);
/// # Ok::<(), graph_nodes::tool::ToolBoxError>(())
/// ```
#[derive(Clone, Debug)]
pub struct WriteTool {
    write: BatchWrite,
    spec: ToolSpec,
}

impl WriteTool {
    pub(super) fn new(write: BatchWrite, name: String, description: String) -> Self {
        Self { write, spec: spec(name, description) }
    }
}

#[async_trait]
impl<S: State> Tool<S> for WriteTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn call(&self, call: Call<'_, S>) -> Result<ToolReply<S>, ToolError> {
        let agree = |pending: &PendingWrites| {
            let (operation, count) = (&pending.operation, pending.items.len());
            let ids = if count == 1 { "1 id" } else { &format!("{count} ids") };
            let text = format!("May `{operation}` be done to {ids}? It can't be undone.");
            let agreed = call.confirm(Confirm::text(text).details(pending).choices(count))?;
            Ok(agreed.only.unwrap_or_else(|| (0..count).collect()))
        };
        reply(self.write.submit_if(ids(&call), agree).await?)
    }
}

fn spec(name: String, description: String) -> ToolSpec {
    let ids = json!({"type": "array", "items": {"type": "string"}, "description": "All ids, in one call."});
    let parameters = json!({"type": "object", "properties": {"ids": ids}, "required": ["ids"]});
    ToolSpec::new(name, description, parameters)
}

/// The ids of a call, which fit the schema.
fn ids<S: State>(call: &Call<'_, S>) -> Vec<String> {
    let ids = call.arguments().get("ids").and_then(Value::as_array);
    ids.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
}

fn answer<S: State>(report: Result<BatchReport, BatchError>) -> Result<ToolReply<S>, ToolError> {
    reply(report?)
}

fn reply<S: State>(report: BatchReport) -> Result<ToolReply<S>, ToolError> {
    if report.summary.status != BatchStatus::Error {
        let is_empty = report.summary.ok == 0;
        let reply = ToolReply::json(report);
        return Ok(if is_empty { reply.unproductive() } else { reply });
    }
    // The same text, but nobody takes it for a success.
    let error = ToolError::new(serde_json::to_string(&report)?);
    Err(if report.is_retryable() { error.retryable() } else { error })
}
