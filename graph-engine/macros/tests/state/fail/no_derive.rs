//! A struct without the derive.
use graph_engine::State;

#[derive(Clone, Default)]
struct Trip {
    city: String,
}

fn graph_of<S: State>() {}

fn main() {
    graph_of::<Trip>();
    let _ = Trip::default().city;
}
