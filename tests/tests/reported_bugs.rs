//! Cases that users of other graph libraries reported as bugs, with the outcome that is right.

#[path = "pictures/expected.rs"]
#[expect(dead_code, reason = "half of it is for Mermaid")]
mod expected;
#[path = "pictures/graphviz.rs"]
mod graphviz;

use std::future::ready;
use std::path::PathBuf;

use behaviour_tests::{Trip, after, findings, note};
use expect_test::expect;
use expected::Picture;
use graph_engine::{
    Builder, Cluster, Command, END, Edge, EdgeKind, Graph, MemoryStore, Next, NodeExt, NodeKind, Outcome, Payload,
    Route, RouteSpec, RunError, START, TargetSpec, Topology, Vertex,
};

fn graph() -> Builder<Trip> {
    Graph::<Trip>::builder("g")
}

#[derive(Route)]
enum ToB {
    B,
}

/// `from kind to` of every edge.
fn edges(builder: Builder<Trip>) -> Vec<String> {
    let graph = builder.compile().unwrap();
    let edges = graph.topology().edges.iter();
    edges.map(|edge| format!("{} {:?} {}", edge.from, edge.kind, edge.to)).collect()
}

#[test]
fn a_diagram_has_no_edge_to_the_end_that_nobody_declared() {
    // `a` goes to `b` by a command, `c` by a router; neither has an edge to END.
    let drawn = edges(
        graph()
            .node("a", || ready(Command::<Trip, ToB>::go(ToB::B)))
            .node("b", note("b"))
            .node("c", note("c"))
            .edge(START, "a")
            .edge(START, "c")
            .route("c", |_: &Trip| ToB::B),
    );
    assert_eq!(drawn, ["__start__ Static a", "__start__ Static c", "a Go b", "c Go b"]);
}

#[test]
fn a_diagram_shows_every_target_of_a_command_and_a_mark_where_targets_are_known_at_run_time_only() {
    async fn dynamic() -> Outcome<Trip> {
        Outcome::default().go("b")
    }
    let compiled = graph()
        .node("a", || ready(Next::go(ToB::B)))
        .node("b", note("b"))
        .node("d", dynamic)
        .edge(START, "a")
        .edge(START, "d")
        .compile()
        .unwrap();
    let marked: Vec<_> = compiled.topology().nodes.iter().filter(|node| node.dynamic).map(|node| &node.name).collect();
    assert_eq!(marked, ["d"]);
    expect![[r#"
        flowchart TD
          %% g
          start(("start"))
          n0["a"]
          n1["b"]
          n2["d"]
          start --> n0
          start --> n2
          n0 -.->|"go"| n1
          q2(("?")):::unknown
          n2 -.-> q2
          classDef unknown stroke-dasharray:2 4
    "#]]
    .assert_eq(&compiled.topology().mermaid().to_string());
    expect![[r#"
        digraph G {
          graph [rankdir=TB, label="g", labelloc=t, fontname="sans-serif"]
          node [fontname="sans-serif"]
          edge [fontname="sans-serif"]
          start [label="", shape=circle, style=filled, fillcolor=black, width=0.2, tooltip="start"]
          n0 [label="a", shape=box, tooltip="node"]
          n1 [label="b", shape=box, tooltip="node"]
          n2 [label="d", shape=box, tooltip="node"]
          start -> n0
          start -> n2
          n0 -> n1 [label="go", style=dashed]
          q2 [label="?", shape=circle, style=dotted, tooltip="anywhere"]
          n2 -> q2 [style=dotted]
        }
    "#]]
    .assert_eq(&compiled.topology().dot().to_string());
}

#[test]
fn a_diagram_shows_the_edges_to_a_deferred_node() {
    let deferred = graph()
        .node("a", note("a"))
        .node("b", note("b"))
        .node("d", note("d").deferred())
        .edge(START, "a")
        .edge(START, "b")
        .edge("a", "d")
        .edge("b", "d")
        .edge("d", END);
    let graph = deferred.compile().unwrap();
    let drawn: Vec<_> = graph.topology().edges.iter().filter(|edge| edge.to == "d").map(|edge| &edge.from).collect();
    assert_eq!(drawn, ["a", "b"]);
    assert!(graph.topology().dot().to_string().contains("n2 [label=\"d\\n(deferred)\""));
    assert!(graph.topology().mermaid().to_string().contains("n2[\"d\\n#40;deferred#41;\"]"));
}

/// A hand-written route whose only target is no node, or that answers beyond its targets.
struct Lost(usize);

impl Route for Lost {
    const SPEC: &'static RouteSpec = &RouteSpec::new(&[TargetSpec::new("b")]);

    fn into_target(self) -> (usize, Option<Payload>) {
        (self.0, None)
    }
}

#[test]
fn a_router_that_declares_an_unknown_node_is_refused_with_the_names() {
    let lost = graph().node("a", note("a")).node("c", note("c")).edge(START, "a").edge("a", "c").edge("c", END);
    let found = findings(lost.route("c", |_: &Trip| Next::go(Lost(0))));
    assert!(
        found.iter().any(|text| text.starts_with(
            "error[G003]: a declared route leads from `c` to `b`, which is no node (the nodes are `a`, `c`)"
        )),
        "{found:?}"
    );
}

#[tokio::test]
async fn a_router_that_answers_an_undeclared_target_fails_the_turn_and_names_its_node() {
    let lost =
        graph().node("a", note("a")).node("b", note("b")).edge(START, "a").route("a", |_: &Trip| Next::go(Lost(7)));
    let thread = lost.compile().unwrap().runner().store(MemoryStore::new()).thread("t");
    let error = thread.run(Trip::update()).await.unwrap_err();
    assert!(matches!(&*error.error, RunError::Router { node, .. } if node == "a"), "{error}");
    assert_eq!(thread.state().await.unwrap().next, ["a"]);
}

#[tokio::test(start_paused = true)]
async fn two_nodes_that_append_to_one_list_give_the_same_list_whichever_is_slow() {
    for (a, b) in [(1, 100), (100, 1), (50, 50)] {
        let graph = graph().node("b", after(b, "b")).node("a", after(a, "a")).edge(START, "a").edge(START, "b");
        let end = graph.compile().unwrap().runner().thread("t").run(Trip::update()).await.unwrap();
        assert_eq!(end.state.log, ["a", "b"]);
    }
}

const NODE: &str = "a[1] \"x\"";
const LABEL: &str = "\\d+ \"x\"\n\0";

/// The reported names, as the name of a node, of a cluster, of an unknown target and as a label.
fn hostile() -> Topology {
    let mut vertex = Vertex::new(NODE, NodeKind::Plain);
    vertex.dynamic = true;
    let nodes = vec![vertex, Vertex::new(LABEL, NodeKind::Gate), Vertex::new("back\\", NodeKind::Tools)];
    let edges = vec![
        Edge::new(START, NODE, EdgeKind::Static),
        Edge::new(NODE, LABEL, EdgeKind::Go).labelled(LABEL),
        Edge::new(LABEL, "back\\", EdgeKind::Stay).labelled(NODE),
        Edge::new(LABEL, "nobody \"knows\"\\\n\0", EdgeKind::Go).labelled("go"),
        Edge::new("back\\", END, EdgeKind::Direct).labelled("reply"),
    ];
    Topology::new("\"\\\n\0", nodes, edges, vec![Cluster::new(LABEL, NODE, [NODE])])
}

#[test]
fn graphviz_reads_reported_names_and_labels_back_as_they_were() {
    if !graphviz::is_here() {
        return skip("Graphviz's `dot` is missing: run .ci/stages/graphviz.sh");
    }
    let topology = hostile();
    let file = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("reported.dot");
    let dot = topology.dot().to_string();
    let read = graphviz::read(&file, std::slice::from_ref(&dot));
    assert_eq!(read, [Picture::in_graphviz(&topology, None)], "{dot}");
    assert_eq!((&*read[0].nodes["n0"], &*read[0].nodes["n1"]), ("\\d+ \"x\"\n", NODE));
    assert_eq!(read[0].nodes.get("u0").map(String::as_str), Some("nobody \"knows\"\\\n"), "an unknown node is visible");
    assert!(read[0].edges.iter().any(|(_, _, label)| label == "\\d+ \"x\"\n"), "{:?}", read[0].edges);
}

#[test]
fn names_with_controls_are_nodes_like_any_other() {
    let found = findings(
        graph().node(NODE, note("a")).node(LABEL, note("b")).edge(START, NODE).edge(NODE, LABEL).edge(LABEL, END),
    );
    assert_eq!(found, [""; 0]);
}

/// Passes without the outside program on a developer's machine, but never in CI.
#[expect(clippy::print_stderr, reason = "a skipped test says so")]
fn skip(why: &str) {
    assert!(std::env::var("CI").as_deref() != Ok("true"), "{why}");
    eprintln!("skipped. {why}");
}
