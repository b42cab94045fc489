//! What rustc says without `#[node]`: that it may help.
use graph_engine::{Graph, START, State};

#[derive(State, Clone, Default)]
struct Hotel {
    city: String,
}

async fn explore(city: String) -> HotelUpdate {
    Hotel::update().city(city)
}

fn main() {
    let _ = Graph::<Hotel>::builder("hotel").node("explore", explore).edge(START, "explore");
}
