//! A state whose fields are read at run time behaves like a derived one: writes, merges, deltas, stores.

use std::sync::Arc;

use graph_engine::{
    DynState, DynUpdate, Encoding, FieldError, FieldSet, Graph, JsonType, Lint, MemoryStore, ReduceError, RunError,
    START, Schema, SchemaError, SchemaField, Snap, State, Turn,
};
use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Value, json};

/// One field of every merge rule, derived.
#[derive(State, Clone, Debug, Default, PartialEq, serde::Serialize)]
struct Derived {
    city: Option<String>,
    #[state(any)]
    last: Option<i64>,
    #[state(append)]
    notes: Vec<String>,
    #[state(with = add)]
    total: i64,
    #[state(transient)]
    draft: Option<String>,
    #[state(append, transient)]
    scratch: Vec<i64>,
}

fn add(total: &i64, item: i64) -> Result<i64, String> {
    if item == 13 { Err("13 brings bad luck".to_owned()) } else { Ok(total + item) }
}

fn add_json(total: &Value, item: Value) -> Result<Value, String> {
    let (Some(total), Some(item)) = (total.as_i64(), item.as_i64()) else { return Err("not a number".to_owned()) };
    add(&total, item).map(Value::from)
}

/// The same fields at run time.
fn schema() -> Arc<Schema> {
    Schema::new([
        SchemaField::new("city").typed(JsonType::Text),
        SchemaField::new("last").any().typed(JsonType::Integer),
        SchemaField::new("notes").append().typed(JsonType::Text),
        SchemaField::new("total").reduced("add", add_json).typed(JsonType::Integer).default_value(json!(0)),
        SchemaField::new("draft").transient(),
        SchemaField::new("scratch").append().transient(),
    ])
    .unwrap()
}

/// One call on an update.
#[derive(Clone, Debug)]
enum Op {
    City(Option<String>),
    Last(i64),
    Notes(Vec<String>),
    OverwriteNotes(Vec<String>),
    Total(i64),
    OverwriteTotal(i64),
    Draft(String),
    Scratch(Vec<i64>),
}

fn text() -> impl Strategy<Value = String> {
    "[a-z\"\\\\é]{0,5}"
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        proptest::option::of(text()).prop_map(Op::City),
        any::<i64>().prop_map(Op::Last),
        vec(text(), 0..4).prop_map(Op::Notes),
        vec(text(), 0..4).prop_map(Op::OverwriteNotes),
        (0..20_i64).prop_map(Op::Total),
        (-5..5_i64).prop_map(Op::OverwriteTotal),
        text().prop_map(Op::Draft),
        vec(0..9_i64, 0..3).prop_map(Op::Scratch),
    ]
}

fn derived_update(ops: &[Op]) -> DerivedUpdate {
    ops.iter().cloned().fold(Derived::update(), |update, op| match op {
        Op::City(city) => update.city(city),
        Op::Last(last) => update.last(Some(last)),
        Op::Notes(notes) => update.notes(notes),
        Op::OverwriteNotes(notes) => update.overwrite_notes(notes),
        Op::Total(item) => update.total(item),
        Op::OverwriteTotal(total) => update.overwrite_total(total),
        Op::Draft(draft) => update.draft(draft),
        Op::Scratch(items) => update.scratch(items),
    })
}

fn dyn_update(schema: &Arc<Schema>, ops: &[Op]) -> DynUpdate {
    let add = |update: DynUpdate, op: Op| match op {
        Op::City(city) => update.set("city", city),
        Op::Last(last) => update.set("last", last),
        Op::Notes(notes) => update.append("notes", notes),
        Op::OverwriteNotes(notes) => update.overwrite("notes", notes),
        Op::Total(item) => update.reduce("total", item),
        Op::OverwriteTotal(total) => update.overwrite("total", total),
        Op::Draft(draft) => update.put("draft", draft),
        Op::Scratch(items) => update.put("scratch", items),
    };
    ops.iter().cloned().try_fold(schema.update(), add).unwrap()
}

/// The super-step of the engine: stage all, apply all, settle.
fn merge<S: State>(state: &mut S, mut updates: Vec<S::Update>) -> Result<(), ReduceError> {
    let mut staged = S::Staged::default();
    updates.iter_mut().try_for_each(|update| state.stage(&mut staged, update))?;
    updates.into_iter().for_each(|update| state.apply(update));
    state.settle(staged);
    Ok(())
}

/// Every field's stored bytes since the marks, and whether they are a delta.
fn stored<S: State>(state: &S, marks: &[u64], fresh: bool) -> Vec<(Encoding, String)> {
    let encode = |field: usize| {
        let mut out = Vec::new();
        let since = (!fresh).then_some(marks[field]);
        let encoding = state.encode(field, since, &mut out).unwrap();
        (encoding, String::from_utf8(out).unwrap())
    };
    (0..marks.len()).map(encode).collect()
}

proptest! {
    #[test]
    fn the_same_updates_have_the_same_effect(steps in vec(vec(vec(op(), 0..5), 1..4), 1..6)) {
        let schema = schema();
        let (mut derived, mut dynamic) = (Derived::default(), DynState::new(schema.clone()));
        let (mut read_derived, mut read) = (Derived::default(), DynState::new(schema.clone()));
        let mut marks = [0; 6];
        let mut fresh = true;
        for step in steps {
            let (updates, dyn_updates): (Vec<_>, Vec<_>) =
                step.iter().map(|ops| (derived_update(ops), dyn_update(&schema, ops))).unzip();
            for (update, dyn_update) in updates.iter().zip(&dyn_updates) {
                // What the engine finds conflicts by.
                prop_assert_eq!(derived.written(update), dynamic.written(dyn_update));
                prop_assert_eq!(derived.overwritten(update), dynamic.overwritten(dyn_update));
                let (mut out, mut dyn_out) = (Vec::new(), Vec::new());
                derived.encode_update(update, &mut out).unwrap();
                dynamic.encode_update(dyn_update, &mut dyn_out).unwrap();
                prop_assert_eq!(String::from_utf8(out).unwrap(), String::from_utf8(dyn_out.clone()).unwrap());
                let mut again = Vec::new();
                dynamic.encode_update(&dynamic.decode_update(&dyn_out).unwrap(), &mut again).unwrap();
                prop_assert_eq!(again, dyn_out);
            }
            let (merged, dyn_merged) = (merge(&mut derived, updates), merge(&mut dynamic, dyn_updates));
            prop_assert_eq!(merged.as_ref().err().map(ToString::to_string), dyn_merged.err().map(|e| e.to_string()));
            if merged.is_err() {
                // The real engine drops the updates of a failed merge.
                prop_assert_eq!(serde_json::to_value(&derived).unwrap(), serde_json::to_value(&dynamic).unwrap());
                continue;
            }
            prop_assert_eq!(serde_json::to_value(&derived).unwrap(), serde_json::to_value(&dynamic).unwrap());
            // Lists may have been overwritten: a mark that is no place in them gives a base in both.
            let rows = stored(&dynamic, &marks, fresh);
            prop_assert_eq!(&stored(&derived, &marks, fresh), &rows);
            for (field, (_, _)) in rows.iter().enumerate() {
                prop_assert_eq!(derived.mark(field), dynamic.mark(field));
            }
            let whole = stored(&dynamic, &marks, true);
            for (field, (encoding, bytes)) in whole.iter().enumerate() {
                read.decode(field, *encoding, bytes.as_bytes()).unwrap();
                read_derived.decode(field, *encoding, bytes.as_bytes()).unwrap();
            }
            read.reset_transient();
            dynamic.reset_transient();
            derived.reset_transient();
            prop_assert_eq!(&read, &dynamic);
            prop_assert_eq!(&read_derived, &derived);
            marks = std::array::from_fn(|field| dynamic.mark(field));
            fresh = false;
        }
    }

    #[test]
    fn a_base_and_its_deltas_give_the_whole_list(parts in vec(vec(text(), 0..40), 1..6)) {
        let (mut state, mut read) = (DynState::new(schema()), DynState::new(schema()));
        let mut since = None;
        for part in parts {
            let update = state.update().append("notes", part).unwrap();
            state.apply(update);
            let mut out = Vec::new();
            let encoding = state.encode(2, since, &mut out).unwrap();
            prop_assert_eq!(encoding, if since.is_none() { Encoding::Base } else { Encoding::Delta });
            read.decode(2, encoding, &out).unwrap();
            since = Some(state.mark(2));
            prop_assert_eq!(&read, &state);
        }
    }

    #[test]
    fn two_updates_composed_are_the_one_after_the_other(first in vec(op(), 0..6), later in vec(op(), 0..6)) {
        let schema = schema();
        let both = dyn_update(&schema, &first).then(dyn_update(&schema, &later));
        let all: Vec<Op> = first.into_iter().chain(later).collect();
        let state = DynState::new(schema.clone());
        let (mut composed, mut written) = (Vec::new(), Vec::new());
        state.encode_update(&both, &mut composed).unwrap();
        state.encode_update(&dyn_update(&schema, &all), &mut written).unwrap();
        prop_assert_eq!(composed, written);
    }
}

#[test]
fn a_write_to_an_unknown_field_is_an_error_at_once() {
    let error = schema().update().set("town", "Oslo").unwrap_err();
    assert_eq!(
        error.to_string(),
        "the state has no field `town`; its fields are `city`, `last`, `notes`, `total`, `draft`, `scratch`"
    );
    assert!(matches!(error, FieldError::Unknown { .. }));
    assert!(DynState::new(schema()).get("town").is_err());
}

#[test]
fn a_value_of_another_type_is_an_error_at_once() {
    let update = || schema().update();
    let texts = [
        update().set("city", 7).unwrap_err().to_string(),
        update().append("notes", [1]).unwrap_err().to_string(),
        update().put("notes", "one").unwrap_err().to_string(),
        update().overwrite("total", Value::Null).unwrap_err().to_string(),
        update().set("last", 1.5).unwrap_err().to_string(),
        update().set("city", f64::NAN).unwrap_err().to_string(),
    ];
    assert_eq!(
        texts,
        [
            "field `city` holds string or null, not integer",
            "field `notes` holds items of type string, not integer",
            "field `notes` holds a list, not string",
            "field `total` holds integer, not null",
            "field `last` holds integer or null, not number",
            "field `city` can't be converted: it holds a float that is not finite (NaN), which JSON can't store",
        ]
    );
}

#[test]
fn a_write_by_another_rule_says_which_is_right() {
    let update = || schema().update();
    let texts = [
        update().set("notes", ["one"]).unwrap_err().to_string(),
        update().append("city", ["Oslo"]).unwrap_err().to_string(),
        update().set("total", 1).unwrap_err().to_string(),
    ];
    assert_eq!(
        texts,
        [
            "field `notes` has the merge rule `append`; write it with `append`, or replace it with `overwrite`",
            "field `city` has the merge rule `one`; write it with `set`",
            "field `total` has the merge rule `with`; write it with `reduce`, or replace it with `overwrite`",
        ]
    );
}

#[test]
fn a_reducer_that_makes_another_type_is_refused_and_changes_nothing() {
    let odd = |_: &Value, _: Value| Ok::<_, String>(json!("much"));
    let total = SchemaField::new("total").reduced("odd", odd).typed(JsonType::Integer).default_value(json!(0));
    let mut state = DynState::new(Schema::new([total]).unwrap());
    let before = state.clone();
    let update = state.update().reduce("total", 1).unwrap();
    let error = merge(&mut state, vec![update]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the reducer of field `total` refused an item: field `total` holds integer, not string"
    );
    assert_eq!(state, before);
}

#[test]
fn an_update_of_another_schema_is_refused_before_anything_changes() {
    let other = Schema::new([SchemaField::new("town"), SchemaField::new("city")]).unwrap();
    let mut state = DynState::new(schema());
    let before = state.clone();
    let foreign = other.update().set("town", "Oslo").unwrap();
    assert_eq!(state.written(&foreign), FieldSet::EMPTY);
    let mixed = state.update().set("city", "Oslo").unwrap().then(other.update().set("town", "Oslo").unwrap());
    for update in [foreign, mixed] {
        let error = merge(&mut state, vec![update]).unwrap_err();
        assert!(error.to_string().contains("made for another schema"), "{error}");
        assert_eq!(state, before);
    }
    // An equal schema that was made a second time is the same.
    merge(&mut state, vec![schema().update().set("city", "Oslo").unwrap()]).unwrap();
    assert_eq!(state.get("city").unwrap(), "Oslo");
}

#[test]
fn a_list_with_one_owner_grows_in_place_and_a_clone_keeps_its_own() {
    let mut state = DynState::new(schema());
    state.apply(state.update().append("notes", ["a"; 1000]).unwrap());
    let place = |state: &DynState| state.get("notes").unwrap().as_array().unwrap().as_ptr();
    state.apply(state.update().append("notes", ["b"]).unwrap());
    let grown = place(&state);
    state.apply(state.update().append("notes", ["c"]).unwrap());
    assert_eq!(place(&state), grown, "nothing was copied");
    let snapshot = state.clone();
    assert_eq!(place(&snapshot), grown, "a clone shares");
    state.apply(state.update().append("notes", ["d"]).unwrap());
    assert_eq!(snapshot.read::<Vec<String>>("notes").unwrap().len(), 1002);
    assert_eq!(state.read::<Vec<String>>("notes").unwrap().len(), 1003);
}

#[test]
fn what_was_stored_as_another_type_is_not_read() {
    let mut state = DynState::new(schema());
    let error = state.decode(3, Encoding::Base, b"\"much\"").unwrap_err();
    assert_eq!(
        error.to_string(),
        "field `total` can't be read from JSON: field `total` holds integer, not string; its type changed since it was stored"
    );
    assert!(state.decode(2, Encoding::Delta, b"[1]").is_err());
    assert!(state.decode_update(br#"{"city":7}"#).is_err());
    assert!(state.decode_update(br#"{"town":"Oslo"}"#).unwrap_err().to_string().contains("`town`"));
    assert!(state.decode_update(br#"{"draft":"x"}"#).is_err(), "transient fields are never stored");
}

#[test]
fn a_schema_that_can_not_be_is_refused() {
    let wrong = |fields: Vec<SchemaField>| Schema::new(fields).unwrap_err();
    assert_eq!(wrong(vec![SchemaField::new("")]), SchemaError::NoName);
    let twice = wrong(vec![SchemaField::new("a"), SchemaField::new("b"), SchemaField::new("a").any()]);
    assert_eq!(twice, SchemaError::Duplicate { field: "a".into() });
    let default = SchemaField::new("a").typed(JsonType::Boolean).default_value(json!("yes"));
    let text = wrong(vec![default]).to_string();
    assert_eq!(text, "the default of field `a` is of type string, but the field holds boolean; make both the same");
    let list = SchemaField::new("a").append().default_value(json!({}));
    assert!(wrong(vec![list]).to_string().contains("a list"));
}

#[test]
fn compile_says_that_there_are_too_many_fields() {
    let fields = |count: usize| (0..count).map(|at| SchemaField::new(format!("f{at}")));
    let compile = |count| {
        let state = DynState::new(Schema::new(fields(count)).unwrap());
        Graph::starting_from("wide", state).node("a", || async {}).edge(START, "a").compile()
    };
    assert!(compile(64).is_ok());
    let error = compile(65).unwrap_err();
    assert_eq!(error.errors().map(|finding| finding.lint).collect::<Vec<_>>(), [Lint::TooManyFields]);
}

async fn visit(state: Snap<DynState>) -> Result<DynUpdate, FieldError> {
    let visits = state.read::<i64>("total")?;
    state.update().append("notes", [format!("visit {visits}")])?.reduce("total", 1)?.set("draft", "gone tomorrow")
}

fn visits(schema: Arc<Schema>) -> Graph<DynState> {
    Graph::starting_from("visits", DynState::new(schema)).node("visit", visit).edge(START, "visit").compile().unwrap()
}

async fn run(turn: Turn<DynState>) -> DynState {
    DynState::clone(&turn.await.unwrap().state)
}

#[tokio::test]
async fn a_thread_goes_on_after_a_restart() {
    let store = MemoryStore::new();
    let graph = visits(schema());
    for turn in 1..=3 {
        // A new runner knows only what the store holds.
        let runner = graph.runner().store(store.clone());
        let state = run(runner.thread("guest-7").run(DynUpdate::default())).await;
        let notes: Vec<String> = (0..turn).map(|visit| format!("visit {visit}")).collect();
        assert_eq!(state.read::<Vec<String>>("notes").unwrap(), notes);
        assert_eq!(state.get("total").unwrap(), &json!(turn));
        assert_eq!(state.get("draft").unwrap(), "gone tomorrow");
    }
    let stored = graph.runner().store(store).thread("guest-7").state().await.unwrap();
    assert_eq!(stored.state.get("draft").unwrap(), &Value::Null, "transient fields are not stored");
}

#[tokio::test]
async fn a_stored_field_that_the_schema_does_not_have_any_more_is_a_warning() {
    let store = MemoryStore::new();
    let with_city = visits(schema()).runner().store(store.clone());
    with_city.thread("guest-7").run(schema().update().set("city", "Oslo").unwrap()).await.unwrap();
    let fewer = Schema::new([
        SchemaField::new("notes").append(),
        SchemaField::new("draft").transient(),
        SchemaField::new("total").reduced("add", add_json).default_value(json!(0)),
    ]);
    let runner = visits(fewer.unwrap()).runner().store(store);
    let end = runner.thread("guest-7").run(DynUpdate::default()).await.unwrap();
    assert_eq!(end.report.warnings, ["the state has no field `city` any more; what was stored is ignored"]);
    assert_eq!(end.state.read::<Vec<String>>("notes").unwrap(), ["visit 0", "visit 1"]);
}

#[tokio::test]
async fn two_writers_of_one_field_are_a_conflict() {
    async fn oslo(state: Snap<DynState>) -> Result<DynUpdate, FieldError> {
        state.update().set("city", "Oslo")
    }
    let graph = Graph::starting_from("both", DynState::new(schema()))
        .node("a", oslo)
        .node("b", oslo)
        .edge(START, "a")
        .edge(START, "b")
        .compile()
        .unwrap();
    let error = graph.runner().thread("guest-7").run(DynUpdate::default()).await.unwrap_err();
    assert!(matches!(&*error.error, RunError::WriteConflict { field, .. } if field == "city"), "{error}");
}
