//! All mistakes of an enum in one run.
use graph_engine::{Next, Route};

#[derive(Route)]
enum FromExplore {
    Named { name: String },
    Pair(String, u32),
    Empty(),
    #[route(to = "")]
    Nowhere,
    #[route(to = "__start__")]
    Start,
    __Hidden,
    #[route(to = present)]
    Unquoted,
    #[route(to)]
    Bare,
    #[route(end, to = "quote")]
    Both,
    #[route(end)]
    Reply(String),
    #[route(stop)]
    Unknown,
    #[route(end, end)]
    Twice,
    Compare,
}

fn main() {
    let _ = Next::go(FromExplore::Compare);
}
