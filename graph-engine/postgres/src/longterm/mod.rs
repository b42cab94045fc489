//! What agents remember across threads, in PostgreSQL: [`PostgresLongTerm`].

mod migrate;
mod query;
mod search;
mod store;
mod trouble;
mod write;

pub use store::PostgresLongTerm;
