//! Types that no model can give, that no call provides, and that are no reply.
use graph_engine::{In, Snap, State};
use graph_nodes::tool::{ToolReply, tool};

#[derive(State, Clone, Default)]
struct Trip {
    city: String,
}

#[derive(State, Clone, Default)]
struct Order {
    id: u32,
}

struct Class;

/// Finds hotels.
#[tool]
async fn argument(class: Class) -> String {
    drop(class);
    String::new()
}

/// Finds hotels.
#[tool]
async fn payload(trip: Snap<Trip>, hotel: In<u32>) -> String {
    format!("{} {}", trip.city, *hotel)
}

/// Finds hotels.
#[tool]
async fn two_states(trip: Snap<Trip>, order: Snap<Order>) -> String {
    format!("{} {}", trip.city, order.id)
}

/// Finds hotels.
#[tool(state = Trip)]
async fn result() -> Class {
    Class
}

type Reply = ToolReply<Trip>;

/// Finds hotels.
#[tool]
async fn hidden_state() -> Reply {
    Reply::text("")
}

fn main() {}
