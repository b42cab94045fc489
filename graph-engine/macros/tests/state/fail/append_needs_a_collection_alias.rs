//! A type that only rustc can see through; transient, so that nothing else is asked of it.
use graph_engine::State;

type Nights = u32;

#[derive(State, Clone, Default)]
struct Trip {
    #[state(append, transient)]
    nights: Nights,
}

fn main() {
    let _ = Trip::update().nights([1]);
}
