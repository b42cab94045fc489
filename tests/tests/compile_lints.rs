//! E25: every lint about names, ways and payloads, with one graph that triggers it and one that nearly does.

use std::future::{Ready, ready};
use std::time::Duration;

use behaviour_tests::{Trip, findings, note};
use graph_engine::{
    Builder, Command, END, Graph, In, Node, NodeError, NodeExt, NodeInfo, NodeKind, Outcome, Retry, Route, START, Task,
    async_trait,
};

fn none() -> Vec<String> {
    Vec::new()
}

fn graph() -> Builder<Trip> {
    Graph::<Trip>::builder("g")
}

/// START, `a`, END, and nothing to complain about.
fn fine() -> Builder<Trip> {
    graph().node("a", note("a")).edge(START, "a").edge("a", END)
}

#[derive(Route)]
#[route(direct, finish)]
enum To {
    X,
}

fn go() -> Ready<Command<Trip, To>> {
    ready(Command::go(To::X))
}

#[test]
fn a_good_graph_has_no_findings() {
    assert_eq!(findings(fine()), none());
}

#[test]
fn g001_duplicate_names() {
    let twice = fine().node("a", note("again")).node("a", note("and again"));
    assert_eq!(findings(twice), ["error[G001]: the node `a` is declared twice (rename one of them)"]);
    let clusters = |second: &'static str| {
        let builder = graph().cluster("c", "a", |c| c.node("a", note("a")));
        builder.cluster(second, "b", |c| c.node("b", note("b"))).edge(START, "a").edge("a", "b").edge("b", END)
    };
    assert_eq!(findings(clusters("c")), ["error[G001]: the cluster `c` is declared twice (rename one of them)"]);
    assert_eq!(findings(clusters("C")), none(), "upper and lower case are different");
    assert_eq!(findings(fine().node("A", note("A")).edge(START, "A").edge("A", END)), none());
}

#[test]
fn g002_reserved_names() {
    let named = |name: &'static str| graph().node(name, note("n")).edge(START, name).edge(name, END);
    let help = "names are not empty and don't begin with `__`, which is kept for the engine";
    assert_eq!(findings(named("")), [format!("error[G002]: a node has an empty name ({help})")]);
    for name in ["__x", "__"] {
        assert_eq!(findings(named(name)), [format!("error[G002]: `{name}` can't be the name of a node ({help})")]);
    }
    for name in ["_", "_x", "x__", "end", " ", "ü", "start"] {
        assert_eq!(findings(named(name)), none(), "{name:?}");
    }
    let cluster = graph().cluster("__c", "a", |c| c.node("a", note("a"))).edge(START, "a").edge("a", END);
    assert_eq!(findings(cluster), [format!("error[G002]: `__c` can't be the name of a cluster ({help})")]);
    for name in [START, END] {
        let found = findings(fine().node(name, note("n")));
        assert!(found.iter().any(|text| text.starts_with("error[G002]")), "{found:?}");
    }
}

#[test]
fn g003_unknown_targets() {
    assert_eq!(
        findings(fine().edge("a", "b")),
        ["error[G003]: a declared edge leads from `a` to `b`, which is no node (the nodes are `a`)"]
    );
    assert_eq!(
        findings(fine().edge("b", "a")),
        ["error[G003]: a declared edge begins at `b`, which is no node (the nodes are `a`)"]
    );
    assert_eq!(
        findings(fine().join(["a", "b"], "c")),
        [
            "error[G003]: a declared join leads from `a` to `c`, which is no node (the nodes are `a`)",
            "error[G003]: a declared join begins at `b`, which is no node (the nodes are `a`)",
            "error[G003]: a declared join leads from `b` to `c`, which is no node (the nodes are `a`)"
        ]
    );
    assert_eq!(
        findings(graph().node("a", note("a")).edge(START, "a").route("a", |_: &Trip| To::X)),
        ["error[G003]: a declared route leads from `a` to `x`, which is no node (the nodes are `a`)"]
    );
    assert_eq!(
        findings(graph().node("a", go).edge(START, "a")),
        ["error[G003]: a declared command leads from `a` to `x`, which is no node (the nodes are `a`)"]
    );
    assert_eq!(
        findings(fine().cluster("c", "nowhere", |c| c)),
        ["error[G003]: the entry of cluster `c` is `nowhere`, which is no node (the nodes are `a`)"]
    );
    assert_eq!(
        findings(graph().edge(START, "a")),
        ["error[G003]: a declared edge leads from `__start__` to `a`, which is no node (add the node)"]
    );
    assert!(findings(fine().edge("a", START))[0].starts_with("error[G003]"), "nothing leads back to START");
    assert!(findings(fine().edge(END, "a"))[0].starts_with("error[G003]"), "nothing leaves END");
    assert_eq!(findings(fine().node("x", note("x")).edge("x", END).edge("a", "x")), none());
}

#[test]
fn g004_no_entry() {
    let help = "(add an edge or a route from START)";
    assert_eq!(findings(graph()), [format!("error[G004]: no node begins a turn {help}")]);
    let no_entry = graph().node("a", note("a")).edge("a", END);
    assert_eq!(findings(no_entry), [format!("error[G004]: no node begins a turn {help}")]);
    assert_eq!(findings(graph().node("x", note("x")).edge("x", END).route(START, |_: &Trip| To::X)), none());
    assert_eq!(findings(graph().edge(START, END)), none());
}

#[test]
fn a_router_of_start_cannot_stay_and_is_told_so() {
    let found = findings(graph().route(START, |_: &Trip| StayOrEnd::End));
    assert_eq!(found.len(), 1);
    assert!(found[0].starts_with("error[") && found[0].contains("stay"), "{found:?}");
}

#[test]
fn g005_unreachable_nodes() {
    let lost = |builder: Builder<Trip>| builder.node("lost", note("lost")).edge("lost", END);
    let text = "error[G005]: no path from START leads to `lost` (add an edge or route to it, or remove it)";
    assert_eq!(findings(lost(fine())), [text]);
    assert_eq!(findings(lost(fine()).edge("a", "lost")), none());
    assert_eq!(findings(lost(fine()).join(["a"], "lost")), none());
    let two = lost(fine()).node("too", note("too")).edge("too", "lost").edge("lost", "too");
    assert_eq!(findings(two).iter().filter(|text| text.starts_with("error[G005]")).count(), 2);
    // Whoever may go anywhere may go there.
    async fn dynamic() -> Outcome<Trip> {
        Outcome::default()
    }
    assert_eq!(findings(lost(graph()).node("a", dynamic).edge(START, "a").edge("a", END)), none());
    let unreached = lost(fine()).node("dynamic", dynamic).edge("dynamic", END);
    assert_eq!(findings(unreached).len(), 2, "a dynamic node that is not reached itself opens nothing");
}

#[test]
fn g005_a_node_reached_only_by_a_command_a_route_or_a_stay_is_reached() {
    let x = |builder: Builder<Trip>| builder.node("x", note("x")).edge("x", END);
    assert_eq!(findings(x(graph().node("a", go).edge(START, "a"))), none());
    assert_eq!(findings(x(fine_without_end().route("a", |_: &Trip| To::X))), none());
    let stay = graph()
        .cluster("c", "entry", |c| c.node("entry", note("entry")).node("gate", stay_or_end).edge("entry", END))
        .edge(START, "gate");
    assert_eq!(findings(stay), none());
}

fn fine_without_end() -> Builder<Trip> {
    graph().node("a", note("a")).edge(START, "a")
}

#[derive(Route)]
#[route(stay)]
enum StayOrEnd {
    #[route(end)]
    End,
}

async fn stay_or_end() -> StayOrEnd {
    StayOrEnd::End
}

#[test]
fn g006_dead_joins() {
    let help = "(a join needs sources that run and finish by their declared edges)";
    let x = |builder: Builder<Trip>| builder.node("x", note("x")).edge("x", END);
    assert_eq!(
        findings(x(fine()).edge("a", "x").join([""; 0], "x")),
        [format!("error[G006]: the join to `x` has no source {help}")]
    );
    let lost = x(fine()).node("lost", note("lost")).edge("lost", END).join(["a", "lost"], "x");
    let found = findings(lost);
    assert_eq!(
        found[1],
        format!("error[G006]: the join to `x` never fires, because it waits for `lost`, which never runs {help}")
    );
    assert_eq!(
        findings(x(fine()).join([START, "a"], "x")),
        [format!("error[G006]: the join to `x` waits for START, which is no node and never finishes {help}")]
    );
    assert_eq!(findings(x(fine()).join(["a"], "x")), none());
    // Also where the graph has no entry, or a node may go anywhere.
    let no_entry = graph().node("x", note("x")).join([""; 0], "x");
    assert_eq!(findings(no_entry).len(), 2);
}

#[test]
fn g007_unconditional_cycles() {
    let ring = |builder: Builder<Trip>| builder.node("b", note("b")).edge("a", "b");
    let found = findings(ring(fine_without_end()).edge("b", "a"));
    assert_eq!(
        found,
        ["error[G007]: edges that are always taken lead round in a circle: `a`, `b` (replace one of the edges by a \
             route that can leave the circle)"]
    );
    assert_eq!(findings(fine().edge("a", "a")).len(), 1, "a circle of one");
    assert_eq!(findings(ring(fine()).join(["b"], "a")).len(), 1, "a join is always taken too");
    let left_by_a_route = ring(fine_without_end()).route("b", |_: &Trip| if true { Back::A } else { Back::End });
    assert_eq!(findings(left_by_a_route), none());
    let left_by_a_command = graph().node("a", back).edge(START, "a").node("b", note("b")).edge("a", "b").edge("b", "a");
    assert_eq!(findings(left_by_a_command), none());
}

#[derive(Route)]
enum Back {
    A,
    #[route(end)]
    End,
}

async fn back() -> Back {
    Back::End
}

#[test]
fn g008_conflicting_routes() {
    let help = "a node has either static edges and joins, or one router";
    let x = |builder: Builder<Trip>| builder.node("x", note("x")).edge("x", END);
    assert_eq!(
        findings(x(fine()).route("a", |_: &Trip| To::X)),
        [format!("error[G008]: `a` has a router and static edges ({help})")]
    );
    assert_eq!(
        findings(x(fine_without_end()).join(["a"], "x").route("a", |_: &Trip| To::X)),
        [format!("error[G008]: `a` has a router and a join ({help})")]
    );
    let two = x(fine_without_end()).route("a", |_: &Trip| To::X).route("a", |_: &Trip| To::X);
    assert_eq!(findings(two), ["error[G008]: `a` has 2 routers (keep one router, which may go to several targets)"]);
    assert_eq!(findings(x(fine()).route(START, |_: &Trip| To::X)).len(), 1, "START is left in one way too");
    assert_eq!(findings(x(fine_without_end()).route("a", |_: &Trip| To::X)), none());
    // A command beside edges is no conflict: it replaces them.
    assert_eq!(findings(x(graph().node("a", go).edge(START, "a").edge("a", END))), none());
}

#[derive(Route)]
enum Pay {
    Wants(u32),
}

#[derive(Route)]
enum PayText {
    Wants(String),
}

async fn wants(_: In<u32>) {}

#[test]
fn g009_payload_mismatch() {
    let wants = || graph().node("wants", wants).edge("wants", END);
    assert_eq!(
        findings(wants().edge(START, "wants")),
        ["error[G009]: `START` leads to `wants` without a payload, but `wants` asks for a `u32` (send it with \
          `fan_out`, by a route variant that carries the value)"]
    );
    assert_eq!(
        findings(wants().route(START, |_: &Trip| PayText::Wants("1".into()))),
        [
            "error[G009]: `START` sends a `alloc::string::String` to `wants`, which asks for a `u32` (make both the same \
          type)"
        ]
    );
    assert_eq!(findings(wants().route(START, |_: &Trip| Pay::Wants(1))), none());
    // A node may ignore what it is sent.
    let ignores = graph().node("wants", note("ignores")).edge("wants", END).route(START, |_: &Trip| Pay::Wants(1));
    assert_eq!(findings(ignores), none());
    let joined = wants().node("a", note("a")).edge(START, "a").join(["a"], "wants");
    assert_eq!(findings(joined).len(), 1);
}

#[test]
fn g009_a_stay_keeps_the_payload_only_outside_of_clusters() {
    async fn again(_: In<u32>) -> StayOrEnd {
        StayOrEnd::End
    }
    let send = |builder: Builder<Trip>| builder.route(START, |_: &Trip| Pay::Wants(1));
    assert_eq!(findings(send(graph().node("wants", again))), none());
    let clustered = send(graph().cluster("c", "wants", |c| c.node("wants", again)));
    assert_eq!(
        findings(clustered),
        ["error[G009]: `wants` leads to `wants` without a payload, but `wants` asks for a `u32` (send it with \
             `fan_out`, by a route variant that carries the value)"]
    );
}

#[test]
fn g011_duplicate_edges() {
    assert_eq!(
        findings(fine().edge("a", END)),
        ["error[G011]: the edge from `a` to `END` is declared twice (remove one of them)"]
    );
    let x = fine().node("x", note("x")).edge("x", END);
    assert_eq!(
        findings(x.join(["a", "a"], "x")),
        ["error[G011]: the join to `x` names `a` twice (name each source once)"]
    );
}

#[test]
fn g011_a_join_that_is_declared_twice() {
    let x = fine().node("x", note("x")).edge("x", END).node("b", note("b")).edge(START, "b");
    let twice = x.join(["a", "b"], "x").join(["b", "a"], "x");
    let found = findings(twice);
    assert!(found.iter().any(|text| text.starts_with("error[G011]")), "the same join twice: {found:?}");
}

#[test]
fn g012_bad_clusters() {
    let outside = fine().cluster("c", "a", |c| c.node("b", note("b"))).edge("a", "b").edge("b", END);
    assert_eq!(
        findings(outside),
        ["error[G012]: the entry `a` of cluster `c` is outside of it (add the entry with `node` inside the cluster)"]
    );
    let nested = graph()
        .cluster("outer", "a", |c| c.cluster("inner", "a", |c| c.node("a", note("a"))))
        .edge(START, "a")
        .edge("a", END);
    assert_eq!(findings(nested), none(), "an entry may lie in a cluster inside");
    let reversed = graph()
        .cluster("outer", "a", |c| c.node("a", note("a")).cluster("inner", "a", |c| c.node("b", note("b"))))
        .edge(START, "a")
        .edge("a", "b")
        .edge("b", END);
    assert_eq!(findings(reversed).len(), 1, "but not outside");
}

/// A node that does its own retries.
struct Agent;

#[async_trait]
impl Node<Trip> for Agent {
    async fn run(&self, _: &Task<Trip>) -> Result<Outcome<Trip>, NodeError> {
        Ok(Outcome::default())
    }

    fn describe(&self) -> NodeInfo {
        let mut info = NodeInfo::new(NodeKind::Agent);
        info.no_retry = Some("its gate retries");
        info
    }
}

/// A node that was made wrong.
struct Broken(Vec<String>);

#[async_trait]
impl Node<Trip> for Broken {
    async fn run(&self, _: &Task<Trip>) -> Result<Outcome<Trip>, NodeError> {
        Ok(Outcome::default())
    }

    fn describe(&self) -> NodeInfo {
        let mut info = NodeInfo::new(NodeKind::Agent);
        info.problems = self.0.clone();
        info
    }
}

#[test]
fn g015_nodes_that_were_made_wrong() {
    let with = |problems: &[&str]| {
        let broken = Broken(problems.iter().map(ToString::to_string).collect());
        findings(graph().node("a", broken).edge(START, "a").edge("a", END))
    };
    assert_eq!(
        with(&["there is no tool `x`", "it has two models"]),
        ["error[G015]: `a` can't run: it has two models", "error[G015]: `a` can't run: there is no tool `x`",]
    );
    assert_eq!(with(&[]), none());
}

#[test]
fn g014_double_retries() {
    let agent = |builder: Builder<Trip>| builder.edge(START, "a").edge("a", END);
    let retry = Retry::fixed(2, Duration::ZERO);
    assert_eq!(
        findings(agent(graph().node("a", Agent.retry(retry.clone())))),
        ["error[G014]: `a` has a retry policy, but its gate retries (remove `.retry(..)` from it)"]
    );
    assert_eq!(findings(agent(graph().node("a", Agent))), none());
    assert_eq!(findings(agent(graph().node("a", note("a").retry(retry)))), none());
}
