//! Snapshots are copies.
use graph_engine::State;

#[derive(State, Default)]
struct Trip {
    city: String,
}

fn main() {
    let _ = Trip::update();
}
