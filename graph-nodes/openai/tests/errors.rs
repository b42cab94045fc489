//! Errors of servers, each by its kind, and what a gate makes of them.

#[path = "errors/bodies.rs"]
mod bodies;
#[path = "errors/events.rs"]
mod events;
#[path = "errors/gate.rs"]
mod gate;
#[path = "errors/secrets.rs"]
mod secrets;

use graph_nodes::model::ModelError;
use graph_nodes_openai::{HeaderMap, read_error};

/// An HTTP error with these headers.
fn error(status: u16, headers: &[(&'static str, &str)], body: &str) -> ModelError {
    let mut map = HeaderMap::new();
    for (name, value) in headers {
        map.insert(*name, value.parse().unwrap());
    }
    read_error(status, &map, body.as_bytes())
}
