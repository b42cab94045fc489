//! A derive that the fields don't allow.
use graph_engine::State;

#[derive(Clone, Default)]
struct Draft;

#[derive(State, Clone, Default)]
#[state(derive(PartialEq))]
struct Trip {
    #[state(transient)]
    draft: Draft,
}

fn main() {
    let _ = Trip::update();
}
