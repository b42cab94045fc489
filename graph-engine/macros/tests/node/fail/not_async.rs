//! A function that is not async.
use graph_engine::{State, node};

#[derive(State, Clone, Default)]
struct Hotel {
    city: String,
}

#[node(Hotel)]
fn explore() -> HotelUpdate {
    Hotel::update()
}

fn main() {}
