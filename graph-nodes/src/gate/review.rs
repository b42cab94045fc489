//! All checks of a gate on one response.

use std::time::Duration;

use super::validators::Judge;
use super::{
    Code, Fingerprint, GatePolicy, Judgement, Modification, PanicPolicy, Reason, Replacement, Validators, Verdict,
};
use crate::message::Usage;
use crate::model::Response;
use crate::panics::{guarded, guarded_async};

/// What all checks together say.
pub(super) struct Review {
    /// The response with all replacements.
    pub(super) response: Response,
    pub(super) notes: Vec<String>,
    pub(super) reasons: Vec<Reason>,
    pub(super) ending: Ending,
    pub(super) judge: Usage,
    pub(super) judge_calls: u32,
    pub(super) judge_latency: Duration,
    /// Panics that count as nothing but are counted.
    pub(super) ignored_panics: u32,
}

/// The strongest verdict: fatal beats escalate beats retry beats accept.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Ending {
    Accept,
    Retry,
    Escalate { edge: String, code: Code, reason: String },
    Fatal { code: Code, reason: String },
}

/// Runs all cheap checks, and the judges if none rejected.
pub(super) async fn review<S: ?Sized + Sync + 'static>(
    policy: &GatePolicy,
    validators: &Validators<S>,
    response: Response,
    state: &S,
) -> Review {
    let mut review = Review {
        response,
        notes: Vec::new(),
        reasons: Vec::new(),
        ending: Ending::Accept,
        judge: Usage::default(),
        judge_calls: 0,
        judge_latency: Duration::ZERO,
        ignored_panics: 0,
    };
    for validator in &validators.cheap {
        let verdict = guarded(|| validator.validate(&review.response, state));
        review.take(policy, validator.name(), verdict);
        if matches!(review.ending, Ending::Fatal { .. }) {
            return review;
        }
    }
    for judge in &validators.judges {
        if review.ending != Ending::Accept {
            break;
        }
        let judgement = match judge {
            Judge::Sync(validator) => guarded(|| Judgement::from(validator.validate(&review.response, state))),
            Judge::Async(validator) => {
                // The call itself is inside: it may panic before its first await.
                guarded_async(async { validator.validate(&review.response, state).await }).await
            }
        };
        review.judge_calls += 1;
        let verdict = judgement.map(|judgement| {
            review.judge += judgement.usage.unwrap_or_default();
            review.judge_latency = review.judge_latency.saturating_add(judgement.latency);
            judgement.verdict
        });
        review.take(policy, judge.name(), verdict);
    }
    review
}

impl Review {
    /// How validators changed the response, which was `before`.
    pub(super) fn modification(&self, before: &Fingerprint) -> Option<Modification> {
        (!self.notes.is_empty()).then(|| Modification {
            before: before.clone(),
            after: Fingerprint::of(&self.response),
            note: self.notes.join("\n"),
        })
    }

    fn take(&mut self, policy: &GatePolicy, validator: &str, verdict: Result<Verdict, String>) {
        let verdict = verdict.unwrap_or_else(|panic| {
            let reason = format!("the validator `{validator}` panicked ({panic}); correct it");
            match policy.on_validator_panic {
                PanicPolicy::Reject => Verdict::retry(Code::VALIDATOR_FAILED, reason),
                PanicPolicy::Fatal => Verdict::fatal(Code::VALIDATOR_FAILED, reason),
                PanicPolicy::Accept => {
                    self.ignored_panics += 1;
                    Verdict::Accept
                }
            }
        });
        let (code, message, ending) = match verdict {
            Verdict::Accept => return,
            Verdict::AcceptWith { replacement, note } => {
                // In shadow mode nothing may change.
                if !policy.shadow {
                    match replacement {
                        Replacement::Text(text) => self.response.text = text,
                        Replacement::Response(response) => self.response = *response,
                    }
                    self.notes.push(note);
                }
                return;
            }
            Verdict::Retry { code, feedback } => (code, feedback, Ending::Retry),
            Verdict::Fatal { code, reason } => (code.clone(), Some(reason.clone()), Ending::Fatal { code, reason }),
            Verdict::Escalate { edge, code, reason } => {
                (code.clone(), Some(reason.clone()), Ending::Escalate { edge, code, reason })
            }
        };
        self.reasons.push(Reason { code, validator: Some(validator.to_owned()), message });
        let is_stronger = matches!(
            (&self.ending, &ending),
            (Ending::Accept, _) | (_, Ending::Fatal { .. }) | (Ending::Retry, Ending::Escalate { .. })
        );
        if is_stronger {
            self.ending = ending;
        }
    }
}
