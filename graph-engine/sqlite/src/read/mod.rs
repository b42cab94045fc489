//! Questions to a file. Each runs in one transaction, so it sees one moment.

mod blocks;
mod checkpoint;
mod list;
mod load;
mod segments;

use rusqlite::Connection;

use crate::error::Failed;

pub(crate) use blocks::{Blocks, Loaded, Most};
pub(crate) use checkpoint::{Space, head, indexed, space};
pub(crate) use list::{list, namespaces, threads};
pub(crate) use load::{field, load, load_since, newest, other_content, row, same};
pub(crate) use segments::directory;

/// Runs a question in one transaction, so that all its queries see one moment.
pub(crate) fn in_one_moment<T>(
    connection: &Connection,
    question: impl FnOnce(&Connection) -> Result<T, Failed>,
) -> Result<T, Failed> {
    connection.prepare_cached("BEGIN")?.execute([])?;
    let answer = question(connection);
    connection.prepare_cached("COMMIT")?.execute([])?;
    answer
}
