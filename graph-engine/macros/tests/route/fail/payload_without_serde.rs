//! Payloads are stored.
use graph_engine::Route;

struct Draft;

#[derive(Route)]
enum FromExplore {
    Quote(Draft),
}

fn main() {
    let _ = FromExplore::Quote(Draft);
}
