//! A value that stays on its thread, held across an await.
use graph_engine::{State, node};

#[derive(State, Clone, Default)]
struct Hotel {
    city: String,
}

async fn ask() {}

#[node(Hotel)]
async fn explore() {
    let city = std::rc::Rc::new("Oslo".to_owned());
    ask().await;
    drop(city);
}

fn main() {}
