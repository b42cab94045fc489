//! What every checkpoint store has to do, as one function a behaviour.
//!
//! [`checkpoint_store_conformance!`](crate::checkpoint_store_conformance) makes a test of each for a store of your own.
//! Every function takes an empty store and panics, with a sentence, where the store breaks the contract of
//! [`CheckpointStore`].

pub mod chain;
pub mod commit;
pub mod copy;
pub mod delete;
pub mod isolation;
pub mod list;
mod make;
pub mod prune;
pub mod random;
pub mod saved;
pub mod since;
pub mod sizes;
pub mod threads;
pub mod writers;

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use crate::CheckpointStore;

/// The store that is tested.
pub type Store = Arc<dyn CheckpointStore>;

/// A store for one test, with what has to live as long as it does: a temporary folder, a server.
///
/// ```
/// use graph_engine::MemoryStore;
/// use graph_engine::testing::conformance::Subject;
///
/// let plain = Subject::from(MemoryStore::new());
/// let guarded = Subject::from((MemoryStore::new(), "dropped after the store"));
/// assert!(!plain.store().outlives_process() && !guarded.store().outlives_process());
/// ```
pub struct Subject {
    // Dropped in this order.
    store: Store,
    _guard: Box<dyn Any + Send + Sync>,
}

impl Subject {
    /// The store.
    #[must_use]
    pub fn store(&self) -> &Store {
        &self.store
    }
}

impl fmt::Debug for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Subject").finish_non_exhaustive()
    }
}

impl From<Store> for Subject {
    fn from(store: Store) -> Self {
        Self { store, _guard: Box::new(()) }
    }
}

impl<S: CheckpointStore> From<S> for Subject {
    fn from(store: S) -> Self {
        Self { store: Arc::new(store), _guard: Box::new(()) }
    }
}

impl<S: CheckpointStore, G: Send + Sync + 'static> From<(S, G)> for Subject {
    fn from((store, guard): (S, G)) -> Self {
        Self { store: Arc::new(store), _guard: Box::new(guard) }
    }
}

/// Makes one `#[tokio::test]` for every behaviour of a [`CheckpointStore`](crate::CheckpointStore) (feature `testing`).
///
/// It is given an expression for a new, empty store. The expression is evaluated once a test, inside an async function,
/// so it may await; it may also give a pair of the store and something that has to live as long, or an
/// `Arc<dyn CheckpointStore>`. The crate needs `tokio` with its feature `macros` (and `rt`) as a dev-dependency, and
/// nothing else.
///
/// | module | what is tested |
/// | --- | --- |
/// | `commit` | what comes back; repeats, stale writers, other content; times order nothing |
/// | `chain` | bases and deltas, ranges of a field, branches of branches |
/// | `list` | order, filters alone and together, tags compared exactly and never ignored |
/// | `saved` | results of tasks: the first stands, all or none, gone with the head |
/// | `since` | what came since a mark, if the store gives marks |
/// | `prune` | what is kept is whole, gaps included |
/// | `copy`, `delete` | copies share nothing, deletion leaves nothing |
/// | `isolation` | unknown threads, namespaces, hostile ids; reads create nothing |
/// | `threads` | threads and namespaces in order; what is due |
/// | `sizes` | bytes come back exactly; empty, large and many; 5,000 checkpoints |
/// | `writers` | races: exactly one wins, the others leave nothing |
/// | `random` | 400 random calls answered like by the memory store |
///
/// Bytes of fields, positions and results are JSON when the engine is the caller. A store doesn't look into them: it
/// gives back exactly what it was given.
///
/// Call it once a module:
///
/// ```
/// mod in_memory {
///     graph_engine::checkpoint_store_conformance!(graph_engine::MemoryStore::new());
/// }
/// ```
///
/// With a folder that outlives the store:
///
/// ```
/// # use graph_engine::MemoryStore;
/// # struct Folder;
/// # impl Folder { fn new() -> Self { Self } }
/// # struct FileStore;
/// # impl FileStore { async fn open(_: &Folder) -> MemoryStore { MemoryStore::new() } }
/// mod in_a_file {
///     # use super::{FileStore, Folder};
///     graph_engine::checkpoint_store_conformance!({
///         let folder = Folder::new();
///         (FileStore::open(&folder).await, folder)
///     });
/// }
/// # fn main() {}
/// ```
#[macro_export]
macro_rules! checkpoint_store_conformance {
    ($make:expr $(,)?) => {
        $crate::__conformance_tests! { ($make)
            chain: a_base_replaces_and_deltas_are_added_in_order
            chain: every_encoding_comes_back_and_ends_what_came_before_if_it_is_whole
            chain: a_field_may_have_several_segments_in_one_commit
            chain: a_fork_may_follow_the_head_or_nothing
            chain: a_fork_moves_the_head_and_keeps_the_old_branch
            chain: a_range_gives_the_segments_that_touch_it
            chain: a_repeated_fork_moves_nothing
            chain: forks_of_forks_are_whole
            commit: a_checkpoint_comes_back_as_it_was
            commit: a_clock_that_goes_back_orders_nothing
            commit: a_known_id_is_a_conflict_even_if_its_parent_is_the_head
            commit: a_refused_commit_makes_no_thread
            commit: a_repeated_commit_keeps_what_came_after_it
            commit: a_repeated_commit_with_equal_content_is_a_success_that_changes_nothing
            commit: a_repeated_commit_with_other_content_is_a_conflict
            commit: a_row_is_what_was_committed
            commit: a_stale_parent_is_a_conflict_and_nothing_is_stored
            commit: all_that_is_said_of_a_checkpoint_comes_back
            commit: what_is_stored_at_once_follows_the_same_rules
            copy: a_copy_has_everything
            copy: a_copy_is_a_thread_of_its_own
            copy: copies_share_nothing
            delete: clearing_drops_one_namespace
            delete: deleting_takes_all_namespaces_and_nothing_else
            delete: deletion_leaves_nothing
            isolation: an_unknown_thread_is_empty
            isolation: namespaces_are_apart
            isolation: reads_create_nothing
            isolation: thread_ids_and_namespaces_are_compared_byte_by_byte
            list: a_list_has_all_branches
            list: a_list_is_filtered
            list: filters_combine
            list: tags_are_compared_exactly_and_never_ignored
            prune: a_pruned_thread_goes_on
            prune: pruning_by_time_keeps_what_is_young_and_the_head
            prune: pruning_drops_what_it_says_and_nothing_else
            prune: pruning_keeps_every_kept_checkpoint_whole
            prune: what_is_kept_behind_a_gap_is_whole
            random: random_calls_answer_like_the_memory_store
            saved: a_fork_drops_what_was_saved
            saved: many_results_come_back
            saved: results_for_another_head_are_refused_whole
            saved: saved_results_belong_to_the_head
            saved: the_first_result_of_a_task_and_key_stands
            since: what_was_there_at_a_mark_and_what_came_since_are_the_whole
            sizes: a_long_thread_is_whole
            sizes: bytes_come_back_as_they_were
            sizes: large_and_empty_values_come_back
            sizes: many_fields_come_back
            threads: a_thread_is_listed_with_its_head
            threads: namespaces_are_listed_in_order
            threads: threads_are_found_by_what_is_due
            threads: threads_are_listed_in_order
            writers: a_commit_repeated_at_once_is_stored_once
            writers: one_of_many_writers_wins
            writers: results_saved_at_once_are_all_kept
            writers: threads_at_once_are_apart
            writers: two_writers_race_for_every_step
        }
    };
}

/// One test for each function named.
#[doc(hidden)]
#[macro_export]
macro_rules! __conformance_tests {
    ($make:tt $($module:ident: $name:ident)*) => {
        $(
            #[::tokio::test]
            async fn $name() {
                let subject = $crate::testing::conformance::Subject::from($make);
                $crate::testing::conformance::$module::$name(subject.store()).await;
            }
        )*
    };
}
