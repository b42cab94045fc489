//! Part 2 of durable threads: a checkpoint of an older program is read by a newer one, and what can't be read is said
//! with its field and checkpoint.

use std::collections::BTreeMap;
use std::future::ready;

use behaviour_tests::{Runs, TestStore};
use graph_engine::{
    BoxError, CheckpointStore, Encoding, Filter, Graph, In, MemoryStore, NodeError, Place, Route, RunError, START,
    State, StoredFields,
};
use serde_json::{Value, json};

/// The state as it was: a value, a list, a map, a reduced field.
#[derive(State, Clone, Default)]
struct Old {
    town: String,
    #[state(append)]
    log: Vec<String>,
    #[state(append)]
    rooms: BTreeMap<String, u32>,
    #[state(with = join)]
    path: String,
}

fn join(path: &String, more: String) -> Result<String, String> {
    if more == "no" { Err("no way".to_owned()) } else { Ok(format!("{path}/{more}")) }
}

fn old(step: u32) -> OldUpdate {
    let update = Old::update().log([format!("entry {step}")]).rooms([(format!("room {step}"), step)]);
    update.path(step.to_string())
}

/// A thread of four turns, so that every field has a base and something added to it.
async fn stored() -> MemoryStore {
    let store = MemoryStore::new();
    let graph = Graph::<Old>::builder("g").node("n", || ready(Old::update())).edge(START, "n").compile().unwrap();
    let thread = graph.runner().store(store.clone()).thread("t");
    let first = old(0).town("Oslo").overwrite_path("a path that is long enough for many writes beside it".repeat(9));
    thread.run(first.rooms((0..40).map(|n| (format!("first {n}"), n)))).await.unwrap();
    for step in 1..4 {
        thread.run(old(step)).await.unwrap();
    }
    store
}

async fn encodings(store: &MemoryStore) -> BTreeMap<String, Vec<Encoding>> {
    let stored = store.load(&Place::thread("t"), None).await.unwrap().unwrap();
    let mut all: BTreeMap<String, Vec<Encoding>> = BTreeMap::new();
    for segment in stored.fields {
        all.entry(segment.name.into_owned()).or_default().push(segment.encoding);
    }
    all
}

#[tokio::test]
async fn a_changed_type_is_an_error_that_names_field_and_checkpoint_on_every_path() {
    mod new {
        use super::*;

        /// The list has other items.
        #[derive(State, Clone, Default)]
        pub(super) struct Items {
            #[state(append)]
            pub(super) log: Vec<u32>,
        }
        /// The map has other values.
        #[derive(State, Clone, Default)]
        pub(super) struct Map {
            #[state(append)]
            pub(super) rooms: BTreeMap<String, String>,
        }
        /// The reducer takes other items.
        #[derive(State, Clone, Default)]
        pub(super) struct Reducer {
            #[state(with = super::add, item = u32)]
            pub(super) path: String,
        }
        /// The reducer refuses what it took.
        #[derive(State, Clone, Default)]
        pub(super) struct Refusing {
            #[state(with = super::refuse)]
            pub(super) path: String,
        }
        #[derive(State, Clone, Default)]
        pub(super) struct Panicking {
            #[state(with = super::panics)]
            pub(super) path: String,
        }
    }
    async fn why<S: State + Default>(store: &MemoryStore) -> String {
        let graph = Graph::<S>::builder("g").node("n", || ready(())).edge(START, "n").compile().unwrap();
        let thread = graph.runner().store(store.clone()).thread("t");
        let error = thread.state().await.unwrap_err();
        let RunError::Restore { checkpoint, why, .. } = &error else { panic!("{error}") };
        let head = store.load(&Place::thread("t"), None).await.unwrap().unwrap().info.id;
        assert_eq!(*checkpoint, head);
        assert!(error.to_string().starts_with(&format!("thread `t`: checkpoint {head} ")), "{error}");
        let (ran, proceeded) = (thread.run(S::Update::default()).await, thread.proceed().await);
        assert!([ran, proceeded].into_iter().all(|end| end.unwrap_err().to_string() == error.to_string()));
        why.clone()
    }
    let store = stored().await;
    assert_eq!(encodings(&store).await["path"], [Encoding::Base, Encoding::Writes, Encoding::Writes, Encoding::Writes]);
    assert_eq!(encodings(&store).await["rooms"][..2], [Encoding::Base, Encoding::Writes]);
    assert_eq!(encodings(&store).await["log"][..2], [Encoding::Base, Encoding::Delta]);
    let items = why::<new::Items>(&store).await;
    assert!(items.starts_with("field `log` can't be read from JSON: invalid type: string \"entry 0\""), "{items}");
    let map = why::<new::Map>(&store).await;
    assert!(map.starts_with("field `rooms` can't be read from JSON: invalid type: integer"), "{map}");
    let reducer = why::<new::Reducer>(&store).await;
    assert!(reducer.starts_with("field `path` can't be read from JSON: invalid type: string \"1\""), "{reducer}");
    assert_eq!(
        why::<new::Refusing>(&store).await,
        "field `path`: merging its stored writes again failed: the reducer of field `path` refused an item: never"
    );
    assert_eq!(
        why::<new::Panicking>(&store).await,
        "field `path`: merging its stored writes again failed: a reducer panicked: not today"
    );
}

fn add(path: &str, more: u32) -> Result<String, String> {
    Ok(format!("{path}{more}"))
}

fn refuse(_: &String, _: String) -> Result<String, &'static str> {
    Err("never")
}

fn panics(_: &String, _: String) -> Result<String, &'static str> {
    panic!("not today")
}

/// Two nodes of one super-step: the second fails, so the result of the first is saved.
#[derive(Route)]
enum Go {
    Last(u32),
}

async fn halfway() -> TestStore {
    let store = TestStore::lasting();
    let graph = Graph::<Old>::builder("g")
        .node("a", || ready(graph_engine::Command::go(Go::Last(7)).with(old(1).town("Bergen"))))
        .node("b", || ready(Err::<(), _>(NodeError::fatal("not yet"))))
        .node("last", |In(n): In<u32>| ready(Old::update().log([format!("last {n}")])))
        .edge(START, "a")
        .edge(START, "b")
        .compile()
        .unwrap();
    graph.runner().store(store.clone()).thread("t").run(old(0)).await.unwrap_err();
    store
}

#[tokio::test]
async fn a_saved_result_that_names_a_removed_field_is_used_without_it() {
    #[derive(State, Clone, Default)]
    struct New {
        #[state(append)]
        log: Vec<String>,
        fresh: u32,
    }
    let runs = Runs::new();
    let counted = runs.clone();
    let graph = Graph::starting_from("g", New { fresh: 5, ..New::default() })
        .node("a", move || {
            counted.hit("a");
            ready(graph_engine::Command::<New, Go>::declared())
        })
        .node("b", || ready(()))
        .node("last", |In(n): In<u32>| ready(New::update().log([format!("last {n}")])))
        .edge(START, "a")
        .edge(START, "b")
        .compile()
        .unwrap();
    let thread = graph.runner().store(halfway().await).thread("t");
    let state = thread.state().await.unwrap();
    assert_eq!((&state.finished[0].wrote[..], state.state.fresh), (&["log".into()][..], 5));
    let end = thread.proceed().await.unwrap();
    assert_eq!(end.state.log, ["entry 0", "entry 1", "last 7"]);
    assert_eq!(runs.count("a"), 0, "what is finished isn't run again");
    let gone = |field: &str| format!("the state has no field `{field}` any more; what was stored is ignored");
    let lost =
        |field: &str| format!("the state has no field `{field}` any more; what a finished task wrote to it is ignored");
    let mut warnings = end.report.warnings;
    warnings.sort();
    let mut expected = vec![gone("rooms"), gone("path"), lost("town"), lost("rooms"), lost("path")];
    expected.sort();
    assert_eq!(warnings, expected);
}

#[tokio::test]
async fn a_saved_result_of_another_type_names_task_field_and_checkpoint() {
    #[derive(State, Clone, Default)]
    struct New {
        town: Option<u32>,
    }
    let graph = Graph::<New>::builder("g")
        .node("a", || ready(()))
        .node("b", || ready(()))
        .edge(START, "a")
        .edge(START, "b")
        .compile()
        .unwrap();
    let error = graph.runner().store(halfway().await).thread("t").proceed().await.unwrap_err();
    let RunError::Restore { why, .. } = &*error.error else { panic!("{error}") };
    assert!(
        why.starts_with("the result of `a`: field `town` can't be read from JSON: invalid type: string \"Bergen\""),
        "{why}"
    );
}

/// The state as it is: the town is a city, the log counts, the path is a list, rooms are gone.
#[derive(State, Clone, Debug, Default, PartialEq)]
struct New {
    city: String,
    #[state(append)]
    log: Vec<usize>,
    #[state(with = step)]
    way: String,
    fresh: u32,
}

fn step(way: &String, more: String) -> Result<String, String> {
    Ok(format!("{way}>{more}"))
}

fn migrate(from: u32, stored: &mut StoredFields) -> Result<(), BoxError> {
    assert_eq!(from, 0);
    stored.rename("town", "city");
    stored.rename("path", "way");
    stored.remove("rooms");
    let log = stored.get("log").and_then(Value::as_array).ok_or("no log")?;
    stored.set("log", log.iter().map(|entry| entry.as_str().map_or(0, str::len)).collect::<Vec<_>>());
    stored.rename_node("n", "m");
    Ok(())
}

fn new_graph(schema: u32) -> Graph<New> {
    let graph = Graph::<New>::builder("g").node("m", || ready(New::update().log([1]).way("m"))).edge(START, "m");
    graph.schema(schema).migrate(migrate).compile().unwrap()
}

#[tokio::test]
async fn a_migration_changes_what_is_stored_once_and_every_old_checkpoint_stays_readable() {
    let store = stored().await;
    let thread = new_graph(1).runner().store(store.clone()).thread("t");
    let read = thread.state().await.unwrap().state;
    assert_eq!((read.city.as_str(), &read.log[..]), ("Oslo", &[7, 7, 7, 7][..]));
    // The writes of the renamed field are merged by its own reducer.
    assert!(read.way.ends_with(">1>2>3"), "{}", read.way);
    for info in thread.history(&Filter::default()).await.unwrap() {
        let at = thread.state_at(Some(info.id)).await.unwrap();
        assert_eq!(at.state.city, "Oslo");
    }

    let end = thread.run(New::update().fresh(3)).await.unwrap();
    assert_eq!(end.report.warnings, Vec::<String>::new());
    assert_eq!((end.state.fresh, &end.state.log[..]), (3, &[7, 7, 7, 7, 1][..]));
    assert!(end.state.way.ends_with(">3>m"));
    // What was stored under the new version needs no migration, whole fields and all.
    let reread = thread.state().await.unwrap();
    assert_eq!(*reread.state, *end.state);
    let now = encodings(&store).await;
    assert_eq!(now["way"][0], Encoding::Base);
    assert_eq!((&now["town"][..], &now["path"][..]), (&[Encoding::Removed][..], &[Encoding::Removed][..]));
    assert_eq!(now["rooms"], [Encoding::Removed]);
    let position = store.load(&Place::thread("t"), None).await.unwrap().unwrap().position;
    assert_eq!(serde_json::from_slice::<Value>(&position).unwrap()["schema"], json!(1));
    // Old and new checkpoints side by side.
    for info in thread.history(&Filter::default()).await.unwrap() {
        assert_eq!(thread.state_at(Some(info.id)).await.unwrap().state.city, "Oslo");
    }
}

#[tokio::test]
async fn a_newer_version_is_refused_by_an_older_program() {
    let store = stored().await;
    new_graph(3).runner().store(store.clone()).thread("t").run(New::update()).await.unwrap();
    let error = new_graph(2).runner().store(store.clone()).thread("t").state().await.unwrap_err();
    let RunError::Restore { why, .. } = &error else { panic!("{error}") };
    assert_eq!(
        why,
        "it was stored by version 3 of the state's schema, and this program has version 2; run the newer program"
    );
    // A newer program without a migration of its own reads what fits.
    let graph = Graph::<New>::builder("g").node("m", || ready(())).edge(START, "m").schema(4).compile().unwrap();
    assert_eq!(graph.runner().store(store).thread("t").state().await.unwrap().state.city, "Oslo");
}

#[tokio::test]
async fn a_migration_that_fails_or_panics_is_an_error_of_reading() {
    let store = stored().await;
    let why = async |migrate: fn(u32, &mut StoredFields) -> Result<(), BoxError>| {
        let graph = Graph::<New>::builder("g").node("m", || ready(())).edge(START, "m").schema(1).migrate(migrate);
        let error = graph.compile().unwrap().runner().store(store.clone()).thread("t").state().await.unwrap_err();
        let RunError::Restore { why, .. } = error else { panic!("{error}") };
        why
    };
    assert_eq!(
        why(|_, _| Err("no such town".into())).await,
        "the migration from version 0 of the state's schema failed: no such town"
    );
    assert_eq!(
        why(|_, _| panic!("oh")).await,
        "the migration from version 0 of the state's schema failed: it panicked: oh"
    );
}

#[tokio::test]
async fn a_migration_sees_what_the_reducer_of_today_makes_of_stored_writes_and_what_is_stored_itself() {
    #[derive(State, Clone, Default)]
    struct Same {
        #[state(with = join)]
        path: String,
    }
    let store = stored().await;
    let graph = Graph::<Same>::builder("g").node("m", || ready(())).edge(START, "m").schema(1);
    let graph = graph.migrate(|_, stored| {
        let whole = stored.get("path").and_then(Value::as_str).ok_or("no path")?.to_owned();
        let (base, writes) = stored.parts("path").ok_or("no path")?;
        assert_eq!(writes[0], json!({ "overwrite": null, "items": ["1"] }));
        assert_eq!(whole, format!("{}/1/2/3", base.as_str().unwrap()));
        assert_eq!(stored.get("rooms").unwrap().as_object().unwrap().len(), 44);
        assert_eq!(stored.get("log"), Some(&json!(["entry 0", "entry 1", "entry 2", "entry 3"])));
        assert_eq!(stored.names().collect::<Vec<_>>(), ["log", "path", "rooms", "town"]);
        stored.set("path", whole.to_uppercase());
        Ok(())
    });
    let thread = graph.compile().unwrap().runner().store(store).thread("t");
    assert!(thread.state().await.unwrap().state.path.ends_with(" IT/1/2/3"));
}

#[tokio::test]
async fn renamed_nodes_are_found_in_unfinished_tasks_saved_results_and_joins() {
    #[derive(Route)]
    enum Next {
        Last(u32),
    }
    let store = TestStore::lasting();
    let before = Graph::<Old>::builder("g")
        .node("a", || ready(graph_engine::Command::go(Next::Last(7)).with(old(1))))
        .node("b", || ready(Err::<(), _>(NodeError::fatal("not yet"))))
        .node("c", || ready(old(2)))
        .node("last", |In(n): In<u32>| ready(Old::update().log([format!("last {n}")])))
        .node("joined", || ready(Old::update().log(["joined"])))
        .edge(START, "a")
        .edge(START, "b")
        .edge(START, "c")
        .join(["b", "c"], "joined")
        .compile()
        .unwrap();
    before.runner().store(store.clone()).thread("t").run(Old::update()).await.unwrap_err();

    #[derive(Route)]
    enum After {
        #[expect(dead_code, reason = "the result that goes there is stored already")]
        Final(u32),
    }
    let graph = Graph::<Old>::builder("g")
        .node("aa", || ready(graph_engine::Command::<Old, After>::declared()))
        .node("bb", || ready(Old::update().log(["b"])))
        .node("cc", || ready(()))
        .node("final", |In(n): In<u32>| ready(Old::update().log([format!("final {n}")])))
        .node("all", || ready(Old::update().log(["all"])))
        .edge(START, "aa")
        .edge(START, "bb")
        .edge(START, "cc")
        .join(["bb", "cc"], "all")
        .schema(1)
        .migrate(|_, stored| {
            for (old, new) in [("a", "aa"), ("b", "bb"), ("c", "cc"), ("last", "final"), ("joined", "all")] {
                stored.rename_node(old, new);
            }
            Ok(())
        })
        .compile()
        .unwrap();
    let end = graph.runner().store(store).thread("t").proceed().await.unwrap();
    assert_eq!(end.state.log, ["entry 1", "b", "entry 2", "all", "final 7"]);
}

#[tokio::test]
async fn a_field_that_was_taken_out_may_come_back_with_another_type() {
    #[derive(State, Clone, Default)]
    struct Back {
        rooms: u32,
    }
    let store = stored().await;
    new_graph(1).runner().store(store.clone()).thread("t").run(New::update()).await.unwrap();
    let graph = Graph::<Back>::builder("g").node("m", || ready(())).edge(START, "m").schema(2).compile().unwrap();
    let thread = graph.runner().store(store).thread("t");
    assert_eq!(thread.state().await.unwrap().state.rooms, 0);
    thread.run(Back::update().rooms(9)).await.unwrap();
    assert_eq!(thread.state().await.unwrap().state.rooms, 9);
}
