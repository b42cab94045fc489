//! The state of another graph.
use graph_engine::{Snap, State, node};

#[derive(State, Clone, Default)]
struct Hotel {
    city: String,
}

#[derive(State, Clone, Default)]
struct Trip {
    city: String,
}

#[node(Hotel)]
async fn explore(_: Snap<Trip>) -> TripUpdate {
    Trip::update()
}

fn main() {}
