//! Diagrams: their exact text for one graph, and proof that the real tools read every name back.

#[path = "pictures/expected.rs"]
mod expected;
#[path = "pictures/graphviz.rs"]
mod graphviz;
#[path = "pictures/mermaid.rs"]
mod mermaid;
#[path = "pictures/names.rs"]
mod names;
#[path = "pictures/sample.rs"]
mod sample;

#[path = "pictures/tools.rs"]
mod tools;

use expect_test::expect_file;
use expected::Picture;
use graph_engine::{Direction, Topology};
use names::SplitMix;
use tools::{scratch, skip};

const SEED: u64 = 0x5eed_0f9a_9e5e_ed01;
const GRAPHS: usize = 1_250;

/// 1 250 graphs with 8 names each.
fn hostile_graphs() -> Vec<Topology> {
    let mut random = SplitMix::new(SEED);
    (0..GRAPHS).map(|_| names::hostile_graph(&mut random)).collect()
}

#[test]
fn the_hotel_in_graphviz() {
    expect_file!["pictures/hotel.dot"].assert_eq(&sample::hotel().dot().to_string());
}

#[test]
fn the_hotel_in_mermaid() {
    expect_file!["pictures/hotel.mmd"].assert_eq(&sample::hotel().mermaid().to_string());
}

#[test]
fn the_same_graph_gives_the_same_bytes() {
    let hotel = sample::hotel();
    let mut nodes = hotel.nodes.clone();
    let mut edges = hotel.edges.clone();
    let mut clusters = hotel.clusters.clone();
    nodes.reverse();
    edges.reverse();
    clusters.reverse();
    let again = Topology::new(hotel.name.clone(), nodes, edges, clusters);
    assert_eq!(again.dot().to_string(), hotel.dot().to_string());
    assert_eq!(again.mermaid().to_string(), hotel.mermaid().to_string());
}

#[test]
fn a_direction_changes_nothing_else() {
    let hotel = sample::hotel();
    let right = hotel.dot().direction(Direction::LeftToRight).to_string();
    assert_eq!(right.replacen("rankdir=LR", "rankdir=TB", 1), hotel.dot().to_string());
    let right = hotel.mermaid().direction(Direction::LeftToRight).to_string();
    assert_eq!(right.replacen("flowchart LR", "flowchart TD", 1), hotel.mermaid().to_string());
}

#[test]
fn the_names_are_many_long_and_odd() {
    let graphs = hostile_graphs();
    let names = graphs.iter().flat_map(|graph| {
        let nodes = graph.nodes.iter().map(|node| &*node.name);
        let clusters = graph.clusters.iter().map(|cluster| &*cluster.name);
        let unknown =
            graph.edges.iter().map(|edge| &*edge.to).find(|to| graph.nodes.iter().all(|node| node.name != *to));
        let label = graph.edges.iter().find_map(|edge| edge.label.as_deref().filter(|label| *label != "reply"));
        nodes.chain(clusters).chain(unknown).chain(label).chain([&*graph.name])
    });
    let names: Vec<&str> = names.collect();
    assert_eq!(names.len(), 10_000);
    let count = |is_odd: fn(&str) -> bool| names.iter().filter(|name| is_odd(name)).count();
    assert!(count(|name| name.len() >= 10_240) > 20);
    assert!(count(|name| name.ends_with('\\')) > 100);
    assert!(count(|name| name.contains('\0')) > 20);
    assert!(count(|name| name == "end") > 3);
    assert!(count(|name| *Topology::visible(name) != *name) > 500);
}

#[test]
fn graphviz_reads_every_name_back() {
    if !graphviz::is_here() {
        return skip("Graphviz's `dot` is missing: run .ci/stages/graphviz.sh");
    }
    let graphs = hostile_graphs();
    let dots: Vec<String> = graphs.iter().map(|graph| graph.dot().to_string()).collect();
    let read = graphviz::read(&scratch("hostile.dot"), &dots);
    assert_eq!(read.len(), graphs.len());
    for (index, (graph, read)) in graphs.iter().zip(read).enumerate() {
        assert_eq!(read, Picture::in_graphviz(graph, None), "graph {index}:\n{}", dots[index]);
    }
}

#[test]
fn mermaid_reads_every_name_back() {
    let Some(checker) = mermaid::checker() else {
        return skip("Mermaid's parser is missing: run `source .ci/stages/mermaid.sh`");
    };
    let graphs = hostile_graphs();
    let texts: Vec<String> = graphs.iter().map(|graph| graph.mermaid().to_string()).collect();
    let read = mermaid::read(&checker, &scratch("hostile.json"), &texts);
    assert_eq!(read.len(), graphs.len());
    for (index, (graph, read)) in graphs.iter().zip(read).enumerate() {
        let read = read.unwrap_or_else(|error| panic!("graph {index}: {error}\n{}", texts[index]));
        assert_eq!(read, Picture::in_mermaid(graph, None), "graph {index}:\n{}", texts[index]);
    }
}
