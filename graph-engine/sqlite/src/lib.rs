//! Checkpoints of `graph-engine` in a SQLite file: [`SqliteStore`].
//!
//! | you want | take |
//! | --- | --- |
//! | threads that survive the process | [`SqliteStore::open`] |
//! | the same without naming a file | [`SqliteStore::open_default`] |
//! | less waiting for the disk, smaller rows, a limit | [`SqliteOptions`] |
//! | what agents remember across threads | [`SqliteLongTerm`] |
//! | a test | [`SqliteStore::in_memory`] |
//!
//! SQLite itself is compiled in. Storage is linear: a commit adds what it changed. Loading a checkpoint costs what its
//! state holds, however many checkpoints came before it.

mod block;
mod error;
mod keys;
mod longterm;
mod options;
mod queue;
mod read;
mod readers;
mod schema;
mod store;
mod warm;
mod write;

pub use graph_engine_rows::Format;

pub use longterm::SqliteLongTerm;
pub use options::{SqliteOptions, Synchronous};
pub use queue::SqliteStats;
pub use store::SqliteStore;
