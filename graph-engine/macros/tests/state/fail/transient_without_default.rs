//! A transient field starts every run with its default.
use graph_engine::State;

#[derive(Clone)]
struct Draft(u8);

#[derive(State, Clone)]
struct Trip {
    #[state(transient)]
    draft: Draft,
}

fn main() {
    let _ = (Trip::update(), Draft(1).0);
}
