//! E25: lints about branches that run beside each other, how they meet and end, with near misses.

use std::future::{Ready, ready};

use behaviour_tests::{Trip, TripUpdate, findings, note};
use graph_engine::{Builder, END, Graph, In, Next, NodeExt, Route, START};

fn none() -> Vec<String> {
    Vec::new()
}

fn graph() -> Builder<Trip> {
    Graph::<Trip>::builder("g")
}

/// START and `a`.
fn begun() -> Builder<Trip> {
    graph().node("a", note("a")).edge(START, "a")
}

#[derive(Route)]
enum To {
    X,
}

#[derive(Route)]
enum Pay {
    Wants(u32),
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

fn city() -> Ready<TripUpdate> {
    ready(Trip::update().city("Oslo"))
}

fn writing(builder: Builder<Trip>, name: &'static str) -> Builder<Trip> {
    builder.node(name, city.writes(Trip::CITY | Trip::LOG)).edge(name, END)
}

#[test]
fn g010_write_conflicts() {
    let two = || writing(writing(graph(), "a"), "b").edge(START, "a");
    assert_eq!(
        findings(two().edge(START, "b")),
        ["error[G010]: `a` and `b` both start after `START` and write `city` in the same super-step (let one of them \
          write it, give the field a merge rule, or put one after the other)"]
    );
    assert_eq!(findings(two().edge("a", "b")), none(), "one after the other");
    let appends =
        |name: &'static str, builder: Builder<Trip>| builder.node(name, city.writes(Trip::LOG)).edge(name, END);
    assert_eq!(findings(appends("b", appends("a", graph())).edge(START, "a").edge(START, "b")), none());
    let undeclared = writing(graph(), "a").node("b", city).edge("b", END).edge(START, "a").edge(START, "b");
    assert_eq!(findings(undeclared), none(), "what is not declared is not known");
}

#[test]
fn g010_is_found_at_equal_distance_behind_a_fork() {
    let deep = writing(writing(graph(), "y"), "z")
        .node("fork", note("fork"))
        .node("left", note("left"))
        .node("right", note("right"))
        .edge(START, "fork")
        .edge("fork", "left")
        .edge("fork", "right")
        .edge("left", "y")
        .edge("right", "z");
    let found = findings(deep);
    assert_eq!(found.len(), 1);
    assert!(found[0].starts_with("error[G010]: `y` and `z` both start after `fork`"), "{found:?}");
}

#[test]
fn g101_overlapping_writers() {
    let uneven =
        writing(writing(graph(), "a"), "c").node("b", note("b")).edge(START, "a").edge(START, "b").edge("b", "c");
    assert_eq!(
        findings(uneven),
        ["warning[G101]: `a` and `c` both start after `START` and write `city` in parallel branches (let one of them \
          write it, give the field a merge rule, or put one after the other)"]
    );
    async fn each(_: In<u32>) -> TripUpdate {
        Trip::update().city("Oslo")
    }
    let sent = |each: graph_engine::NodeSpec<Trip>| {
        graph().node("wants", each).edge("wants", END).route(START, |_: &Trip| Pay::Wants(1))
    };
    assert_eq!(
        findings(sent(each.writes(Trip::CITY))),
        [
            "warning[G101]: several tasks of `wants` may write `city` in one super-step (give the field a merge rule such \
             as `#[state(append)]`)"
        ]
    );
    assert_eq!(findings(sent(each.writes(Trip::LOG))), none());
    let chain = writing(graph(), "c").node("a", city.writes(Trip::CITY)).node("b", note("b"));
    assert_eq!(findings(chain.edge(START, "a").edge(START, "b").edge("a", "c").edge("b", END)), none());
}

#[test]
fn g102_uneven_fan_in() {
    let long =
        |builder: Builder<Trip>| builder.node("b", note("b")).node("c", note("c")).edge(START, "b").edge("c", END);
    assert_eq!(
        findings(long(begun()).edge("a", "c").edge("b", "b2").node("b2", note("b2")).edge("b2", "c")),
        ["warning[G102]: branches from `START` reach `c` after 2 and 3 super-steps, so it runs 2 times (use `join` \
             to wait for all branches)"]
    );
    assert_eq!(findings(long(begun()).edge("a", "c").edge("b", "c")), none(), "equal branches are one task");
    let joined = long(begun()).node("b2", note("b2")).edge("b", "b2").join(["a", "b2"], "c");
    assert_eq!(findings(joined), none());
}

#[test]
fn g103_implicit_ends() {
    assert_eq!(
        findings(begun()),
        ["warning[G103]: nothing leaves `a`, so its branch ends there (add an edge to END to say so)"]
    );
    assert_eq!(findings(graph().node("a", stay_or_end).edge(START, "a")), none());
    assert_eq!(findings(begun().join(["a"], "x").node("x", note("x")).edge("x", END)), none());
}

#[test]
fn g104_two_replies() {
    #[derive(Route)]
    #[route(direct)]
    enum Reply {}
    async fn reply() -> Next<Reply> {
        Next::direct(1)
    }
    let both = graph().node("a", reply).node("b", reply).edge("a", END).edge("b", END).edge(START, "a");
    assert_eq!(
        findings(both.edge(START, "b")),
        [
            "warning[G104]: `a` and `b` are in different branches from `START` and can both reply (the caller gets both, \
          ordered by step and task; reply in one of them)"
        ]
    );
    let chain = graph().node("a", reply).node("b", reply).edge("a", "b").edge("b", END).edge(START, "a");
    assert_eq!(findings(chain), none());
}

#[test]
fn g105_transient_routes() {
    let x = |builder: Builder<Trip>| builder.node("x", note("x")).edge("x", END);
    assert_eq!(
        findings(x(begun()).route_reading("a", Trip::CITY | Trip::DRAFT, |_: &Trip| To::X)),
        [
            "warning[G105]: the router of `a` reads the transient field `draft` (after a resume or a crash the field has \
             its default; store what decides a route)"
        ]
    );
    assert_eq!(findings(x(begun()).route_reading("a", Trip::CITY, |_: &Trip| To::X)), none());
}
