//! What differs between two checkpoints, and who wrote it on the way.

use behaviour_tests::{Runs, Trip, TripUpdate};
use graph_engine::{
    CheckpointId, Durability, Edit, FieldChange, Filter, Graph, Keep, MemoryStore, RunError, START, StateDiff, Thread,
    WrittenBy,
};
use serde_json::json;

async fn choose() -> TripUpdate {
    Trip::update().city("Oslo").log(["choose".to_owned()])
}

async fn count() -> TripUpdate {
    Trip::update().total(2).log(["count".to_owned()])
}

fn trip() -> Thread<Trip> {
    let graph = Graph::<Trip>::builder("trip")
        .node("choose", choose)
        .node("count", count)
        .node("rest", Runs::new().node("rest"))
        .edge(START, "choose")
        .edge("choose", "count")
        .edge("count", "rest");
    graph.compile().unwrap().runner().store(MemoryStore::new()).thread("t")
}

async fn ids(thread: &Thread<Trip>) -> Vec<CheckpointId> {
    thread.history(&Filter::default()).await.unwrap().iter().map(|info| info.id).collect()
}

fn node(name: &str) -> WrittenBy {
    WrittenBy::Node(name.into())
}

fn of<'d>(diff: &'d StateDiff, field: &str) -> &'d FieldChange {
    diff.changes.iter().find(|change| change.field == field).unwrap()
}

#[tokio::test]
async fn each_field_has_its_old_and_new_value_and_the_nodes_that_wrote_it_in_order() {
    let thread = trip();
    thread.run(Trip::update().city("Bergen").last("x")).await.unwrap();
    let ids = ids(&thread).await;
    let diff = thread.diff(ids[3], ids[0]).await.unwrap();
    let fields: Vec<_> = diff.changes.iter().map(|change| change.field.as_str()).collect();
    assert_eq!((fields, diff.ancestor), (vec!["city", "log", "total"], Some(ids[3])));
    let city = of(&diff, "city");
    assert_eq!((&city.before, &city.after, &city.wrote[..]), (&json!("Bergen"), &json!("Oslo"), &[node("choose")][..]));
    let log = of(&diff, "log");
    assert_eq!((&log.before, &log.after), (&json!([]), &json!(["choose", "count", "rest"])));
    assert_eq!(log.wrote, [node("choose"), node("count"), node("rest")]);
    assert_eq!((&of(&diff, "total").wrote[..], &of(&diff, "total").undone[..]), (&[node("count")][..], &[][..]));
}

#[tokio::test]
async fn backwards_the_writers_are_those_whose_work_is_undone() {
    let thread = trip();
    thread.run(Trip::update()).await.unwrap();
    let ids = ids(&thread).await;
    let diff = thread.diff(ids[1], ids[2]).await.unwrap();
    assert_eq!(diff.ancestor, Some(ids[2]));
    let text = "log: [\"choose\",\"count\"] -> [\"choose\"] (without what was written by `count`)\n\
                total: 2 -> 0 (without what was written by `count`)\n";
    assert_eq!(diff.to_string(), text);
}

#[tokio::test]
async fn between_two_branches_the_ancestor_is_where_they_part() {
    let thread = trip();
    thread.run(Trip::update()).await.unwrap();
    let old = ids(&thread).await;
    thread.at(old[2]).edit(Trip::update().city("Tromsø")).in_place().await.unwrap();
    thread.proceed().await.unwrap();
    let new = ids(&thread).await;
    let diff = thread.diff(old[0], new[0]).await.unwrap();
    assert_eq!(diff.ancestor, Some(old[2]));
    assert_eq!(diff.to_string(), "city: \"Oslo\" -> \"Tromsø\" (written by an edit)\n");
    let back = thread.diff(new[0], old[0]).await.unwrap();
    assert_eq!(back.to_string(), "city: \"Tromsø\" -> \"Oslo\" (without what was written by an edit)\n");
}

#[tokio::test]
async fn an_input_and_an_edit_as_a_node_are_writers_too() {
    let thread = trip();
    thread.run(Trip::update()).await.unwrap();
    let first = ids(&thread).await[0];
    thread.run(Trip::update().city("Bergen")).break_before("choose").await.unwrap();
    thread.abandon().await.unwrap();
    thread.edit_all([Edit::new(Trip::update().last("y")).as_node("rest")]).await.unwrap();
    let diff = thread.diff(first, ids(&thread).await[0]).await.unwrap();
    let text = "city: \"Oslo\" -> \"Bergen\" (written by the input)\nlast: \"\" -> \"y\" (written by `rest`)\n";
    assert_eq!(diff.to_string(), text);
}

#[tokio::test]
async fn a_checkpoint_differs_from_itself_in_nothing() {
    let thread = trip();
    thread.run(Trip::update()).await.unwrap();
    let ids = ids(&thread).await;
    let diff = thread.diff(ids[1], ids[1]).await.unwrap();
    assert_eq!((diff.changes.len(), diff.ancestor, diff.to_string()), (0, Some(ids[1]), String::new()));
}

#[tokio::test]
async fn super_steps_that_share_a_checkpoint_are_all_named() {
    let thread = trip();
    thread.run(Trip::update()).durability(Durability::Exit).await.unwrap();
    thread.run(Trip::update().city("Bergen")).durability(Durability::Exit).await.unwrap();
    let ids = ids(&thread).await;
    assert_eq!(ids.len(), 2);
    let diff = thread.diff(ids[1], ids[0]).await.unwrap();
    let log = of(&diff, "log");
    assert_eq!(log.wrote, [node("choose"), node("count"), node("rest")]);
    assert_eq!(of(&diff, "total").wrote, [node("count")]);
    // The last one to finish is still known.
    assert!(thread.edit(Trip::update()).await.unwrap().next.is_empty());
}

#[tokio::test]
async fn where_the_way_was_pruned_the_values_are_there_and_what_is_known_of_writers() {
    let thread = trip();
    thread.run(Trip::update()).await.unwrap();
    let ids = ids(&thread).await;
    thread.prune(Keep::Last(2)).await.unwrap();
    let diff = thread.diff(ids[1], ids[0]).await.unwrap();
    assert_eq!((of(&diff, "log").wrote.clone(), diff.changes.len()), (vec![node("rest")], 1));
    let error = thread.diff(ids[2], ids[0]).await.unwrap_err();
    assert!(matches!(error, RunError::UnknownCheckpoint { id, .. } if id == ids[2]), "{error}");
}

#[tokio::test]
async fn equal_states_have_equal_hashes_and_others_have_not() {
    let thread = trip();
    thread.run(Trip::update().draft("only in this turn")).await.unwrap();
    let other = trip();
    other.run(Trip::update()).await.unwrap();
    let (mine, theirs) = (thread.state().await.unwrap(), other.state().await.unwrap());
    assert_eq!(mine.hash().unwrap(), theirs.hash().unwrap());
    assert_eq!(mine.hash().unwrap().to_string().len(), 32);
    thread.edit(Trip::update().total(1)).in_place().await.unwrap();
    assert_ne!(thread.state().await.unwrap().hash().unwrap(), mine.hash().unwrap());
}
