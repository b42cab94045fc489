//! Words on the struct, and what they must look like.
use graph_engine::State;

#[derive(State, Clone, Default)]
#[state(append)]
#[state(derive)]
#[state(derive(Default, PartialEq))]
struct Trip {
    nights: u32,
}

fn main() {
    let _ = Trip::update() == Trip::update();
}
