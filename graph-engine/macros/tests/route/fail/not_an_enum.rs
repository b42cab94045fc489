//! What a route can't be.
use graph_engine::Route;

#[derive(Route)]
struct Explore;

#[derive(Route)]
union Bits {
    a: u32,
}

#[derive(Route)]
enum Generic<T> {
    A(T),
}

fn main() {}
