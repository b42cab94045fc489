//! One model call, cut in time, and its verdict.

use std::time::Duration;

use futures_util::StreamExt;
use tokio::time::{Instant, timeout};

use super::{
    AttemptOutcome, Decision, GateError, GateLedger, GatePolicy, GateSink, ModelOutcome, ModelResult, Release,
    Validators, decide,
};
use crate::message::Usage;
use crate::model::{ChatModel, Collector, ModelError, Request, Response};

/// How far a call is; readable when the call was dropped.
#[derive(Debug)]
pub(crate) struct Progress {
    start: Instant,
    usage: Option<Usage>,
}

impl Progress {
    pub(crate) fn begin() -> Self {
        Self { start: Instant::now(), usage: None }
    }

    /// What becomes of the call when it was dropped.
    pub(super) fn dropped(&self, model: &str, result: ModelResult) -> ModelOutcome {
        ModelOutcome { result, latency: self.start.elapsed(), model: model.to_owned(), usage: self.usage }
    }
}

/// Asks a model once and shows what may be shown while the response arrives. A call that passes the limit is cut.
pub(crate) async fn ask<S: ?Sized + Sync + 'static>(
    model: &dyn ChatModel,
    request: Request,
    limit: Option<Duration>,
    release: &mut Release<'_, S>,
    progress: &mut Progress,
    sink: &mut dyn GateSink,
) -> ModelOutcome {
    let call = receive(model, request, release, &mut progress.usage, sink);
    let called = match limit {
        None => Some(call.await),
        Some(limit) => timeout(limit, call).await.ok(),
    };
    match called {
        Some(result) => {
            let outcome = ModelOutcome::new(model.name(), progress.start.elapsed(), result);
            // What a provider reported before it failed is paid for.
            ModelOutcome { usage: outcome.usage.or(progress.usage), ..outcome }
        }
        None => progress.dropped(model.name(), ModelResult::Deadline),
    }
}

async fn receive<S: ?Sized + Sync + 'static>(
    model: &dyn ChatModel,
    request: Request,
    release: &mut Release<'_, S>,
    usage: &mut Option<Usage>,
    sink: &mut dyn GateSink,
) -> Result<Response, ModelError> {
    let mut collector = Collector::for_request(&request);
    let mut stream = model.stream(request).await?;
    while let Some(item) = stream.next().await {
        match item {
            Ok(chunk) => {
                *usage = chunk.usage.or(*usage);
                if let Some(text) = &chunk.text {
                    release.push(text, sink).await;
                }
                collector.push(chunk);
            }
            Err(error) => return Err(error.after(collector)),
        }
    }
    Ok(collector.finish()?)
}

/// As [`decide`], but a judge that passes the deadline is cut, and its attempt with it.
pub(crate) async fn decide_in_time<S: ?Sized + Sync + 'static>(
    policy: &GatePolicy,
    validators: &Validators<S>,
    ledger: &mut GateLedger,
    outcome: ModelOutcome,
    state: &S,
) -> Result<Decision, GateError> {
    let Some(left) = policy.remaining(ledger).map(|left| left.saturating_sub(outcome.latency)) else {
        return decide(policy, validators, ledger, outcome, state).await;
    };
    let before = ledger.clone();
    let late = ModelOutcome {
        result: ModelResult::Deadline,
        latency: outcome.latency.saturating_add(left),
        model: outcome.model.clone(),
        usage: outcome.usage,
    };
    if let Ok(decided) = timeout(left, decide(policy, validators, ledger, outcome, state)).await {
        return decided;
    }
    *ledger = before;
    decide(policy, validators, ledger, late, state).await
}

impl GateLedger {
    /// What the model is told of the latest attempt when its round goes on elsewhere: after a resume only the ledger is
    /// left of it.
    pub(super) fn feedback(&self) -> Option<String> {
        let last = self.attempts.last().filter(|attempt| attempt.outcome == AttemptOutcome::Rejected)?;
        super::decide::told(&last.reasons)
    }
}
