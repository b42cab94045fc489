//! E25: all findings at once, sorted, with levels that can be changed.

use behaviour_tests::{Trip, Wide, findings, note};
use graph_engine::{Builder, END, Graph, In, Level, Lint, Next, Nowhere, Route, START};

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

/// START, `a`, END, and nothing to complain about.
fn fine() -> Builder<Trip> {
    begun().edge("a", END)
}

#[derive(Route)]
enum To {
    X,
    #[route(end)]
    End,
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

async fn wants(_: In<u32>) {}

#[test]
fn all_findings_come_at_once_errors_first_and_sorted() {
    let mess = graph()
        .node("z", note("z"))
        .node("a", note("a"))
        .node("a", note("a"))
        .node("__b", note("b"))
        .node("y", note("y"))
        .edge(START, "z")
        .edge("z", "y")
        .edge("y", "z")
        .edge("z", "nowhere")
        .edge("z", "y")
        .join([""; 0], "y")
        .route("z", |_: &Trip| To::End)
        .cluster("c", "z", |c| c.node("inner", note("inner")))
        .route_reading("inner", Trip::DRAFT, |_: &Trip| Next::<Nowhere>::go_all([]));
    let error = mess.compile().unwrap_err();
    let codes: Vec<_> = error.diagnostics.iter().map(|finding| (finding.code(), finding.level)).collect();
    let errors = codes.iter().filter(|(_, level)| *level == Level::Error).map(|(code, _)| *code).collect::<Vec<_>>();
    let mut sorted = errors.clone();
    sorted.sort_unstable();
    assert_eq!(errors, sorted);
    sorted.dedup();
    assert_eq!(sorted, ["G001", "G002", "G003", "G005", "G006", "G007", "G008", "G011", "G012"]);
    assert_eq!(codes.last(), Some(&("G105", Level::Warn)));
    let mut warned = false;
    for (_, level) in &codes {
        warned |= *level == Level::Warn;
        assert!(!warned || *level == Level::Warn, "errors stand first");
    }
}

#[test]
fn the_order_of_the_description_changes_nothing() {
    let forward = graph().node("a", note("a")).node("b", note("b")).edge(START, "x").edge("a", "y").edge("b", "b");
    let backward = graph().edge("b", "b").edge("a", "y").edge(START, "x").node("b", note("b")).node("a", note("a"));
    assert_eq!(findings(forward), findings(backward));
}

#[test]
fn the_text_of_a_compile_error_lists_the_errors() {
    let error = graph().edge("a", "b").node("c", note("c")).edge(START, "c").compile().unwrap_err();
    assert_eq!(
        error.to_string(),
        "graph `g` has 2 problems\n  error[G003]: a declared edge begins at `a`, which is no node (the nodes are `c`)\n  \
         error[G003]: a declared edge leads from `a` to `b`, which is no node (the nodes are `c`)"
    );
    let error = graph().compile().unwrap_err();
    assert_eq!(
        error.to_string(),
        "graph `g` has 1 problem\n  error[G004]: no node begins a turn (add an edge or a route from START)"
    );
}

#[test]
fn levels_can_be_raised_lowered_and_ignored() {
    let implicit = |level| begun().lint(Lint::ImplicitEnd, level).compile();
    assert!(implicit(Level::Error).unwrap_err().to_string().contains("error[G103]"));
    assert_eq!(implicit(Level::Warn).unwrap().warnings().len(), 1);
    assert!(implicit(Level::Ignore).unwrap().warnings().is_empty());
    let unreachable =
        |level| fine().node("lost", note("lost")).edge("lost", END).lint(Lint::Unreachable, level).compile();
    assert!(unreachable(Level::Error).is_err());
    assert_eq!(unreachable(Level::Warn).unwrap().warnings()[0].to_string()[..13], *"warning[G005]");
    assert!(unreachable(Level::Ignore).unwrap().warnings().is_empty());
}

#[test]
fn the_last_level_counts() {
    let builder = begun().lint(Lint::ImplicitEnd, Level::Error).lint(Lint::ImplicitEnd, Level::Ignore);
    assert!(builder.compile().is_ok());
}

#[tokio::test]
async fn no_level_makes_a_graph_that_panics() {
    let messes: Vec<fn() -> Builder<Trip>> = vec![
        || fine().cluster("c", "nowhere", |c| c.node("b", note("b"))).edge("a", "b"),
        || fine().cluster("c", "a", |c| c.cluster("d", "nowhere", |d| d.node("b", stay_or_end))).edge("a", "b"),
        || fine().node("a", note("again")),
        || fine().edge("a", "nowhere").edge("nowhere", "a"),
        || fine().route("a", |_: &Trip| To::X),
        || fine().join([START, "a", "nowhere"], "a").join([""; 0], "b"),
        || begun().edge("a", "a"),
        || graph().node("a", note("a")),
        || graph().node("__start__", note("a")).node("__end__", note("b")).node("", note("c")).edge(START, ""),
        || graph().node("wants", wants).edge(START, "wants"),
        || fine().edge("a", END).join(["a", "a"], "a"),
    ];
    for (at, mess) in messes.into_iter().enumerate() {
        let lowered = Lint::ALL.iter().fold(mess(), |builder, lint| builder.lint(*lint, Level::Ignore));
        if let Ok(graph) = lowered.compile() {
            let ended = graph.runner().step_limit(5).thread("t").run(Trip::update()).await;
            drop(ended.map_err(|error| format!("{at}: {error}")));
        }
    }
}

#[test]
fn codes_are_distinct_and_levels_follow_from_them() {
    let codes: Vec<_> = Lint::ALL.iter().map(|lint| lint.code()).collect();
    let expected = [
        "G001", "G002", "G003", "G004", "G005", "G006", "G007", "G008", "G009", "G010", "G011", "G012", "G013", "G014",
        "G015", "G016", "G101", "G102", "G103", "G104", "G105",
    ];
    assert_eq!(codes, expected);
    for lint in Lint::ALL {
        let warns = lint.code().starts_with("G1");
        assert_eq!(lint.default_level(), if warns { Level::Warn } else { Level::Error }, "{}", lint.code());
    }
}

#[test]
fn a_state_with_more_than_64_fields_is_refused() {
    assert_eq!(
        findings_of_wide(65),
        [
            "error[G013]: the state has 65 fields; at most 64 are possible (group fields that belong together into a struct)"
        ]
    );
    assert_eq!(findings_of_wide(64), none());
}

/// What is found in a graph over a state of so many fields.
fn findings_of_wide(fields: usize) -> Vec<String> {
    let compiled = Graph::starting_from("g", Wide::new(fields)).edge(START, END).compile();
    compiled.map_or_else(|error| error.diagnostics.iter().map(ToString::to_string).collect(), |_| Vec::new())
}
