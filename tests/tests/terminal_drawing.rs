//! Drawings for the terminal: their exact text for one graph, and that nothing is lost and nothing is obeyed.

#[path = "pictures/names.rs"]
mod names;
#[path = "pictures/sample.rs"]
mod sample;
#[path = "pictures/walks.rs"]
mod walks;

use std::time::{Duration, Instant};

use expect_test::{expect, expect_file};
use graph_engine::{Cluster, END, Edge, EdgeKind, ExecutedPath, NodeKind, START, Topology, Vertex};
use names::SplitMix;

#[test]
fn the_hotel_in_a_terminal() {
    expect_file!["pictures/hotel.txt"].assert_eq(&sample::hotel().text().to_string());
}

#[test]
fn a_walk_through_the_hotel_in_a_terminal() {
    expect_file!["pictures/executed.txt"].assert_eq(&sample::hotel().text().executed(&walks::hotel()).to_string());
}

fn chain(names: &[&str]) -> Topology {
    let nodes = names.iter().map(|name| Vertex::new(*name, NodeKind::Plain)).collect();
    let mut edges = vec![Edge::new(START, names[0], EdgeKind::Static)];
    edges.extend(names.windows(2).map(|pair| Edge::new(pair[0], pair[1], EdgeKind::Static)));
    edges.push(Edge::new(names[names.len() - 1], END, EdgeKind::Static));
    Topology::new("g", nodes, edges, vec![])
}

#[test]
fn wide_characters_and_other_scripts_keep_the_boxes_straight() {
    let topology = chain(&["猫酒店", "ünïcode", "שלום", "e\u{301}"]);
    expect![[r#"
        g

           [(start)]
               └┐
                ↓
            [猫酒店]
               ┌┘
               ↓
           [ünïcode]
               └┐
                ↓
             [שלום]
                │
                ↓
          ["e\u{301}"]
               ┌┘
               ↓
            [(end)]

        nodes
          "e\u{301}"
          ünïcode
          שלום
          猫酒店
        edges
          (start) -> 猫酒店
          "e\u{301}" -> (end)
          ünïcode -> שלום
          שלום -> "e\u{301}"
          猫酒店 -> ünïcode
    "#]]
    .assert_eq(&topology.text().to_string());
}

#[test]
fn a_long_name_is_shortened_in_the_picture_only() {
    let long = "explore_".repeat(200);
    let other = format!("{long}2");
    let text = chain(&[&long, &other]).text().to_string();
    let (picture, lists) = text.split_once("\nnodes\n").unwrap();
    assert!(picture.contains("[n0 = explore_explore_explore_...]"), "{picture}");
    assert!(picture.contains("[n1 = explore_explore_explore_...]"), "{picture}");
    assert!(lists.contains(&format!("  n0 = {long}\n  n1 = {other}\n")), "{lists}");
    assert!(lists.contains(&format!("  {long} -> {other}\n")), "{lists}");
}

#[test]
fn names_are_told_apart_from_what_is_written_around_them() {
    let topology = chain(&["a -> b: go", "(start)", "\\", "\"", ""]);
    let text = topology.text().to_string();
    for line in [r#"  "a -> b: go" -> "(start)""#, r#"  "(start)" -> "\\""#, r#"  "\\" -> "\"""#, r#"  "\"" -> """#] {
        assert!(text.contains(&format!("{line}\n")), "{line} in {text}");
    }
}

/// Two hundred nodes in rows of ten, with cycles, in clusters.
#[test]
fn two_hundred_nodes_with_cycles_are_drawn_in_time_and_listed_whole() {
    let name = |row: usize, column: usize| format!("node_{row}_{column}");
    let mut nodes = Vec::new();
    let mut edges = vec![Edge::new(START, name(0, 0), EdgeKind::Static)];
    let mut clusters = Vec::new();
    for row in 0..20 {
        nodes.extend((0..10).map(|column| Vertex::new(name(row, column), NodeKind::Agent)));
        edges.extend((0..9).map(|column| Edge::new(name(row, column), name(row, column + 1), EdgeKind::Static)));
        edges.push(Edge::new(name(row, 9), name((row + 1) % 20, 0), EdgeKind::Go));
        edges.push(Edge::new(name(row, 4), name(row, 4), EdgeKind::Stay));
        clusters.push(Cluster::new(format!("row_{row}"), name(row, 0), (0..10).map(|column| name(row, column))));
    }
    let topology = Topology::new("rows", nodes, edges, clusters);
    let began = Instant::now();
    let text = topology.text().to_string();
    assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
    let (picture, lists) = text.split_once("\nnodes\n").unwrap();
    let (forward, rest) = lists.split_once("\nedges that lead back, not in the picture\n").unwrap();
    let (back, groups) = rest.split_once("\nclusters\n").unwrap();
    for node in &topology.nodes {
        assert_eq!(picture.matches(&format!("[{}]", node.name)).count(), 1, "{}", node.name);
        assert!(lists.contains(&format!("  {}: agent\n", node.name)));
    }
    assert_eq!(back.lines().count(), 21, "twenty loops and the way from the last row to the first");
    assert!(back.contains("node_19_9 -> node_0_0: go"));
    assert_eq!(forward.lines().filter(|line| line.contains(" -> ")).count(), 200);
    assert_eq!(groups.lines().count(), 20);
    assert!(picture.lines().all(|line| line.chars().count() <= 200));
}

/// The lists say everything whether there is a picture or not, and in bounded time.
#[test]
fn a_picture_that_nobody_could_read_is_left_out_with_a_reason() {
    let node = |index: usize| format!("node_{index:03}");
    let nodes: Vec<_> = (0..200).map(|index| Vertex::new(node(index), NodeKind::Plain)).collect();
    let edge = |from: usize, to: usize| Edge::new(node(from), node(to), EdgeKind::Go);
    let all_to_all = (0..100).flat_map(|from| (100..200).map(move |to| (from, to)));
    let edges = all_to_all.map(|(from, to)| edge(from, to)).collect();
    let topology = Topology::new("g", nodes.clone(), edges, vec![]);
    let began = Instant::now();
    let text = topology.text().to_string();
    assert!(text.starts_with("g\n\nthe picture is left out: the graph has too many lines to be read"), "{text}");
    assert_eq!(text.matches(" -> ").count(), 10_000);

    let mut random = SplitMix::new(7);
    let edges = (0..2_000).map(|_| edge(random.below(200), random.below(200))).collect();
    let topology = Topology::new("g", nodes, edges, vec![]);
    let text = topology.text().to_string();
    assert_eq!(text.matches(" -> ").count(), topology.edges.len());
    assert!(began.elapsed() < Duration::from_secs(30), "{:?}", began.elapsed());
}

/// A way that nodes lead to step by step needs no line of its own, if there would be more lines than nodes.
#[test]
fn edges_past_others_are_listed_apart_when_there_are_many() {
    let names = ["a", "b", "c", "d", "e", "f"];
    let short = chain(&names);
    let mut edges = short.edges.clone();
    edges.extend(names.iter().map(|name| Edge::new(*name, END, EdgeKind::Direct)));
    let busy = Topology::new("g", short.nodes.clone(), edges, vec![]);
    let text = busy.text().to_string();
    let picture = |text: &str| text.split_once("\nnodes\n").unwrap().0.to_owned();
    assert_eq!(picture(&text), picture(&short.text().to_string()));
    let (_, past) = text.split_once("\nedges that lead past others, not in the picture\n").unwrap();
    assert_eq!(
        past,
        "  a -> (end): direct\n  b -> (end): direct\n  c -> (end): direct\n  d -> (end): direct\n  e -> (end): direct\n"
    );
    assert!(!busy.text().columns(3).to_string().contains("not in the picture"));
}

#[test]
fn a_star_that_is_too_wide_from_the_top_is_drawn_from_the_left() {
    let node = |index: usize| format!("node_{index:03}");
    let nodes = (0..50).map(|index| Vertex::new(node(index), NodeKind::Plain)).collect();
    let edges = (1..50).map(|index| Edge::new(node(0), node(index), EdgeKind::FanOut)).collect();
    let topology = Topology::new("g", nodes, edges, vec![]);
    let text = topology.text().to_string();
    assert!(text.contains("→[node_049]"), "{text}");
    let narrow = topology.text().columns(20).to_string();
    assert!(narrow.starts_with("g\n\nthe picture is left out: it is wider than 20 columns\n\nnodes\n"), "{narrow}");
    assert_eq!(Topology::new("g", vec![], vec![], vec![]).text().to_string(), "g\n\n");
}

const SEED: u64 = 0x5eed_0f9a_7e87_0003;

/// Every name, label and count of 250 hostile graphs is there, and nothing that a terminal obeys.
#[test]
fn no_hostile_name_is_lost_or_obeyed() {
    let mut random = SplitMix::new(SEED);
    let mut pictures = 0;
    for index in 0..250 {
        let graph = names::hostile_graph(&mut random);
        let path = walks::hostile_path(&mut random, &graph);
        let text = graph.text().executed(&path).to_string();
        let obeyed = |c: &char| {
            c.is_control() && *c != '\n'
                || matches!(c, '\u{200e}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
        };
        assert_eq!(text.chars().find(obeyed), None, "graph {index}: {text}");
        pictures += usize::from(!text.contains("the picture is left out"));
        for name in graph.nodes.iter().map(|node| &node.name).chain(graph.clusters.iter().map(|cluster| &cluster.name))
        {
            assert!(text.contains(&shown(name)), "graph {index}: {name:?} in {text}");
        }
        for edge in &graph.edges {
            let label = edge.label.as_deref().map(shown).unwrap_or_default();
            let taken = path
                .edges
                .iter()
                .find(|taken| (&taken.from, &taken.to, taken.kind) == (&edge.from, &edge.to, edge.kind));
            let used = taken.map_or("not taken".to_owned(), |taken| format!("x{}", taken.count));
            let line = |line: &&str| {
                line.starts_with(&format!("  {} -> {}: {label}", shown(&edge.from), shown(&edge.to)))
                    && line.ends_with(&used)
            };
            assert!(text.lines().any(|found| line(&found)), "graph {index}: {edge:?} in {text}");
        }
        for taken in &path.edges {
            if !graph.edges.iter().any(|edge| (&taken.from, &taken.to, taken.kind) == (&edge.from, &edge.to, edge.kind))
            {
                let start = format!("  {} ..> {}: ", shown(&taken.from), shown(&taken.to));
                let end = format!("x{}, not declared", taken.count);
                let line = |line: &str| line.starts_with(&start) && line.ends_with(&end);
                assert!(text.lines().any(line), "graph {index}: {taken:?} in {text}");
            }
        }
    }
    assert!(pictures > 200, "only {pictures} of 250 graphs have a picture");
}

fn shown(name: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
    match name {
        START => "(start)".to_owned(),
        END => "(end)".to_owned(),
        name if !name.is_empty() && name.chars().all(is_plain) => name.to_owned(),
        name => format!("{name:?}"),
    }
}

#[test]
fn the_same_graph_gives_the_same_text() {
    let hotel = sample::hotel();
    let path = ExecutedPath::new();
    assert_eq!(hotel.text().to_string(), hotel.clone().text().to_string());
    assert_eq!(hotel.text().executed(&path).to_string().matches("not taken").count(), hotel.edges.len());
}
