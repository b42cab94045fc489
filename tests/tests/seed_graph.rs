//! What a graph must refuse or draw, whatever it is used for: seven mistakes with seven codes, the writers of a field,
//! names that break diagrams, and a limit that says where the turn went.

use std::collections::BTreeSet;
use std::future::ready;

use behaviour_tests::{Trip, findings, note};
use graph_engine::{Builder, END, Graph, MemoryStore, Route, RunError, START};

fn graph() -> Builder<Trip> {
    Graph::<Trip>::builder("g")
}

fn fine() -> Builder<Trip> {
    graph().node("a", note("a")).edge(START, "a").edge("a", END)
}

#[derive(Route)]
enum ToX {
    X,
}

/// Seven graphs, each with one mistake.
fn mistakes() -> [(&'static str, Builder<Trip>); 7] {
    let loops = graph().node("a", note("a")).node("b", note("b")).edge(START, "a").edge("a", "b").edge("b", "a");
    let beside_a_router = fine().node("x", note("x")).edge("x", END).route("a", |_: &Trip| ToX::X);
    [
        ("duplicate vertex", fine().node("a", note("again"))),
        ("missing entry", graph().node("a", note("a")).edge("a", END)),
        ("unreachable vertex", fine().node("lost", note("lost")).edge("lost", END)),
        ("edge to an unknown vertex", fine().edge("a", "nowhere")),
        ("duplicate edge", fine().edge("a", END)),
        ("unconditional cycle", loops),
        ("an edge beside a router", beside_a_router),
    ]
}

#[test]
fn seven_mistakes_are_seven_errors_at_compile_each_with_its_own_code_and_the_names() {
    let texts: Vec<String> = mistakes()
        .into_iter()
        .map(|(what, builder)| {
            let found = findings(builder);
            assert_eq!(found.len(), 1, "{what}: {found:?}");
            found.into_iter().next().unwrap()
        })
        .collect();
    let begin = |text: &str| text.split(" (").next().unwrap().to_owned();
    assert_eq!(
        texts.iter().map(|text| begin(text)).collect::<Vec<_>>(),
        [
            "error[G001]: the node `a` is declared twice",
            "error[G004]: no node begins a turn",
            "error[G005]: no path from START leads to `lost`",
            "error[G003]: a declared edge leads from `a` to `nowhere`, which is no node",
            "error[G011]: the edge from `a` to `END` is declared twice",
            "error[G007]: edges that are always taken lead round in a circle: `a`, `b`",
            "error[G008]: `a` has a router and static edges",
        ]
    );
    assert!(texts.iter().all(|text| text.ends_with(')')), "each says what to do: {texts:?}");
    let codes: BTreeSet<&str> = texts.iter().map(|text| &text[..11]).collect();
    assert_eq!(codes.len(), 7);
}

#[test]
fn all_mistakes_of_one_graph_are_told_at_once() {
    let all = graph()
        .node("a", note("a"))
        .node("a", note("again"))
        .node("lost", note("lost"))
        .edge("a", "nowhere")
        .edge("lost", END)
        .edge("lost", END);
    let codes: Vec<String> = findings(all).iter().map(|text| text[6..10].to_owned()).collect();
    let expected: BTreeSet<&str> = ["G001", "G003", "G004", "G011"].into();
    assert!(expected.iter().all(|code| codes.iter().any(|found| found == code)), "{codes:?}");
}

#[tokio::test]
async fn parallel_writes_of_a_field_without_a_rule_name_both_and_with_one_are_in_order() {
    let two = |city: bool| {
        let write = move |name: &'static str| {
            move || ready(if city { Trip::update().city(name) } else { Trip::update().log([name.to_owned()]) })
        };
        let graph = graph().node("b", write("b")).node("a", write("a")).edge(START, "b").edge(START, "a");
        graph.compile().unwrap().runner().thread("t").run(Trip::update())
    };
    let error = two(true).await.unwrap_err();
    let RunError::WriteConflict { field, tasks, step: 0, .. } = &*error.error else { panic!("{error}") };
    assert_eq!((field.as_str(), tasks[0].node.as_str(), tasks[1].node.as_str()), ("city", "a", "b"));
    assert_eq!(two(false).await.unwrap().state.log, ["a", "b"]);
}

#[test]
fn diagrams_with_odd_names_are_the_same_bytes_whatever_the_order_of_the_description() {
    let names = ["end", "say \"hi\"", "a b", "x;y", "<b>"];
    let describe = |order: [usize; 5]| {
        let builder = order.into_iter().fold(graph(), |builder, at| builder.node(names[at], note("n")));
        let entered = order.into_iter().fold(builder, |builder, at| builder.edge(START, names[at]));
        let graph = order.into_iter().fold(entered, |builder, at| builder.edge(names[at], END)).compile().unwrap();
        [graph.topology().dot().to_string(), graph.topology().mermaid().to_string()]
    };
    let [dot, mermaid] = describe([0, 1, 2, 3, 4]);
    for order in [[4, 3, 2, 1, 0], [2, 0, 4, 1, 3]] {
        assert_eq!(describe(order), [dot.clone(), mermaid.clone()]);
    }
    assert!(dot.contains(r#"label="say \"hi\"""#), "{dot}");
    assert!(!mermaid.contains(" end["), "no bare keyword as a name: {mermaid}");
}

#[tokio::test]
async fn the_error_of_the_step_limit_names_the_nodes_of_the_loop_that_would_run_next() {
    #[derive(Route)]
    enum Ring {
        Ask,
        #[route(end)]
        #[expect(dead_code, reason = "the turn never gets there")]
        End,
    }
    let looping = graph()
        .node("ask", note("ask"))
        .node("answer", note("answer"))
        .edge(START, "ask")
        .edge("ask", "answer")
        .route("answer", |_: &Trip| Ring::Ask)
        .compile()
        .unwrap();
    for (limit, next) in [(6, "ask"), (7, "answer")] {
        let thread = looping.runner().step_limit(limit).store(MemoryStore::new()).thread("t");
        let error = thread.run(Trip::update()).await.unwrap_err();
        assert!(matches!(&*error.error, RunError::StepLimit { pending, .. } if *pending == [next]), "{error}");
        assert!(error.to_string().contains(&format!("next would be `{next}`")), "{error}");
        let ran = thread.state().await.unwrap().state.log.clone();
        assert_eq!(ran.len() as u64, limit, "what ran last is in the state");
    }
}
