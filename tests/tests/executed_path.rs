//! Where turns really went, drawn over the declared graph: nothing is lost, and nothing is invented.

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
#[path = "pictures/walks.rs"]
mod walks;

use expect_test::expect_file;
use expected::Picture;
use graph_engine::{END, Edge, EdgeKind, ExecutedPath, NodeKind, START, Topology, Vertex};
use names::SplitMix;
use tools::{scratch, skip};

/// The small hotel with an error route, so that it has edges of every kind.
fn hotel() -> Topology {
    let hotel = sample::hotel();
    let mut edges = hotel.edges;
    edges.push(Edge::new("confirm", "receipt", EdgeKind::Error));
    edges.push(Edge::new("book", "present", EdgeKind::Error));
    Topology::new(hotel.name, hotel.nodes, edges, hotel.clusters)
}

fn walk() -> ExecutedPath {
    let mut path = walks::hotel();
    path.take("confirm", "receipt", EdgeKind::Error, 1);
    path
}

#[test]
fn a_walk_through_the_hotel_in_graphviz() {
    expect_file!["pictures/executed.dot"].assert_eq(&hotel().dot().executed(&walk()).to_string());
}

#[test]
fn a_walk_through_the_hotel_in_mermaid() {
    expect_file!["pictures/executed.mmd"].assert_eq(&hotel().mermaid().executed(&walk()).to_string());
}

#[test]
fn an_error_route_is_dashed_and_red_in_both_languages() {
    let nodes = vec![Vertex::new("pay", NodeKind::Plain), Vertex::new("repair", NodeKind::Plain)];
    let edges = vec![Edge::new("pay", "repair", EdgeKind::Error)];
    let topology = Topology::new("g", nodes, edges, vec![]);
    let dot = topology.dot().to_string();
    assert!(dot.contains("  n0 -> n1 [label=\"error\", style=dashed, color=red, fontcolor=red]\n"), "{dot}");
    let mermaid = topology.mermaid().to_string();
    let lines = "  n0 -.->|\"error\"| n1\n  linkStyle 0 stroke:red,color:red\n";
    assert!(mermaid.ends_with(lines), "{mermaid}");
    assert!(EdgeKind::Error.is_conditional());
    assert_eq!(serde_json::to_string(&EdgeKind::Error).unwrap(), "\"error\"");
}

#[test]
fn without_a_path_nothing_is_grey_and_an_empty_path_greys_all() {
    let hotel = hotel();
    let count = |text: &str, word: &str| text.matches(word).count();
    let lines = hotel.edges.len() + 1;
    let empty = ExecutedPath::new();
    assert_eq!(count(&hotel.dot().to_string(), "gray70"), 0);
    assert_eq!(count(&hotel.dot().executed(&empty).to_string(), "color=gray70, fontcolor=gray70"), lines);
    assert_eq!(count(&hotel.mermaid().to_string(), "#b3b3b3"), 0);
    assert_eq!(count(&hotel.mermaid().executed(&empty).to_string(), "stroke:#b3b3b3,color:#b3b3b3"), lines);
}

#[test]
fn what_the_graph_does_not_have_is_named_and_drawn() {
    let hotel = hotel();
    let mut path = walk();
    path.visit("line\nend").visits = 1;
    path.take("pay", "nowhere", EdgeKind::Go, 1);
    // `nowhere` is the target of an edge, but that makes it no node. START and END are no strangers.
    path.take("pay", END, EdgeKind::Static, 1);
    assert_eq!(hotel.strangers(&path), ["line\nend", "nowhere", "upsell"]);
    let dot = hotel.dot().executed(&path).to_string();
    for line in [
        "  // no node of this graph: line\\nend\n",
        "  // no node of this graph: upsell\n",
        "u0 [label=\"line\\nend x1\"",
    ] {
        assert!(dot.contains(line), "{line} in {dot}");
    }
    assert_eq!(hotel.strangers(&ExecutedPath::new()), [""; 0]);
}

#[test]
fn edges_that_differ_only_in_their_label_show_what_was_counted_for_them_together() {
    let nodes = vec![Vertex::new("a", NodeKind::Plain), Vertex::new("b", NodeKind::Plain)];
    let edge = |label: &str| Edge::new("a", "b", EdgeKind::Go).labelled(label);
    let topology = Topology::new("g", nodes, vec![edge("yes"), edge("no")], vec![]);
    let mut path = ExecutedPath::new();
    path.take("a", "b", EdgeKind::Go, 2);
    let mermaid = topology.mermaid().executed(&path).to_string();
    assert!(mermaid.contains("n0 -.->|\"no x2\"| n1\n  n0 -.->|\"yes x2\"| n1\n"), "{mermaid}");
}

#[test]
fn visits_to_the_start_and_the_end_are_written_beside_them() {
    let topology = Topology::new("g", vec![], vec![Edge::new(START, END, EdgeKind::Static)], vec![]);
    let mut path = ExecutedPath::new();
    path.visit(START).visits = 2;
    path.visit(END).waiting = true;
    let dot = topology.dot().executed(&path).to_string();
    assert!(dot.contains("tooltip=\"start\", xlabel=\"x2\"]"), "{dot}");
    assert!(dot.contains("tooltip=\"end\", xlabel=\"waiting\"]"), "{dot}");
    let mermaid = topology.mermaid().executed(&path).to_string();
    assert!(mermaid.contains("start((\"start x2\"))\n  done(((\"end\\nwaiting\")))"), "{mermaid}");
}

#[test]
fn the_order_in_which_a_path_was_written_does_not_matter() {
    let hotel = hotel();
    let path = walk();
    let mut again = path.clone();
    again.nodes.reverse();
    again.edges.reverse();
    assert_eq!(hotel.dot().executed(&again).to_string(), hotel.dot().executed(&path).to_string());
    assert_eq!(hotel.mermaid().executed(&again).to_string(), hotel.mermaid().executed(&path).to_string());
    let json = serde_json::to_string(&again).unwrap();
    assert_eq!(serde_json::from_str::<ExecutedPath>(&json).unwrap(), path);
}

#[test]
fn counts_of_several_turns_are_summed_and_only_the_last_one_fails_or_waits() {
    let mut all = walk();
    let mut later = ExecutedPath::new();
    later.take(START, "explore_agent", EdgeKind::Static, 4);
    later.take("explore_agent", "book", EdgeKind::Go, 0);
    later.visit("explore_agent").visits = u64::MAX;
    later.visit("book").waiting = true;
    all.add(&later);
    let find = |node: &str| all.nodes.iter().find(|visit| visit.node == node).unwrap();
    assert_eq!(find("explore_agent").visits, u64::MAX);
    assert_eq!((find("confirm").failures, find("confirm").failed), (3, false));
    assert!(!find("notify").waiting && find("book").waiting);
    let first = all.edges.iter().find(|taken| taken.from == START).unwrap();
    assert_eq!(first.count, 5);
    assert!(all.edges.iter().all(|taken| taken.to != "book"));
    assert!(all.nodes.is_sorted_by(|a, b| a.node < b.node));
    assert!(all.edges.is_sorted_by(|a, b| (&a.from, &a.to, a.kind) < (&b.from, &b.to, b.kind)));
}

#[test]
fn a_path_is_read_strictly_and_put_in_order() {
    let text = r#"{"nodes":[{"node":"b","visits":1},{"node":"a"},{"node":"b","visits":2,"failed":true}],
        "edges":[{"from":"b","to":"a","kind":"error","count":1},{"from":"a","to":"b","kind":"go","count":0}]}"#;
    let path: ExecutedPath = serde_json::from_str(text).unwrap();
    let mut expected = ExecutedPath::new();
    expected.visit("a");
    let visit = expected.visit("b");
    (visit.visits, visit.failed) = (3, true);
    expected.take("b", "a", EdgeKind::Error, 1);
    assert_eq!(path, expected);
    assert!(serde_json::from_str::<ExecutedPath>(r#"{"edge":[]}"#).is_err());
    assert!(serde_json::from_str::<ExecutedPath>(r#"{"nodes":[{"visits":1}]}"#).is_err());
}

const SEED: u64 = 0x5eed_0f9a_7450_0002;

fn hostile_walks() -> Vec<(Topology, ExecutedPath)> {
    let mut random = SplitMix::new(SEED);
    let mut walk = || {
        let graph = names::hostile_graph(&mut random);
        let path = walks::hostile_path(&mut random, &graph);
        (graph, path)
    };
    (0..150).map(|_| walk()).collect()
}

#[test]
fn graphviz_reads_every_mark_and_every_count_back() {
    if !graphviz::is_here() {
        return skip("Graphviz's `dot` is missing: run .ci/stages/graphviz.sh");
    }
    let walks = hostile_walks();
    let dots: Vec<String> = walks.iter().map(|(graph, path)| graph.dot().executed(path).to_string()).collect();
    let read = graphviz::read(&scratch("walks.dot"), &dots);
    assert_eq!(read.len(), walks.len());
    for (index, ((graph, path), read)) in walks.iter().zip(read).enumerate() {
        assert_eq!(read, Picture::in_graphviz(graph, Some(path)), "graph {index}:\n{}", dots[index]);
    }
}

#[test]
fn mermaid_reads_every_mark_and_every_count_back() {
    let Some(checker) = mermaid::checker() else {
        return skip("Mermaid's parser is missing: run `source .ci/stages/mermaid.sh`");
    };
    let walks = hostile_walks();
    let texts: Vec<String> = walks.iter().map(|(graph, path)| graph.mermaid().executed(path).to_string()).collect();
    let read = mermaid::read(&checker, &scratch("walks.json"), &texts);
    assert_eq!(read.len(), walks.len());
    for (index, ((graph, path), read)) in walks.iter().zip(read).enumerate() {
        let read = read.unwrap_or_else(|error| panic!("graph {index}: {error}\n{}", texts[index]));
        assert_eq!(read, Picture::in_mermaid(graph, Some(path)), "graph {index}:\n{}", texts[index]);
    }
}

/// Names that were reported against other exporters, as a node, a label and a name on a path at once.
#[test]
fn reported_names_come_back_equal() {
    let names = ["a[1] \"x\"", "\\d+ \"x\"\nnext\0", "ends with \\", "\"", "\\\""];
    let nodes = names.iter().map(|name| Vertex::new(*name, NodeKind::Plain)).collect();
    let mut edges = vec![Edge::new(START, names[0], EdgeKind::Static)];
    edges.extend(names.iter().map(|name| Edge::new(*name, END, EdgeKind::Go).labelled(*name)));
    let topology = Topology::new(names[1], nodes, edges, vec![]);
    let mut path = ExecutedPath::new();
    for name in names {
        path.visit(name).visits = 2;
        path.take(name, END, EdgeKind::Go, 3);
        path.take(name, format!("{name} gone"), EdgeKind::Go, 1);
    }
    if graphviz::is_here() {
        let dots = [topology.dot().to_string(), topology.dot().executed(&path).to_string()];
        let expected = [Picture::in_graphviz(&topology, None), Picture::in_graphviz(&topology, Some(&path))];
        assert_eq!(graphviz::read(&scratch("reported.dot"), &dots), expected);
    } else {
        skip("Graphviz's `dot` is missing: run .ci/stages/graphviz.sh");
    }
    let Some(checker) = mermaid::checker() else {
        return skip("Mermaid's parser is missing: run `source .ci/stages/mermaid.sh`");
    };
    let texts = [topology.mermaid().to_string(), topology.mermaid().executed(&path).to_string()];
    let expected = [Picture::in_mermaid(&topology, None), Picture::in_mermaid(&topology, Some(&path))];
    assert_eq!(mermaid::read(&checker, &scratch("reported.json"), &texts), expected.map(Ok));
}
