//! What came since a mark, for stores that give marks. One that gives none answers in full, and passes.

use super::Store;
use super::make::{commit, fork, result};
use super::random::Numbers;
use crate::{CheckpointId, Commit, Encoding, Filter, Keep, Mark, Place, Segment, Stored};

/// The segments of each field from the last whole one on, by field.
fn visible(segments: impl IntoIterator<Item = Segment>) -> Vec<Segment> {
    let mut visible: Vec<Segment> = Vec::new();
    for segment in segments {
        if segment.encoding.is_whole() {
            visible.retain(|before| before.name != segment.name);
        }
        visible.push(segment);
    }
    visible.sort_by(|one, two| one.name.cmp(&two.name));
    visible
}

/// What a caller kept of a checkpoint.
struct Known {
    mark: Mark,
    fields: Vec<Segment>,
}

impl Known {
    fn of(stored: &Stored) -> Option<Self> {
        Some(Self { mark: stored.mark?, fields: stored.fields.clone().into_iter().collect() })
    }

    /// What the store says since is, with what is known, what it says in full. `true` if it was a part.
    fn check(&self, since: Option<Stored>, all: Option<&Stored>) -> bool {
        let (Some(since), Some(all)) = (&since, all) else {
            assert!(since.is_none() && all.is_none(), "one of them is there, the other is not");
            return false;
        };
        assert_eq!((&since.info, &since.position), (&all.info, &all.position));
        assert_eq!((&since.saved, since.mark), (&all.saved, all.mark));
        let own = since.fields.clone().into_iter();
        let found = match since.since {
            None => visible(own),
            Some(mark) => {
                assert_eq!(mark, self.mark, "it goes on from the mark that it was given");
                visible(self.fields.iter().cloned().chain(own))
            }
        };
        assert_eq!(found, visible(all.fields.clone()));
        since.since.is_some()
    }
}

/// A commit whose id says nothing of its content.
fn drawn(parent: Option<CheckpointId>, step: u64, other_branch: bool, numbers: &mut Numbers) -> Commit {
    let json = format!("[{}]", numbers.below(1_000_000));
    let encoding = |numbers: &mut Numbers| match numbers.below(12) {
        0 => Encoding::Base,
        1 => Encoding::Removed,
        2..=4 => Encoding::Writes,
        _ => Encoding::Delta,
    };
    let mut fields = Vec::new();
    for name in ["log", "log", "map", "count", "rare"] {
        if numbers.below(if name == "rare" { 12 } else { 2 }) == 0 {
            fields.push((name, encoding(numbers), step..step + 1, json.as_str()));
        }
    }
    if other_branch { fork(parent, "turn", step, &fields) } else { commit(parent, "turn", step, &fields) }
}

/// Commits, branches, pruning, threads that are deleted and made again with the same ids and other content, copies: what
/// was there at a mark and what came since are the whole, or the store answers in full.
pub async fn what_was_there_at_a_mark_and_what_came_since_are_the_whole(store: &Store) {
    let (mut parts, mut marked) = (0, 0);
    for seed in 0..3 {
        let (place, mut numbers) = (Place::thread(format!("t{seed}")), Numbers(seed));
        let aside = format!("aside {seed}");
        let mut known: Vec<Known> = Vec::new();
        for call in 0..60_u64 {
            let infos = store.list(&place, &Filter::default()).await.unwrap();
            let head = infos.first();
            match numbers.below(30) {
                0 if !infos.is_empty() => {
                    store.prune(&place, Keep::Last(1 + numbers.below(4))).await.unwrap();
                }
                1 if !infos.is_empty() => {
                    store.prune(&place, Keep::Since(numbers.below(20) as u64)).await.unwrap();
                }
                2 => drop(store.delete(&place.thread).await.unwrap()),
                3 => drop(store.clear(&place).await.unwrap()),
                // Away and back: it is another thread by then, and may have gone on otherwise.
                4 if !infos.is_empty() => {
                    store.delete(&aside).await.unwrap();
                    store.copy(&place.thread, &aside).await.unwrap();
                    let next = drawn(head.map(|info| info.id), infos[0].step + 1, false, &mut numbers);
                    store.commit(&place, &next).await.unwrap();
                    known.extend(store.load(&place, None).await.unwrap().as_ref().and_then(Known::of));
                    let there = Place::thread(aside.as_str());
                    let other = drawn(head.map(|info| info.id), infos[0].step + 1, false, &mut numbers);
                    store.commit(&there, &other).await.unwrap();
                    store.delete(&place.thread).await.unwrap();
                    store.copy(&aside, &place.thread).await.unwrap();
                }
                5 if !infos.is_empty() => {
                    let saved = result(call, 0, b"{}");
                    store.save(&place, infos[0].id, &[saved]).await.unwrap();
                }
                6..=8 if !infos.is_empty() => {
                    let from = &infos[numbers.below(infos.len())];
                    let next = drawn(Some(from.id), from.step + 1, true, &mut numbers);
                    // A branch that is there already has other content.
                    let _ = store.commit(&place, &next).await;
                }
                _ => {
                    let step = head.map_or(0, |info| info.step + 1);
                    let next = drawn(head.map(|info| info.id), step, false, &mut numbers);
                    let _ = store.commit(&place, &next).await;
                }
            }
            let all = store.load(&place, None).await.unwrap();
            for known in &known {
                parts += usize::from(known.check(store.load_since(&place, known.mark).await.unwrap(), all.as_ref()));
                // A mark says nothing of another place.
                let other = Place::new(&place.thread, "child");
                assert!(store.load_since(&other, known.mark).await.unwrap().is_none());
            }
            let now = all.as_ref().and_then(Known::of);
            marked += usize::from(now.is_some());
            if let Some(now) = now {
                if known.len() == 4 {
                    known.remove(numbers.below(4));
                }
                known.push(now);
            }
        }
    }
    assert!(marked == 0 || parts > marked, "a store that gives marks mostly answers in parts: {parts} of {marked}");
}
