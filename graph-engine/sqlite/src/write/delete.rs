//! Deleting: everything of a space goes, and nothing of another one.

use graph_engine::{Name, Place};
use rusqlite::params;

use super::Writer;
use crate::error::Failed;
use crate::{keys, read};

impl Writer {
    pub(super) fn clear(&mut self, place: &Place) -> Result<bool, Failed> {
        self.heads.remove(place);
        let Some(space) = read::space(&self.connection, place)? else { return Ok(false) };
        for series in self.numbers(
            "SELECT series FROM series WHERE branch IN (SELECT branch FROM branches WHERE space = ?1)",
            space,
        )? {
            let range = keys::all(series);
            self.connection
                .prepare_cached("DELETE FROM segments WHERE key BETWEEN ?1 AND ?2")?
                .execute(params![range.start(), range.end()])?;
            self.connection.prepare_cached("DELETE FROM series WHERE series = ?1")?.execute([series])?;
        }
        let range = keys::all(space);
        self.connection
            .prepare_cached("DELETE FROM checkpoints WHERE key BETWEEN ?1 AND ?2")?
            .execute(params![range.start(), range.end()])?;
        for table in ["saved", "turns", "branches", "spaces"] {
            self.connection.prepare_cached(&format!("DELETE FROM {table} WHERE space = ?1"))?.execute([space])?;
        }
        Ok(true)
    }

    pub(super) fn delete(&mut self, thread: &Name) -> Result<bool, Failed> {
        let namespaces = read::namespaces(&self.connection, thread)?;
        for namespace in &namespaces {
            self.clear(&Place::new(thread, namespace))?;
        }
        Ok(!namespaces.is_empty())
    }

    /// The numbers that a query for one number finds.
    pub(super) fn numbers(&self, sql: &str, of: i64) -> rusqlite::Result<Vec<i64>> {
        self.connection.prepare_cached(sql)?.query_map([of], |row| row.get(0))?.collect()
    }
}
