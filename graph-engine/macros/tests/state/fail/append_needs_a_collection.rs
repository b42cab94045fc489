//! `append` on a type that is no collection.
use graph_engine::State;

#[derive(State, Clone, Default)]
struct Trip {
    #[state(append)]
    nights: u32,
}

fn main() {
    let _ = Trip::update();
}
