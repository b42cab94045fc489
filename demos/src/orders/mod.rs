//! A support agent that looks up many orders by one tool call.
//!
//! "Which of my last twelve orders have shipped?" is one call of `order_status` with twelve ids, and few requests to
//! the shop's tracking system. Shop, customer and orders are invented, and the model is a handful of rules.
//!
//! | module | holds |
//! | --- | --- |
//! | [`shop`] | the invented shop: who ordered what, and the tracking system |
//! | [`tools`] | the two tools: the latest orders, and the status of many |
//! | [`model`] | the offline model |
//! | [`words`] | what the model reads out of a sentence, and how it reports |
//! | [`mod@graph`] | state and graph |

pub mod graph;
pub mod model;
pub mod shop;
pub mod tools;
pub mod words;

use crate::console::Console;
use graph::{Support, graph, seat};
use graph_engine::MemoryStore;
use graph_nodes::model::ChatModel;
use shop::Tracking;
use std::sync::Arc;

/// What is said at the beginning.
const WELCOME: &str = "\
Order support. I am a rule-based program and offline: no language model, no network, invented orders.
Ask me, such as: which of my last twelve orders have shipped?";

/// The conversation of one customer, ready for a terminal.
///
/// ```
/// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// let mut said = Vec::new();
/// let mut console = demos::orders::console()?;
/// console.talk(&b"where is ORD-7032?\n"[..], &mut said, false).await?;
/// assert!(String::from_utf8(said)?.contains("ORD-7032"));
/// # Ok::<(), anyhow::Error>(())
/// # }).unwrap();
/// ```
///
/// # Errors
/// If the graph is not consistent, which a test rules out.
pub fn console() -> anyhow::Result<Console<Support>> {
    let tracking = Tracking::default();
    let model: Arc<dyn ChatModel> = Arc::new(model::support());
    let runner = graph(&tracking)?.runner().store(MemoryStore::new()).provide_arc(model);
    Ok(Console {
        welcome: WELCOME,
        thread: runner.thread("customer-1"),
        said: Box::new(|text| seat().user(text)),
        beside: Box::new(move || tracking.take_requests()),
    })
}
