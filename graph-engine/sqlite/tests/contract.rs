//! The contract of `CheckpointStore`, in a file, in memory, and with MessagePack.

use graph_engine_sqlite::{Format, SqliteOptions, SqliteStore, Synchronous};

mod in_a_file {
    graph_engine::checkpoint_store_conformance!({
        let folder = tempfile::tempdir().unwrap();
        let options = super::SqliteOptions::new().synchronous(super::Synchronous::Off);
        (options.open(folder.path().join("threads.sqlite")).unwrap(), folder)
    });
}

mod in_memory {
    graph_engine::checkpoint_store_conformance!(super::SqliteStore::in_memory().unwrap());
}

mod as_message_pack {
    graph_engine::checkpoint_store_conformance!({
        let folder = tempfile::tempdir().unwrap();
        let options =
            super::SqliteOptions::new().synchronous(super::Synchronous::Off).format(super::Format::MessagePack);
        (options.open(folder.path().join("threads.sqlite")).unwrap(), folder)
    });
}
