//! Values of wrong types are errors at the argument.
use graph_engine::State;

#[derive(State, Clone, Default)]
struct Trip {
    nights: u32,
    city: String,
    country: Option<String>,
    stars: Option<u8>,
    #[state(append)]
    notes: Vec<u8>,
}

fn main() {
    let _ = Trip::update().nights("three");
    let _ = Trip::update().city(3);
    let _ = Trip::update().country(3);
    let _ = Trip::update().stars("five");
    let _ = Trip::update().notes(["a"]);
}
