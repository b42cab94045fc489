//! A row that was changed or moved is an error and never read.

mod kit;

use graph_engine::{CheckpointStore, MemoryStore, Place, StoreError};
use graph_engine_sealed::{KeyRing, Sealed};
use kit::{commit, corrupt, field, fill, forged, key, raw, result, sealed};

const CANARY: &str = "\"my card is 4711-0815\"";

#[tokio::test]
async fn the_store_below_and_debug_hold_nothing_of_what_was_said() {
    let store = sealed();
    let place = Place::thread("guest-7");
    let mut first = commit(&place, None, 0, &[("notes", CANARY)]);
    first.bytes.extend_from_slice(CANARY.as_bytes());
    store.commit(&place, &first).await.unwrap();
    store.save(&place, first.id, &[result(0, "", CANARY)]).await.unwrap();
    let below = store.inner().load(&place, None).await.unwrap().unwrap();
    let rows = [below.fields.get(0).unwrap().bytes, &below.position, &below.saved[0].bytes];
    for row in rows {
        assert!(!String::from_utf8_lossy(row).contains("4711"));
        assert!(serde_json::from_slice::<String>(row).is_ok(), "a row is JSON for every store");
    }
    let shown = format!("{store:?} {:?} {:?}", key(7), KeyRing::new(key(7)));
    assert!(shown.contains("KeyRing([Key(1)])") && shown.ends_with("Key(7) KeyRing([Key(7)])"), "{shown}");
    assert_eq!(field(&store, "guest-7", "notes").await.unwrap(), CANARY);
}

#[tokio::test]
async fn equal_content_never_has_equal_rows() {
    let store = sealed();
    let place = Place::thread("guest-7");
    let both = commit(&place, None, 0, &[("one", CANARY), ("two", CANARY)]);
    store.commit(&place, &both).await.unwrap();
    let row = raw(&store, &place, both.id).await;
    assert_ne!(row.field_bytes(&row.fields[0]), row.field_bytes(&row.fields[1]));
    // Key, checkpoint, nonce and tag are 49 bytes; base64 and the quotes add the rest.
    let expected = (1 + 4 + 16 + 12 + CANARY.len() + 16).div_ceil(3) * 4;
    assert!(row.field_bytes(&row.fields[0]).len() <= expected + 2);
}

#[tokio::test]
async fn a_row_with_any_byte_changed_is_corrupt() {
    let store = sealed();
    let place = Place::thread("guest-7");
    let id = fill(&store, "guest-7", CANARY).await;
    let row = raw(&store, &place, id).await;
    let (notes, position) = (row.field_bytes(&row.fields[0]).to_vec(), row.position().to_vec());
    for at in 0..notes.len() {
        let mut changed = notes.clone();
        changed[at] = if changed[at] == b'A' { b'B' } else { b'A' };
        let other = sealed();
        other.inner().commit(&place, &forged(id, &[("notes", &changed)], &position)).await.unwrap();
        match other.load(&place, None).await {
            Err(StoreError::Corrupt { thread, .. }) => assert_eq!(thread, "guest-7"),
            // The bytes that name the key.
            Err(StoreError::UnknownKey { .. }) => assert!((2..=8).contains(&at), "{at}"),
            other => panic!("{at}: {other:?}"),
        }
    }
    for end in 0..notes.len() {
        let other = sealed();
        other.inner().commit(&place, &forged(id, &[("notes", &notes[..end])], &position)).await.unwrap();
        corrupt(other.load(&place, None).await);
    }
    for plain in [&b"\"plain\""[..], b"{}", b"", b"\"\"", b"\"", b"\xff\xfe"] {
        let other = sealed();
        other.inner().commit(&place, &forged(id, &[], plain)).await.unwrap();
        corrupt(other.load(&place, None).await);
        corrupt(other.row(&place, id).await);
    }
}

#[tokio::test]
async fn a_row_in_the_place_of_another_is_corrupt() {
    let store = sealed();
    let place = Place::thread("guest-7");
    let (child, other) = (Place::new("guest-7", "child"), Place::thread("guest-8"));
    let id = fill(&store, "guest-7", CANARY).await;
    let theirs = fill(&store, "guest-8", CANARY).await;
    let second = commit(&place, Some(id), 1, &[("notes", "\"second\"")]);
    store.commit(&place, &second).await.unwrap();
    let rows = raw(&store, &place, id).await;
    let (notes, fine) = (rows.field_bytes(&rows.fields[0]).to_vec(), rows.field_bytes(&rows.fields[1]).to_vec());
    let position = rows.position().to_vec();
    let foreign = raw(&store, &other, theirs).await;
    let later = raw(&store, &place, second.id).await;

    let cases: Vec<(&str, &Place, graph_engine::Commit)> = vec![
        (
            "a field of another thread",
            &place,
            forged(id, &[("notes", foreign.field_bytes(&foreign.fields[0]))], &position),
        ),
        ("a position of another thread", &place, forged(id, &[], foreign.position())),
        ("a whole thread under another name", &other, forged(id, &[("notes", &notes)], &position)),
        ("a whole thread in another namespace", &child, forged(id, &[("notes", &notes)], &position)),
        ("a field under another name", &place, forged(id, &[("other", &notes)], &position)),
        ("a field in the place of the position", &place, forged(id, &[("other", &fine)], &notes)),
        ("a position in the place of a field", &place, forged(id, &[("notes", &position)], &position)),
        ("the position of another checkpoint", &place, forged(id, &[("notes", &notes)], later.position())),
    ];
    for (what, place, row) in cases {
        let tampered = sealed();
        tampered.inner().commit(place, &row).await.unwrap();
        let why = corrupt(tampered.load(place, None).await);
        assert!(why.contains("can't be opened") || why.contains("belongs to checkpoint"), "{what}: {why}");
        corrupt(tampered.row(place, id).await);
    }
}

#[tokio::test]
async fn a_base_that_is_passed_off_as_a_delta_or_as_other_items_is_corrupt() {
    use graph_engine::Encoding::{Base, Delta};
    let place = Place::thread("guest-7");
    for (encoding, items) in [(Delta, 0..0), (Base, 0..1), (Base, 7..9)] {
        let store = sealed();
        let id = fill(&store, "guest-7", CANARY).await;
        let mut row = raw(&store, &place, id).await;
        (row.fields[0].encoding, row.fields[0].items) = (encoding, items);
        let tampered = sealed();
        tampered.inner().commit(&place, &row).await.unwrap();
        corrupt(tampered.load(&place, None).await);
    }
}

#[tokio::test]
async fn a_field_of_another_checkpoint_is_seen_in_the_row() {
    let store = sealed();
    let place = Place::thread("guest-7");
    let id = fill(&store, "guest-7", "\"old\"").await;
    let second = commit(&place, Some(id), 1, &[("notes", "\"new\"")]);
    store.commit(&place, &second).await.unwrap();
    let (old, new) = (raw(&store, &place, id).await, raw(&store, &place, second.id).await);
    let tampered = sealed();
    tampered.inner().commit(&place, &old).await.unwrap();
    let mut swapped = forged(second.id, &[("notes", old.field_bytes(&old.fields[0]))], new.position());
    swapped.parent = Some(id);
    tampered.inner().commit(&place, &swapped).await.unwrap();
    let why = corrupt(tampered.row(&place, second.id).await);
    assert_eq!(why, format!("field `notes` of checkpoint {} belongs to {id}", second.id));
}

#[tokio::test]
async fn a_result_in_the_place_of_another_is_corrupt() {
    let place = Place::thread("guest-7");
    let store = sealed();
    let id = fill(&store, "guest-7", CANARY).await;
    store
        .save(&place, id, &[result(0, "", "\"a\""), result(1, "", "\"b\""), result(1, "memo", "\"c\"")])
        .await
        .unwrap();
    let opened = store.load(&place, None).await.unwrap().unwrap().saved;
    assert_eq!(opened, [result(0, "", "\"a\""), result(1, "", "\"b\""), result(1, "memo", "\"c\"")]);
    let below = store.inner().load(&place, None).await.unwrap().unwrap().saved;
    for (from, rank, key) in [(0, 1, ""), (1, 0, ""), (1, 1, "memo"), (2, 1, "")] {
        let tampered = sealed();
        tampered.inner().commit(&place, &raw(&store, &place, id).await).await.unwrap();
        let mut moved = below[from].clone();
        (moved.task.rank, moved.key) = (rank, key.into());
        tampered.inner().save(&place, id, &[moved]).await.unwrap();
        corrupt(tampered.load(&place, None).await);
    }
}

#[tokio::test]
async fn without_a_nonce_nothing_is_stored() {
    let store = Sealed::new(MemoryStore::new(), KeyRing::new(key(1))).nonces(|_| Err("no entropy".into()));
    let place = Place::thread("guest-7");
    let first = commit(&place, None, 0, &[("notes", CANARY)]);
    let error = store.commit(&place, &first).await.unwrap_err();
    assert!(matches!(&error, StoreError::Unavailable { .. }) && error.to_string().contains("no entropy"), "{error}");
    assert!(store.inner().load(&place, None).await.unwrap().is_none());
}
