//! Nothing, very little and very much.

use super::Store;
use super::make::{commit, ids, meaning, result, saved};
use crate::{CheckpointId, Commit, Encoding, FieldRow, Filter, Keep, Place};

/// Large, empty and missing values come back.
pub async fn large_and_empty_values_come_back(store: &Store) {
    let place = Place::thread("t");
    let large = format!("\"{}\"", "é".repeat(1_000_000));
    let first = commit(
        None,
        "turn",
        u64::MAX,
        &[("large", Encoding::Base, 0..u64::MAX, &large), ("empty", Encoding::Base, 0..0, "")],
    );
    store.commit(&place, &first).await.unwrap();
    store.save(&place, first.id, &[result(u64::MAX, u32::MAX, b"")]).await.unwrap();
    let stored = store.load(&place, None).await.unwrap().unwrap();
    assert_eq!((stored.info.step, stored.saved), (u64::MAX, vec![result(u64::MAX, u32::MAX, b"")]));
    let bytes = |name: &str| stored.fields.iter().find(|segment| segment.name == name).unwrap().bytes.len();
    assert_eq!((bytes("large"), bytes("empty")), (2_000_002, 0));
    let mut bare = Commit::default();
    (bare.id, bare.parent) = (CheckpointId::derive("t", "", Some(first.id), "bare", 0), Some(first.id));
    store.commit(&place, &bare).await.unwrap();
    let stored = store.load(&place, None).await.unwrap().unwrap();
    assert_eq!((stored.position.len(), stored.fields.len()), (0, 2), "a checkpoint without a position or changes");
}

/// A commit of bases only.
fn bases(fields: &[(String, &str)], position: &str) -> Commit {
    let id = CheckpointId::derive("t", "", None, "turn", 0);
    let mut commit = Commit { id, turn: "turn".into(), ..Commit::default() };
    for (name, json) in fields {
        let start = commit.bytes.len();
        commit.bytes.extend_from_slice(json.as_bytes());
        commit.fields.push(FieldRow::new(name.clone(), Encoding::Base, 0..0, start..commit.bytes.len()));
    }
    commit.bytes.extend_from_slice(position.as_bytes());
    commit
}

/// What is given comes back byte for byte: numbers with their digits, keys in their order, a single byte, nothing.
pub async fn bytes_come_back_as_they_were(store: &Store) {
    #[rustfmt::skip]
    let texts = [
        "0", "-0.0", "1.0", "1e2", "1E+2", "0.1", "1e-320", "1e999", "123456789012345678901234567890",
        "9007199254740993", "18446744073709551615", "-9223372036854775808", "3.141592653589793238462643", "\"\"",
        "\"\\u0000\\ud83d\\ude00\"", "\"🦀\\/\"", "null", "true", "[]", "{}", "[[[[]]]]", "{\"b\":1,\"a\":2}",
        "{\"a\":1,\"a\":2}", " [ 1 , 2 ] ", "{\"$serde_json::private::Number\":\"1\"}", "{\"__type\":\"x\",\"0\":{}}", "",
    ];
    let place = Place::thread("t");
    let fields: Vec<(String, &str)> = texts.iter().enumerate().map(|(at, text)| (format!("f{at}"), *text)).collect();
    let all = bases(&fields, texts[21]);
    store.commit(&place, &all).await.unwrap();
    let results: Vec<_> = (0..).zip(texts).map(|(rank, text)| result(1, rank, text.as_bytes())).collect();
    store.save(&place, all.id, &results).await.unwrap();
    let stored = store.load(&place, None).await.unwrap().unwrap();
    for (name, text) in &fields {
        let segment = stored.fields.iter().find(|segment| segment.name == *name).unwrap();
        assert_eq!(String::from_utf8_lossy(segment.bytes), *text);
    }
    assert_eq!(String::from_utf8_lossy(&stored.position), texts[21]);
    assert_eq!(saved(&**store, &place).await, results);
    store.commit(&place, &all).await.unwrap();
}

/// 500 fields in one commit, and a name of any letters is a name.
pub async fn many_fields_come_back(store: &Store) {
    let place = Place::thread("t");
    let numbers: Vec<String> = (0..500).map(|at| at.to_string()).collect();
    let name = |at| match at {
        0 => String::new(),
        1 => "%_'\"\0\n🦀".to_owned(),
        2 => "n".repeat(10_000),
        _ => format!("field {at}"),
    };
    let fields: Vec<_> = numbers.iter().enumerate().map(|(at, number)| (name(at), number.as_str())).collect();
    store.commit(&place, &bases(&fields, "{}")).await.unwrap();
    assert_eq!(store.load(&place, None).await.unwrap().unwrap().fields.len(), 500);
    for (name, number) in &fields {
        let segments = store.field(&place, None, name, 0..1).await.unwrap();
        assert_eq!((segments.len(), &*segments[0].bytes), (1, number.as_bytes()));
    }
}

/// 5,000 checkpoints: the head, any of them, and a page of the list are found; all but one can be pruned.
pub async fn a_long_thread_is_whole(store: &Store) {
    let place = Place::thread("t");
    let mut made: Vec<CheckpointId> = Vec::new();
    for step in 0..5_000_u64 {
        let (count, item) = (step.to_string(), format!("[{step}]"));
        let log = ("log", if step == 0 { Encoding::Base } else { Encoding::Delta }, step..step + 1, item.as_str());
        let next = commit(made.last().copied(), "turn", step, &[log, ("count", Encoding::Base, 0..0, &count)]);
        store.commit(&place, &next).await.unwrap();
        made.push(next.id);
    }
    let stored = store.load(&place, Some(made[2_500])).await.unwrap().unwrap();
    assert_eq!((stored.info.step, stored.fields.len()), (2_500, 2_502));
    let items = store.field(&place, None, "log", 4_000..4_003).await.unwrap();
    assert_eq!(items.iter().map(|segment| segment.items.start).collect::<Vec<_>>(), [4_000, 4_001, 4_002]);
    let page = ids(&**store, &place, Filter::default().before(made[1_000]).limit(3)).await;
    assert_eq!(page, [made[999], made[998], made[997]]);
    assert_eq!(ids(&**store, &place, Filter::default()).await.len(), 5_000);
    let before = meaning(&**store, &place, None).await.unwrap();
    let log = serde_json::to_string(&(0..5_000).collect::<Vec<_>>()).unwrap();
    assert_eq!(before, format!("{{\"step\":4999}} \"turn\" count=[4999] log={log}"));
    assert_eq!(store.prune(&place, Keep::Last(1)).await.unwrap(), 4_999);
    assert_eq!(meaning(&**store, &place, None).await.unwrap(), before);
}
