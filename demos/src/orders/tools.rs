//! The two tools.

use crate::orders::graph::Support;
use crate::orders::shop::{self, Tracking};
use graph_nodes::batch::BatchLookup;
use graph_nodes::tool::{ToolBox, ToolBoxError, ToolReply, tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What `latest_orders` is given.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
pub struct LatestArgs {
    /// How many orders.
    pub count: usize,
}

/// What `latest_orders` answers.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Latest {
    /// The ids, newest first.
    pub orders: Vec<String>,
}

/// All tools of the graph.
///
/// # Errors
/// If two of them have the same name, or a schema can't be used.
pub fn toolbox(tracking: &Tracking) -> Result<ToolBox<Support>, ToolBoxError> {
    let latest = "The ids of the customer's latest orders, newest first.";
    ToolBox::builder()
        .tool(tool::<Support, LatestArgs>("latest_orders", latest, |args: LatestArgs, _| async move {
            Ok(ToolReply::json(Latest { orders: shop::latest(args.count) }))
        }))
        .tool(order_status(tracking).into_tool("order_status", "Where orders are. Give all ids in one call."))
        .build()
}

/// Looks up orders in the tracking system: 25 a call, 10 a request.
///
/// ```
/// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// let report = demos::orders::tools::order_status(&Default::default()).run(["ord-7001", "17"]).await.unwrap();
/// assert_eq!((report.summary.ok, report.summary.invalid), (1, 1));
/// # });
/// ```
pub fn order_status(tracking: &Tracking) -> BatchLookup {
    let tracking = tracking.clone();
    BatchLookup::new(move |orders| tracking.clone().parcels(orders))
        .normalise(|id| id.trim().to_uppercase())
        .validate(|id| match id.strip_prefix("ORD-").is_some_and(|number| number.parse::<u32>().is_ok()) {
            true => Ok(()),
            false => Err("order numbers look like ORD-7001".to_owned()),
        })
        .fields(["status", "carrier"])
}
