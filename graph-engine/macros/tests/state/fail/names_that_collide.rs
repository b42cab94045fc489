//! Field names whose setters or keys would be the same.
use graph_engine::State;

#[derive(State, Clone, Default)]
struct Trip {
    then: u32,
    #[state(append)]
    notes: Vec<String>,
    overwrite_notes: bool,
    #[expect(non_snake_case)]
    City: String,
    city: String,
    nights: u32,
}

fn main() {
    let _ = Trip::update().nights(3);
}
