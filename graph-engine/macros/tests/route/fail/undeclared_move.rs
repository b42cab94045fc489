//! A move that the route doesn't declare.
use graph_engine::{Next, Route};

#[derive(Route)]
#[route(direct)]
enum FromExplore {
    Compare,
}

fn main() {
    let _ = Next::<FromExplore>::direct("hello");
    let _ = Next::<FromExplore>::stay("which city?");
    let _ = Next::<FromExplore>::finish("bye");
    let _ = Next::go(FromExplore::Compare);
}
