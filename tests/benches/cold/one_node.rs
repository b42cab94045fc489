//! A program of one node, from its start to its end, or one that only ends: `one-node [nothing] [peak]`. With `peak` it says
//! how much memory it had at most, in bytes.

#[path = "../rows/peak.rs"]
mod peak;

use graph_engine::{Graph, START, State};

#[derive(State, Clone, Default)]
struct Count {
    n: u64,
}

async fn one() -> CountUpdate {
    Count::update().n(1)
}

async fn run() {
    let graph = Graph::<Count>::builder("one").node("a", one).edge(START, "a").compile().expect("compiles");
    let end = graph.runner().thread("t").run(Count::update()).await.expect("it ends");
    assert_eq!(end.state.n, 1);
}

#[expect(clippy::print_stdout, reason = "a program that is asked for a figure")]
fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let asked = |word: &str| words.iter().any(|asked| asked == word);
    if !asked("nothing") {
        tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime").block_on(run());
    }
    if asked("peak") {
        println!("{}", peak::bytes());
    }
}
