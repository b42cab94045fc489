//! Checkpoints of `graph-engine` in PostgreSQL.

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
pub use error::PostgresError;
pub use graph_engine_rows::Format;
pub use longterm::PostgresLongTerm;
pub use options::{PostgresOptions, SynchronousCommit};
pub use store::PostgresStore;
