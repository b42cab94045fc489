//! All mistakes of a struct in one run, each under its token; the rest of the struct is still usable.
use graph_engine::State;

#[derive(State, Clone, Default)]
struct Trip {
    #[state(apend)]
    notes: Vec<String>,
    #[state(append, any)]
    stops: Vec<String>,
    #[state(transient, append, transient)]
    drafts: Vec<String>,
    #[state(append)]
    #[state(append)]
    guests: Vec<String>,
    #[state]
    price: u32,
    #[state()]
    seats: u32,
    #[state(append = 3)]
    bags: Vec<String>,
    #[state(any append)]
    legs: Vec<String>,
    #[state("any")]
    last: u32,
    city: String,
}

fn main() {
    let _ = Trip::update().city("Oslo");
}
