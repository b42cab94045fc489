//! A checkpoint and those that it follows.

use super::thread::Thread;
use crate::checkpoint_id::CheckpointId;
use crate::run_error::RunError;
use crate::state::State;
use crate::store::{CheckpointInfo, CheckpointStore, Filter};

/// How many checkpoints are asked for at once.
pub(super) const PAGE: usize = 1_000;

impl<S: State> Thread<S> {
    /// A checkpoint and its chain of parents, the newest first, as far as it is stored or until one of the chain is
    /// `last`.
    pub(super) async fn lineage(
        &self,
        store: &dyn CheckpointStore,
        from: CheckpointId,
        last: Option<CheckpointId>,
    ) -> Result<Vec<CheckpointInfo>, RunError> {
        let (place, mut found) = (self.place(), Vec::new());
        let (mut wanted, mut filter) = (Some(from), Filter::default().limit(PAGE));
        'pages: loop {
            let page = store.list(&place, &filter).await.map_err(|cause| self.store_error(cause))?;
            let Some(oldest) = page.last() else { break };
            filter = filter.before(oldest.id);
            // A parent is older than what follows it.
            for info in page {
                if Some(info.id) == wanted {
                    wanted = info.parent.filter(|_| Some(info.id) != last);
                    found.push(info);
                    if wanted.is_none() {
                        break 'pages;
                    }
                }
            }
        }
        if found.is_empty() {
            Err(RunError::UnknownCheckpoint { thread: self.id.clone(), id: from })
        } else {
            Ok(found)
        }
    }
}
