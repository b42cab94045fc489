//! A sealed store does what every checkpoint store does.

mod with_one_key {
    use graph_engine::MemoryStore;
    use graph_engine_sealed::{Key, KeyRing, Sealed};

    graph_engine::checkpoint_store_conformance!(Sealed::new(MemoryStore::new(), KeyRing::new(Key::new(1, &[7; 32]))));
}

mod over_a_sqlite_file {
    use graph_engine_sealed::{Key, KeyRing, Sealed};
    use graph_engine_sqlite::{Format, SqliteOptions};

    graph_engine::checkpoint_store_conformance!({
        let folder = tempfile::tempdir().unwrap();
        let below = SqliteOptions::new().format(Format::MessagePack).open(folder.path().join("x.sqlite")).unwrap();
        (Sealed::new(below, KeyRing::new(Key::new(1, &[7; 32]))), folder)
    });
}
