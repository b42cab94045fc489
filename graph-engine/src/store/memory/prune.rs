//! Dropping old checkpoints.

use super::rows::Rows;
use crate::store::listing::Keep;

impl Rows {
    /// Drops what is not kept and says how much that was.
    pub(super) fn prune(&mut self, keep: Keep) -> u64 {
        let Some(head) = self.head else { return 0 };
        let mut kept: Vec<usize> = match keep {
            Keep::Last(count) => self.chain(head).take(count.max(1)).collect(),
            Keep::Since(time) => (0..self.rows.len()).filter(|at| self.about(*at).time_ms >= time).collect(),
        };
        kept.push(head);
        kept.sort_unstable();
        kept.dedup();
        let mut pruned = Self::default();
        pruned.saved = std::mem::take(&mut self.saved);
        for at in &kept {
            // A row whose parent goes takes over all that its chain says of the fields.
            let mut about = self.about(*at);
            about.parent_row = about.parent_row.and_then(|parent| kept.binary_search(&parent).ok());
            let fields = match about.parent_row {
                Some(_) => self.own_fields(*at).collect(),
                None => self.segments(*at),
            };
            pruned.take_over(about, self, &fields, self.position(*at));
        }
        pruned.become_head(kept.binary_search(&head).ok());
        let dropped = self.rows.len() - kept.len();
        *self = pruned;
        dropped as u64
    }
}
