//! Part 2 of durable threads: the form of what is stored has no markers inside of values, and nothing is stored that
//! could not be read again.

use std::collections::BTreeMap;
use std::future::ready;

use behaviour_tests::{Runs, TestStore};
use graph_engine::{
    CheckpointStore, Command, Ctx, DynState, Filter, Graph, In, MemoryStore, NodeError, Place, Route, RunError, START,
    Schema, SchemaField, State,
};
use serde_json::{Value, json};

/// Texts that look like parts of the format.
const MARKERS: [&str; 13] = [
    "",
    "null",
    "]",
    "\"}",
    "{\"version\":1,\"step\":0,\"began\":0,\"next\":[]}",
    "{\"overwrite\":true,\"items\":[]}",
    "overwrite",
    "__start__",
    "2026-11-30T09:05:00.000+01:00",
    "__end__",
    "base",
    "removed",
    "\u{0}\u{1f}\u{2028}\\",
];

#[derive(State, Clone, Debug, Default, PartialEq)]
struct Marked {
    version: String,
    #[state(append)]
    next: Vec<String>,
    #[state(append)]
    items: BTreeMap<String, Value>,
    #[state(append)]
    text: String,
    #[state(with = keep, item = Value)]
    overwrite: Vec<Value>,
    removed: Option<Option<String>>,
}

fn keep(all: &[Value], item: Value) -> Result<Vec<Value>, std::convert::Infallible> {
    Ok(all.iter().cloned().chain([item]).collect())
}

/// Values that look like writes and positions.
fn values() -> Vec<Value> {
    let objects = [
        json!(null),
        json!([]),
        json!({ "overwrite": true, "items": [1] }),
        json!({ "overwrite": null, "items": [{ "overwrite": false }] }),
        json!({ "version": 9, "next": [{ "node": "a" }] }),
        json!([{ "update": {}, "next": "declared" }]),
    ];
    MARKERS.iter().map(|text| json!(text)).chain(objects).collect()
}

fn marked(n: usize) -> MarkedUpdate {
    let text = MARKERS[n % MARKERS.len()];
    let update = Marked::update().version(text).next([text]).text([text]).removed(Some(None::<String>));
    let update = update.items(MARKERS.iter().zip(values()).map(|(key, value)| (format!("{key}{n}"), value)));
    values().into_iter().fold(update, |update, value| update.overwrite(value))
}

#[derive(Route)]
#[route(stay, direct)]
enum Go {
    Each(Value),
}

#[tokio::test]
async fn values_that_look_like_the_format_are_values() {
    let (store, runs) = (TestStore::lasting(), Runs::new());
    let last = {
        let runs = runs.clone();
        move || ready(if runs.hit("fails") == 0 { Err(NodeError::fatal("not yet")) } else { Ok(()) })
    };
    let graph = Graph::<Marked>::builder("\"g\\")
        .node("sends", || ready(Command::fan_out(values().into_iter().map(Go::Each)).with(marked(4))))
        .node("\"replies\"}", || ready(Command::<Marked, Go>::direct(json!({ "version": 2, "next": [null] }))))
        .node("stays]", |ctx: Ctx| match ctx.feedback::<Value>() {
            Ok(None) => ready(Command::<Marked, Go>::stay(json!({ "overwrite": true, "items": null }))),
            Ok(Some(feedback)) => ready(Command::declared().with(Marked::update().overwrite(feedback))),
            Err(_) => ready(Command::direct("never")),
        })
        .node("each", |In(value): In<Value>| ready(Marked::update().overwrite((*value).clone())))
        .node("fails", last)
        .edge(START, "sends")
        .edge(START, "\"replies\"}")
        .edge(START, "stays]")
        .edge(START, "fails")
        .compile()
        .unwrap();
    let thread = graph.runner().store(store.clone()).thread("\"t\"\u{0}");
    thread.run(marked(0)).await.map(drop).unwrap_err();
    let halfway = thread.state().await.unwrap();
    assert_eq!(halfway.finished.len(), 3);
    assert_eq!(halfway.state.overwrite, values());
    let end = thread.proceed().await.unwrap();
    assert_eq!(end.replies[0].value, json!({ "version": 2, "next": [null] }));
    let feedback = json!({ "overwrite": true, "items": null });
    let sent: Vec<Value> = end.state.overwrite[2 * values().len()..].to_vec();
    // The stay runs first, then the sends in their order.
    assert_eq!(sent.iter().filter(|value| **value == feedback).count(), 1);
    let sent: Vec<Value> = sent.into_iter().filter(|value| *value != feedback).collect();
    assert_eq!(sent, values());
    let (ended, state) = ((*end.state).clone(), thread.state().await.unwrap().state);
    assert_eq!(*state, ended);
}

#[tokio::test]
async fn names_of_fields_may_look_like_the_format_too() {
    let append = |all: &Value, item: Value| -> Result<Value, String> {
        let mut all = all.as_array().cloned().unwrap_or_default();
        all.push(item);
        Ok(all.into())
    };
    let schema = Schema::new(MARKERS[1..].iter().enumerate().map(|(n, name)| match n % 3 {
        0 => SchemaField::new(*name),
        1 => SchemaField::new(*name).append(),
        _ => SchemaField::new(*name).reduced("append", append).default_value(json!([])),
    }));
    let state = DynState::new(schema.unwrap());
    let graph = Graph::starting_from("g", state.clone()).node("n", || ready(())).edge(START, "n").compile().unwrap();
    let thread = graph.runner().store(MemoryStore::new()).thread("t");
    for n in 0..4 {
        let update = MARKERS[1..].iter().enumerate().try_fold(state.update(), |update, (at, name)| match at % 3 {
            0 => update.set(name, values()),
            1 => update.append(name, values()),
            _ if n == 0 => update.overwrite(name, vec![values(); 5]),
            _ => update.reduce(name, values()),
        });
        let end = thread.run(update.unwrap()).await.unwrap();
        assert_eq!(*thread.state().await.unwrap().state, *end.state);
    }
}

fn nested(levels: usize) -> Value {
    (1..levels).fold(json!([]), |list, n| if n % 2 == 0 { json!([list]) } else { json!({ "a": list }) })
}

#[tokio::test]
async fn what_is_stored_can_be_read_and_what_could_not_is_refused_when_it_is_written() {
    #[derive(State, Clone, Debug, Default, PartialEq)]
    struct Deep {
        any: Value,
        #[state(append)]
        list: Vec<Value>,
        #[state(append)]
        map: BTreeMap<String, Value>,
    }
    let graph = || Graph::<Deep>::builder("g").node("n", || ready(())).edge(START, "n").compile().unwrap();
    let thread = graph().runner().store(MemoryStore::new()).thread("t");
    let deepest = || Deep::update().any(nested(100)).list([nested(99)]).map([("k".to_owned(), nested(99))]);
    thread.run(deepest()).await.unwrap();
    let end = thread.run(deepest()).await.unwrap();
    assert_eq!(*thread.state().await.unwrap().state, *end.state);
    for (update, field) in [
        (Deep::update().any(nested(101)), "any"),
        (Deep::update().list([nested(100)]), "list"),
        (Deep::update().map([("k".to_owned(), nested(100))]), "map"),
    ] {
        let error = thread.run(update).await.unwrap_err();
        assert!(matches!(&*error.error, RunError::Encode { .. }), "{error}");
        let text = format!("field `{field}` has more than 100 levels of lists and objects inside of each other");
        assert!(error.to_string().contains(&text), "{error}");
        assert_eq!(*thread.state().await.unwrap().state, *end.state);
    }
}

#[tokio::test]
async fn replies_payloads_and_feedback_are_as_deep_as_can_be_read() {
    let graph = |levels: usize| {
        Graph::<Marked>::builder("g")
            .node("a", move || ready(Command::<Marked, Go>::fan_out([Go::Each(nested(levels))])))
            .node("b", move || ready(Command::<Marked, Go>::direct(nested(levels))))
            .node("c", move |ctx: Ctx| match ctx.feedback::<Value>() {
                Ok(None) => ready(Command::<Marked, Go>::stay(nested(levels))),
                _ => ready(Command::declared()),
            })
            .node("each", |_: In<Value>| ready(Err::<(), _>(NodeError::fatal("not yet"))))
            .edge(START, "a")
            .edge(START, "b")
            .edge(START, "c")
            .compile()
            .unwrap()
    };
    let store = TestStore::lasting();
    graph(100).runner().store(store.clone()).thread("t").run(marked(0)).await.map(drop).unwrap_err();
    let read = graph(100).runner().store(store.clone()).thread("t").state().await.unwrap();
    assert_eq!((read.replies[0].value.clone(), &read.next[0]), (nested(100), &"each".into()));
    let refused = graph(101).runner().store(store.clone()).thread("deep").run(marked(0)).await.map(drop);
    let text = refused.unwrap_err().to_string();
    assert!(text.contains("100 levels"), "{text}");
    assert!(store.load(&Place::thread("deep"), None).await.unwrap().is_some(), "the input is stored");
    assert!(graph(100).runner().store(store).thread("deep").state().await.is_ok());
}

/// A position as the first form of them wrote it.
fn first_form(position: &[u8]) -> Vec<u8> {
    let mut position: Value = serde_json::from_slice(position).unwrap();
    for list in ["next", "deferred"] {
        for row in position.get_mut(list).and_then(Value::as_array_mut).into_iter().flatten() {
            if row.is_string() {
                *row = json!({ "node": row });
            }
        }
    }
    for list in ["wrote", "earlier"] {
        if let Some(rows) = position.get_mut(list).filter(|rows| rows[0].is_string()) {
            *rows = json!([rows]);
        }
    }
    let object = position.as_object_mut().unwrap();
    object.insert("version".to_owned(), json!(1));
    object.entry("began").or_insert(json!(0));
    object.entry("next").or_insert(json!([]));
    serde_json::to_vec(&position).unwrap()
}

#[tokio::test]
async fn threads_that_the_first_form_stored_go_on() {
    let graph = |fails: bool| {
        let last =
            move || ready(if fails { Err(NodeError::fatal("not yet")) } else { Ok(Marked::update().next(["z"])) });
        Graph::<Marked>::builder("g")
            .node("a", || ready(Marked::update().next(["a"])))
            .node("b", || ready(Marked::update().next(["b"]).version("b")))
            .node("c", last)
            .node("sends", || ready(Command::fan_out([Go::Each(json!(1)), Go::Each(json!(2))])))
            .node("each", |In(value): In<Value>| ready(Marked::update().overwrite((*value).clone())))
            .edge(START, "a")
            .edge("a", "b")
            .edge("a", "sends")
            .edge("b", "c")
            .compile()
            .unwrap()
    };
    let new = TestStore::lasting();
    let thread = |store: &TestStore, fails| graph(fails).runner().store(store.clone()).thread("t");
    thread(&new, false).run(marked(3)).await.unwrap();
    thread(&new, true).run(marked(4)).await.map(drop).unwrap_err();
    let (old, place) = (TestStore::lasting(), Place::thread("t"));
    let ids: Vec<_> = new.list(&place, &Filter::default()).await.unwrap().into_iter().map(|info| info.id).collect();
    for id in ids.iter().rev() {
        let mut row = new.row(&place, *id).await.unwrap().unwrap();
        let position = first_form(row.position());
        row.bytes.truncate(row.bytes.len() - row.position().len());
        row.bytes.extend_from_slice(&position);
        old.commit(&place, &row).await.unwrap();
    }
    for id in ids {
        let [mine, theirs] = [&new, &old].map(|store| thread(store, false));
        let [mine, theirs] = [mine.state_at(Some(id)).await.unwrap(), theirs.state_at(Some(id)).await.unwrap()];
        assert_eq!((&*mine.state, &mine.next, mine.step), (&*theirs.state, &theirs.next, theirs.step));
    }
    let mut ends = Vec::new();
    for store in [&new, &old] {
        let end = thread(store, false).proceed().await.unwrap();
        ends.push(((*end.state).clone(), store.load(&place, None).await.unwrap().unwrap().info.step));
    }
    assert_eq!(ends[0].0.next.last().map(String::as_str), Some("z"));
    assert_eq!(ends[0], ends[1]);
}
