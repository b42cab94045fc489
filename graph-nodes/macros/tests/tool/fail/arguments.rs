//! Mistakes of arguments, all in one run.
use graph_nodes::tool::{Args, tool};
use graph_engine::Ctx;

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Stay {
    nights: u8,
}

/// Finds hotels.
#[tool]
async fn patterns((city, nights): (String, u8), _: String, borrowed: &str, state: &Stay) -> String {
    format!("{city} {nights} {borrowed} {}", state.nights)
}

/// Finds hotels.
#[tool]
async fn attributes(
    #[serde(default)] city: String,
    #[tool(optional, default = 1, default)] nights: u8,
    #[tool(default)] ctx: Ctx,
    /// The model doesn't see it.
    other: Ctx,
) -> String {
    drop((ctx, other));
    format!("{city} {nights}")
}

/// Finds hotels.
#[tool]
async fn whole(stay: Args<Stay>, city: String, second: Args<Stay>) -> String {
    format!("{} {city} {}", stay.nights, second.nights)
}

fn main() {}
