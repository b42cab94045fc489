//! Two tool calls of one response that become one request.
//!
//! "How is the weather in Bern and Oslo?" makes the model call `weather` twice in one response. The calls run at the
//! same time and meet in a coalescer, so the weather service is asked once. Service and weather are invented, and the
//! model is a handful of rules.
//!
//! | module | holds |
//! | --- | --- |
//! | [`service`] | the invented weather service |
//! | [`tools`] | the tool, and the coalescer behind it |
//! | [`model`] | the offline model |
//! | [`mod@graph`] | state and graph |

pub mod graph;
pub mod model;
pub mod service;
pub mod tools;

use crate::console::Console;
use graph::{Talk, graph, seat};
use graph_engine::MemoryStore;
use graph_nodes::model::ChatModel;
use service::Service;
use std::sync::Arc;
use tools::{Forecasts, Tenant};

/// What is said at the beginning.
const WELCOME: &str = "\
Weather. I am a rule-based program and offline: no language model, no network, invented weather.
Ask me, such as: how is the weather in Bern and Oslo?";

/// The conversation of one guest, ready for a terminal.
///
/// ```
/// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// let mut said = Vec::new();
/// let mut console = demos::weather::console()?;
/// console.talk(&b"how is the weather in Bern?\n"[..], &mut said, false).await?;
/// assert!(String::from_utf8(said)?.contains("Bern: 19 °C, light rain"));
/// # Ok::<(), anyhow::Error>(())
/// # }).unwrap();
/// ```
///
/// # Errors
/// If the graph is not consistent, which a test rules out.
pub fn console() -> anyhow::Result<Console<Talk>> {
    let service = Service::default();
    let model: Arc<dyn ChatModel> = Arc::new(model::forecaster());
    let runner = graph()?
        .runner()
        .store(MemoryStore::new())
        .provide_arc(model)
        .provide(Forecasts::new(&service))
        .provide(Tenant("travel-desk".to_owned()));
    Ok(Console {
        welcome: WELCOME,
        thread: runner.thread("guest-1"),
        said: Box::new(|text| seat().user(text)),
        beside: Box::new(move || service.take_requests()),
    })
}
