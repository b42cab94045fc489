//! Random calls, answered like by the memory store.

use super::Store;
use super::make::{fork, meaning, result, saved};
use crate::{CheckpointId, CheckpointStore, Encoding, Filter, Keep, MemoryStore, Place, StoreError, ThreadFilter};

/// SplitMix64: the same numbers everywhere.
pub(super) struct Numbers(pub(super) u64);

impl Numbers {
    pub(super) fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % end as u64) as usize
    }
}

/// What a call came to: its value, or the kind of its failure.
fn outcome<T: std::fmt::Debug>(result: Result<T, StoreError>) -> String {
    match result {
        Ok(value) => format!("{value:?}"),
        Err(StoreError::Conflict { .. }) => "conflict".to_owned(),
        Err(other) => panic!("{other}"),
    }
}

/// All that a store says of a place.
async fn all(store: &dyn CheckpointStore, place: &Place) -> String {
    let infos = store.list(place, &Filter::default()).await.unwrap();
    let mut text = format!("{infos:?} {:?} {:?}", meaning(store, place, None).await, saved(store, place).await);
    for info in &infos {
        text.push_str(&format!("\n{:?}", meaning(store, place, Some(info.id)).await));
        let row = store.row(place, info.id).await.unwrap().unwrap();
        let mut fields: Vec<_> = row.fields.iter().map(|field| (&field.name, row.field_bytes(field))).collect();
        fields.sort_by_key(|(name, _)| *name);
        text.push_str(&format!("{fields:?} {:?} {:?}", row.position(), row.due_ms));
        text.push_str(&format!("{:?}", store.field(place, Some(info.id), "log", 2..4).await.unwrap()));
    }
    text
}

/// 400 calls in an order drawn from a seed: commits, forks, stale writers, repeats, saves, pruning, copies, deletions.
/// Each answers like the memory store, and in the end both say the same of everything.
pub async fn random_calls_answer_like_the_memory_store(store: &Store) {
    for seed in 0..4 {
        let (model, mut numbers) = (MemoryStore::new(), Numbers(seed));
        let places: Vec<Place> = ["a", "b", "c"]
            .iter()
            .flat_map(|thread| ["", "child"].map(|space| Place::new(format!("{seed} {thread}"), space)))
            .collect();
        for call in 0..100_u64 {
            let place = &places[numbers.below(places.len())];
            let known: Vec<CheckpointId> =
                model.list(place, &Filter::default()).await.unwrap().iter().map(|info| info.id).collect();
            let any = |numbers: &mut Numbers| (!known.is_empty()).then(|| known[numbers.below(known.len())]);
            let (one, two) = match numbers.below(24) {
                0..=11 => {
                    let chosen = if numbers.below(3) == 0 { any(&mut numbers) } else { known.first().copied() };
                    let items = match chosen {
                        Some(at) => model.field(place, Some(at), "log", 0..u64::MAX).await.unwrap(),
                        None => Vec::new(),
                    };
                    let end = items.last().map_or(0, |segment| segment.items.end);
                    let base = items.is_empty() || numbers.below(4) == 0;
                    let encoding = if base { Encoding::Base } else { Encoding::Delta };
                    let (item, call_text) = (format!("[{call}]"), call.to_string());
                    let log = ("log", encoding, if base { 0..1 } else { end..end + 1 }, item.as_str());
                    let other = (["x", "y"][numbers.below(2)], Encoding::Base, 0..0, call_text.as_str());
                    let fields = [log, other];
                    let turn = ["one", "two"][numbers.below(2)];
                    let mut next = fork(chosen, turn, call, &fields[numbers.below(2)..=numbers.below(2).max(1)]);
                    next.fork = numbers.below(2) == 0;
                    next.time_ms = numbers.below(100) as u64;
                    next.due_ms = (numbers.below(4) == 0).then_some(call);
                    (outcome(model.commit(place, &next).await), outcome(store.commit(place, &next).await))
                }
                12..=16 => {
                    let at = if numbers.below(3) == 0 { any(&mut numbers) } else { known.first().copied() };
                    let results =
                        [0, 1].map(|n| result(call, numbers.below(3) as u32 + n, call.to_string().as_bytes()));
                    let at = at.unwrap_or_default();
                    (outcome(model.save(place, at, &results).await), outcome(store.save(place, at, &results).await))
                }
                17 => {
                    let keep = Keep::Last(numbers.below(6));
                    (outcome(model.prune(place, keep).await), outcome(store.prune(place, keep).await))
                }
                18 => {
                    let keep = Keep::Since(numbers.below(100) as u64);
                    (outcome(model.prune(place, keep).await), outcome(store.prune(place, keep).await))
                }
                19 | 20 => {
                    let to = &places[numbers.below(places.len())].thread;
                    (outcome(model.copy(&place.thread, to).await), outcome(store.copy(&place.thread, to).await))
                }
                21 => (outcome(model.clear(place).await), outcome(store.clear(place).await)),
                22 => (outcome(model.delete(&place.thread).await), outcome(store.delete(&place.thread).await)),
                _ => {
                    let (one, two) = (all(&model, place).await, all(&**store, place).await);
                    (one, two)
                }
            };
            assert_eq!(two, one, "seed {seed}, call {call} on {place:?}");
        }
        for place in &places {
            assert_eq!(all(&**store, place).await, all(&model, place).await, "seed {seed}, {place:?}");
            let spaces = store.namespaces(&place.thread).await.unwrap();
            assert_eq!(spaces, model.namespaces(&place.thread).await.unwrap(), "seed {seed}, {place:?}");
        }
        let filter = ThreadFilter::default().prefix(format!("{seed} "));
        assert_eq!(store.threads(&filter).await.unwrap(), model.threads(&filter).await.unwrap(), "seed {seed}");
    }
}
