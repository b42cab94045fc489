//! Checkpoints of `graph-engine` in PostgreSQL: [`PostgresStore`].
//!
//! | you want | take |
//! | --- | --- |
//! | threads that several programs work on, on any machine | [`PostgresStore::connect`] |
//! | another schema, smaller rows, other limits, less waiting for the disk | [`PostgresOptions`] |
//! | TLS, or a pool that is there already | [`PostgresStore::from_pool`] |
//! | what agents remember across threads | [`PostgresLongTerm`] |
//!
//! # What it costs
//! A commit is one statement and one round trip, whatever it changed; the statement is a transaction of its own. A fork
//! and a commit that is refused take a few more. Loading a checkpoint is one statement that reads what its state holds,
//! however many checkpoints came before it. Storage is linear: a commit adds what it changed.
//!
//! # When the server goes away
//! A call that loses its connection is repeated once on another one, if a second time is harmless: reads, commits (known
//! by their id) and saved results (the first one stands). Everything else begins on a connection that is known to work,
//! and says [`StoreError::Unavailable`](graph_engine::StoreError::Unavailable) if it breaks. Broken connections leave the
//! pool, so that the next call works as soon as the server does. Transactions that were in each other's way are repeated
//! up to 5 times.
//!
//! # Limits of time
//! No call waits for ever: 5 s for a connection, 10 s for a statement on the server, a second more for its answer, 5 s to
//! connect to one address, 15 s for data that nobody confirms. A call of which nothing is heard gives its connection up;
//! with the one repetition it takes at most twice 16 s.
//! A call whose future is dropped leaves no transaction open.

mod commit;
mod error;
mod fault;
mod longterm;
mod migrate;
mod options;
mod pool;
mod read;
mod remove;
mod sql;
mod store;
mod value;

pub use deadpool_postgres;
pub use graph_engine_rows::Format;
pub use longterm::PostgresLongTerm;
pub use tokio_postgres;

pub use error::PostgresError;
pub use options::{PostgresOptions, SynchronousCommit};
pub use store::PostgresStore;

/// The code of the guide compiles.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/guide/stores-postgres.md")]
pub struct Guide;
