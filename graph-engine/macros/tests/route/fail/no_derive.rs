//! An enum without the derive.
use graph_engine::Next;

enum FromExplore {
    Compare,
}

fn main() {
    let _ = Next::go(FromExplore::Compare);
}
