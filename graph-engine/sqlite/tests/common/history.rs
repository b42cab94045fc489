//! A history with everything that a store can be given, always the same.

use std::sync::Arc;

use graph_engine::{
    CheckpointId, CheckpointKind, CheckpointStore, Commit, Encoding, FieldRow, Filter, Keep, Place, SavedResult, TaskId,
};

/// A commit of these fields.
fn commit(place: &Place, parent: Option<CheckpointId>, step: u64, fields: &[(&'static str, Encoding, &str)]) -> Commit {
    let mut commit = Commit::default();
    commit.turn = format!("turn-{}", step / 4).into();
    commit.id = CheckpointId::derive(&place.thread, &place.namespace, parent, &commit.turn, step);
    (commit.parent, commit.step, commit.time_ms) = (parent, step, 1_700_000_000_000 + step * 1_000);
    for (name, encoding, json) in fields {
        let (start, items) = (commit.bytes.len(), if *name == "log" { step..step + 1 } else { 0..0 });
        commit.bytes.extend_from_slice(json.as_bytes());
        commit.fields.push(FieldRow::new(*name, *encoding, items, start..commit.bytes.len()));
    }
    commit
        .bytes
        .extend_from_slice(format!("{{\"version\":1,\"step\":{step},\"next\":[{{\"node\":\"a\"}}]}}").as_bytes());
    commit
}

/// So many commits: a log that grows, a counter, now and then something else.
async fn chain(
    store: &dyn CheckpointStore,
    place: &Place,
    parent: Option<Commit>,
    steps: std::ops::Range<u64>,
) -> Commit {
    let mut last = parent;
    let large = format!("\"{}\"", "x".repeat(1_100));
    for step in steps {
        let parent = last.as_ref().map(|last| last.id);
        let (count, item) = (step.to_string(), format!("[{{\"role\":\"user\",\"text\":\"item {step}\"}}]"));
        let log = ("log", if parent.is_none() { Encoding::Base } else { Encoding::Delta }, item.as_str());
        let mut fields = vec![log];
        if step % 2 == 0 {
            fields.push(("count", Encoding::Base, &count));
        }
        match step % 9 {
            3 => fields.push(("notes", Encoding::Base, "[]")),
            4 | 6 => fields.push(("notes", Encoding::Writes, "[{\"overwrite\":false,\"items\":[1]}]")),
            5 => fields.extend([("log", Encoding::Delta, "[2]"), ("log", Encoding::Delta, "[3]")]),
            7 => fields.push(("large", Encoding::Base, &large)),
            8 => fields.push(("notes", Encoding::Removed, "null")),
            _ => {}
        }
        let mut next = commit(place, parent, step, &fields);
        match step % 7 {
            1 => next.tags = Arc::new([("tenant".to_owned(), "acme".to_owned())].into()),
            2 => (next.kind, next.due_ms) = (CheckpointKind::Pending, Some(step * 10)),
            3 => next.kind = CheckpointKind::Edit,
            4 => next.bytes.extend_from_slice(large.as_bytes()),
            5 => next.bytes.truncate(next.fields.last().unwrap().bytes.end),
            _ => {}
        }
        store.commit(place, &next).await.unwrap();
        last = Some(next);
    }
    last.unwrap()
}

/// Makes it.
pub(crate) async fn make(store: &dyn CheckpointStore) {
    let place = Place::thread("guest-7");
    let trunk = chain(store, &place, None, 0..40).await;
    let infos = store.list(&place, &Filter::default()).await.unwrap();
    let at = |step: u64| infos.iter().find(|info| info.step == step).unwrap().id;
    let mut fork = commit(&place, Some(at(10)), 11, &[("log", Encoding::Delta, "[\"fork\"]")]);
    (fork.fork, fork.kind, fork.turn) = (true, CheckpointKind::Fork, "fork".into());
    fork.id = CheckpointId::derive("guest-7", "", fork.parent, "fork", 11);
    store.commit(&place, &fork).await.unwrap();
    chain(store, &place, Some(fork), 12..20).await;
    let mut back = commit(&place, Some(trunk.id), 40, &[("count", Encoding::Base, "99")]);
    back.fork = true;
    store.commit(&place, &back).await.unwrap();
    let results = [(0, ""), (1, "memo")]
        .map(|(rank, key)| SavedResult::new(TaskId { step: 41, rank }, key, b"{\"n\":1}".to_vec()));
    store.save(&place, back.id, &results).await.unwrap();
    for (thread, keep) in [("last", Keep::Last(3)), ("young", Keep::Since(1_700_000_015_000))] {
        let place = Place::thread(thread);
        chain(store, &place, None, 0..30).await;
        store.prune(&place, keep).await.unwrap();
    }
    // A branch that is young beside a trunk that is old leaves a gap.
    let gap = Place::new("gap", "child");
    let trunk = chain(store, &gap, None, 0..12).await;
    let mut young = commit(&gap, Some(trunk.id), 12, &[("log", Encoding::Delta, "[12]")]);
    young.time_ms = 0;
    store.commit(&gap, &young).await.unwrap();
    chain(store, &gap, Some(young), 13..20).await;
    store.prune(&gap, Keep::Since(1_700_000_005_000)).await.unwrap();
    chain(store, &Place::new("guest-7", "child"), None, 0..3).await;
}

/// All that can be read of it.
pub(crate) async fn read(store: &dyn CheckpointStore) -> Vec<String> {
    let mut all = vec![format!("{:?}", store.threads(&Default::default()).await.unwrap())];
    for thread in ["gap", "guest-7", "last", "young"] {
        for namespace in store.namespaces(thread).await.unwrap() {
            let place = Place::new(thread, &namespace);
            all.push(format!("{place:?} {:?}", store.load(&place, None).await.unwrap().unwrap().saved));
            for info in store.list(&place, &Filter::default()).await.unwrap() {
                let stored = store.load(&place, Some(info.id)).await.unwrap().unwrap();
                let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
                let mut fields: Vec<_> = stored
                    .fields
                    .iter()
                    .map(|field| (field.name.to_owned(), field.encoding, field.items.clone(), text(field.bytes)))
                    .collect();
                fields.sort_by(|one, two| one.0.cmp(&two.0));
                let row = store.row(&place, info.id).await.unwrap().unwrap();
                let mut own: Vec<_> =
                    row.fields.iter().map(|field| (field.name.clone(), text(row.field_bytes(field)))).collect();
                own.sort();
                all.push(format!("{info:?} {} {fields:?} {:?} {own:?}", text(&stored.position), row.due_ms));
            }
        }
    }
    all
}
