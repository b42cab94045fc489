//! One round of a gated call: attempts until one response is accepted.

use std::fmt;
use std::future::pending;
use std::sync::Arc;
use std::time::Duration;

use futures_core::future::BoxFuture;
use futures_util::FutureExt;
use futures_util::future::{Either, select};
use tokio::time::{Instant, sleep};

use super::ask::{Progress, ask, decide_in_time};
use super::{
    Attempt, AttemptOutcome, Decision, FallbackUse, GateError, GateFailure, GateLedger, GateSink, Gated, GatedAnswer,
    GatedError, GatedEvent, GatedFailure, ModelOutcome, ModelResult, Release, retry_request, trace,
};
use crate::model::{ChatModel, Request, Response};

/// One round of a [`Gated`] call, before it runs.
///
/// ```
/// use std::time::Duration;
///
/// use graph_nodes::gate::{Code, Gated, GatePolicy, GatedError, Validators};
/// use graph_nodes::message::Message;
/// use graph_nodes::model::{Request, ScriptedModel, Turn};
///
/// # let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
/// # runtime.block_on(async {
/// let slow = ScriptedModel::new([Turn::text("Hello!").with_delay(Duration::from_secs(9)), Turn::text("Hello!")]);
/// let gated = Gated::new(slow, GatePolicy::new(), Validators::<()>::new());
/// let request = Request::new([Message::user("hi")]);
///
/// let stopped = gated.round(request.clone(), &()).until(tokio::time::sleep(Duration::from_secs(1))).run(()).await;
/// let failure = stopped.unwrap_err();
/// assert_eq!((&*failure.error, failure.ledger.count(&Code::CANCELLED)), (&GatedError::Cancelled, 1));
///
/// let answer = gated.round(request, &()).resuming(*failure.ledger).run(()).await.unwrap();
/// assert_eq!((answer.ledger.started(), answer.ledger.finished()), (2, 1));
/// # });
/// ```
#[must_use = "a round does nothing until it runs"]
pub struct GatedRound<'a, S: ?Sized> {
    gated: &'a Gated<S>,
    request: Request,
    state: &'a S,
    ledger: GateLedger,
    /// Fused: it may be asked again after its end.
    until: BoxFuture<'a, ()>,
}

/// What one attempt is.
struct Next {
    request: Request,
    model: Arc<dyn ChatModel>,
}

impl<'a, S: ?Sized + Sync + 'static> GatedRound<'a, S> {
    pub(super) fn new(gated: &'a Gated<S>, request: Request, state: &'a S, ledger: GateLedger) -> Self {
        Self { gated, request, state, ledger, until: Box::pin(pending()) }
    }

    /// Goes on with a round that was stopped: its attempts, tokens and time count, and the model is told why its latest
    /// response was rejected.
    pub fn resuming(mut self, ledger: GateLedger) -> Self {
        self.ledger = ledger;
        self
    }

    /// Stops when this future ends: the running call, judge or wait is dropped and counted as cancelled, no further
    /// attempt is made, and no fallback model is asked.
    pub fn until(mut self, signal: impl Future<Output: Send> + Send + 'a) -> Self {
        self.until = Box::pin(async move { drop(signal.await) }.fuse());
        self
    }

    /// Asks until a response is accepted.
    ///
    /// # Errors
    /// [`GatedFailure`], with the ledger and the latest response.
    pub async fn run(mut self, mut sink: impl GateSink) -> Result<GatedAnswer, GatedFailure> {
        let mut last = None;
        let ran = self.attempts(&mut last, &mut sink).await;
        let end = match &ran {
            Ok((_, best, _)) if best.is_some() => "accepted_best",
            Ok(_) => "accepted",
            Err(error) => error.as_str(),
        };
        trace::round(&self.gated.name, &self.ledger, end);
        match ran {
            Ok((response, best, modified)) => {
                Ok(GatedAnswer { response: *response, best, modified, ledger: self.ledger })
            }
            Err(error) => Err(GatedFailure { error: Box::new(error), ledger: Box::new(self.ledger), last }),
        }
    }

    async fn attempts(
        &mut self,
        last: &mut Option<Box<Response>>,
        sink: &mut dyn GateSink,
    ) -> Result<Accepted, GatedError> {
        let Self { gated, request: first, state, ledger, until } = self;
        gated.check()?;
        let (policy, validators) = (&gated.policy, &gated.validators);
        let mut next = Self::resumed(gated, first, ledger)?;
        loop {
            let before = ledger.started();
            let is_structured = next.request.response_schema.is_some();
            let mut release = Release::new(gated.streaming, policy, validators, *state, is_structured);
            let mut progress = Progress::begin();
            let (model, limit) = (&*next.model, policy.remaining(ledger));
            let asked = ask(model, next.request.clone(), limit, &mut release, &mut progress, sink);
            let outcome = until_stopped(until, asked).await;
            let outcome = outcome.unwrap_or_else(|| progress.dropped(model.name(), ModelResult::Cancelled));
            ledger.judge += release.spent;
            if let ModelResult::Response(response) = &outcome.result {
                *last = Some(response.clone());
            }
            let response = response_of(&outcome);
            let kept = outcome.clone();
            let saved = ledger.clone();
            let decided = until_stopped(until, decide_in_time(policy, validators, ledger, outcome, *state)).await;
            let decision = match decided {
                Some(decided) => decided.map_err(GatedError::Gate),
                None => {
                    *ledger = saved;
                    ledger.unjudged(&kept);
                    Ok(Decision::Cancelled)
                }
            };
            trace::attempts(&gated.name, ledger, before);
            let codes = ledger.attempts.last().map(Attempt::codes).unwrap_or_default();
            let decision = match decision {
                Ok(Decision::Accept { response, modified, best, .. }) => {
                    let rest = release.rest(&response.text, ledger.started(), sink).await;
                    let told = [
                        best.clone().map(GatedEvent::AcceptedBest),
                        modified.clone().map(GatedEvent::Modified),
                        (!response.warnings.is_empty()).then(|| GatedEvent::Warnings(response.warnings.clone())),
                        (!rest.is_empty()).then(|| GatedEvent::Text(rest.to_owned())),
                    ];
                    for event in told.into_iter().flatten() {
                        sink.event(event).await;
                    }
                    return Ok((response, best, modified));
                }
                decision => decision,
            };
            release.retract(ledger.started(), codes.clone(), sink).await;
            match decision? {
                Decision::Retry { feedback, backoff, attempt, max, is_last } => {
                    sink.event(GatedEvent::Rejected { codes, attempt, max, is_last }).await;
                    let start = Instant::now();
                    if until_stopped(until, sleep(backoff)).await.is_none() {
                        ledger.cancelled_while_waiting(backoff.saturating_sub(start.elapsed()));
                        return Err(GatedError::Cancelled);
                    }
                    next.request = retry_request(policy.feedback, first, response.as_deref(), feedback.as_deref());
                }
                Decision::Fallback { feedback, by, attempt, max } => {
                    sink.event(GatedEvent::Fallback { by }).await;
                    sink.event(GatedEvent::Rejected { codes, attempt, max, is_last: true }).await;
                    next = Next {
                        request: retry_request(policy.feedback, first, response.as_deref(), feedback.as_deref()),
                        model: gated.fallback.clone().ok_or(GatedError::NoFallback)?,
                    };
                }
                Decision::Escalate { edge, code, reason, exhausted } => {
                    return Err(GatedError::Escalated { edge, code, reason, exhausted });
                }
                Decision::Exhausted(failure) => return Err(GatedError::Exhausted(failure)),
                Decision::Fatal { code, reason } => return Err(GatedError::Fatal { code, reason }),
                Decision::Cancelled | Decision::Accept { .. } => return Err(GatedError::Cancelled),
            }
        }
    }

    /// The attempt that a ledger waits for.
    fn resumed(gated: &Gated<S>, first: &Request, ledger: &GateLedger) -> Result<Next, GatedError> {
        let model = match &ledger.fallback {
            None => gated.model.clone(),
            Some(FallbackUse { attempt: None, .. }) => gated.fallback.clone().ok_or(GatedError::NoFallback)?,
            Some(FallbackUse { attempt: Some(attempt), .. }) => {
                let model = gated.model.name().to_owned();
                return Err(GatedError::Gate(GateError::SecondFallback { attempt: *attempt, model }));
            }
        };
        // What is used up is not asked for once more.
        if let (Some(last), None) = (ledger.attempts.last(), &ledger.fallback)
            && last.outcome != AttemptOutcome::Accepted
            && let Some(by) = gated.policy.exhausted(ledger, &last.codes(), Duration::ZERO)
        {
            return Err(GatedError::Exhausted(GateFailure { by, attempts: ledger.attempts.clone() }));
        }
        let request = retry_request(gated.policy.feedback, first, None, ledger.feedback().as_deref());
        Ok(Next { request, model })
    }
}

type Accepted = (Box<Response>, Option<super::BestOf>, Option<super::Modification>);

/// What came of the work; nothing if the signal came first.
async fn until_stopped<T>(signal: &mut BoxFuture<'_, ()>, work: impl Future<Output = T>) -> Option<T> {
    match select(signal.as_mut(), std::pin::pin!(work)).await {
        Either::Left(_) => None,
        Either::Right((done, _)) => Some(done),
    }
}

fn response_of(outcome: &ModelOutcome) -> Option<Box<Response>> {
    match &outcome.result {
        ModelResult::Response(response) => Some(response.clone()),
        _ => None,
    }
}

impl GatedError {
    fn as_str(&self) -> &'static str {
        match self {
            Self::Exhausted(_) => "exhausted",
            Self::Fatal { .. } => "fatal",
            Self::Escalated { .. } => "escalated",
            Self::Cancelled => "cancelled",
            Self::NoFallback | Self::Gate(_) => "refused",
        }
    }
}

impl<S: ?Sized + Sync + 'static> fmt::Debug for GatedRound<'_, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GatedRound").field("gated", &self.gated).field("ledger", &self.ledger).finish_non_exhaustive()
    }
}
