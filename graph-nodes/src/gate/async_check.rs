//! An async function as a check.

use async_trait::async_trait;
use tokio::time::Instant;

use super::{AsyncValidator, Cost, Judgement};
use crate::model::Response;

/// What [`Validators::with_async_fn`](super::Validators::with_async_fn) takes: an async function or closure of the
/// response and the state, whose future can move between threads. Implemented for all of them.
///
/// ```
/// use graph_nodes::gate::{CheckFn, Verdict};
/// use graph_nodes::model::Response;
///
/// async fn polite(response: &Response, _: &u32) -> Verdict {
///     match response.text.contains("please") {
///         true => Verdict::Accept,
///         false => Verdict::retry("impolite", "say please"),
///     }
/// }
///
/// fn is_check<S: ?Sized + 'static, J>(_: impl for<'a> CheckFn<'a, S, Said = J>) {}
/// is_check::<u32, Verdict>(polite);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an async check of a response against `{S}`",
    note = "write `async fn check(response: &Response, state: &{S}) -> Verdict`, and keep nothing across an await that can't move to another thread"
)]
pub trait CheckFn<'a, S: ?Sized + 'a>: Send + Sync + 'static {
    /// What it says: a [`Verdict`](super::Verdict) or a [`Judgement`].
    type Said;
    /// The future.
    type Future: Future<Output = Self::Said> + Send + 'a;

    /// Begins the check.
    fn check(&self, response: &'a Response, state: &'a S) -> Self::Future;
}

impl<'a, S, F, Fut> CheckFn<'a, S> for F
where
    S: ?Sized + 'a,
    F: Fn(&'a Response, &'a S) -> Fut + Send + Sync + 'static,
    Fut: Future + Send + 'a,
{
    type Said = Fut::Output;
    type Future = Fut;

    fn check(&self, response: &'a Response, state: &'a S) -> Fut {
        self(response, state)
    }
}

/// The check that such a function makes.
pub(super) struct AsyncFnValidator<F> {
    pub(super) name: String,
    pub(super) cost: Cost,
    pub(super) check: F,
}

#[async_trait]
impl<S, J, F> AsyncValidator<S> for AsyncFnValidator<F>
where
    S: ?Sized + Sync + 'static,
    J: Into<Judgement> + 'static,
    F: for<'a> CheckFn<'a, S, Said = J>,
{
    fn name(&self) -> &str {
        &self.name
    }

    fn cost(&self) -> Cost {
        self.cost
    }

    async fn validate(&self, response: &Response, state: &S) -> Judgement {
        let start = Instant::now();
        let judgement = self.check.check(response, state).await.into();
        // What it says itself of its time counts more.
        if judgement.latency.is_zero() { judgement.with_latency(start.elapsed()) } else { judgement }
    }
}
