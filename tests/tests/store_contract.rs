//! The contract of `CheckpointStore` for the memory store, ids of checkpoints, and the texts of store errors.

use graph_engine::{CheckpointId, StoreError};

mod in_memory {
    graph_engine::checkpoint_store_conformance!(graph_engine::MemoryStore::new());
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
