//! Arguments that are not extractors, both in one run.
use graph_engine::{State, node};

#[derive(State, Clone, Default)]
struct Hotel {
    city: String,
}

#[node(Hotel)]
async fn explore(city: String, nights: &u32) -> HotelUpdate {
    let _ = nights;
    Hotel::update().city(city)
}

fn main() {}
