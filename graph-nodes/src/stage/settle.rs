//! What becomes of a draft that is judged.

use std::time::Duration;

use graph_engine::{Ctx, Log, Name, NodeError, Outcome, State};
use serde_json::Value;

use super::{Accepted, Correction, Draft, GateBook, GateNode, Held, RoundEnd, StageError, StageEvent};
use crate::gate::{
    Attempt, BestOf, Code, ExhaustedBy, Exhaustion, FeedbackMode, GateFailure, ModelOutcome, ModelResult, Modification,
};
use crate::model::Response;

/// Where a round goes instead of an acceptance.
pub(super) struct Way {
    pub(super) edge: String,
    pub(super) code: Code,
    pub(super) reason: String,
    pub(super) exhausted: Option<ExhaustedBy>,
}

impl<S: State> GateNode<S> {
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

    pub(super) async fn accept(
        &self,
        ctx: &Ctx,
        mut book: GateBook,
        response: Response,
        modified: Option<Modification>,
        best: Option<BestOf>,
    ) -> Result<Outcome<S>, NodeError> {
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
            if !response.text.is_empty() {
                ctx.token(response.text.as_str()).await;
            }
        }
        if response.calls.is_empty() {
            self.seat.history.put(&mut update, Log::from([response.to_message()]));
            self.seat.draft.put(&mut update, None);
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
    pub(super) async fn retry(
        &self,
        ctx: &Ctx,
        book: GateBook,
        rejected: ModelResult,
        backoff: Duration,
        correction: Correction,
    ) -> Result<Outcome<S>, NodeError> {
        if ctx.is_observed() {
            let last = book.ledger(&self.stage).and_then(|ledger| ledger.attempts.last());
            let codes = last.map(Attempt::codes).unwrap_or_default();
            let Correction { attempt, max, .. } = correction;
            ctx.emit(StageEvent::Rejected { stage: self.stage.clone(), codes, attempt, max }).await?;
        }
        tokio::time::sleep(backoff).await;
        let kept = match rejected {
            ModelResult::Response(response) if self.policy.feedback == FeedbackMode::Transcript => {
                Some(Draft { stage: self.stage.clone(), held: Held::Rejected(response) })
            }
            _ => None,
        };
        let mut update = S::Update::default();
        self.seat.draft.put(&mut update, kept);
        self.seat.book.put(&mut update, book);
        let feedback = serde_json::to_value(correction).map_err(NodeError::fatal)?;
        Ok(Outcome::of(update).stay(feedback))
    }

    fn leave(&self, mut book: GateBook, to: &Name, way: Way) -> Outcome<S> {
        let Way { edge, code, reason, exhausted } = way;
        book.close(&self.stage, RoundEnd::Escalated { edge, to: to.clone(), code, reason, exhausted });
        let mut update = S::Update::default();
        self.seat.book.put(&mut update, book);
        self.seat.draft.put(&mut update, None);
        Outcome::of(update).go(to)
    }

    pub(super) fn escalated(&self, book: GateBook, way: Way) -> Result<Outcome<S>, NodeError> {
        if let Some(to) = self.edges.get(&way.edge) {
            return Ok(self.leave(book, to, way));
        }
        let Way { edge, code, reason, .. } = way;
        let known = self.edges.keys().cloned().collect();
        Err(StageError::UnknownEdge { stage: self.stage.clone(), edge, code, reason, known }.fatal())
    }

    pub(super) fn out_of_attempts(&self, mut book: GateBook, failure: GateFailure) -> Result<Outcome<S>, NodeError> {
        let Some(to) = &self.exhausted else {
            let ledger = Box::new(std::mem::take(book.ledger_mut(&self.stage)));
            return Err(StageError::Exhausted { stage: self.stage.clone(), failure, ledger }.fatal());
        };
        let reasons = failure.attempts.last().map(|attempt| attempt.reasons.as_slice()).unwrap_or_default();
        let code = reasons.first().map_or(Code::INVOCATION, |reason| reason.code.clone());
        let told: Vec<&str> = reasons.iter().filter_map(|reason| reason.message.as_deref()).collect();
        let way = Way { edge: "exhausted".to_owned(), code, reason: told.join("\n"), exhausted: Some(failure.by) };
        Ok(self.leave(book, to, way))
    }
}
