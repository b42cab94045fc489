//! Behaviours of the state that people know from LangGraph, each with the value that this engine gives.

use std::future::ready;
use std::sync::{Arc, Mutex};

use behaviour_tests::{Runs, TestStore, Trip, TripUpdate, note};
use graph_engine::{Filter, Graph, In, MemoryStore, NodeError, Place, Route, START, Snap, State};

fn texts<const N: usize>(items: [&str; N]) -> Vec<String> {
    items.map(str::to_owned).to_vec()
}

#[tokio::test]
async fn a_node_that_returns_nothing_or_an_empty_update_changes_nothing() {
    let graph = Graph::<Trip>::builder("g")
        .node("nothing", || ready(()))
        .node("empty", || ready(Trip::update()))
        .node("fine", || ready(Ok::<(), NodeError>(())))
        .edge(START, "nothing")
        .edge("nothing", "empty")
        .edge("empty", "fine")
        .compile()
        .unwrap();
    let input = || Trip::update().city("Oslo").last("x").log(texts(["in"])).total(5).draft("d");
    let end = graph.runner().thread("t").run(input()).await.unwrap();
    let expected = Trip { city: "Oslo".into(), last: "x".into(), log: texts(["in"]), total: 5, draft: "d".into() };
    assert_eq!((&*end.state, end.report.steps), (&expected, 3));
}

#[tokio::test]
async fn an_empty_input_runs_a_new_thread() {
    let graph = Graph::<Trip>::builder("g").node("n", note("n")).edge(START, "n").compile().unwrap();
    for store in [false, true] {
        let runner = graph.runner();
        let runner = if store { runner.store(MemoryStore::new()) } else { runner };
        assert_eq!(runner.thread("t").run(Trip::update()).await.unwrap().state.log, ["n"]);
    }
}

#[tokio::test]
async fn reducers_fold_the_writes_of_a_step_in_the_order_of_node_names() {
    let mut builder = Graph::<Trip>::builder("g");
    for name in ["zeta", "mid", "alpha"] {
        builder = builder.node(name, note(name)).edge(START, name);
    }
    let end = builder.compile().unwrap().runner().thread("t").run(Trip::update()).await.unwrap();
    assert_eq!(end.state.log, ["alpha", "mid", "zeta"]);
}

/// What one node tells the next in private.
#[derive(Clone, serde::Serialize, serde::Deserialize)]
struct Secret(String);

#[derive(Route)]
enum Tell {
    Use(Secret),
}

#[tokio::test]
async fn a_private_value_passes_between_two_nodes_as_a_payload_and_is_in_no_state() {
    async fn take(In(secret): In<Secret>) -> TripUpdate {
        Trip::update().log([format!("{} letters", secret.0.len())])
    }
    let graph = Graph::<Trip>::builder("g")
        .node("make", || ready(Tell::Use(Secret("hush".into()))))
        .node("use", take)
        .edge(START, "make")
        .compile()
        .unwrap();
    let thread = graph.runner().store(MemoryStore::new()).thread("t");
    let end = thread.run(Trip::update()).await.unwrap();
    assert_eq!(*end.state, Trip { log: texts(["4 letters"]), ..Trip::default() });
    assert_eq!(*thread.state().await.unwrap().state, *end.state);
}

#[tokio::test]
async fn a_private_value_passes_over_several_nodes_as_a_transient_field() {
    async fn read(trip: Snap<Trip>) -> TripUpdate {
        Trip::update().log([format!("read {}", trip.draft)])
    }
    let graph = Graph::<Trip>::builder("g")
        .node("make", || ready(Trip::update().draft("hush")))
        .node("between", note("between"))
        .node("read", read)
        .edge(START, "make")
        .edge("make", "between")
        .edge("between", "read")
        .compile()
        .unwrap();
    let thread = graph.runner().store(MemoryStore::new()).thread("t");
    let end = thread.run(Trip::update()).await.unwrap();
    assert_eq!(end.state.log, ["between", "read hush"]);
    assert_eq!(thread.state().await.unwrap().state.draft, "", "it is not in the stored state");
}

/// Everything that a store holds of a thread, as text: rows, and positions with payloads and saved results.
async fn stored_text(store: &TestStore, thread: &str) -> String {
    use graph_engine::CheckpointStore;
    let place = Place::thread(thread);
    let mut text = String::new();
    for info in store.list(&place, &Filter::default()).await.unwrap() {
        let stored = store.load(&place, Some(info.id)).await.unwrap().unwrap();
        text += &String::from_utf8_lossy(&stored.position);
        let rows = stored.fields.iter().map(|segment| segment.bytes);
        for bytes in rows.chain(stored.saved.iter().map(|saved| &saved.bytes[..])) {
            text += &String::from_utf8_lossy(bytes);
        }
    }
    text
}

#[tokio::test(start_paused = true)]
async fn a_transient_value_is_in_no_checkpoint_no_saved_result_and_no_stored_send() {
    #[derive(Route)]
    enum Send {
        Work(u32),
    }
    async fn work(In(n): In<u32>, trip: Snap<Trip>) -> Result<TripUpdate, NodeError> {
        match *n {
            1 => Err("the second task fails".into()),
            n => Ok(Trip::update().log([format!("work {n}{}", trip.draft.len())]).draft("canary")),
        }
    }
    let runs = Runs::new();
    let graph = Graph::<Trip>::builder("g")
        .node("make", || ready(Trip::update().draft("canary").log(texts(["shown"]))))
        .node("work", work)
        .node("slow", runs.slow(50, "slow"))
        .edge(START, "make")
        .edge(START, "slow")
        .route("make", |_: &Trip| graph_engine::Next::fan_out([0, 1].map(Send::Work)))
        .compile()
        .unwrap();
    let store = TestStore::lasting();
    let thread = graph.runner().store(store.clone()).thread("t");
    thread.run(Trip::update().draft("canary")).await.unwrap_err();
    let text = stored_text(&store, "t").await;
    assert!(text.contains("shown") && text.contains("work 06"), "the search finds what is stored: {text}");
    assert!(!text.contains("canary"), "{text}");
    assert!(!store.saves().is_empty());
}

#[tokio::test]
async fn an_overwrite_keeps_its_place_in_a_result_that_waits_in_a_store() {
    let sets = || {
        let update = Trip::update().total(5).log(texts(["x"])).overwrite_total(10).overwrite_log(texts(["new"]));
        update.total(3).log(texts(["more"]))
    };
    for store in [TestStore::new(), TestStore::lasting()] {
        let runs = Runs::new();
        let bad = {
            let runs = runs.clone();
            move || ready(if runs.hit("bad") == 0 { Err("not yet") } else { Ok(()) })
        };
        let graph = Graph::<Trip>::builder("g")
            .node("bad", bad)
            .node("sets", move || ready(sets()))
            .edge(START, "bad")
            .edge(START, "sets")
            .compile()
            .unwrap();
        let thread = graph.runner().store(store).thread("t");
        thread.run(Trip::update().total(100).log(texts(["old"]))).await.unwrap_err();
        assert_eq!(thread.state().await.unwrap().next, ["bad"]);
        let end = thread.proceed().await.unwrap();
        assert_eq!((end.state.total, &end.state.log[..]), (13, &texts(["new", "more"])[..]));
    }
}

#[tokio::test]
async fn an_overwrite_as_input_replaces_what_is_there() {
    let graph = Graph::<Trip>::builder("g").node("a", note("a")).edge(START, "a").compile().unwrap();
    let thread = graph.runner().store(MemoryStore::new()).thread("t");
    thread.run(Trip::update().log(texts(["p"]))).await.unwrap();
    let end = thread.run(Trip::update().overwrite_log(texts(["q"]))).await.unwrap();
    assert_eq!(end.state.log, ["q", "a"]);
}

#[tokio::test]
async fn an_update_that_sets_an_option_to_none_clears_it_and_one_without_it_leaves_it() {
    #[derive(State, Clone, Debug, Default, PartialEq)]
    struct Form {
        name: Option<String>,
        age: Option<u32>,
    }
    let graph = Graph::<Form>::builder("g")
        .node("clear", || ready(Form::update().name(None)))
        .edge(START, "clear")
        .compile()
        .unwrap();
    let thread = graph.runner().store(MemoryStore::new()).thread("t");
    let end = thread.run(Form::update().name(Some("Ada".to_owned())).age(Some(36))).await.unwrap();
    assert_eq!(*end.state, Form { name: None, age: Some(36) });
    assert_eq!(*thread.state().await.unwrap().state, Form { name: None, age: Some(36) });
}

#[tokio::test]
async fn a_value_that_a_node_changed_in_its_own_copy_is_not_in_the_state() {
    let seen: Arc<Mutex<Vec<usize>>> = Arc::default();
    let node = {
        let seen = seen.clone();
        move |trip: Snap<Trip>| {
            let mut own = (*trip).clone();
            own.log.push("mine".into());
            seen.lock().unwrap().push(own.log.len());
            ready(())
        }
    };
    let graph = Graph::<Trip>::builder("g")
        .node("a", node.clone())
        .node("b", node)
        .edge(START, "a")
        .edge("a", "b")
        .compile()
        .unwrap();
    let end = graph.runner().thread("t").run(Trip::update().log(texts(["in"]))).await.unwrap();
    assert_eq!(end.state.log, ["in"]);
    assert_eq!(*seen.lock().unwrap(), [2, 2]);
}

#[tokio::test]
async fn an_input_that_writes_more_than_it_may_is_refused_and_nothing_of_it_is_kept() {
    let graph = Graph::<Trip>::builder("g")
        .node("n", note("n"))
        .edge(START, "n")
        .input(Trip::CITY | Trip::LOG)
        .compile()
        .unwrap();
    let thread = graph.runner().store(MemoryStore::new()).thread("t");
    let error = thread.run(Trip::update().city("Oslo").total(1)).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "thread `t`: the input was refused: it writes field `total`, but the input of this graph may only write `city`, \
         `log`; nothing of it was kept, correct it and send it again"
    );
    assert_eq!(thread.state().await.unwrap().checkpoint, None);
    assert_eq!(thread.run(Trip::update().city("Oslo").log(texts(["in"]))).await.unwrap().state.log, ["in", "n"]);
}

#[tokio::test]
async fn an_input_that_a_check_refuses_says_why_and_sees_the_state_before() {
    let check = |trip: &Trip, input: &TripUpdate| match (&input.city, trip.city.is_empty()) {
        (None, true) => Err("name a city first"),
        _ => Ok(()),
    };
    let graph = Graph::<Trip>::builder("g").node("n", note("n")).edge(START, "n").check_input(check).compile().unwrap();
    let thread = graph.runner().store(MemoryStore::new()).thread("t");
    let error = thread.run(Trip::update().log(texts(["in"]))).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "thread `t`: the input was refused: name a city first; nothing of it was kept, correct it and send it again"
    );
    thread.run(Trip::update().city("Oslo")).await.unwrap();
    assert_eq!(thread.run(Trip::update().log(texts(["in"]))).await.unwrap().state.log, ["n", "in", "n"]);
}
