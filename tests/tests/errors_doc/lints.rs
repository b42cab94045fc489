//! What keeps a graph from compiling.

use behaviour_tests::Wide;
use graph_engine::{
    Builder, Diagnostic, END, Graph, In, Lint, Next, NodeExt, NodeInfo, Nowhere, Outcome, Retry, Route, START, State,
};
use std::time::Duration;

use crate::doc::{Entry, Section};
use crate::trip::{ByHand, Trip, name_city, rest, trip};

#[derive(Route)]
enum ToQuote {
    Quote(String),
}

#[derive(Route)]
#[route(stay)]
enum ToExplore {
    Explore,
}

#[derive(Route)]
enum ToGone {
    Gone,
}

async fn quote(_: In<u32>) {}

/// Findings of any level.
fn found<S: State>(graph: Builder<S>) -> Vec<Diagnostic> {
    match graph.compile() {
        Ok(graph) => graph.warnings().to_vec(),
        Err(error) => error.diagnostics,
    }
}

/// Every text of one lint in these graphs; each must have one.
pub(crate) fn entry<S: State>(lint: Lint, graphs: impl IntoIterator<Item = Builder<S>>, means: &'static str) -> Entry {
    let mut texts = Vec::new();
    for graph in graphs {
        let before = texts.len();
        texts.extend(found(graph).into_iter().filter(|d| d.lint == lint).map(|d| d.to_string()));
        assert!(texts.len() > before, "a graph without {lint:?}");
    }
    Entry::plain(&format!("`{}` {lint:?}", lint.code()), texts, means)
}

/// `explore`, and whatever is added.
fn explore() -> Builder<Trip> {
    trip().node("explore", rest).edge(START, "explore")
}

fn never<R: Route>(_: &Trip) -> Next<R> {
    Next::declared()
}

pub(crate) fn section() -> Section {
    let whole = explore().edge("explore", "gone").node("lost", rest).compile().expect_err("it has two problems");
    let mut entries = vec![Entry::plain(
        "`CompileError`",
        [whole],
        "What `compile()` returns: every problem at once, sorted by code and names. Mend them one by one; each line is \
         explained below. `Builder::lint` changes the level of a code, except of those without which no graph can run.",
    )];
    entries.extend(names());
    entries.extend(paths());
    entries.extend(routes());
    entries.sort_by(|a, b| a.name.cmp(&b.name));
    Section {
        title: "Compiling a graph",
        intro: "A finding has a code that never changes. `error` keeps the graph from compiling.",
        entries,
    }
}

fn names() -> Vec<Entry> {
    let twice = |c: Builder<Trip>| c.cluster("stage", "b", |c| c.node("b", rest));
    let graphs = [explore().node("explore", rest), twice(explore().cluster("stage", "a", |c| c.node("a", rest)))];
    let duplicate = entry(
        Lint::DuplicateName,
        graphs,
        "Names are how edges, checkpoints and reports refer to nodes and clusters, so each is used once. Rename one.",
    );
    let graphs = [
        explore().node("", rest),
        explore().node("__mine", rest),
        explore().cluster("__c", "a", |c| c.node("a", rest)),
    ];
    let reserved =
        entry(Lint::ReservedName, graphs, "`START` and `END` are names with two underscores too. Choose another name.");
    let graphs = [
        explore().edge("explore", "gone"),
        explore().edge("gone", "explore"),
        explore().route("explore", |_: &Trip| ToGone::Gone),
        explore().join(["explore"], "gone"),
        explore().cluster("stage", "gone", |c| c.node("a", rest)),
        trip().edge(START, "gone"),
    ];
    let unknown = entry(
        Lint::UnknownTarget,
        graphs,
        "Mostly a spelling mistake. Add the node, or correct the name in the edge, route, join, cluster or command.",
    );
    let outside = explore().cluster("stage", "explore", |c| c.node("a", rest));
    let cluster = entry(
        Lint::BadCluster,
        [outside],
        "A stay inside of a cluster begins again at its entry, so the entry must be one of the cluster's own nodes.",
    );
    let wide = Graph::<Wide>::builder("trip").node("explore", rest).edge(START, "explore");
    let fields = entry(
        Lint::TooManyFields,
        [wide],
        "Only a hand-written `State` can get here: the derive refuses such a struct when it is compiled.",
    );
    let mut info = NodeInfo::default();
    info.no_retry = Some("its gate counts the attempts and asks again");
    let agent = ByHand { info, outcome: Outcome::default };
    let retry = trip().node("explore", agent.retry(Retry::fixed(3, Duration::ZERO))).edge(START, "explore");
    let retry = entry(
        Lint::DoubleRetry,
        [retry],
        "The node repeats its own work (`NodeInfo::no_retry`, such as an agent before a gate), and both \
         counts would multiply. Configure the one of the node.",
    );
    let mut info = NodeInfo::default();
    info.problems = vec!["stage `explore`: there is no tool `fly`; the tools are `search`".to_owned()];
    let broken = trip().node("explore", ByHand { info, outcome: Outcome::default }).edge(START, "explore");
    let broken = entry(
        Lint::NodeProblem,
        [broken],
        "A node of a library was put together wrongly (`NodeInfo::problems`) and would fail its first turn. The words \
         behind the colon are its own; those of the node library are listed below.",
    );
    vec![duplicate, reserved, unknown, cluster, fields, retry, broken]
}

fn paths() -> Vec<Entry> {
    let entry_ = entry(
        Lint::NoEntry,
        [trip().node("explore", rest)],
        "A turn begins at `START`; without an edge or a router there nothing would ever run.",
    );
    let lost = explore().node("lost", rest);
    let unreachable = entry(
        Lint::Unreachable,
        [lost],
        "Often an edge that was forgotten. A node that is only named at run time needs a sender that \
         declares it as a target.",
    );
    let meet = || explore().node("meet", rest);
    let graphs = [
        meet().join(Vec::<String>::new(), "meet"),
        meet().join([START], "meet"),
        meet().node("lost", rest).join(["explore", "lost"], "meet"),
    ];
    let join = entry(
        Lint::DeadJoin,
        graphs,
        "The join would wait for ever. Name nodes that run, or replace the join by an edge.",
    );
    let circle = explore().node("present", rest).edge("explore", "present").edge("present", "explore");
    let cycle = entry(Lint::UnconditionalCycle, [circle], "Such a turn could only end at its step limit.");
    vec![entry_, unreachable, join, cycle]
}

fn routes() -> Vec<Entry> {
    let both = || explore().route("explore", never::<Nowhere>);
    let graphs = [
        both().route("explore", never::<Nowhere>),
        both().edge("explore", END),
        both().node("meet", rest).join(["explore"], "meet"),
        trip().node("explore", rest).route(START, |_: &Trip| ToExplore::Explore),
    ];
    let conflicting = entry(
        Lint::ConflictingRoutes,
        graphs,
        "Which way would win could not be seen in the graph. A router may return several targets at once \
         (`Next::go_all`).",
    );
    let graphs = [
        explore().node("quote", quote).route("explore", |_: &Trip| ToQuote::Quote("Inn".into())),
        explore().node("quote", quote).edge("explore", "quote"),
    ];
    let payload = entry(
        Lint::PayloadMismatch,
        graphs,
        "`In<T>` asks for the value that a route variant such as `Quote(T)` carries; an edge carries none.",
    );
    let writer = || name_city.writes(Trip::CITY);
    let fork = || trip().node("ask", writer()).node("look", writer()).edge(START, "ask").edge(START, "look");
    let conflict = entry(
        Lint::WriteConflict,
        [fork()],
        "Both run in one super-step, and a field without a merge rule takes one writer. The same is \
         `RunError::WriteConflict` at run time for nodes that don't declare `.writes(..)`.",
    );
    let graphs = [
        explore().edge("explore", END).edge("explore", END),
        explore().node("meet", rest).join(["explore", "explore"], "meet"),
        explore().node("meet", rest).join(["explore"], "meet").join(["explore"], "meet"),
    ];
    let twice = entry(Lint::DuplicateEdge, graphs, "It would mean the same as one.");
    let fallible = || trip().edge(START, "explore");
    let graphs = [fallible().node("explore", rest.on_error("explore")), fallible().node("explore", rest.on_error(END))];
    let circle = entry(
        Lint::BadErrorRoute,
        graphs,
        "The node of an error route runs in the super-step after the failure and decides what happens next; its own \
         failures fail the turn, unless it has an error route too.",
    );
    vec![conflicting, payload, conflict, twice, circle]
}
