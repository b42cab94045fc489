//! The smallest useful state; setters infer from literals and `None`.
#![deny(warnings)]

use graph_engine::{Log, State};

#[derive(State, Clone, Default)]
struct Trip {
    city: Option<String>,
    nights: u32,
    stars: Option<u8>,
    #[state(append)]
    notes: Log<String>,
}

fn main() {
    let update = Trip::update().city("Oslo").city(None).nights(3).stars(4).stars(None).notes(["by train"]);
    let mut trip = Trip::default();
    trip.apply(update);
    assert_eq!((trip.city, trip.nights, trip.stars, trip.notes.len()), (None, 3, None, 1));
}
