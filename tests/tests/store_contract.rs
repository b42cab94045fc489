//! The contract of `CheckpointStore`, as functions over any store, called for the memory store.

use std::ops::Range;
use std::sync::Arc;

use graph_engine::{
    CheckpointId, CheckpointStore, Commit, Encoding, FieldRow, Filter, Keep, MemoryStore, Place, SavedResult, Segment,
    StoreError, TaskId,
};

/// Calls every function of the suite with a store of its own.
macro_rules! suite {
    ($make:expr; $($name:ident)*) => {
        $(
            #[tokio::test]
            async fn $name() {
                let store: Arc<dyn CheckpointStore> = Arc::new($make);
                contract::$name(store).await;
            }
        )*
    };
}

suite! {
    MemoryStore::new();
    an_unknown_thread_is_empty
    a_checkpoint_comes_back_as_it_was
    a_base_replaces_and_deltas_are_added_in_order
    a_repeated_commit_with_equal_content_is_a_success_that_changes_nothing
    a_repeated_commit_with_other_content_is_a_conflict
    a_known_id_is_a_conflict_even_if_its_parent_is_the_head
    a_stale_parent_is_a_conflict_and_nothing_is_stored
    a_fork_moves_the_head_and_keeps_the_old_branch
    a_range_gives_the_segments_that_touch_it
    a_list_is_filtered
    saved_results_belong_to_the_head
    pruning_keeps_every_kept_checkpoint_whole
    pruning_by_time_keeps_what_is_young_and_the_head
    a_pruned_thread_goes_on
    a_copy_is_a_thread_of_its_own
    deleting_takes_all_namespaces_and_nothing_else
    namespaces_are_apart
    thread_ids_and_namespaces_are_compared_byte_by_byte
    large_and_empty_values_come_back
    one_of_many_writers_wins
}

/// A commit that follows `parent`; its time is its step.
fn commit(
    parent: Option<CheckpointId>,
    turn: &str,
    step: u64,
    fields: &[(&'static str, Encoding, Range<u64>, &str)],
) -> Commit {
    let mut commit = Commit::default();
    commit.id = CheckpointId::derive("t", "", parent, turn, step);
    commit.parent = parent;
    commit.turn = turn.into();
    commit.step = step;
    commit.time_ms = step;
    for (name, encoding, items, json) in fields {
        let start = commit.bytes.len();
        commit.bytes.extend_from_slice(json.as_bytes());
        commit.fields.push(FieldRow::new(*name, *encoding, items.clone(), start..commit.bytes.len()));
    }
    commit.bytes.extend_from_slice(format!("{{\"step\":{step}}}").as_bytes());
    commit
}

/// One step of a log with one item each, every fourth one written whole, beside a counter.
fn link(parent: Option<CheckpointId>, step: u64) -> Commit {
    let all = (0..=step).map(|n| n.to_string()).collect::<Vec<_>>().join(",");
    let (whole, new, count) = (format!("[{all}]"), format!("[{step}]"), step.to_string());
    let log = match step % 4 {
        0 => ("log", Encoding::Base, 0..step + 1, whole.as_str()),
        _ => ("log", Encoding::Delta, step..step + 1, new.as_str()),
    };
    match step % 3 {
        0 => commit(parent, "turn", step, &[log, ("count", Encoding::Base, 0..0, &count)]),
        _ => commit(parent, "turn", step, &[log]),
    }
}

/// So many links after each other.
async fn chain(store: &dyn CheckpointStore, place: &Place, steps: u64) -> Vec<CheckpointId> {
    let mut ids = Vec::new();
    for step in 0..steps {
        let next = link(ids.last().copied(), step);
        store.commit(place, &next).await.unwrap();
        ids.push(next.id);
    }
    ids
}

fn is_conflict<T: std::fmt::Debug>(result: Result<T, StoreError>) -> bool {
    matches!(result, Err(StoreError::Conflict { .. }))
}

/// What a checkpoint means: its fields, folded.
async fn meaning(store: &dyn CheckpointStore, place: &Place, at: Option<CheckpointId>) -> Option<String> {
    let stored = store.load(place, at).await.unwrap()?;
    let mut names: Vec<_> = stored.fields.iter().map(|segment| segment.name.to_string()).collect();
    names.sort();
    names.dedup();
    let mut text = format!("{} {:?}", String::from_utf8(stored.position).unwrap(), stored.info.turn);
    for name in names {
        let mut folded: Option<Vec<serde_json::Value>> = None;
        for segment in stored.fields.iter().filter(|segment| segment.name == name) {
            let value: serde_json::Value = serde_json::from_slice(&segment.bytes).unwrap();
            let items = value.as_array().cloned().unwrap_or_else(|| vec![value.clone()]);
            match (segment.encoding, &mut folded) {
                (Encoding::Base, _) => folded = Some(items),
                (Encoding::Delta, Some(all)) => all.extend(items),
                (Encoding::Delta, None) => panic!("a delta of `{name}` without a base"),
                (other, _) => panic!("`{name}` is no {other:?}"),
            }
        }
        text.push_str(&format!(" {name}={}", serde_json::Value::from(folded.unwrap_or_default())));
    }
    Some(text)
}

async fn ids(store: &dyn CheckpointStore, place: &Place, filter: Filter) -> Vec<CheckpointId> {
    store.list(place, &filter).await.unwrap().iter().map(|info| info.id).collect()
}

fn task(step: u64, rank: u32) -> TaskId {
    TaskId { step, rank }
}

mod contract {
    use super::*;

    type Store = Arc<dyn CheckpointStore>;

    pub(super) async fn an_unknown_thread_is_empty(store: Store) {
        let place = Place::thread("t");
        let id = CheckpointId::derive("t", "", None, "turn", 0);
        assert!(store.load(&place, None).await.unwrap().is_none());
        assert!(store.load(&place, Some(id)).await.unwrap().is_none());
        assert!(store.list(&place, &Filter::default()).await.unwrap().is_empty());
        assert!(store.field(&place, None, "log", 0..9).await.unwrap().is_empty());
        assert_eq!(store.prune(&place, Keep::Last(1)).await.unwrap(), 0);
        assert!(!store.delete("t").await.unwrap());
        assert!(is_conflict(store.save(&place, id, &[SavedResult::new(task(0, 0), "", b"x".to_vec())]).await));
        assert!(is_conflict(store.copy("t", "u").await));
        assert!(store.load(&place, None).await.unwrap().is_none(), "asking makes no thread");
    }

    pub(super) async fn a_checkpoint_comes_back_as_it_was(store: Store) {
        let place = Place::thread("t");
        let mut first =
            commit(None, "turn-1", 7, &[("a", Encoding::Base, 0..2, "[1,2]"), ("b", Encoding::Base, 0..0, "\"x\"")]);
        first.time_ms = 1_234;
        first.tags = Arc::new([("tenant".to_owned(), "acme \0'\"".to_owned())].into());
        store.commit(&place, &first).await.unwrap();
        let stored = store.load(&place, None).await.unwrap().unwrap();
        assert_eq!((stored.info.id, stored.info.parent, stored.info.step), (first.id, None, 7));
        assert_eq!((&*stored.info.turn, stored.info.time_ms, &stored.info.tags), ("turn-1", 1_234, &*first.tags));
        assert_eq!(stored.position, b"{\"step\":7}");
        let mut fields = stored.fields;
        fields.sort_by(|one, two| one.name.cmp(&two.name));
        let a = Segment::new("a", Encoding::Base, 0..2, b"[1,2]".to_vec());
        let b = Segment::new("b", Encoding::Base, 0..0, b"\"x\"".to_vec());
        assert_eq!(fields, [a, b]);
        assert!(stored.saved.is_empty());
        assert_eq!(store.list(&place, &Filter::default()).await.unwrap(), [stored.info]);
    }

    pub(super) async fn a_base_replaces_and_deltas_are_added_in_order(store: Store) {
        let place = Place::thread("t");
        let made = chain(&*store, &place, 10).await;
        for (step, id) in made.iter().enumerate() {
            let items: Vec<usize> = (0..=step).collect();
            let count = step / 3 * 3;
            let expected =
                format!("{{\"step\":{step}}} \"turn\" count=[{count}] log={}", serde_json::to_string(&items).unwrap());
            assert_eq!(meaning(&*store, &place, Some(*id)).await.unwrap(), expected);
            let segments = store.load(&place, Some(*id)).await.unwrap().unwrap().fields;
            let log: Vec<_> = segments.iter().filter(|segment| segment.name == "log").collect();
            assert_eq!(log.len(), step % 4 + 1, "nothing before the base");
        }
    }

    pub(super) async fn a_repeated_commit_with_equal_content_is_a_success_that_changes_nothing(store: Store) {
        let place = Place::thread("t");
        let made = chain(&*store, &place, 5).await;
        let before = store.list(&place, &Filter::default()).await.unwrap();
        for step in [4_usize, 2, 0] {
            // Made again from nothing, at another time.
            let mut again = link((step > 0).then(|| made[step - 1]), step as u64);
            again.time_ms = 99_999;
            store.commit(&place, &again).await.unwrap();
            assert_eq!(store.list(&place, &Filter::default()).await.unwrap(), before);
            assert_eq!(store.load(&place, None).await.unwrap().unwrap().info.id, made[4], "the head stays");
        }
    }

    pub(super) async fn a_repeated_commit_with_other_content_is_a_conflict(store: Store) {
        let place = Place::thread("t");
        let row = ("log", Encoding::Base, 0..1, "[1]");
        let first = commit(None, "turn", 0, std::slice::from_ref(&row));
        store.commit(&place, &first).await.unwrap();
        let second = commit(Some(first.id), "turn", 1, &[("log", Encoding::Delta, 1..2, "[2]")]);
        store.commit(&place, &second).await.unwrap();
        let others = [
            commit(None, "turn", 0, &[("log", Encoding::Base, 0..1, "[2]")]),
            commit(None, "turn", 0, &[("log", Encoding::Delta, 0..1, "[1]")]),
            commit(None, "turn", 0, &[("gol", Encoding::Base, 0..1, "[1]")]),
            commit(None, "turn", 0, &[row.clone(), ("more", Encoding::Base, 0..0, "1")]),
            commit(None, "turn", 0, &[]),
            commit(None, "turn", 9, std::slice::from_ref(&row)),
        ];
        for (at, mut other) in others.into_iter().enumerate() {
            for fork in [false, true] {
                (other.id, other.fork) = (first.id, fork);
                assert!(is_conflict(store.commit(&place, &other).await), "{at}, fork: {fork}");
            }
        }
        assert_eq!(ids(&*store, &place, Filter::default()).await, [second.id, first.id]);
        assert!(meaning(&*store, &place, None).await.unwrap().ends_with("log=[1,2]"));
    }

    pub(super) async fn a_known_id_is_a_conflict_even_if_its_parent_is_the_head(store: Store) {
        let place = Place::thread("t");
        let made = chain(&*store, &place, 3).await;
        for known in &made {
            let mut other = commit(Some(made[2]), "turn", 3, &[]);
            other.id = *known;
            assert!(is_conflict(store.commit(&place, &other).await));
        }
        assert_eq!(ids(&*store, &place, Filter::default()).await.len(), 3);
    }

    pub(super) async fn a_stale_parent_is_a_conflict_and_nothing_is_stored(store: Store) {
        let place = Place::thread("t");
        let unknown = CheckpointId::derive("t", "", None, "other", 9);
        let orphan = commit(Some(unknown), "turn", 0, &[]);
        assert!(is_conflict(store.commit(&place, &orphan).await), "a first checkpoint has no parent");
        assert!(store.load(&place, None).await.unwrap().is_none());
        let made = chain(&*store, &place, 3).await;
        for parent in [None, Some(made[0]), Some(made[1]), Some(unknown)] {
            let stale = commit(parent, "late", 1, &[("log", Encoding::Base, 0..1, "[9]")]);
            assert!(is_conflict(store.commit(&place, &stale).await), "{parent:?}");
        }
        let mut fork = commit(Some(unknown), "fork", 1, &[]);
        fork.fork = true;
        assert!(is_conflict(store.commit(&place, &fork).await), "a fork needs a stored parent");
        assert_eq!(ids(&*store, &place, Filter::default()).await.len(), 3);
        assert_eq!(store.load(&place, None).await.unwrap().unwrap().info.id, made[2]);
        let Err(StoreError::Conflict { thread, why }) = store.commit(&place, &commit(None, "late", 1, &[])).await
        else {
            panic!("a conflict")
        };
        assert_eq!((thread.as_str(), why), ("t", format!("the head is {}, the commit follows none", made[2])));
    }

    pub(super) async fn a_fork_moves_the_head_and_keeps_the_old_branch(store: Store) {
        let place = Place::thread("t");
        let made = chain(&*store, &place, 6).await;
        let old = meaning(&*store, &place, Some(made[5])).await;
        let mut fork = commit(Some(made[2]), "fork", 3, &[("log", Encoding::Delta, 3..4, "[77]")]);
        fork.fork = true;
        store.commit(&place, &fork).await.unwrap();
        assert!(meaning(&*store, &place, None).await.unwrap().ends_with("log=[0,1,2,77]"));
        assert_eq!(meaning(&*store, &place, Some(made[5])).await, old);
        let on = commit(Some(fork.id), "fork", 4, &[("log", Encoding::Delta, 4..5, "[78]")]);
        store.commit(&place, &on).await.unwrap();
        assert!(meaning(&*store, &place, None).await.unwrap().ends_with("log=[0,1,2,77,78]"));
        assert!(
            is_conflict(store.commit(&place, &commit(Some(made[5]), "turn", 6, &[])).await),
            "the old branch is no head"
        );
        assert_eq!(ids(&*store, &place, Filter::default()).await.len(), 8);
    }

    pub(super) async fn a_range_gives_the_segments_that_touch_it(store: Store) {
        let place = Place::thread("t");
        let made = chain(&*store, &place, 8).await;
        // As of the last checkpoint: base 0..5, then 5..6, 6..7, 7..8.
        let items = async |at: Option<CheckpointId>, range: Range<u64>| {
            let segments = store.field(&place, at, "log", range).await.unwrap();
            segments.into_iter().map(|segment| (segment.items.start, segment.items.end)).collect::<Vec<_>>()
        };
        assert_eq!(items(None, 0..100).await, [(0, 5), (5, 6), (6, 7), (7, 8)]);
        assert_eq!(items(None, 4..6).await, [(0, 5), (5, 6)]);
        assert_eq!(items(None, 5..6).await, [(5, 6)]);
        assert_eq!(items(None, 7..9).await, [(7, 8)]);
        assert_eq!(items(None, 8..9).await, [(0, 0); 0]);
        assert_eq!(items(Some(made[2]), 0..100).await, [(0, 1), (1, 2), (2, 3)]);
        assert_eq!(items(Some(made[2]), 2..3).await, [(2, 3)]);
        let count = store.field(&place, None, "count", 3..4).await.unwrap();
        assert_eq!(count, [Segment::new("count", Encoding::Base, 0..0, b"6".to_vec())]);
        assert!(store.field(&place, None, "nothing", 0..9).await.unwrap().is_empty());
        assert!(store.field(&place, Some(CheckpointId::default()), "log", 0..9).await.unwrap().is_empty());
    }

    pub(super) async fn a_list_is_filtered(store: Store) {
        let place = Place::thread("t");
        let mut made = Vec::new();
        for step in 0..6_u64 {
            let mut next = commit(made.last().copied(), if step < 3 { "one" } else { "two" }, step, &[]);
            let parity = if step % 2 == 0 { "even" } else { "odd" };
            next.tags = Arc::new([("parity".to_owned(), parity.to_owned()), ("k".to_owned(), "v".to_owned())].into());
            store.commit(&place, &next).await.unwrap();
            made.push(next.id);
        }
        let steps = async |filter: Filter| {
            let infos = store.list(&place, &filter).await.unwrap();
            infos.iter().map(|info| info.step).collect::<Vec<_>>()
        };
        assert_eq!(steps(Filter::default()).await, [5, 4, 3, 2, 1, 0]);
        assert_eq!(steps(Filter::default().turn("one")).await, [2, 1, 0]);
        assert_eq!(steps(Filter::default().tag("parity", "odd")).await, [5, 3, 1]);
        assert_eq!(steps(Filter::default().tag("parity", "odd").tag("k", "v").turn("two")).await, [5, 3]);
        assert_eq!(steps(Filter::default().tag("parity", "odd").tag("k", "w")).await, [0; 0]);
        assert_eq!(steps(Filter::default().steps(1..=3)).await, [3, 2, 1]);
        assert_eq!(steps(Filter::default().before(made[3])).await, [2, 1, 0]);
        assert_eq!(steps(Filter::default().before(made[3]).limit(1)).await, [2]);
        assert_eq!(
            steps(Filter::default().tag("parity", "even").limit(2)).await,
            [4, 2],
            "the limit counts what passes"
        );
        assert_eq!(steps(Filter::default().limit(0)).await, [0; 0]);
        assert_eq!(steps(Filter::default().before(CheckpointId::default())).await, [0; 0]);
    }

    pub(super) async fn saved_results_belong_to_the_head(store: Store) {
        let place = Place::thread("t");
        let made = chain(&*store, &place, 2).await;
        store.save(&place, made[1], &[SavedResult::new(task(2, 1), "", b"second".to_vec())]).await.unwrap();
        store.save(&place, made[1], &[SavedResult::new(task(2, 0), "", b"first \xff\0".to_vec())]).await.unwrap();
        store.save(&place, made[1], &[SavedResult::new(task(2, 1), "", b"too late".to_vec())]).await.unwrap();
        assert!(is_conflict(store.save(&place, made[0], &[SavedResult::new(task(2, 2), "", b"stale".to_vec())]).await));
        let mut saved = store.load(&place, None).await.unwrap().unwrap().saved;
        saved.sort_by_key(|saved| saved.task);
        let expected = [(task(2, 0), &b"first \xff\0"[..]), (task(2, 1), b"second")];
        assert_eq!(saved, expected.map(|(task, bytes)| SavedResult::new(task, "", bytes.to_vec())));
        assert!(store.load(&place, Some(made[0])).await.unwrap().unwrap().saved.is_empty());
        let next = commit(Some(made[1]), "turn", 2, &[]);
        store.commit(&place, &next).await.unwrap();
        assert!(store.load(&place, None).await.unwrap().unwrap().saved.is_empty(), "the step is over");
    }

    pub(super) async fn pruning_keeps_every_kept_checkpoint_whole(store: Store) {
        for keep in [0, 1, 2, 3, 5, 8, 12, 99] {
            let place = Place::thread(format!("t{keep}"));
            let made = chain(&*store, &place, 12).await;
            store.save(&place, made[11], &[SavedResult::new(task(12, 0), "", b"saved".to_vec())]).await.unwrap();
            let mut fork = commit(Some(made[4]), "fork", 5, &[("log", Encoding::Delta, 5..6, "[55]")]);
            fork.fork = true;
            // A branch that is not the head's.
            let mut back = commit(Some(made[11]), "turn", 12, &[("log", Encoding::Base, 0..1, "[0]")]);
            back.fork = true;
            store.commit(&place, &fork).await.unwrap();
            store.commit(&place, &back).await.unwrap();
            let head: Vec<CheckpointId> = made.iter().copied().chain([back.id]).collect();
            let mut before = Vec::new();
            for id in &head {
                before.push(meaning(&*store, &place, Some(*id)).await);
            }
            let infos = store.list(&place, &Filter::default()).await.unwrap();
            let dropped = store.prune(&place, Keep::Last(keep)).await.unwrap();
            let kept = keep.clamp(1, 13);
            assert_eq!(dropped, 14 - kept as u64, "{keep}");
            let left = ids(&*store, &place, Filter::default()).await;
            assert!(left.iter().eq(head.iter().rev().take(kept)), "{keep}");
            for (at, id) in head.iter().enumerate() {
                let now = meaning(&*store, &place, Some(*id)).await;
                if at >= 13 - kept { assert_eq!(now, before[at], "{keep}, {at}") } else { assert_eq!(now, None) }
            }
            let known: Vec<_> = infos.iter().filter(|info| left.contains(&info.id)).cloned().collect();
            assert_eq!(store.list(&place, &Filter::default()).await.unwrap(), known, "infos stay, parents included");
            assert_eq!(store.prune(&place, Keep::Last(keep)).await.unwrap(), 0, "again there is nothing to do");
        }
    }

    pub(super) async fn pruning_by_time_keeps_what_is_young_and_the_head(store: Store) {
        let place = Place::thread("t");
        let made = chain(&*store, &place, 6).await;
        let old = commit(Some(made[5]), "turn", 0, &[("log", Encoding::Delta, 6..7, "[6]")]);
        store.commit(&place, &old).await.unwrap();
        let young = commit(Some(old.id), "turn", 9, &[("log", Encoding::Delta, 7..8, "[7]")]);
        store.commit(&place, &young).await.unwrap();
        let (five, nine) =
            (meaning(&*store, &place, Some(made[5])).await, meaning(&*store, &place, Some(young.id)).await);
        assert_eq!(store.prune(&place, Keep::Since(4)).await.unwrap(), 5);
        assert_eq!(ids(&*store, &place, Filter::default()).await, [young.id, made[5], made[4]]);
        assert_eq!(meaning(&*store, &place, Some(made[5])).await, five);
        assert_eq!(meaning(&*store, &place, Some(young.id)).await, nine, "its parent is gone and it is whole");
        assert_eq!(store.prune(&place, Keep::Since(u64::MAX)).await.unwrap(), 2);
        assert_eq!(meaning(&*store, &place, None).await, nine, "the head stays");
    }

    pub(super) async fn a_pruned_thread_goes_on(store: Store) {
        let place = Place::thread("t");
        let made = chain(&*store, &place, 7).await;
        store.save(&place, made[6], &[SavedResult::new(task(7, 0), "", b"saved".to_vec())]).await.unwrap();
        store.prune(&place, Keep::Last(1)).await.unwrap();
        assert_eq!(store.load(&place, None).await.unwrap().unwrap().saved.len(), 1, "saved results of the head stay");
        let next = commit(Some(made[6]), "turn", 7, &[("log", Encoding::Delta, 7..8, "[7]")]);
        store.commit(&place, &next).await.unwrap();
        assert!(meaning(&*store, &place, None).await.unwrap().ends_with("log=[0,1,2,3,4,5,6,7]"));
        assert!(is_conflict(store.commit(&place, &commit(Some(made[3]), "late", 4, &[])).await));
    }

    pub(super) async fn a_copy_is_a_thread_of_its_own(store: Store) {
        let (place, child) = (Place::thread("t"), Place::new("t", "child"));
        let made = chain(&*store, &place, 5).await;
        chain(&*store, &child, 2).await;
        store.save(&place, made[4], &[SavedResult::new(task(5, 0), "", b"saved".to_vec())]).await.unwrap();
        store.copy("t", "u").await.unwrap();
        let (copy, copied_child) = (Place::thread("u"), Place::new("u", "child"));
        for id in &made {
            assert_eq!(meaning(&*store, &copy, Some(*id)).await, meaning(&*store, &place, Some(*id)).await);
        }
        assert_eq!(meaning(&*store, &copied_child, None).await, meaning(&*store, &child, None).await);
        assert_eq!(store.load(&copy, None).await.unwrap().unwrap().saved.len(), 1);
        let next = commit(Some(made[4]), "turn", 5, &[("log", Encoding::Delta, 5..6, "[5]")]);
        store.commit(&copy, &next).await.unwrap();
        assert_eq!(store.load(&place, None).await.unwrap().unwrap().info.id, made[4]);
        store.delete("t").await.unwrap();
        assert!(meaning(&*store, &copy, None).await.unwrap().ends_with("log=[0,1,2,3,4,5]"));
        assert!(is_conflict(store.copy("t", "v").await), "nothing to copy");
        chain(&*store, &place, 1).await;
        assert!(is_conflict(store.copy("t", "u").await), "the target exists");
        assert!(is_conflict(store.copy("t", "t").await), "it is the target itself");
        assert!(store.load(&Place::thread("v"), None).await.unwrap().is_none());
    }

    pub(super) async fn deleting_takes_all_namespaces_and_nothing_else(store: Store) {
        chain(&*store, &Place::thread("t"), 2).await;
        chain(&*store, &Place::new("t", "child"), 2).await;
        chain(&*store, &Place::thread("tt"), 2).await;
        assert!(store.delete("t").await.unwrap());
        assert!(!store.delete("t").await.unwrap());
        assert!(store.load(&Place::thread("t"), None).await.unwrap().is_none());
        assert!(store.load(&Place::new("t", "child"), None).await.unwrap().is_none());
        assert!(store.load(&Place::thread("tt"), None).await.unwrap().is_some());
        assert_eq!(chain(&*store, &Place::thread("t"), 3).await.len(), 3, "the id is free again");
    }

    pub(super) async fn namespaces_are_apart(store: Store) {
        let (top, child) = (Place::thread("t"), Place::new("t", "child"));
        let made = chain(&*store, &top, 4).await;
        assert!(store.load(&child, None).await.unwrap().is_none());
        let same = chain(&*store, &child, 2).await;
        assert_eq!(same, made[..2], "equal ids in another namespace are other checkpoints");
        assert_eq!(ids(&*store, &top, Filter::default()).await.len(), 4);
        store.save(&child, same[1], &[SavedResult::new(task(2, 0), "", b"x".to_vec())]).await.unwrap();
        assert!(store.load(&top, Some(made[1])).await.unwrap().unwrap().saved.is_empty());
        assert_eq!(store.prune(&child, Keep::Last(1)).await.unwrap(), 1);
        assert_eq!(ids(&*store, &top, Filter::default()).await.len(), 4);
    }

    pub(super) async fn thread_ids_and_namespaces_are_compared_byte_by_byte(store: Store) {
        let long = "x".repeat(70_000);
        let names =
            ["", " ", "a", "A", "a ", "a/b", "a\0b", "../a", "'; --", "\"", "%", "_", "é", "e\u{301}", "🦀", &long];
        for (at, thread) in names.iter().enumerate() {
            for namespace in names.iter().take(6) {
                chain(&*store, &Place::new(*thread, *namespace), at as u64 % 3 + 1).await;
            }
        }
        for (at, thread) in names.iter().enumerate() {
            for namespace in names.iter().take(6) {
                let place = Place::new(*thread, *namespace);
                assert_eq!(ids(&*store, &place, Filter::default()).await.len(), at % 3 + 1);
            }
        }
        assert!(store.delete("").await.unwrap() && store.delete("a").await.unwrap());
        assert!(store.load(&Place::thread("A"), None).await.unwrap().is_some());
    }

    pub(super) async fn large_and_empty_values_come_back(store: Store) {
        let place = Place::thread("t");
        let large = format!("\"{}\"", "é".repeat(1_000_000));
        let first = commit(
            None,
            "turn",
            u64::MAX,
            &[("large", Encoding::Base, 0..u64::MAX, &large), ("empty", Encoding::Base, 0..0, "")],
        );
        store.commit(&place, &first).await.unwrap();
        store.save(&place, first.id, &[SavedResult::new(task(u64::MAX, u32::MAX), "", b"".to_vec())]).await.unwrap();
        let stored = store.load(&place, None).await.unwrap().unwrap();
        assert_eq!(
            (stored.info.step, stored.saved),
            (u64::MAX, vec![SavedResult::new(task(u64::MAX, u32::MAX), "", Vec::new())])
        );
        let bytes = |name: &str| stored.fields.iter().find(|segment| segment.name == name).unwrap().bytes.len();
        assert_eq!((bytes("large"), bytes("empty")), (2_000_002, 0));
        let mut bare = Commit::default();
        (bare.id, bare.parent) = (CheckpointId::derive("t", "", Some(first.id), "bare", 0), Some(first.id));
        store.commit(&place, &bare).await.unwrap();
        let stored = store.load(&place, None).await.unwrap().unwrap();
        assert_eq!((stored.position.len(), stored.fields.len()), (0, 2), "a checkpoint without a position or changes");
    }

    pub(super) async fn one_of_many_writers_wins(store: Store) {
        let place = Place::thread("t");
        let made = chain(&*store, &place, 1).await;
        let writers = (0..32).map(|at| {
            let (store, place) = (store.clone(), place.clone());
            let mine = commit(Some(made[0]), &format!("writer {at}"), 1, &[]);
            tokio::spawn(async move { store.commit(&place, &mine).await.is_ok() })
        });
        let mut won = 0;
        for writer in writers.collect::<Vec<_>>() {
            won += usize::from(writer.await.unwrap());
        }
        assert_eq!(won, 1);
        assert_eq!(ids(&*store, &place, Filter::default()).await.len(), 2);
    }
}

#[test]
fn an_id_depends_on_everything_it_is_derived_from() {
    let base = CheckpointId::derive("t", "n", None, "turn", 0);
    let others = [
        CheckpointId::derive("u", "n", None, "turn", 0),
        CheckpointId::derive("t", "m", None, "turn", 0),
        CheckpointId::derive("t", "n", Some(base), "turn", 0),
        CheckpointId::derive("t", "n", None, "turn2", 0),
        CheckpointId::derive("t", "n", None, "turn", 1),
        CheckpointId::derive("tn", "", None, "turn", 0),
        CheckpointId::derive("", "tn", None, "turn", 0),
        CheckpointId::derive("t", "nt", None, "urn", 0),
        CheckpointId::derive("n", "t", None, "turn", 0),
    ];
    let distinct: std::collections::BTreeSet<_> = others.into_iter().chain([base]).collect();
    assert_eq!(distinct.len(), 10);
    assert_eq!(CheckpointId::derive("t", "n", None, "turn", 0), base);
    let many: std::collections::BTreeSet<_> =
        (0..100_000).map(|n| CheckpointId::derive("t", "", None, "turn", n)).collect();
    assert_eq!(many.len(), 100_000);
}

#[test]
fn ids_are_stable_over_versions() {
    // Stored ids must mean the same after every update of the engine.
    let first = CheckpointId::derive("guest-7", "", None, "turn-1", 0);
    let next = CheckpointId::derive("guest-7", "", Some(first), "turn-1", 1);
    assert_eq!(first.to_string(), "adbec7a9e67b0b93a694e524144c5ef8");
    assert_eq!(next.to_string(), "8077852f5f4368f01b188b32a2d2da7c");
}

#[test]
fn an_id_is_32_digits_and_nothing_else() {
    let id = CheckpointId::derive("t", "", None, "turn", 0);
    let text = id.to_string();
    assert_eq!((text.len(), text.parse()), (32, Ok(id)));
    assert_eq!(serde_json::from_str::<CheckpointId>(&serde_json::to_string(&id).unwrap()).unwrap(), id);
    let bad =
        ["", "1", &"0".repeat(31), &"0".repeat(33), &format!("+{}", "0".repeat(31)), &"g".repeat(32), &"é".repeat(16)];
    for text in bad {
        assert!(text.parse::<CheckpointId>().is_err(), "{text}");
    }
    assert_eq!("x".parse::<CheckpointId>().unwrap_err(), "`x` is not a checkpoint id; it has 32 hexadecimal digits");
}

#[test]
fn the_texts_of_store_errors() {
    assert_eq!(
        StoreError::conflict("t", "the head moved").to_string(),
        "thread `t` was changed by another writer (the head moved); load it again and repeat the turn"
    );
    assert_eq!(
        StoreError::corrupt("t", "row 3").to_string(),
        "the checkpoints of thread `t` are corrupt: row 3; read an older one with \
                                         `state_at`, restore a backup or `delete` the thread"
    );
    assert_eq!(
        StoreError::unavailable("no route").to_string(),
        "the checkpoint store is unavailable: no route; repeating the call is harmless"
    );
    assert_eq!(
        StoreError::full("0 bytes left").to_string(),
        "the checkpoint store is full: 0 bytes left; the last checkpoint is intact, make room and proceed"
    );
}
