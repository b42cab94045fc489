//! What finding a checkpoint costs, counted in rows that are looked at; and that nothing else is found than by walking
//! all of them.

use std::cell::Cell;
use std::fmt::Write;

use super::*;
use crate::state::Encoding;
use crate::store::listing::Keep;

thread_local! {
    pub(super) static VISITED: Cell<usize> = const { Cell::new(0) };
}

/// Rows that the work looks at.
fn visited<T>(work: impl FnOnce() -> T) -> (T, usize) {
    VISITED.set(0);
    let result = work();
    (result, VISITED.get())
}

fn commit(parent: Option<CheckpointId>, step: u64, fields: &[(String, Encoding, Range<u64>)]) -> Commit {
    let mut commit = Commit {
        id: CheckpointId::derive("t", "", parent, "turn", step),
        parent,
        step,
        fork: true,
        ..Commit::default()
    };
    let mut text = String::new();
    for (name, encoding, items) in fields {
        let start = text.len();
        write!(text, "[{step}]").unwrap();
        commit.fields.push(FieldRow::new(name.clone(), *encoding, items.clone(), start..text.len()));
    }
    commit.bytes = text.into_bytes();
    commit.bytes.extend_from_slice(b"{}");
    commit
}

/// A log that grows with every step, a value written at each, and as many that were written once.
fn long(steps: u64, quiet: usize) -> Rows {
    let (mut rows, mut parent) = (Rows::default(), None);
    for step in 0..steps {
        let encoding = if step == 0 { Encoding::Base } else { Encoding::Delta };
        let mut fields = vec![("log".to_owned(), encoding, step..step + 1), ("now".to_owned(), Encoding::Base, 0..0)];
        if step == 0 {
            fields.extend((0..quiet).map(|n| (format!("quiet {n}"), Encoding::Base, 0..0)));
        }
        let commit = commit(parent, step, &fields);
        rows.commit("t", &commit).unwrap();
        parent = Some(commit.id);
    }
    rows
}

#[test]
fn loading_the_head_or_any_other_checkpoint_looks_at_its_segments_and_a_row_a_field() {
    for quiet in [0, 5, 60] {
        let rows = long(10_000, quiet);
        for at in [9_999, 9_998, 5_000, 15, 0] {
            let (found, looked_at) = visited(|| rows.segments(at));
            assert_eq!(found.len(), at + 1 + 1 + quiet, "segments at {at}");
            let more = looked_at - found.len();
            assert!(
                more <= (quiet + 2).max(DISTANCE) + quiet + 2,
                "{more} rows more at {at} with {quiet} quiet fields"
            );
        }
    }
}

#[test]
fn reading_a_range_of_a_log_looks_at_a_logarithmic_number_of_rows_besides_its_own() {
    let rows = long(10_000, 3);
    for start in [0, 1, 77, 4_999, 9_990] {
        let (found, looked_at) = visited(|| rows.field(9_999, "log", &(start..start + 5)));
        let items: Vec<_> = found.iter().map(|segment| segment.items.clone()).collect();
        assert_eq!(items, (start..start + 5).map(|item| item..item + 1).collect::<Vec<_>>());
        assert!(looked_at <= 5 + 2 + 2 * 14, "{looked_at} rows for {start}");
    }
    let (quiet, looked_at) = visited(|| rows.field(9_999, "quiet 1", &(7..9)));
    assert_eq!((quiet.len(), looked_at <= 2), (1, true));
    assert_eq!(rows.field(9_999, "unknown", &(0..9)), []);
    assert_eq!(rows.field(9_999, "log", &(10_000..10_005)), []);
}

/// What the segments are by the rule itself: back through all parents, until a base.
fn by_walking(rows: &Rows, at: usize) -> Vec<usize> {
    let (mut whole, mut found): (Vec<&str>, Vec<usize>) = (Vec::new(), Vec::new());
    for row in rows.chain(at) {
        for link in rows.own_fields(row).rev() {
            let field = rows.link(link);
            if !whole.contains(&&**field.name) {
                found.push(link);
                if field.encoding.is_whole() {
                    whole.push(field.name);
                }
            }
        }
    }
    found.reverse();
    found
}

/// A number that follows from the last one.
fn next(seed: &mut u64) -> usize {
    *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*seed >> 33) as usize
}

#[test]
fn branches_and_pruned_checkpoints_find_what_walking_all_parents_finds() {
    for mut seed in 0..40 {
        let mut rows = Rows::default();
        let mut ids: Vec<CheckpointId> = Vec::new();
        for step in 0..200 {
            let branches = next(&mut seed).is_multiple_of(8) && !ids.is_empty();
            let parent = if branches { Some(ids[next(&mut seed) % ids.len()]) } else { ids.last().copied() };
            let fields: Vec<_> = (0..next(&mut seed) % 4)
                .map(|_| {
                    let number = next(&mut seed) % (1 + step as usize / 4);
                    let encoding = [Encoding::Base, Encoding::Delta, Encoding::Writes, Encoding::Delta];
                    (format!("f{number}"), encoding[next(&mut seed) % 4], 0..0)
                })
                .collect();
            let commit = commit(parent, step, &fields);
            rows.commit("t", &commit).unwrap();
            ids.push(commit.id);
        }
        let text =
            |rows: &Rows, at: usize| rows.segments(at).into_iter().map(|link| rows.segment(link)).collect::<Vec<_>>();
        for at in 0..rows.rows.len() {
            assert_eq!(rows.segments(at), by_walking(&rows, at), "row {at}");
        }
        let whole = rows.clone();
        let dropped = rows.prune(Keep::Last(1 + next(&mut seed) % 60));
        assert_eq!(dropped as usize, 200 - rows.rows.len());
        for at in 0..rows.rows.len() {
            assert_eq!(rows.segments(at), by_walking(&rows, at), "pruned row {at}");
            let before = whole.find(rows.info(at).id).unwrap();
            assert_eq!(text(&rows, at), text(&whole, before));
        }
        // The head goes on where it was.
        let head = rows.head.unwrap();
        let more = commit(Some(rows.info(head).id), 999, &[("f0".to_owned(), Encoding::Delta, 0..0)]);
        rows.commit("t", &more).unwrap();
        assert_eq!(rows.segments(head + 1), by_walking(&rows, head + 1));
    }
}

#[test]
fn steps_and_times_are_what_was_committed_wherever_the_clock_goes() {
    let far = u64::from(u32::MAX) + 7;
    let said =
        [(0, 1_000), (1, 1_001), (2, 900), (3, 900), (far, 901), (far + 1, 901 + far), (9, 0), (u64::MAX, u64::MAX)];
    let (mut rows, mut parent) = (Rows::default(), None);
    for (step, time_ms) in said {
        let commit = Commit { time_ms, ..commit(parent, step, &[]) };
        rows.commit("t", &commit).unwrap();
        parent = Some(commit.id);
        // A repeated commit is the same one.
        rows.commit("t", &commit).unwrap();
    }
    let told: Vec<_> = (0..said.len()).map(|at| (rows.info(at).step, rows.info(at).time_ms)).collect();
    assert_eq!(told, said);
    // Those that are left are counted anew.
    let mut pruned = rows.clone();
    assert_eq!(pruned.prune(Keep::Last(2)), 6);
    assert_eq!([0, 1].map(|at| (pruned.info(at).step, pruned.info(at).time_ms)), [said[6], said[7]]);
}
