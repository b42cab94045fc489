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
        if self.highest_space()? == space.number {
            // Its number is not to be given out again: what somebody knows of it says nothing of another one.
            self.connection.pragma_update(None, "user_version", space.number)?;
        }
        let range = keys::all(space.number);
        for table in ["blocks", "large"] {
            let sql = format!("DELETE FROM {table} WHERE key BETWEEN ?1 AND ?2");
            self.connection.prepare_cached(&sql)?.execute(params![range.start(), range.end()])?;
        }
        for table in ["ids", "saved"] {
            self.connection
                .prepare_cached(&format!("DELETE FROM {table} WHERE space = ?1"))?
                .execute([space.number])?;
        }
        self.connection
            .prepare_cached("DELETE FROM places WHERE thread = ?1 AND namespace = ?2")?
            .execute([&*place.thread, &*place.namespace])?;
        Ok(true)
    }

    pub(super) fn delete(&mut self, thread: &Name) -> Result<bool, Failed> {
        let namespaces = read::namespaces(&self.connection, thread)?;
        for namespace in &namespaces {
            self.clear(&Place::new(thread, namespace))?;
        }
        Ok(!namespaces.is_empty())
    }
}
