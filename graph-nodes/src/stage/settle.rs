//! What becomes of a draft that is judged.

use std::time::Duration;

use graph_engine::{Ctx, Log, Name, NodeError, Outcome, State};
use serde_json::Value;

use super::correction::Again;
use super::{Accepted, Correction, Draft, GateBook, GateNode, Held, RoundEnd, StageError, StageEvent};
use crate::gate::{
    Attempt, BestOf, Code, Decision, ExhaustedBy, Exhaustion, FeedbackMode, GateFailure, GateLedger, ModelOutcome,
    ModelResult, Modification, trace,
};
use crate::model::Response;

/// Where a round goes instead of an acceptance.
struct Way {
    edge: String,
    code: Code,
    reason: String,
    exhausted: Option<ExhaustedBy>,
}

/// Where the wait before the next attempt is waited.
#[derive(Clone, Copy)]
pub(super) enum Wait {
    /// By the gate.
    Here,
    /// By the vertex that asks, when it begins again; so many bytes of the text were shown already.
    There { shown: usize },
}

/// A response that is accepted.
struct Taken {
    response: Response,
    modified: Option<Modification>,
    best: Option<BestOf>,
}

impl<S: State> GateNode<S> {
    /// Does what the gate decided.
    pub(super) async fn follow(
        &self,
        ctx: &Ctx,
        state: &S,
        mut book: GateBook,
        rejected: ModelResult,
        decision: Decision,
        wait: Wait,
    ) -> Result<Outcome<S>, NodeError> {
        match decision {
            Decision::Accept { response, modified, best, .. } => {
                self.accept(ctx, state, book, Taken { response: *response, modified, best }, wait).await
            }
            Decision::Retry { feedback, backoff, attempt, max, is_last } => {
                let (stage, mode) = (self.stage.clone(), self.policy.feedback);
                let correction = Correction { stage, feedback, mode, attempt, max, is_last, fallback: false };
                self.retry(ctx, book, rejected, backoff, correction, wait).await
            }
            Decision::Fallback { feedback, by, attempt, max } => {
                let (stage, mode) = (self.stage.clone(), self.policy.feedback);
                let correction = Correction { stage, feedback, mode, attempt, max, is_last: true, fallback: true };
                if ctx.is_observed() {
                    ctx.emit(StageEvent::Fallback { stage: self.stage.clone(), by }).await?;
                }
                self.retry(ctx, book, rejected, Duration::ZERO, correction, wait).await
            }
            Decision::Escalate { edge, code, reason, exhausted } => {
                self.escalated(book, Way { edge, code, reason, exhausted })
            }
            Decision::Exhausted(failure) => self.out_of_attempts(book, failure, rejected),
            Decision::Fatal { code, reason } => {
                let ledger = self.lost(&mut book, "fatal");
                Err(StageError::Fatal { stage: self.stage.clone(), code, reason, ledger }.fatal())
            }
            Decision::Cancelled => Err(StageError::Cancelled { stage: self.stage.clone() }.fatal()),
        }
    }

    /// The ledger of a round that fails its turn.
    fn lost(&self, book: &mut GateBook, end: &str) -> Box<GateLedger> {
        let ledger = Box::new(std::mem::take(book.ledger_mut(&self.stage)));
        trace::round(&self.stage, &ledger, end);
        ledger
    }

    pub(super) fn outcome_of(&self, state: &S) -> Result<ModelOutcome, StageError> {
        let found = match self.seat.draft.get(state) {
            None => "no draft".to_owned(),
            Some(Draft { stage, .. }) if *stage != self.stage => format!("a draft of stage `{stage}`"),
            Some(Draft { held: Held::Outcome { outcome, deadline, fallback }, .. }) => {
                return match self.policy.deadline {
                    Some(limit) if Some(limit) != *deadline => Err(StageError::DeadlineDiffers {
                        stage: self.stage.clone(),
                        deadline: limit,
                        agent: *deadline,
                    }),
                    // Said at the first attempt, not after all of them were paid for.
                    _ if self.policy.exhaustion == Exhaustion::FallbackModel && !fallback => {
                        Err(StageError::NoFallback { stage: self.stage.clone() })
                    }
                    _ => Ok(ModelOutcome::clone(outcome)),
                };
            }
            Some(_) => "a draft that is judged already".to_owned(),
        };
        Err(StageError::NoDraft { stage: self.stage.clone(), vertex: "gate", found })
    }

    async fn accept(
        &self,
        ctx: &Ctx,
        state: &S,
        mut book: GateBook,
        taken: Taken,
        wait: Wait,
    ) -> Result<Outcome<S>, NodeError> {
        let Taken { response, modified, best } = taken;
        let mut update = S::Update::default();
        let stage = || self.stage.clone();
        book.close(&self.stage, best.clone().map_or(RoundEnd::Accepted, RoundEnd::AcceptedBest));
        self.seat.book.put(&mut update, book);
        if ctx.is_observed() {
            if let Some(best) = best {
                ctx.emit(StageEvent::AcceptedBest { stage: stage(), best }).await?;
            }
            if let Some(modification) = modified {
                ctx.emit(StageEvent::Modified { stage: stage(), modification }).await?;
            }
            if !response.warnings.is_empty() {
                let warnings = response.warnings.clone();
                ctx.emit(StageEvent::Warnings { stage: stage(), warnings }).await?;
            }
            let rest = match wait {
                Wait::Here => response.text.as_str(),
                Wait::There { shown } => response.text.get(shown..).unwrap_or_default(),
            };
            if !rest.is_empty() {
                ctx.token(rest).await;
            }
        }
        if response.calls.is_empty() {
            self.seat.history.put(&mut update, Log::from([response.to_message()]));
            self.seat.draft.put(&mut update, None);
            if let Some(Ok(output)) = &self.output {
                let composed = output.update(&stage(), &response.text, state).map_err(StageError::fatal)?;
                update = S::compose(update, composed);
            }
            let outcome = Outcome::of(update);
            return Ok(match &self.accepted {
                Accepted::Direct => outcome.direct(Value::from(response.text)),
                Accepted::Go(node) => outcome.go(node),
            });
        }
        let node = self.calls.as_ref().ok_or_else(|| StageError::NobodyRunsCalls { stage: stage() }.fatal())?;
        self.seat.draft.put(&mut update, Some(Draft { stage: stage(), held: Held::Calls(Box::new(response)) }));
        Ok(Outcome::of(update).go(node))
    }

    /// Waits, then stays. Dropping the future is the only thing a cancellation does.
    async fn retry(
        &self,
        ctx: &Ctx,
        book: GateBook,
        rejected: ModelResult,
        backoff: Duration,
        correction: Correction,
        wait: Wait,
    ) -> Result<Outcome<S>, NodeError> {
        if ctx.is_observed() {
            let last = book.ledger(&self.stage).and_then(|ledger| ledger.attempts.last());
            let codes = last.map(Attempt::codes).unwrap_or_default();
            let Correction { attempt, max, .. } = correction;
            ctx.emit(StageEvent::Rejected { stage: self.stage.clone(), codes, attempt, max }).await?;
        }
        let feedback = match wait {
            Wait::Here => {
                tokio::time::sleep(backoff).await;
                serde_json::to_value(correction)
            }
            Wait::There { .. } => serde_json::to_value(Again { correction, wait: backoff }),
        };
        let kept = match rejected {
            ModelResult::Response(response) if self.policy.feedback == FeedbackMode::Transcript => {
                Some(Draft { stage: self.stage.clone(), held: Held::Rejected(response) })
            }
            _ => None,
        };
        let mut update = S::Update::default();
        self.seat.draft.put(&mut update, kept);
        self.seat.book.put(&mut update, book);
        Ok(Outcome::of(update).stay(feedback.map_err(NodeError::fatal)?))
    }

    fn leave(&self, mut book: GateBook, to: &Name, way: Way) -> Outcome<S> {
        let Way { edge, code, reason, exhausted } = way;
        book.close(&self.stage, RoundEnd::Escalated { edge, to: to.clone(), code, reason, exhausted });
        let mut update = S::Update::default();
        self.seat.book.put(&mut update, book);
        self.seat.draft.put(&mut update, None);
        Outcome::of(update).go(to)
    }

    fn escalated(&self, book: GateBook, way: Way) -> Result<Outcome<S>, NodeError> {
        if let Some(to) = self.edges.get(&way.edge) {
            return Ok(self.leave(book, to, way));
        }
        let Way { edge, code, reason, .. } = way;
        let known = self.edges.keys().cloned().collect();
        Err(StageError::UnknownEdge { stage: self.stage.clone(), edge, code, reason, known }.fatal())
    }

    fn out_of_attempts(
        &self,
        mut book: GateBook,
        failure: GateFailure,
        rejected: ModelResult,
    ) -> Result<Outcome<S>, NodeError> {
        let Some(to) = &self.exhausted else {
            let ledger = self.lost(&mut book, "exhausted");
            let last = match rejected {
                ModelResult::Response(response) => Some(response),
                _ => None,
            };
            return Err(StageError::Exhausted { stage: self.stage.clone(), failure, ledger, last }.fatal());
        };
        let reasons = failure.attempts.last().map(|attempt| attempt.reasons.as_slice()).unwrap_or_default();
        let code = reasons.first().map_or(Code::INVOCATION, |reason| reason.code.clone());
        let told: Vec<&str> = reasons.iter().filter_map(|reason| reason.message.as_deref()).collect();
        let way = Way { edge: "exhausted".to_owned(), code, reason: told.join("\n"), exhausted: Some(failure.by) };
        Ok(self.leave(book, to, way))
    }
}
