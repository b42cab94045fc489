//! E26: child graphs in diagrams, as one node or as a cluster of their own.

use graph_engine::{Builder, Graph, Next, Route, START, State, Topology, child};

#[derive(State, Clone, Default, Debug)]
struct Talk {
    city: String,
}

#[derive(Route)]
enum Out {
    Present,
}

fn talk(name: &str) -> Builder<Talk> {
    Graph::<Talk>::builder(name)
}

async fn rest() {}

async fn leave() -> Next<Out> {
    Next::go(Out::Present)
}

fn inner() -> Graph<Talk> {
    let graph = talk("inner").node("s1", rest).node("s2", rest).node("out", leave).exit("present");
    graph.edge(START, "s1").edge("s1", "s2").edge("s1", "out").compile().unwrap()
}

fn outer() -> Graph<Talk> {
    let graph = talk("outer").node("a", rest).node("child", child(&inner())).node("b", rest).node("present", rest);
    graph.edge(START, "a").edge("a", "child").edge("child", "b").compile().unwrap()
}

fn edges(topology: &Topology) -> Vec<(&str, &str)> {
    topology.edges.iter().map(|edge| (&*edge.from, &*edge.to)).collect()
}

#[test]
fn a_child_is_one_node_until_it_is_expanded_to_a_cluster_with_its_ways_in_and_out() {
    let graph = outer();
    assert!(edges(graph.topology()).contains(&("a", "child")));
    let flat = graph.topology().expanded();
    let names: Vec<&str> = flat.nodes.iter().map(|vertex| &*vertex.name).collect();
    assert_eq!(names, ["a", "b", "child/out", "child/s1", "child/s2", "present"]);
    let wanted = [
        ("a", "child/s1"),
        ("child/out", "present"),
        ("child/s1", "child/out"),
        ("child/s1", "child/s2"),
        ("child/s2", "b"),
    ];
    let drawn = edges(&flat);
    assert!(wanted.iter().all(|edge| drawn.contains(edge)), "{drawn:?}");
    assert!(!drawn.contains(&("child/s2", "present")) && !drawn.contains(&("child/s1", "b")), "{drawn:?}");
    assert!(drawn.iter().all(|(from, to)| *from != "child" && *to != "child"), "{drawn:?}");
    assert_eq!((&*flat.clusters[0].name, &*flat.clusters[0].entry), ("child", "child/s1"));
    for text in [flat.dot().to_string(), flat.mermaid().to_string()] {
        assert!(text.contains("subgraph") && text.contains("child/s1"), "{text}");
    }
    assert_eq!(flat.dot().to_string(), outer().topology().expanded().dot().to_string(), "byte for byte");
}

#[test]
fn the_shape_of_a_child_is_in_the_json_and_comes_back() {
    let graph = outer();
    let json = graph.topology().json().unwrap();
    let back: Topology = serde_json::from_str(&json).unwrap();
    assert_eq!(&back, graph.topology());
    assert_eq!(back.expanded(), graph.topology().expanded());
}

#[test]
fn children_in_children_are_clusters_in_clusters_and_names_that_are_taken_stay_apart() {
    let middle =
        talk("middle").node("low", child(&inner())).node("present", rest).edge(START, "low").compile().unwrap();
    let graph = talk("top").node("mid", child(&middle)).node("mid/present", rest).edge(START, "mid");
    let flat = graph.edge("mid", "mid/present").compile().unwrap().topology().expanded();
    let names: Vec<&str> = flat.nodes.iter().map(|vertex| &*vertex.name).collect();
    assert_eq!(names, ["mid/low/out", "mid/low/s1", "mid/low/s2", "mid/present", "mid/present/"]);
    let clusters: Vec<_> = flat.clusters.iter().map(|own| (&*own.name, own.parent.as_deref())).collect();
    assert_eq!(clusters, [("mid", None), ("mid/low", Some("mid"))]);
    assert!(edges(&flat).contains(&("mid/low/out", "mid/present/")));
}
