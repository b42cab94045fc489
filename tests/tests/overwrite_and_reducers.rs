//! E3 and E4: appends, reducers and overwrites; a reducer that refuses or panics leaves everything as it was.

use behaviour_tests::{Runs, Trip, TripUpdate, note};
use graph_engine::{Append, Graph, MemoryStore, RunError, START, State};

async fn run_one(update: impl Fn() -> TripUpdate + Send + Sync + 'static, input: TripUpdate) -> Trip {
    let node = move || std::future::ready(update());
    let graph = Graph::<Trip>::builder("g").node("n", node).edge(START, "n").compile().unwrap();
    let end = graph.runner().thread("t").run(input).await.unwrap();
    Trip::clone(&end.state)
}

/// Two nodes `a` and `b` beside each other.
fn two(a: fn() -> TripUpdate, b: fn() -> TripUpdate) -> Graph<Trip> {
    Graph::<Trip>::builder("g")
        .node("a", move || std::future::ready(a()))
        .node("b", move || std::future::ready(b()))
        .edge(START, "a")
        .edge(START, "b")
        .compile()
        .unwrap()
}

fn texts<const N: usize>(items: [&str; N]) -> [String; N] {
    items.map(str::to_owned)
}

#[tokio::test]
async fn an_overwrite_keeps_its_place_among_the_writes_of_one_update() {
    let state = run_one(|| Trip::update().total(5).overwrite_total(10).total(3), Trip::update().total(100)).await;
    assert_eq!(state.total, 13);
}

#[tokio::test]
async fn an_overwrite_of_a_list_drops_what_was_there_and_what_was_added_before() {
    let node = || {
        let update = Trip::update().log(texts(["x"])).overwrite_log(texts(["new"]).to_vec());
        update.log(texts(["more"]))
    };
    let state = run_one(node, Trip::update().log(texts(["old"]))).await;
    assert_eq!(state.log, ["new", "more"]);
}

#[tokio::test]
async fn then_keeps_an_overwrite_in_its_place() {
    let node = || {
        let first = Trip::update().total(5).log(texts(["gone"]));
        let later = Trip::update().overwrite_total(10).overwrite_log(Vec::new());
        first.then(later).then(Trip::update().total(3).log(texts(["kept"])))
    };
    let state = run_one(node, Trip::update().total(100).log(texts(["old"]))).await;
    assert_eq!((state.total, state.log), (13, vec!["kept".to_owned()]));
}

#[tokio::test]
async fn items_of_several_tasks_are_folded_in_task_order() {
    #[derive(State, Clone, Default)]
    struct Text {
        #[state(with = join)]
        text: String,
    }
    fn join(text: &String, item: String) -> Result<String, String> {
        Ok(format!("{text}{item}"))
    }
    let mut builder = Graph::<Text>::builder("g");
    for name in ["c", "a", "b"] {
        let node = move || std::future::ready(Text::update().text(name.to_owned()).text(name.to_uppercase()));
        builder = builder.node(name, node).edge(START, name);
    }
    let end = builder.compile().unwrap().runner().thread("t").run(Text::update().text(">".to_owned())).await.unwrap();
    assert_eq!(end.state.text, ">aAbBcC");
}

#[tokio::test]
async fn an_overwrite_beside_another_write_is_a_conflict_in_both_orders() {
    type Write = fn() -> TripUpdate;
    let pairs: [(&str, Write, Write); 6] = [
        ("total", || Trip::update().overwrite_total(1), || Trip::update().total(1)),
        ("total", || Trip::update().total(1), || Trip::update().overwrite_total(1)),
        ("total", || Trip::update().overwrite_total(1), || Trip::update().overwrite_total(1)),
        ("log", || Trip::update().overwrite_log(Vec::new()), || Trip::update().log(texts(["x"]))),
        ("log", || Trip::update().log(texts(["x"])), || Trip::update().overwrite_log(Vec::new())),
        ("log", || Trip::update().overwrite_log(Vec::new()), || Trip::update().overwrite_log(Vec::new())),
    ];
    for (at, (expected, a, b)) in pairs.into_iter().enumerate() {
        let thread = two(a, b).runner().store(MemoryStore::new()).thread("t");
        let input = Trip::update().total(7).log(texts(["in"]));
        let error = thread.run(input).await.unwrap_err();
        let RunError::WriteConflict { field, tasks, .. } = &*error else { panic!("{at}: {error}") };
        let nodes: Vec<_> = tasks.iter().map(|task| task.node.as_str()).collect();
        assert_eq!((field.as_str(), nodes), (expected, vec!["a", "b"]), "{at}");
        let state = thread.state().await.unwrap().state;
        assert_eq!((state.total, &state.log[..]), (7, &texts(["in"])[..]), "{at}");
    }
}

#[tokio::test]
async fn an_overwrite_beside_a_write_to_another_field_is_fine() {
    let graph = two(|| Trip::update().overwrite_total(9), || Trip::update().log(texts(["x"])));
    let end = graph.runner().thread("t").run(Trip::update().total(4)).await.unwrap();
    assert_eq!((end.state.total, end.state.log.len()), (9, 1));
}

#[tokio::test]
async fn input_passes_the_same_reducers() {
    let graph = two(Trip::update, Trip::update);
    let thread = graph.runner().store(MemoryStore::new()).thread("t");
    thread.run(Trip::update().total(5).log(texts(["one"]))).await.unwrap();
    let end = thread.run(Trip::update().total(6).log(texts(["two"]))).await.unwrap();
    assert_eq!((end.state.total, &end.state.log[..]), (11, &texts(["one", "two"])[..]));
    let end = thread.run(Trip::update().overwrite_total(1).overwrite_log(Vec::new())).await.unwrap();
    assert_eq!((end.state.total, end.state.log.len()), (1, 0));
}

#[tokio::test]
async fn refused_input_changes_nothing_and_the_thread_takes_other_input() {
    let thread = two(Trip::update, Trip::update).runner().store(MemoryStore::new()).thread("t");
    thread.run(Trip::update().total(5)).await.unwrap();
    let before = thread.state().await.unwrap();
    for bad in [13, 666] {
        let error = thread.run(Trip::update().log(texts(["lost"])).total(bad)).await.unwrap_err();
        assert!(matches!(*error.error, RunError::Input { .. }), "{error}");
        let after = thread.state().await.unwrap();
        assert_eq!((after.checkpoint, after.state.log.len()), (before.checkpoint, 0));
    }
    assert_eq!(thread.run(Trip::update().total(1)).await.unwrap().state.total, 6);
}

/// `a` appends, `b` sends a bad number until its third run.
fn bad(runs: &Runs, number: i64) -> Graph<Trip> {
    let b = {
        let runs = runs.clone();
        move || {
            let number = if runs.hit("b") < 1 { number } else { 1 };
            std::future::ready(Trip::update().log(["b".to_owned()]).total(number))
        }
    };
    Graph::<Trip>::builder("g")
        .node("a", runs.node("a"))
        .node("b", b)
        .node("after", note("after"))
        .edge(START, "a")
        .edge(START, "b")
        .join(["a", "b"], "after")
        .compile()
        .unwrap()
}

#[tokio::test]
async fn a_failing_reducer_applies_nothing_and_the_thread_proceeds_from_the_last_checkpoint() {
    let runs = Runs::new();
    let thread = bad(&runs, 13).runner().store(MemoryStore::new()).thread("t");
    let error = thread.run(Trip::update().log(texts(["in"])).total(2)).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "thread `t`, super-step 0: merging failed: the reducer of field `total` refused an item: 13 brings bad luck; \
         nothing of the step was applied; `proceed` runs the step again from the last checkpoint"
    );
    let state = thread.state().await.unwrap();
    assert_eq!((state.state.total, &state.state.log[..], state.step), (2, &texts(["in"])[..], 0));
    assert_eq!(state.next, ["a", "b"]);
    let end = thread.proceed().await.unwrap();
    assert_eq!((end.state.total, &end.state.log[..]), (3, &texts(["in", "a", "b", "after"])[..]));
}

#[tokio::test]
async fn a_panicking_reducer_is_an_error_that_applies_nothing() {
    let runs = Runs::new();
    let thread = bad(&runs, 666).runner().store(MemoryStore::new()).thread("t");
    let error = thread.run(Trip::update().total(2)).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "thread `t`, super-step 0: merging failed: a reducer panicked: the beast; nothing of the step was applied; \
         `proceed` runs the step again from the last checkpoint"
    );
    assert_eq!(thread.state().await.unwrap().state.log.len(), 0);
    let end = thread.proceed().await.unwrap();
    assert_eq!((end.state.total, &end.state.log[..]), (3, &texts(["a", "b", "after"])[..]));
}

#[tokio::test]
async fn without_a_store_a_failed_merge_says_that_the_state_is_lost() {
    let error = bad(&Runs::new(), 13).runner().thread("t").run(Trip::update()).await.unwrap_err();
    let text = error.to_string();
    assert!(text.contains("13 brings bad luck"), "{text}");
    assert!(text.contains("lost"), "{text}");
    assert!(!text.contains("proceed"), "nothing can proceed without a store: {text}");
}

/// A list whose `append` panics when it is given `"panic"`.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
struct Touchy(Vec<String>);

impl Append for Touchy {
    type Item = String;

    fn push(&mut self, item: String) {
        self.0.push(item);
    }

    fn append(&mut self, mut more: Self) {
        assert!(!more.0.contains(&"panic".to_owned()), "don't touch me");
        self.0.append(&mut more.0);
    }
}

#[derive(State, Clone, Debug, Default, PartialEq)]
struct Touched {
    #[state(append)]
    first: Vec<String>,
    #[state(append, transient)]
    touchy: Touchy,
    #[state(append)]
    last: Vec<String>,
}

#[tokio::test]
async fn a_panicking_append_applies_nothing() {
    let node = || {
        let all = || Touched::update().first(["1".to_owned()]).last(["3".to_owned()]);
        std::future::ready(all().touchy(["panic".to_owned()]))
    };
    let graph = Graph::<Touched>::builder("g").node("n", node).edge(START, "n").compile().unwrap();
    let thread = graph.runner().store(MemoryStore::new()).thread("t");
    let error = thread.run(Touched::update().touchy(["x".to_owned()])).await.unwrap_err();
    assert!(matches!(*error.error, RunError::Merge { .. }), "{error}");
    let state = thread.state().await.unwrap();
    assert_eq!((&*state.state, state.step), (&Touched::default(), 0));
}

#[tokio::test]
async fn a_transient_field_is_default_at_the_start_of_every_turn() {
    async fn draft() -> TripUpdate {
        Trip::update().draft("half a sentence")
    }
    async fn read(trip: graph_engine::Snap<Trip>) -> TripUpdate {
        Trip::update().log([format!("draft: {:?}", trip.draft)])
    }
    let graph = Graph::<Trip>::builder("g")
        .node("before", read)
        .node("draft", draft)
        .node("read", read)
        .edge(START, "before")
        .edge("before", "draft")
        .edge("draft", "read")
        .compile()
        .unwrap();
    let thread = graph.runner().store(MemoryStore::new()).thread("t");
    let end = thread.run(Trip::update()).await.unwrap();
    assert_eq!(end.state.draft, "half a sentence");
    let end = thread.run(Trip::update()).await.unwrap();
    let (empty, full) = ("draft: \"\"", "draft: \"half a sentence\"");
    assert_eq!(end.state.log, [empty, full, empty, full]);
    assert_eq!(thread.state().await.unwrap().state.draft, "");
}
