//! One call of a task of a workflow.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use futures_util::future::{Either, select};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::TaskDiverged;
use crate::driver::Clock;
use crate::error::{FaultKind, NodeError};
use crate::node::Retry;
use crate::state::json_of;
use crate::task::Ctx;

type Running<'a, T> = Pin<Box<dyn Future<Output = Result<T, NodeError>> + Send + 'a>>;

/// Begins one try of the work.
pub(super) type Attempt<'a, T> = Box<dyn FnMut() -> Running<'a, T> + Send + 'a>;

/// One call of a task, made by [`Workflow::task`](crate::Workflow::task): a future that does nothing until it is polled.
///
/// ```
/// use std::time::Duration;
///
/// use graph_engine::{NodeError, Retry, Workflow};
///
/// async fn pay(workflow: Workflow, (): ()) -> Result<(), NodeError> {
///     workflow
///         .task("charge", || async { Ok::<_, NodeError>(()) })
///         .key("invoice-7")
///         .retry(Retry::exponential(4, Duration::from_millis(100)))
///         .timeout(Duration::from_secs(5))
///         .await
/// }
/// # let _ = pay;
/// ```
#[must_use = "a task runs when it is awaited"]
pub struct TaskCall<'a, T> {
    plan: Option<Plan<'a, T>>,
    running: Option<Running<'a, T>>,
}

/// What is called, until the first poll.
struct Plan<'a, T> {
    ctx: Ctx,
    calls: Arc<AtomicU32>,
    clock: Arc<dyn Clock>,
    name: String,
    key: Option<String>,
    retry: Option<Retry>,
    timeout: Option<Duration>,
    work: Attempt<'a, T>,
}

/// A result as it is stored.
#[derive(Serialize, Deserialize)]
struct Record {
    task: String,
    result: Box<RawValue>,
}

impl<'a, T: Serialize + DeserializeOwned + Send + 'a> TaskCall<'a, T> {
    pub(super) fn new(
        ctx: Ctx,
        calls: Arc<AtomicU32>,
        clock: Arc<dyn Clock>,
        name: String,
        work: Attempt<'a, T>,
    ) -> Self {
        Self {
            plan: Some(Plan { ctx, calls, clock, name, key: None, retry: None, timeout: None, work }),
            running: None,
        }
    }

    fn with(mut self, change: impl FnOnce(&mut Plan<'a, T>)) -> Self {
        if let Some(plan) = &mut self.plan {
            change(plan);
        }
        self
    }

    /// Finds the result by this key instead of by the order of the calls. A key is for one call.
    pub fn key(self, key: impl Into<String>) -> Self {
        self.with(|plan| plan.key = Some(key.into()))
    }

    /// Tries again what failed and may be tried again, within this call. Jitter is spread by the call's idempotency key.
    pub fn retry(self, retry: Retry) -> Self {
        self.with(|plan| plan.retry = Some(retry))
    }

    /// How long each try may take; one that takes longer is dropped at its next await and has failed retryably.
    pub fn timeout(self, limit: Duration) -> Self {
        self.with(|plan| plan.timeout = Some(limit))
    }
}

impl<'a, T: Serialize + DeserializeOwned + Send + 'a> Future for TaskCall<'a, T> {
    type Output = Result<T, NodeError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        if let Some(plan) = self.plan.take() {
            self.running = Some(Box::pin(plan.start().run()));
        }
        match &mut self.running {
            Some(running) => running.as_mut().poll(cx),
            // A plan is there from the beginning and becomes what runs.
            None => Poll::Pending,
        }
    }
}

/// A call with its number.
struct Numbered<'a, T> {
    plan: Plan<'a, T>,
    number: u32,
}

impl<'a, T: Serialize + DeserializeOwned + Send + 'a> Plan<'a, T> {
    /// Numbers the call, unless it has a key.
    fn start(self) -> Numbered<'a, T> {
        let number = match self.key {
            Some(_) => 0,
            None => self.calls.fetch_add(1, Ordering::Relaxed),
        };
        Numbered { plan: self, number }
    }
}

impl<'a, T: Serialize + DeserializeOwned + Send + 'a> Numbered<'a, T> {
    async fn run(mut self) -> Result<T, NodeError> {
        if !self.plan.ctx.is_durable() {
            return self.tries().await;
        }
        let key = match &self.plan.key {
            Some(key) => format!("key {key}"),
            None => format!("call {}", self.number),
        };
        let (ctx, name, number) = (self.plan.ctx.clone(), self.plan.name.clone(), self.number);
        let work = async {
            let result = json_of(&self.tries().await?).map_err(|why| {
                NodeError::fatal(format!("the result of task `{name}` can't be written as JSON: {why}"))
            })?;
            Ok::<_, NodeError>(Record { task: name.clone(), result })
        };
        let Record { task: stored, result } = ctx.memo(&key, work).await?;
        if stored != name {
            return Err(NodeError::fatal(TaskDiverged { number, stored, called: name }));
        }
        // Also the first time: what is used now is what a resumed run gets.
        serde_json::from_str(result.get()).map_err(|e| {
            let wanted = std::any::type_name::<T>();
            NodeError::fatal(format!(
                "what is stored of task `{name}` ({key}) is no `{wanted}`: {e}; its type changed since, so give the task \
                 another key or `abandon` the unfinished run"
            ))
        })
    }

    async fn tries(&mut self) -> Result<T, NodeError> {
        let mut attempt = 1;
        loop {
            let error = match self.attempt().await {
                Ok(done) => return Ok(done),
                Err(error) => error,
            };
            let retry = self.plan.retry.as_ref().and_then(|retry| retry.for_failure(&error));
            match retry {
                Some(retry) if attempt < retry.attempts() => {
                    let wait = retry.wait(attempt, self.spread(attempt));
                    self.plan.clock.sleep(wait).await;
                    attempt += 1;
                }
                _ => return Err(error),
            }
        }
    }

    async fn attempt(&mut self) -> Result<T, NodeError> {
        let running = (self.plan.work)();
        let Some(limit) = self.plan.timeout else { return running.await };
        match select(running, self.plan.clock.sleep(limit)).await {
            Either::Left((done, _)) => done,
            Either::Right(_) => {
                let name = &self.plan.name;
                let text = format!("task `{name}` ran longer than its timeout of {limit:?}; raise it or add a retry");
                Err(NodeError::new(FaultKind::TimedOut, text.into()))
            }
        }
    }

    /// A number from 0 to 1 that is the same for the same try of the same call.
    fn spread(&self, attempt: u32) -> f64 {
        let Plan { ctx, name, key, .. } = &self.plan;
        let text = format!("{}/{name}/{key:?}/{}/{attempt}", ctx.idempotency_key(), self.number);
        let hash = text.bytes().fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
        f64::from(hash) / f64::from(u32::MAX)
    }
}

impl<T> fmt::Debug for TaskCall<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TaskCall").field("task", &self.plan.as_ref().map(|plan| &plan.name)).finish_non_exhaustive()
    }
}
