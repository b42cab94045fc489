//! What the function of an entrypoint works with.

use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::task_call::{Attempt, TaskCall};
use crate::driver::Clock;
use crate::error::NodeError;
use crate::task::{Ask, Ctx};

/// What the function of an [`Entrypoint`](crate::Entrypoint) works with: tasks that are done once, questions, what the
/// last run saved. A clone is the same workflow.
///
/// ```
/// use graph_engine::{Entrypoint, MemoryStore, NodeError, Status, Workflow};
///
/// async fn book(workflow: Workflow<String>, hotel: String) -> Result<String, NodeError> {
///     let price: u32 = workflow.task("quote", || async { Ok::<_, NodeError>(120) }).await?;
///     let sure: bool = workflow.interrupt(format!("{hotel} for {price}?"))?;
///     Ok(if sure { format!("booked {hotel}") } else { "nothing".into() })
/// }
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
/// let thread = Entrypoint::new("book", book).runner().unwrap().store(MemoryStore::new()).thread("guest-7");
/// let asked = thread.run(&"Inn".to_owned()).await.unwrap();
/// assert_eq!((asked.status(), asked.interrupts()[0].question.as_str()), (Status::Paused, Some("Inn for 120?")));
/// assert_eq!(thread.resume(true).await.unwrap().output.as_deref(), Some("booked Inn"));
/// # });
/// ```
pub struct Workflow<V = ()> {
    ctx: Ctx,
    previous: Arc<Option<V>>,
    /// Calls so far in this branch.
    calls: Arc<AtomicU32>,
    clock: Arc<dyn Clock>,
}

impl<V> Workflow<V> {
    pub(super) fn new(ctx: Ctx, previous: Option<V>, clock: Arc<dyn Clock>) -> Self {
        Self { ctx, previous: Arc::new(previous), calls: Arc::default(), clock }
    }

    /// What the last finished run of the thread saved; `None` in the first one, and without a store.
    #[must_use]
    pub fn previous(&self) -> Option<&V> {
        Option::as_ref(&self.previous)
    }

    /// Work that is done once. Its result is stored before the workflow goes on, and a run that is resumed, or goes on
    /// after a failure or a crash, gets the stored one. Results are matched by the order of the calls, which are numbered
    /// when they are first polled; [`TaskCall::key`] names one apart from that order. Errors are not stored.
    ///
    /// Without a store the work simply runs.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// use futures_util::future::try_join;
    /// use graph_engine::{NodeError, Retry, Workflow};
    ///
    /// async fn both(workflow: Workflow<u32>, (): ()) -> Result<u32, NodeError> {
    ///     let retry = Retry::fixed(3, Duration::from_millis(200));
    ///     let one = workflow.task("one", || async { Ok::<u32, NodeError>(1) }).retry(retry);
    ///     let two = workflow.task("two", || async { Ok::<u32, NodeError>(2) }).timeout(Duration::from_secs(1));
    ///     let (one, two) = try_join(one, two).await?;
    ///     Ok(one + two)
    /// }
    /// # let _ = both;
    /// ```
    pub fn task<'a, T, E, F, Fut>(&self, name: impl Into<String>, mut work: F) -> TaskCall<'a, T>
    where
        T: Serialize + DeserializeOwned + Send + 'a,
        E: Into<NodeError>,
        F: FnMut() -> Fut + Send + 'a,
        Fut: Future<Output = Result<T, E>> + Send + 'a,
    {
        let work: Attempt<'a, T> = Box::new(move || {
            let running = work();
            Box::pin(async move { running.await.map_err(Into::into) })
        });
        TaskCall::new(self.ctx.clone(), self.calls.clone(), self.clock.clone(), name.into(), work)
    }

    /// The same workflow for one of several parts that run at once and make several calls each: its calls and questions
    /// are numbered apart. Each key is for one branch.
    #[must_use]
    pub fn branch(&self, key: impl AsRef<str>) -> Self {
        Self { ctx: self.ctx.scope(key), calls: Arc::default(), ..self.clone() }
    }

    /// Asks a person or another system: see [`Ctx::interrupt`].
    ///
    /// # Errors
    /// As [`Ctx::interrupt`].
    pub fn interrupt<T: DeserializeOwned>(&self, question: impl Serialize) -> Result<T, NodeError> {
        self.ctx.interrupt(question)
    }

    /// A question that may have a deadline: see [`Ctx::ask`].
    pub fn ask(&self, question: impl Serialize) -> Ask<'_> {
        self.ctx.ask(question)
    }

    /// Run metadata, cancellation and events.
    #[must_use]
    pub fn ctx(&self) -> &Ctx {
        &self.ctx
    }

    /// How many tasks were called so far in this branch; those with a key don't count.
    #[must_use]
    pub fn calls(&self) -> u32 {
        self.calls.load(Ordering::Relaxed)
    }
}

impl<V> Clone for Workflow<V> {
    fn clone(&self) -> Self {
        Self {
            ctx: self.ctx.clone(),
            previous: self.previous.clone(),
            calls: self.calls.clone(),
            clock: self.clock.clone(),
        }
    }
}

impl<V> fmt::Debug for Workflow<V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Workflow").field("ctx", &self.ctx).field("calls", &self.calls()).finish_non_exhaustive()
    }
}
