//! Keys come and go, and a commit is repeated under another one.

#[expect(dead_code, reason = "what tampers is used elsewhere")]
mod kit;

use graph_engine::{CheckpointStore, Keep, MemoryStore, Place, StoreError};
use graph_engine_sealed::{Key, KeyRing, Sealed};
use kit::{Store, commit, field, fill, key, result, sealed};

fn over(store: &Store, ring: KeyRing) -> Store {
    Sealed::new(store.inner().clone(), ring)
}

#[tokio::test]
async fn rows_of_three_keys_are_read_together() {
    let place = Place::thread("guest-7");
    let mut store = sealed();
    let mut ring = KeyRing::new(key(1));
    let mut parent = None;
    for (step, name) in ["one", "two", "three"].into_iter().enumerate() {
        if step > 0 {
            ring = ring.rotate(key(step as u8 + 1));
            store = over(&store, ring.clone());
        }
        let next = commit(&place, parent, step as u64, &[(name, "\"said\"")]);
        store.commit(&place, &next).await.unwrap();
        parent = Some(next.id);
    }
    let stored = store.load(&place, None).await.unwrap().unwrap();
    assert_eq!(stored.fields.iter().map(|field| field.name).collect::<Vec<_>>(), ["one", "two", "three"]);
    assert!(stored.fields.iter().all(|field| field.bytes == b"\"said\""));
    // The newest key is the one that seals.
    let newest = over(&store, KeyRing::new(key(3)));
    assert_eq!(field(&newest, "guest-7", "three").await.unwrap(), "\"said\"");
    assert!(matches!(field(&newest, "guest-7", "two").await, Err(StoreError::UnknownKey { .. })));
}

#[tokio::test]
async fn a_key_that_is_not_there_is_named_with_thread_and_checkpoint() {
    let store = sealed();
    let id = fill(&store, "guest-7", "\"said\"").await;
    let other = over(&store, KeyRing::new(key(2)));
    let error = other.load(&Place::thread("guest-7"), None).await.unwrap_err();
    let StoreError::UnknownKey { thread, checkpoint, key } = &error else { panic!("{error}") };
    assert_eq!((thread.as_str(), checkpoint, key.as_str()), ("guest-7", &id.to_string(), "1"));
    let expected = format!(
        "checkpoint {id} of thread `guest-7` is sealed with key `1`, which is not among the keys of the store; nothing is \
         lost, add the key and try again"
    );
    assert_eq!(error.to_string(), expected);
}

#[tokio::test]
async fn another_secret_under_the_same_number_is_corrupt() {
    let store = sealed();
    let id = fill(&store, "guest-7", "\"said\"").await;
    let other = over(&store, KeyRing::new(Key::new(1, &[9; 32])));
    let why = kit::corrupt(other.load(&Place::thread("guest-7"), None).await);
    assert_eq!(
        why,
        format!(
            "the position of checkpoint {id} can't be opened: it was changed, belongs elsewhere, or the secret of key 1 is \
             another one"
        )
    );
}

#[tokio::test]
async fn a_commit_repeated_under_another_key_is_known_again() {
    let store = sealed();
    let place = Place::thread("guest-7");
    let first = commit(&place, None, 0, &[("notes", "\"said\"")]);
    store.commit(&place, &first).await.unwrap();
    store.save(&place, first.id, &[result(0, "", "1")]).await.unwrap();
    let rotated = over(&store, KeyRing::new(key(1)).rotate(key(2)));
    rotated.commit(&place, &first).await.unwrap();
    assert_eq!(rotated.load(&place, None).await.unwrap().unwrap().saved, [result(0, "", "1")]);
    let second = commit(&place, Some(first.id), 1, &[("notes", "\"more\"")]);
    rotated.commit(&place, &second).await.unwrap();
    rotated.prune(&place, Keep::Last(1)).await.unwrap();
    rotated.commit(&place, &second).await.unwrap();
}

#[tokio::test]
async fn a_known_id_with_other_content_stays_a_conflict() {
    let store = sealed();
    let place = Place::thread("guest-7");
    store.commit(&place, &commit(&place, None, 0, &[("notes", "\"said\"")])).await.unwrap();
    let others: [&[(&'static str, &str)]; 5] = [
        &[("notes", "\"else\"")],
        &[("other", "\"said\"")],
        &[],
        &[("notes", "\"said\""), ("other", "1")],
        &[("notes", "\"said\""), ("notes", "\"said\"")],
    ];
    for fields in others {
        let error = store.commit(&place, &commit(&place, None, 0, fields)).await.unwrap_err();
        assert!(matches!(error, StoreError::Conflict { .. }), "{fields:?}: {error}");
    }
    let mut other = commit(&place, None, 0, &[("notes", "\"said\"")]);
    other.bytes.push(b' ');
    assert!(matches!(store.commit(&place, &other).await, Err(StoreError::Conflict { .. })), "another position");
}

#[tokio::test]
async fn copies_of_copies_are_read_and_written() {
    let store = sealed();
    fill(&store, "a", "\"said\"").await;
    store.copy("a", "b").await.unwrap();
    store.copy("b", "c").await.unwrap();
    store.delete("a").await.unwrap();
    store.copy("c", "a").await.unwrap();
    store.delete("b").await.unwrap();
    store.copy("a", "b").await.unwrap();
    for thread in ["a", "b", "c"] {
        assert_eq!(field(&store, thread, "notes").await.unwrap(), "\"said\"", "{thread}");
        assert_eq!(store.namespaces(thread).await.unwrap(), [""], "the notes are not listed");
        let place = Place::thread(thread);
        let head = store.load(&place, None).await.unwrap().unwrap().info.id;
        let next = commit(&place, Some(head), 1, &[("notes", "\"more\"")]);
        store.commit(&place, &next).await.unwrap();
        store.commit(&place, &next).await.unwrap();
        assert_eq!(field(&store, thread, "notes").await.unwrap(), "\"more\"", "{thread}");
    }
}

#[tokio::test]
async fn a_copy_made_behind_the_back_of_the_store_is_not_read() {
    let store = sealed();
    fill(&store, "a", "\"said\"").await;
    store.copy("a", "b").await.unwrap();
    store.inner().copy("a", "c").await.unwrap();
    kit::corrupt(store.load(&Place::thread("c"), None).await);
    assert_eq!(field(&store, "b", "notes").await.unwrap(), "\"said\"");
}

#[tokio::test]
async fn a_refused_copy_leaves_nothing() {
    let store = Sealed::new(MemoryStore::new(), KeyRing::new(key(1)));
    fill(&store, "a", "\"said\"").await;
    fill(&store, "b", "\"said\"").await;
    assert!(matches!(store.copy("a", "b").await, Err(StoreError::Conflict { .. })));
    assert!(matches!(store.copy("nobody", "c").await, Err(StoreError::Conflict { .. })));
    assert_eq!(store.inner().namespaces("a").await.unwrap(), [""]);
    assert!(store.inner().namespaces("nobody").await.unwrap().is_empty());
    assert!(store.inner().namespaces("c").await.unwrap().is_empty());
}
