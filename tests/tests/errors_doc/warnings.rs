//! What `compile()` finds odd but not wrong.

use graph_engine::{Builder, CanDirect, END, In, Lint, Next, NodeExt, Nowhere, Route, START};

use crate::doc::Section;
use crate::lints::entry;
use crate::trip::{Trip, name_city, rest, trip};

#[derive(Route)]
enum ToQuote {
    Quote(String),
}

#[derive(Route)]
#[route(direct)]
enum Replies {}

async fn quote(_: In<String>) {}

async fn reply() -> Next<Replies> {
    says::<Replies>()
}

fn says<R: CanDirect>() -> Next<R> {
    Next::direct("hello")
}

fn fork() -> Builder<Trip> {
    trip().edge(START, "ask").edge(START, "look").node("look", rest)
}

pub(crate) fn section() -> Section {
    let writer = || name_city.writes(Trip::CITY);
    let later = fork().node("ask", writer()).node("present", writer()).edge("ask", END).edge("look", "present");
    let many = trip()
        .node("explore", rest)
        .node("quote", quote.writes(Trip::CITY))
        .edge(START, "explore")
        .route("explore", |_: &Trip| ToQuote::Quote("Inn".into()));
    let overlapping = entry(
        Lint::OverlappingWriters,
        [later, many],
        "They conflict only when their super-steps meet (a stay or a retried branch may do that), or when several \
         tasks of the node really write the field.",
    );
    let uneven = fork().node("ask", rest).node("present", rest).edge("ask", "look").edge("look", "present");
    let uneven = entry(
        Lint::UnevenFanIn,
        [uneven],
        "If running several times is what you want, set the level of this code to `Ignore`.",
    );
    let implicit = trip().node("explore", rest).edge(START, "explore");
    let implicit =
        entry(Lint::ImplicitEnd, [implicit], "It compiles and runs; the edge tells readers that the end is meant.");
    let replies = trip().node("ask", reply).node("look", reply).edge(START, "ask").edge(START, "look");
    let replies = entry(
        Lint::TwoReplies,
        [replies],
        "`TurnEnd::reply` gives only the first of them; `TurnEnd::replies` has all.",
    );
    let transient =
        trip()
            .node("explore", rest)
            .edge(START, "explore")
            .route_reading("explore", Trip::DRAFT, |_: &Trip| Next::<Nowhere>::declared());
    let transient = entry(
        Lint::TransientRoute,
        [transient],
        "A transient field is not in a checkpoint, so the same router may decide otherwise after a restart. Remove \
         `transient` from the field.",
    );
    Section {
        title: "Warnings of a graph that compiles",
        intro: "`Graph::warnings` has them; `Builder::lint` raises one to an error or ignores it.",
        entries: vec![overlapping, uneven, implicit, replies, transient],
    }
}
