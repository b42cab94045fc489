//! Results of single tasks.

use graph_engine::{CheckpointId, Place, SavedResult, StoreError};
use graph_engine_rows::encode;
use rusqlite::params;

use super::Writer;
use crate::error::Failed;

impl Writer {
    pub(super) fn save(&mut self, place: &Place, at: CheckpointId, results: &[SavedResult]) -> Result<(), Failed> {
        let Some(mut head) = self.head(place)? else {
            return Err(StoreError::conflict(&*place.thread, "the thread is not stored").into());
        };
        let (space, id) = (head.space.number, head.id);
        head.saved |= id == at;
        self.remember(place, head);
        if id != at {
            return Err(StoreError::conflict(&*place.thread, "the head moved").into());
        }
        let mut insert = self.connection.prepare_cached(
            "INSERT INTO saved (space, step, rank, name, bytes) VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT DO NOTHING",
        )?;
        for SavedResult { task, key, bytes, .. } in results {
            insert.execute(params![space, task.step as i64, task.rank, &**key, encode(self.format, bytes)])?;
        }
        Ok(())
    }
}
