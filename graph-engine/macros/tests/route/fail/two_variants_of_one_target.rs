//! Two variants of one target would be one edge with two names.
use graph_engine::Route;

#[derive(Route)]
enum FromExplore {
    CompareAll,
    #[route(to = "compare_all")]
    Compare,
    #[route(end)]
    Done,
    #[route(end)]
    Over,
}

fn main() {}
