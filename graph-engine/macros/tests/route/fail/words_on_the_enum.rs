//! Words on the enum.
use graph_engine::Route;

#[derive(Route)]
#[route(stays, direct, direct)]
#[route(finish = true)]
#[route]
enum FromExplore {
    Compare,
}

fn main() {}
