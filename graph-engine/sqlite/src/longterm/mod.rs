//! What agents remember across threads, in a SQLite file: [`SqliteLongTerm`].

mod items;
mod schema;
mod search;
mod store;
mod trouble;

pub use store::SqliteLongTerm;
