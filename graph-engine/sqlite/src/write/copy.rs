//! Copies of threads: blocks know only distances, so their rows are copied as they are.

use graph_engine::{Name, Place, StoreError};
use rusqlite::params;

use super::Writer;
use crate::error::Failed;
use crate::{keys, read};

impl Writer {
    pub(super) fn copy(&mut self, from: &Name, to: &Name) -> Result<(), Failed> {
        let namespaces = read::namespaces(&self.connection, from)?;
        if namespaces.is_empty() {
            return Err(StoreError::conflict(&**from, "the thread is not stored").into());
        }
        if !read::namespaces(&self.connection, to)?.is_empty() {
            return Err(StoreError::conflict(&**to, "the thread exists already").into());
        }
        for namespace in namespaces {
            let Some(old) = read::space(&self.connection, &Place::new(from, &namespace))? else { continue };
            let (old, new) = (old.number, self.new_space()?);
            self.connection
                .prepare_cached(
                    "INSERT INTO places (thread, namespace, space, indexed, due_ms)
                     SELECT ?1, namespace, ?2, indexed, due_ms FROM places WHERE thread = ?3 AND namespace = ?4",
                )?
                .execute(params![&**to, new, &**from, &*namespace])?;
            let (range, first) = (keys::all(old), keys::key(new, 0)?);
            for table in ["blocks", "large"] {
                let sql = format!(
                    "INSERT INTO {table} (key, bytes) SELECT key - ?1 + ?3, bytes FROM {table} WHERE key BETWEEN ?1 AND ?2"
                );
                self.connection.prepare_cached(&sql)?.execute(params![range.start(), range.end(), first])?;
            }
            for rest in [
                "INSERT INTO ids SELECT ?2, prefix, number FROM ids WHERE space = ?1",
                "INSERT INTO saved SELECT ?2, step, rank, name, bytes FROM saved WHERE space = ?1",
            ] {
                self.connection.prepare_cached(rest)?.execute([old, new])?;
            }
        }
        Ok(())
    }
}
