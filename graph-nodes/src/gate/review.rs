//! All checks of a gate on one response.

use std::time::Duration;

use super::attempt::LONGEST_REASON;
use super::{Code, GatePolicy, Judgement, PanicPolicy, Reason, Replacement, Validators, Verdict};
use crate::message::Usage;
use crate::model::Response;
use crate::schema::clip;

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
    /// Models of judges that reported no tokens.
    pub(super) unmetered: Vec<String>,
    /// Checks that couldn't do their work, which counts as nothing but is counted.
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
        unmetered: Vec::new(),
        ignored_panics: 0,
    };
    for check in &validators.cheap {
        let judgement = check.run(&review.response, state).await;
        review.take(policy, check.name(), judgement);
        if matches!(review.ending, Ending::Fatal { .. }) {
            return review;
        }
    }
    for judge in &validators.judges {
        if review.ending != Ending::Accept {
            break;
        }
        review.judge_calls += 1;
        let judgement = judge.run(&review.response, state).await;
        review.take(policy, judge.name(), judgement);
    }
    review
}

impl Review {
    fn take(&mut self, policy: &GatePolicy, validator: &str, judgement: Result<Judgement, String>) {
        let judgement = judgement.unwrap_or_else(|panic| {
            Judgement::failed(format!("the validator `{validator}` panicked ({panic}); correct it"))
        });
        self.judge += judgement.usage.unwrap_or_default();
        self.judge_latency = self.judge_latency.saturating_add(judgement.latency);
        self.unmetered.extend(judgement.unmetered);
        let verdict = match (judgement.verdict, policy.on_validator_panic) {
            (Verdict::Retry { code, .. }, PanicPolicy::Accept) if code == Code::VALIDATOR_FAILED => {
                self.ignored_panics += 1;
                Verdict::Accept
            }
            (Verdict::Retry { code, feedback }, PanicPolicy::Fatal) if code == Code::VALIDATOR_FAILED => {
                Verdict::Fatal { code, reason: feedback.unwrap_or_default() }
            }
            (verdict, _) => verdict,
        };
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
            Verdict::Fatal { code, reason } => {
                let reason = clip(&reason, LONGEST_REASON);
                (code.clone(), Some(reason.clone()), Ending::Fatal { code, reason })
            }
            Verdict::Escalate { edge, code, reason } => {
                let reason = clip(&reason, LONGEST_REASON);
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
