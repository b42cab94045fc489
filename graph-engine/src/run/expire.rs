//! Questions that nobody answered in time are answered by their defaults.

use std::fmt;
use std::time::SystemTime;

use super::end::TurnEnd;
use super::intake::Intake;
use super::runner::Runner;
use crate::driver::millis;
use crate::name::Name;
use crate::run_error::{RunError, TurnError};
use crate::state::State;
use crate::store::ThreadFilter;

/// A thread that went on because a question of it expired, and how its turn ended.
///
/// ```
/// use std::time::{Duration, SystemTime};
///
/// use graph_engine::{Ctx, Graph, MemoryStore, NodeError, START, State};
///
/// #[derive(State, Clone, Default)]
/// struct Trip {
///     said: String,
/// }
///
/// async fn book(ctx: Ctx) -> Result<TripUpdate, NodeError> {
///     let sure: bool = ctx.ask("Book?").expires(Duration::from_secs(3600), false).answer()?;
///     Ok(Trip::update().said(if sure { "booked" } else { "not booked" }))
/// }
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let graph = Graph::<Trip>::builder("trip").node("book", book).edge(START, "book").compile().unwrap();
/// let runner = graph.runner().store(MemoryStore::new());
/// runner.thread("guest-7").run(Trip::update()).await.unwrap();
/// assert!(runner.expire(SystemTime::now()).await.unwrap().is_empty());
/// let later = SystemTime::now() + Duration::from_secs(3601);
/// let expired = runner.expire(later).await.unwrap();
/// assert_eq!(expired[0].thread, "guest-7");
/// assert_eq!(expired[0].end.as_ref().unwrap().state.said, "not booked");
/// # });
/// ```
#[non_exhaustive]
pub struct Expired<S: State> {
    /// The thread.
    pub thread: Name,
    /// How its turn ended.
    pub end: Result<TurnEnd<S>, TurnError>,
}

impl<S: State> fmt::Debug for Expired<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Expired").field("thread", &self.thread).field("end", &self.end).finish()
    }
}

impl<S: State> Runner<S> {
    /// Answers by their defaults the questions of all threads whose time is over at `now`, and runs those threads on, one
    /// after the other. Call it now and then.
    ///
    /// # Errors
    /// [`RunError::NoStore`] without a store, and what the store says when it lists threads. What becomes of each thread
    /// is in the list.
    pub async fn expire(&self, now: SystemTime) -> Result<Vec<Expired<S>>, RunError> {
        let Some(store) = self.checkpoints() else {
            return Err(RunError::NoStore { thread: Name::default(), operation: "expire" });
        };
        let now_ms = millis(now);
        let due = store.threads(&ThreadFilter::default().due_by(now_ms)).await;
        let due = due.map_err(|cause| RunError::Store { thread: Name::default(), cause })?;
        let mut expired = Vec::with_capacity(due.len());
        for info in due.into_iter().filter(|info| !Intake::is_staging(&info.thread)) {
            let end = self.thread(&info.thread).expire(now_ms).await;
            // Somebody was faster with an answer.
            if let Err(TurnError { error, .. }) = &end
                && matches!(**error, RunError::NothingToAnswer { .. })
            {
                continue;
            }
            expired.push(Expired { thread: info.thread, end });
        }
        Ok(expired)
    }
}
