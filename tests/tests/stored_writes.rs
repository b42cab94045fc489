//! E5: what a checkpoint holds of a field with a reducer, of a map and of a set is what was written to it, until that is
//! more than its last base; reading merges it again.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::convert::Infallible;
use std::future::ready;

use behaviour_tests::{Runs, TestStore};
use graph_engine::{
    CheckpointStore, Durability, DynState, Encoding, Filter, Graph, MemoryStore, NodeError, Place, Reduced, RunError,
    START, Schema, SchemaField, State, Thread,
};
use serde_json::{Value, json};

#[derive(State, Clone, Debug, Default, PartialEq)]
struct Book {
    #[state(with = join)]
    text: String,
    #[state(append)]
    rooms: BTreeMap<String, u32>,
    #[state(append)]
    seen: BTreeSet<u32>,
    #[state(append)]
    queue: VecDeque<u32>,
    #[state(append)]
    log: Vec<u32>,
    #[state(with = larger)]
    price: f64,
    #[state(with = join, transient)]
    draft: String,
    plain: u32,
}

/// "clear" empties the text, "no" is refused.
fn join(text: &String, more: String) -> Result<String, String> {
    match more.as_str() {
        "no" => Err("not that".to_owned()),
        "clear" => Ok(String::new()),
        _ => Ok(format!("{text}{more}")),
    }
}

/// The larger of two prices; what is no number is none.
fn larger(price: &f64, other: f64) -> Result<f64, Infallible> {
    Ok(if other > *price { other } else { *price })
}

fn large() -> BookUpdate {
    Book::update().overwrite_text("x".repeat(500)).rooms((0..50).map(|n| (format!("room {n}"), n))).seen(0..300)
}

/// A thread whose every turn merges its input and runs one node that does nothing.
fn quiet(store: impl CheckpointStore) -> Thread<Book> {
    let graph = Graph::<Book>::builder("g").node("n", || ready(())).edge(START, "n").compile().unwrap();
    graph.runner().store(store).thread("t")
}

/// What is stored beside the work is stored.
async fn settle() {
    for _ in 0..50 {
        tokio::task::yield_now().await;
    }
}

type Rows = Vec<(String, Encoding, Value)>;

/// What each checkpoint holds of the fields, the oldest first; checkpoints without fields are left out.
async fn rows(store: &impl CheckpointStore) -> Vec<Rows> {
    let (place, mut all) = (Place::thread("t"), Vec::new());
    for info in store.list(&place, &Filter::default()).await.unwrap().into_iter().rev() {
        let commit = store.row(&place, info.id).await.unwrap().unwrap();
        let row = |row: &graph_engine::FieldRow| {
            (row.name.to_string(), row.encoding, serde_json::from_slice(commit.field_bytes(row)).unwrap())
        };
        all.push(commit.fields.iter().map(row).collect::<Rows>());
    }
    all.retain(|rows| !rows.is_empty());
    all
}

fn writes(field: &str, writes: Value) -> Rows {
    vec![(field.to_owned(), Encoding::Writes, writes)]
}

fn base(field: &str, value: Value) -> Rows {
    vec![(field.to_owned(), Encoding::Base, value)]
}

#[tokio::test]
async fn a_base_then_what_inputs_write() {
    let store = MemoryStore::new();
    let thread = quiet(store.clone());
    thread.run(large()).await.unwrap();
    thread.run(Book::update().text("b").text("c")).await.unwrap();
    thread.run(Book::update().rooms([("room 1".to_owned(), 7)])).await.unwrap();
    let end = thread.run(Book::update().seen([5, 900])).await.unwrap();
    let rows = rows(&store).await;
    assert!(rows[0].iter().all(|(_, encoding, _)| *encoding == Encoding::Base));
    assert_eq!(rows[1], writes("text", json!([{ "overwrite": null, "items": ["b", "c"] }])));
    assert_eq!(rows[2], writes("rooms", json!([{ "overwrite": false, "items": { "room 1": 7 } }])));
    assert_eq!(rows[3], writes("seen", json!([{ "overwrite": false, "items": [5, 900] }])));
    let read = thread.state().await.unwrap().state;
    assert_eq!(*read, *end.state);
    assert_eq!((read.text.len(), read.rooms["room 1"], read.seen.len()), (502, 7, 301));
}

#[tokio::test]
async fn several_writers_of_one_step_stand_in_task_order_whoever_ends_first() {
    let store = MemoryStore::new();
    let node = |name: &'static str, millis: u64| {
        move || async move {
            tokio::time::sleep(std::time::Duration::from_millis(millis)).await;
            Book::update().text(name).queue([name.len() as u32])
        }
    };
    let graph = Graph::<Book>::builder("g")
        .node("a", node("a", 3))
        .node("bb", node("bb", 2))
        .node("ccc", node("ccc", 1))
        .edge(START, "a")
        .edge(START, "bb")
        .edge(START, "ccc")
        .compile()
        .unwrap();
    let thread = graph.runner().store(store.clone()).thread("t");
    tokio::time::pause();
    thread.run(large().queue(0..90)).await.unwrap();
    let added = |item: Value| json!({ "overwrite": false, "items": item });
    let given = |item: &str| json!({ "overwrite": null, "items": [item] });
    let step = [
        writes("text", json!([given("a"), given("bb"), given("ccc")])),
        writes("queue", json!([added(json!([1])), added(json!([2])), added(json!([3]))])),
    ];
    assert_eq!(rows(&store).await[1], step.concat());
    let read = thread.state().await.unwrap().state;
    assert!(read.text.ends_with("xabbccc"));
    assert_eq!(read.queue.iter().skip(89).copied().collect::<Vec<_>>(), [89, 1, 2, 3]);
}

#[tokio::test]
async fn an_overwrite_is_a_base_with_what_the_same_update_writes_after_it() {
    let store = MemoryStore::new();
    let thread = quiet(store.clone());
    thread.run(large()).await.unwrap();
    thread.run(Book::update().text("b")).await.unwrap();
    let whole = "y".repeat(60);
    thread.run(Book::update().text("lost").overwrite_text(whole.clone()).text("z")).await.unwrap();
    thread.run(Book::update().text("w")).await.unwrap();
    let rows = rows(&store).await;
    assert_eq!(rows[1], writes("text", json!([{ "overwrite": null, "items": ["b"] }])));
    assert_eq!(rows[2], base("text", json!(format!("{whole}z"))));
    assert_eq!(rows[3], writes("text", json!([{ "overwrite": null, "items": ["w"] }])));
    assert_eq!(thread.state().await.unwrap().state.text, format!("{whole}zw"));
}

#[tokio::test]
async fn an_empty_update_writes_nothing_and_a_write_without_items_an_empty_one() {
    let store = MemoryStore::new();
    let thread = quiet(store.clone());
    thread.run(large()).await.unwrap();
    thread.run(Book::update()).await.unwrap();
    let mut update = Book::update();
    update.text = Some(Reduced::default());
    thread.run(update).await.unwrap();
    let rows = rows(&store).await;
    assert_eq!(rows.len(), 2);
    assert_eq!(rows[1], writes("text", json!([{ "overwrite": null, "items": [] }])));
    assert_eq!(thread.state().await.unwrap().state.text.len(), 500);
}

#[tokio::test]
async fn nothing_is_noted_of_a_merge_that_failed() {
    for durability in [Durability::Sync, Durability::Async, Durability::Exit] {
        let (store, runs) = (MemoryStore::new(), Runs::new());
        let node = {
            let runs = runs.clone();
            move || ready(Book::update().text(if runs.hit("b") == 0 { "no" } else { "yes" }).seen([1]))
        };
        let graph = Graph::<Book>::builder("g")
            .node("a", || ready(Book::update().text("a").seen([1_000])))
            .node("b", node)
            .edge(START, "a")
            .edge(START, "b")
            .compile()
            .unwrap();
        let thread = graph.runner().store(store.clone()).durability(durability).thread("t");
        let error = thread.run(large()).await.unwrap_err();
        assert!(matches!(&*error.error, RunError::Merge { step: 0, .. }), "{error}");
        settle().await;
        assert!(thread.proceed().await.unwrap().state.text.ends_with("xayes"));
        settle().await;
        if durability != Durability::Exit {
            let given = |item: &str| json!({ "overwrite": null, "items": [item] });
            let rows = rows(&store).await;
            assert_eq!(rows.len(), 2, "{durability:?}");
            assert_eq!(rows[1][0], writes("text", json!([given("a"), given("yes")]))[0]);
        }
        // A refused input leaves nothing either.
        let refused = quiet(store.clone()).run(Book::update().text("never").text("no")).await.unwrap_err();
        assert!(matches!(&*refused.error, RunError::Input { .. }), "{refused}");
    }
}

#[tokio::test]
async fn a_write_conflict_notes_nothing_and_the_step_is_noted_once_when_it_is_run_again() {
    let (store, runs) = (TestStore::lasting(), Runs::new());
    let node = {
        let runs = runs.clone();
        move || {
            let update = Book::update().text("b");
            ready(if runs.hit("b") == 0 { update.plain(2) } else { update })
        }
    };
    let graph = Graph::<Book>::builder("g")
        .node("a", || ready(Book::update().text("a").plain(1)))
        .node("b", node)
        .edge(START, "a")
        .edge(START, "b")
        .compile()
        .unwrap();
    let thread = graph.runner().store(store.clone()).thread("t");
    let error = thread.run(large()).await.unwrap_err();
    assert!(matches!(&*error.error, RunError::WriteConflict { .. }), "{error}");
    thread.proceed().await.unwrap();
    let given = |item: &str| json!({ "overwrite": null, "items": [item] });
    let rows = rows(&store).await;
    assert_eq!(rows.len(), 2);
    assert_eq!(rows[1][0], writes("text", json!([given("a"), given("b")]))[0]);
    assert!(thread.state().await.unwrap().state.text.ends_with("xab"));
}

#[tokio::test]
async fn what_waits_for_a_sibling_is_noted_when_it_is_merged_and_never_when_it_is_abandoned() {
    for abandons in [false, true] {
        let (store, runs) = (TestStore::lasting(), Runs::new());
        let node = {
            let runs = runs.clone();
            move || {
                ready(if runs.hit("b") == 0 { Err(NodeError::fatal("later")) } else { Ok(Book::update().text("b")) })
            }
        };
        let graph = Graph::<Book>::builder("g")
            .node("a", || ready(Book::update().text("a")))
            .node("b", node)
            .edge(START, "a")
            .edge(START, "b")
            .compile()
            .unwrap();
        let thread = graph.runner().store(store.clone()).thread("t");
        thread.run(large()).await.unwrap_err();
        assert_eq!(rows(&store).await.len(), 1, "the input alone");
        if abandons {
            thread.abandon().await.unwrap();
            assert_eq!(rows(&store).await.len(), 1);
            thread.run(Book::update().text("new ")).await.unwrap();
            assert!(thread.state().await.unwrap().state.text.ends_with("xnew ab"));
        } else {
            thread.proceed().await.unwrap();
            let given = |item: &str| json!({ "overwrite": null, "items": [item] });
            assert_eq!(rows(&store).await[1], writes("text", json!([given("a"), given("b")])));
        }
    }
}

#[tokio::test]
async fn a_transient_field_is_never_stored() {
    let store = MemoryStore::new();
    let graph = Graph::<Book>::builder("g").node("n", || ready(Book::update().draft("d"))).edge(START, "n");
    let thread = graph.compile().unwrap().runner().store(store.clone()).thread("t");
    let end = thread.run(Book::update().draft("a")).await.unwrap();
    assert_eq!(end.state.draft, "ad");
    assert_eq!(rows(&store).await, Vec::<Rows>::new());
}

#[tokio::test]
async fn an_item_that_can_not_be_stored_is_stored_as_what_it_makes_of_the_value_if_that_can() {
    let store = MemoryStore::new();
    let thread = quiet(store.clone());
    thread.run(Book::update().overwrite_price(1.25)).await.unwrap();
    // The reducer passes over what is no number.
    thread.run(Book::update().price(f64::NAN)).await.unwrap();
    let error = thread.run(Book::update().price(f64::INFINITY)).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "thread `t`, super-step 2: field `price` holds a float that is not finite (inf), which JSON can't store; use an \
         `Option`, or mark the field `#[state(transient)]`; the last checkpoint is intact"
    );
    thread.run(Book::update().price(2.5)).await.unwrap();
    let prices = [1.25, 1.25, 2.5].map(|price| base("price", json!(price)));
    assert_eq!(rows(&store).await, prices);
    assert_eq!(thread.state().await.unwrap().state.price, 2.5);
}

#[tokio::test]
async fn a_large_base_is_not_stored_again_for_small_writes() {
    let store = MemoryStore::new();
    let thread = quiet(store.clone());
    thread.run(Book::update().overwrite_text("x".repeat(100_000))).await.unwrap();
    let before = store.bytes("t");
    for _ in 0..100 {
        thread.run(Book::update().text("y")).await.unwrap();
    }
    let per_turn = (store.bytes("t") - before) / 100;
    assert!(per_turn <= 200, "{per_turn} bytes a turn of two commits");
    assert_eq!(thread.state().await.unwrap().state.text.len(), 100_100);
}

#[tokio::test]
async fn writes_that_would_be_more_than_the_base_become_one_and_a_value_that_shrank_is_a_small_base() {
    let store = MemoryStore::new();
    let thread = quiet(store.clone());
    thread.run(Book::update().overwrite_text("x".repeat(498))).await.unwrap();
    // A base of 500 bytes; a write of 133.
    let item = "y".repeat(100);
    for _ in 0..3 {
        thread.run(Book::update().text(item.clone())).await.unwrap();
    }
    thread.run(Book::update().text("clear")).await.unwrap();
    thread.run(Book::update().text(item.clone())).await.unwrap();
    let encodings: Vec<Encoding> = rows(&store).await.into_iter().map(|rows| rows[0].1).collect();
    let expected = [Encoding::Base, Encoding::Writes, Encoding::Writes, Encoding::Writes, Encoding::Writes];
    assert_eq!(encodings[..5], expected);
    assert_eq!(rows(&store).await[5], base("text", json!(item)));
    // From here on there is room for what a value of this size may have beside it.
    thread.run(Book::update().text("z")).await.unwrap();
    assert_eq!(rows(&store).await[6][0].1, Encoding::Writes);
    assert_eq!(thread.state().await.unwrap().state.text, format!("{item}z"));
}

/// A node that runs again until the list is long enough.
fn looping(steps: usize) -> Graph<Book> {
    #[derive(graph_engine::Route)]
    enum Next {
        N,
        #[route(end)]
        End,
    }
    Graph::<Book>::builder("g")
        .node("n", |book: graph_engine::Snap<Book>| {
            let at = book.log.len() as u32;
            ready(Book::update().log([at]).text(format!("{at},")).seen([at * 7]))
        })
        .edge(START, "n")
        .route("n", move |book: &Book| if book.log.len() < steps { Next::N } else { Next::End })
        .compile()
        .unwrap()
}

#[tokio::test]
async fn steps_that_share_a_commit_share_a_row() {
    let mut ends = Vec::new();
    for durability in [Durability::Sync, Durability::Async, Durability::Exit] {
        let store = MemoryStore::new();
        let thread = looping(5).runner().store(store.clone()).durability(durability).thread("t");
        thread.run(large()).await.unwrap();
        settle().await;
        thread.run(Book::update().overwrite_log(Vec::new())).await.unwrap();
        settle().await;
        ends.push(thread.state().await.unwrap().state);
        if durability == Durability::Exit {
            let second: Vec<Value> = (0..5).map(|n| json!({ "overwrite": null, "items": [format!("{n},")] })).collect();
            let rows = rows(&store).await;
            let row = rows.last().unwrap().iter().find(|row| row.0 == "text").unwrap();
            assert_eq!((row.1, &row.2), (Encoding::Writes, &Value::from(second)));
        }
    }
    assert!(ends.iter().all(|end| **end == *ends[0]));
    assert!(ends[0].text.ends_with("x0,1,2,3,4,0,1,2,3,4,"));
}

#[tokio::test]
async fn writes_beside_their_base_count_only_as_long_as_there_is_room() {
    let store = MemoryStore::new();
    let graph = Graph::<Book>::builder("g").node("n", || ready(())).edge(START, "n").compile().unwrap();
    let thread = graph.runner().store(store.clone()).state_limit(720).thread("t");
    thread.run(Book::update().overwrite_text("x".repeat(498))).await.unwrap();
    thread.run(Book::update().text("y".repeat(100))).await.unwrap();
    thread.run(Book::update().text("z".repeat(90))).await.unwrap();
    let encodings: Vec<Encoding> = rows(&store).await.into_iter().map(|rows| rows[0].1).collect();
    assert_eq!(encodings, [Encoding::Base, Encoding::Writes, Encoding::Base]);
    // Another field takes the room: what was written is one value then.
    thread.run(Book::update().log(0..4).text("w".repeat(5))).await.unwrap();
    let error = thread.run(Book::update().text("v".repeat(30))).await.unwrap_err();
    let RunError::StateLimit { bytes, field, .. } = &*error.error else { panic!("{error}") };
    assert_eq!((*bytes, field.as_str()), (498 + 100 + 90 + 5 + 30 + 2 + 9, "text"));
}

#[tokio::test]
async fn a_state_that_is_described_at_run_time_stores_writes_too() {
    let sum = |total: &Value, item: Value| -> Result<Value, String> {
        let mut list = total.as_array().cloned().unwrap_or_default();
        list.push(item);
        Ok(list.into())
    };
    let schema = Schema::new([SchemaField::new("all").reduced("sum", sum).default_value(json!([]))]).unwrap();
    let state = DynState::new(schema);
    let graph = Graph::starting_from("g", state.clone()).node("n", || ready(())).edge(START, "n").compile().unwrap();
    let store = MemoryStore::new();
    let thread = graph.runner().store(store.clone()).thread("t");
    thread.run(state.update().overwrite("all", (0..100).collect::<Vec<_>>()).unwrap()).await.unwrap();
    thread.run(state.update().reduce("all", "new").unwrap()).await.unwrap();
    assert_eq!(rows(&store).await[1], writes("all", json!([{ "overwrite": null, "items": ["new"] }])));
    assert_eq!(thread.state().await.unwrap().state.get("all").unwrap().as_array().unwrap().len(), 101);
}
