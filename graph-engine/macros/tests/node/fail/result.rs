//! A result that says nothing to the engine.
use graph_engine::{State, node};

#[derive(State, Clone, Default)]
struct Hotel {
    city: String,
}

#[node(Hotel)]
async fn count() -> u32 {
    3
}

#[node(Hotel)]
async fn maybe() -> Result<u32, String> {
    Ok(3)
}

#[node(Hotel)]
async fn hidden() -> impl Send {
    3
}

fn main() {}
