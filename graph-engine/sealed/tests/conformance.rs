//! A sealed store does what every checkpoint store does.

mod with_one_key {
    use graph_engine::MemoryStore;
    use graph_engine_sealed::{Key, KeyRing, Sealed};

    graph_engine::checkpoint_store_conformance!(Sealed::new(MemoryStore::new(), KeyRing::new(Key::new(1, &[7; 32]))));
}
