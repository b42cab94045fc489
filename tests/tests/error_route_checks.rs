//! E25, E26: what `compile()` says of error routes, and how diagrams show them.

use std::future::{Future, ready};

use behaviour_tests::{Trip, TripUpdate, findings, note};
use graph_engine::{CompileError, END, EdgeKind, FailedTask, Graph, In, IntoNode, Lint, NodeError, NodeExt, START};

fn takes_over(In(failed): In<FailedTask>) -> impl Future<Output = TripUpdate> {
    ready(Trip::update().log([failed.message.clone()]))
}

fn fails() -> impl Future<Output = Result<(), NodeError>> {
    ready(Err(NodeError::fatal("broken")))
}

#[test]
fn what_is_wrong_with_a_route_is_found_when_the_graph_compiles() {
    let sorry = || takes_over.into_node();
    let base = || Graph::<Trip>::builder("g").edge(START, "n").edge("n", END);
    assert_eq!(
        findings(base().node("n", note("n").on_error("n"))),
        [
            "error[G016]: the error route of `n` leads back to `n` (lead it to another node, which takes the failure as `In<FailedTask>`)"
        ]
    );
    assert_eq!(
        findings(base().node("n", note("n").on_error(END))),
        ["error[G016]: the error route of `n` leads to END, where nobody would learn of the failure (lead it to \
             another node, which takes the failure as `In<FailedTask>`)"]
    );
    let unknown = findings(
        base().node("n", note("n").on_error("sory")).node("sorry", sorry()).edge("n", "sorry").edge("sorry", END),
    );
    assert!(unknown.iter().any(|f| f.starts_with("error[G003]") && f.contains("`sory`")), "{unknown:?}");
    // Reached by the route alone it is reachable and needs no edge; reached plainly it gets no failure.
    let fine = findings(base().node("n", note("n").on_error("sorry")).node("sorry", sorry()).edge("sorry", END));
    assert_eq!(fine, Vec::<String>::new());
    let plain = findings(
        base().node("n", note("n").on_error("sorry")).node("sorry", sorry()).edge(START, "sorry").edge("sorry", END),
    );
    assert_eq!(plain.len(), 1, "{plain:?}");
    assert!(plain[0].starts_with("error[G009]") && plain[0].contains("FailedTask"), "{plain:?}");
    let other = findings(
        base().node("n", note("n").on_error("sorry")).node("sorry", |_: In<u32>| ready(())).edge("sorry", END),
    );
    assert!(other[0].starts_with("error[G009]"), "{other:?}");
    let lost = findings(base().node("n", note("n")).node("sorry", sorry()).edge("sorry", END));
    assert!(lost[0].starts_with("error[G005]"), "{lost:?}");
    // Two nodes that only fail into each other are not reached by anybody.
    let island = base()
        .node("n", note("n"))
        .node("x", (|_: In<FailedTask>| fails()).on_error("y"))
        .node("y", (|_: In<FailedTask>| fails()).on_error("x"))
        .edge("x", END)
        .edge("y", END);
    let island = findings(island);
    assert_eq!(island.iter().filter(|f| f.starts_with("error[G005]")).count(), 2, "{island:?}");
}

#[test]
fn the_level_of_a_bad_route_is_fixed() {
    let built = Graph::<Trip>::builder("g")
        .lint(Lint::BadErrorRoute, graph_engine::Level::Ignore)
        .node("n", note("n").on_error("n"))
        .edge(START, "n")
        .edge("n", END)
        .compile();
    assert!(matches!(built, Err(CompileError { .. })));
    assert!(Lint::BadErrorRoute.is_fixed());
}

#[test]
fn diagrams_show_the_route_as_an_edge_of_its_own_kind() {
    let graph = Graph::<Trip>::builder("g")
        .node("n", note("n").on_error("sorry"))
        .node("sorry", takes_over)
        .edge(START, "n")
        .edge("n", END)
        .edge("sorry", END)
        .compile()
        .unwrap();
    let topology = graph.topology();
    let edge = topology.edges.iter().find(|edge| edge.kind == EdgeKind::Error).unwrap();
    assert_eq!((&*edge.from, &*edge.to, edge.label.as_deref()), ("n", "sorry", Some("error")));
    let json = serde_json::to_value(topology).unwrap();
    let found = json["edges"].as_array().unwrap().iter().filter(|edge| edge["kind"] == "error").count();
    assert_eq!(found, 1);
    let dashed = |text: &str| text.lines().filter(|line| line.contains("error")).map(str::to_owned).collect::<Vec<_>>();
    let (dot, mermaid) = (dashed(&topology.dot().to_string()), dashed(&topology.mermaid().to_string()));
    assert_eq!((dot.len(), mermaid.len()), (1, 1), "{dot:?} {mermaid:?}");
    assert!(dot[0].contains("dashed"), "{dot:?}");
    assert!(mermaid[0].contains("-."), "{mermaid:?}");
}
