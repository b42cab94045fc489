//! One step of the gate: an outcome in, a decision out.

use std::time::Duration;

use super::attempt::{LONGEST_REASON, distinct_codes};
use super::core_check::core_check;
use super::review::{Ending, Review, review};
use super::structured::structured_fault;
use super::{
    Attempt, AttemptOutcome, BestOf, Candidate, Code, Decision, ExhaustedBy, Exhaustion, FallbackUse, Fingerprint,
    GateError, GateFailure, GateLedger, GatePolicy, ModelOutcome, ModelResult, Modification, Reason, Repair,
    Validators,
};
use crate::message::Usage;
use crate::model::Response;
use crate::panics::guarded;
use crate::schema::clip;

/// Judges the outcome of one model call and writes it into the ledger.
///
/// Waits for judges only; nothing here looks at a clock. Call it once per model
/// call, with the ledger of the attempts before.
///
/// # Errors
/// [`GateError::UsageUnavailable`] when there is a token budget and a response,
/// of the model or of a judge, without a report of tokens; whether it would have been accepted makes no
/// difference, so that the mistake shows in the first call.
///
/// [`GateError::NoScore`] when the best response is to be accepted and there is
/// no score, and [`GateError::SecondFallback`] when the fallback model's attempt
/// is in the ledger already. The outcome is counted as never judged.
///
/// ```
/// use graph_nodes::gate::{Decision, GateLedger, GatePolicy, ModelOutcome, Validators, Verdict, decide};
/// use graph_nodes::model::Response;
///
/// # let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
/// # runtime.block_on(async {
/// let validators = Validators::<str>::new().with_fn("names_city", |response, city| {
///     match response.text.contains(city) {
///         true => Verdict::Accept,
///         false => Verdict::retry("no_city", format!("name the city {city}")),
///     }
/// });
/// let mut ledger = GateLedger::default();
/// let outcome = ModelOutcome::new("m", std::time::Duration::ZERO, Ok(Response::from_text("Nice.")));
/// let decision = decide(&GatePolicy::new(), &validators, &mut ledger, outcome, "Bern").await.unwrap();
/// let Decision::Retry { feedback, attempt, .. } = decision else { panic!("rejected") };
/// assert_eq!((feedback.as_deref(), attempt), (Some("name the city Bern"), 2));
/// assert_eq!(ledger.count(&"no_city".into()), 1);
/// # });
/// ```
pub async fn decide<S: ?Sized + Sync + 'static>(
    policy: &GatePolicy,
    validators: &Validators<S>,
    ledger: &mut GateLedger,
    outcome: ModelOutcome,
    state: &S,
) -> Result<Decision, GateError> {
    if policy.exhaustion == Exhaustion::AcceptBest && !validators.has_score() {
        ledger.unjudged(&outcome);
        return Err(GateError::NoScore);
    }
    if let Some(attempt) = ledger.fallback.as_ref().and_then(|fallback| fallback.attempt) {
        ledger.unjudged(&outcome);
        return Err(GateError::SecondFallback { attempt, model: outcome.model });
    }
    let ModelOutcome { result, latency, model, usage } = outcome;
    ledger.elapsed = ledger.elapsed.saturating_add(latency);
    let mut call = Call { policy, ledger, latency, model, usage, repaired: Vec::new() };
    match result {
        ModelResult::Cancelled => {
            call.record(AttemptOutcome::Cancelled, vec![reason(Code::CANCELLED, None)]);
            Ok(Decision::Cancelled)
        }
        ModelResult::Deadline => {
            call.record(AttemptOutcome::Deadline, vec![reason(Code::DEADLINE, None)]);
            Ok(call.exhausted(ExhaustedBy::Deadline, Code::DEADLINE, None, "the time is over".to_owned()))
        }
        ModelResult::Error { code, message, retryable, retry_after } => {
            let message = clip(&message, LONGEST_REASON);
            call.record(AttemptOutcome::Failed, vec![reason(code.clone(), Some(message.clone()))]);
            if retryable {
                // The model can't help it, so it is told nothing.
                return Ok(call.retry(&[code], None, message, retry_after.unwrap_or_default(), false));
            }
            Ok(Decision::Fatal { code, reason: message })
        }
        ModelResult::Response(response) => call.response(validators, *response, state).await,
    }
}

fn reason(code: Code, message: Option<String>) -> Reason {
    Reason { code, validator: None, message }
}

/// What the model is told of these reasons.
pub(super) fn told(reasons: &[Reason]) -> Option<String> {
    // A defect of the program is for the report, not for the model.
    let told = reasons.iter().filter(|reason| reason.code != Code::VALIDATOR_FAILED);
    let feedback: Vec<&str> = told.filter_map(|reason| reason.message.as_deref()).collect();
    (!feedback.is_empty()).then(|| feedback.join("\n"))
}

/// What the gate itself has against a response.
fn unfit<S: ?Sized + Sync + 'static>(validators: &Validators<S>, response: &Response) -> Option<Reason> {
    let core = core_check(response).map(|(_, reason)| reason);
    core.or_else(|| structured_fault(validators.structured(), response))
}

fn accept_best(best: Candidate, by: ExhaustedBy) -> Decision {
    let Candidate { response, score, attempt, modified } = best;
    let best = BestOf { attempt, score, by };
    let changed = modified.iter().map(|modification| modification.note.clone());
    let notes: Vec<String> = changed.chain([best.to_string()]).collect();
    Decision::Accept { response, note: Some(notes.join("\n")), modified, best: Some(best) }
}

/// One call on its way into the ledger.
struct Call<'a> {
    policy: &'a GatePolicy,
    ledger: &'a mut GateLedger,
    latency: Duration,
    model: String,
    usage: Option<Usage>,
    repaired: Vec<Repair>,
}

impl Call<'_> {
    async fn response<S: ?Sized + Sync + 'static>(
        mut self,
        validators: &Validators<S>,
        mut response: Response,
        state: &S,
    ) -> Result<Decision, GateError> {
        if self.usage.is_none() {
            self.ledger.usage_unknown += 1;
            if let Some(budget) = self.policy.token_budget {
                self.record(AttemptOutcome::Rejected, vec![reason(Code::USAGE_UNAVAILABLE, None)]);
                return Err(GateError::UsageUnavailable { model: self.model, budget });
            }
        }
        let before = Fingerprint::of(&response);
        if let Some((outcome, reason)) = core_check(&response) {
            let message = reason.message.clone().unwrap_or_default();
            if outcome == AttemptOutcome::Blocked {
                self.record(outcome, vec![reason]);
                let edge = self.policy.blocked_edge.clone();
                return Ok(Decision::Escalate { edge, code: Code::BLOCKED, reason: message, exhausted: None });
            }
            return Ok(self.reject(before, vec![reason]));
        }
        let expected = validators.structured();
        let repair = expected.filter(|_| response.calls.is_empty()).and_then(|expected| expected.repair(&response));
        if let Some((text, done)) = repair {
            response.text = text;
            self.repaired = done;
        }
        if let Some(reason) = structured_fault(expected, &response) {
            return Ok(self.reject(before, vec![reason]));
        }
        if !self.policy.looks_at(self.ledger) {
            self.ledger.unsampled += 1;
            return Ok(self.accept(before, response, Vec::new(), Vec::new()));
        }

        let review = review(self.policy, validators, response, state).await;
        self.ledger.judge += review.judge;
        self.ledger.judge_calls += review.judge_calls;
        self.ledger.elapsed = self.ledger.elapsed.saturating_add(review.judge_latency);
        for _ in 0..review.ignored_panics {
            self.ledger.bump(Code::VALIDATOR_FAILED);
        }
        self.metered(&review)?;
        match review.ending {
            Ending::Retry if !self.policy.shadow => {
                self.offer(validators, &before, &review, state);
                Ok(self.reject(before, review.reasons))
            }
            Ending::Fatal { code, reason } if !self.policy.shadow => {
                self.record(AttemptOutcome::Fatal, review.reasons);
                Ok(Decision::Fatal { code, reason })
            }
            Ending::Escalate { edge, code, reason } if !self.policy.shadow => {
                self.record(AttemptOutcome::Escalated, review.reasons);
                Ok(Decision::Escalate { edge, code, reason, exhausted: None })
            }
            _ if !review.notes.is_empty() && unfit(validators, &review.response).is_some() => {
                let reason = unfit(validators, &review.response).into_iter().collect();
                Ok(self.reject(before, reason))
            }
            _ => Ok(self.accept(before, review.response, review.notes, review.reasons)),
        }
    }

    /// A judge without a report of tokens can't be kept within a budget either.
    fn metered(&mut self, review: &Review) -> Result<(), GateError> {
        let Some(model) = review.unmetered.first() else { return Ok(()) };
        let unknown = u32::try_from(review.unmetered.len()).unwrap_or(u32::MAX);
        self.ledger.usage_unknown = self.ledger.usage_unknown.saturating_add(unknown);
        match self.policy.token_budget.or(self.policy.judge_token_budget) {
            None => Ok(()),
            Some(budget) => {
                self.record(AttemptOutcome::Rejected, vec![reason(Code::USAGE_UNAVAILABLE, None)]);
                Err(GateError::UsageUnavailable { model: model.clone(), budget })
            }
        }
    }

    /// How the response differs from what the model said, which was `before`.
    fn modification(&self, before: &Fingerprint, response: &Response, notes: &[String]) -> Option<Modification> {
        let repaired: Vec<String> = self.repaired.iter().map(ToString::to_string).collect();
        let repaired = (!repaired.is_empty()).then(|| format!("repaired: {}", repaired.join(", ")));
        let notes: Vec<&str> = repaired.iter().chain(notes).map(String::as_str).collect();
        (!notes.is_empty()).then(|| Modification {
            before: before.clone(),
            after: Fingerprint::of(response),
            note: notes.join("\n"),
        })
    }

    fn accept(self, before: Fingerprint, response: Response, notes: Vec<String>, reasons: Vec<Reason>) -> Decision {
        let modified = self.modification(&before, &response, &notes);
        let mut attempt = self.attempt(AttemptOutcome::Accepted, reasons);
        attempt.modified.clone_from(&modified);
        self.ledger.record(attempt);
        let note = modified.as_ref().map(|modification| modification.note.clone());
        Decision::Accept { response: Box::new(response), note, modified, best: None }
    }

    /// Keeps what was rejected, if it is the best so far and could be accepted at all.
    fn offer<S: ?Sized + Sync + 'static>(
        &mut self,
        validators: &Validators<S>,
        before: &Fingerprint,
        review: &Review,
        state: &S,
    ) {
        let Some(score) = &validators.score else { return };
        let is_faulty = review.response.calls.iter().any(|call| call.fault().is_some());
        // A validator may have put anything in the place of the response that the gate itself checked.
        if self.policy.exhaustion != Exhaustion::AcceptBest
            || is_faulty
            || unfit(validators, &review.response).is_some()
        {
            return;
        }
        match guarded(|| score(&review.response, state)) {
            Ok(score) => self.ledger.offer(Candidate {
                response: Box::new(review.response.clone()),
                score,
                attempt: self.ledger.started().saturating_add(1),
                modified: self.modification(before, &review.response, &review.notes),
            }),
            Err(_) => self.ledger.bump(Code::VALIDATOR_FAILED),
        }
    }

    fn reject(&mut self, fingerprint: Fingerprint, reasons: Vec<Reason>) -> Decision {
        let codes = distinct_codes(&reasons);
        let feedback = told(&reasons);
        let told = feedback.clone().unwrap_or_default();
        self.record(AttemptOutcome::Rejected, reasons);
        let rejected = Some((fingerprint, codes.clone()));
        let repeated = self.policy.stop_without_progress && self.ledger.last_rejected == rejected;
        self.ledger.last_rejected = rejected;
        self.retry(&codes, feedback, told, Duration::ZERO, repeated)
    }

    fn retry(
        &mut self,
        codes: &[Code],
        feedback: Option<String>,
        reason: String,
        at_least: Duration,
        repeated: bool,
    ) -> Decision {
        if let Some(FallbackUse { by, .. }) = &self.ledger.fallback {
            return self.fail(by.clone());
        }
        let backoff = self.policy.backoff.after(self.ledger.finished()).max(at_least);
        let limit = self.policy.exhausted(self.ledger, codes, backoff);
        if let Some(by) = limit.or_else(|| repeated.then_some(ExhaustedBy::NoProgress)) {
            let code = codes.first().cloned().unwrap_or(Code::INVOCATION);
            return self.exhausted(by, code, feedback, reason);
        }
        self.ledger.elapsed = self.ledger.elapsed.saturating_add(backoff);
        let next = self.policy.next_attempt(self.ledger);
        Decision::Retry { feedback, backoff, attempt: next.attempt, max: next.max, is_last: next.is_last }
    }

    fn exhausted(&mut self, by: ExhaustedBy, code: Code, feedback: Option<String>, reason: String) -> Decision {
        // What is said of the fallback model's response is final.
        if let Some(FallbackUse { by, .. }) = &self.ledger.fallback {
            return self.fail(by.clone());
        }
        match &self.policy.exhaustion {
            Exhaustion::Escalate(edge) => Decision::Escalate { edge: edge.clone(), code, reason, exhausted: Some(by) },
            Exhaustion::AcceptBest => match self.ledger.accept_best() {
                Some(best) => accept_best(best, by),
                None => self.fail(by),
            },
            Exhaustion::FallbackModel if self.has_time(&by) => {
                self.ledger.fallback = Some(FallbackUse { by: by.clone(), attempt: None });
                let next = self.policy.next_attempt(self.ledger);
                Decision::Fallback { feedback, by, attempt: next.attempt, max: next.max }
            }
            Exhaustion::Fail | Exhaustion::FallbackModel => self.fail(by),
        }
    }

    /// Whether one more call could begin. A wait that would end too late is no reason against one that begins at once.
    fn has_time(&self, by: &ExhaustedBy) -> bool {
        match self.policy.remaining(self.ledger) {
            Some(left) => !left.is_zero(),
            None => *by != ExhaustedBy::Deadline,
        }
    }

    fn fail(&self, by: ExhaustedBy) -> Decision {
        Decision::Exhausted(GateFailure { by, attempts: self.ledger.attempts.clone() })
    }

    fn record(&mut self, outcome: AttemptOutcome, reasons: Vec<Reason>) {
        let attempt = self.attempt(outcome, reasons);
        self.ledger.record(attempt);
    }

    fn attempt(&self, outcome: AttemptOutcome, mut reasons: Vec<Reason>) -> Attempt {
        for message in reasons.iter_mut().filter_map(|reason| reason.message.as_mut()) {
            *message = clip(message, LONGEST_REASON);
        }
        Attempt {
            n: self.ledger.started().saturating_add(1),
            outcome,
            reasons,
            usage: self.usage,
            latency: self.latency,
            model: self.model.clone(),
            modified: None,
            repaired: self.repaired.clone(),
        }
    }
}
