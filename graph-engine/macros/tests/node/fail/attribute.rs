//! What stands in the parentheses, and where the attribute stands.
use graph_engine::{State, node};

#[derive(State, Clone, Default)]
struct Hotel {
    city: String,
}

#[node]
async fn nothing() {}

#[node(Hotel, Hotel)]
async fn two() {}

#[node(Hotel)]
struct Explore;

fn main() {}
