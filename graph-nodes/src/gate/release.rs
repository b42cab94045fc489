//! What of a response is shown before it is judged, and what has to be taken back.

use super::streaming::Checkpoints;
use super::{Code, GatePolicy, GateSink, GatedEvent, Retracted, Streaming, Validators, Verdict};
use crate::message::{FinishReason, Usage};
use crate::model::Response;

/// The text of one response on its way to who waits for it.
pub(crate) struct Release<'a, S: ?Sized> {
    streaming: Streaming,
    validators: &'a Validators<S>,
    state: &'a S,
    /// Whether pieces are checked at all: shadow mode changes nothing of what is shown.
    is_checked: bool,
    text: String,
    checkpoints: Checkpoints,
    /// Bytes of `text` that were shown.
    shown: usize,
    /// Tokens that checks of pieces took.
    pub(crate) spent: Usage,
}

impl<'a, S: ?Sized + Sync + 'static> Release<'a, S> {
    pub(crate) fn new(
        streaming: Streaming,
        policy: &GatePolicy,
        validators: &'a Validators<S>,
        state: &'a S,
        structured: bool,
    ) -> Self {
        let is_structured = structured || validators.structured().is_some();
        let streaming = match streaming {
            Streaming::Checkpoint(_) if is_structured => Streaming::HoldAll,
            streaming => streaming,
        };
        Self {
            streaming,
            validators,
            state,
            is_checked: !policy.shadow,
            text: String::new(),
            checkpoints: Checkpoints::default(),
            shown: 0,
            spent: Usage::default(),
        }
    }

    /// Takes the next piece, and shows what may be shown.
    pub(super) async fn push(&mut self, more: &str, sink: &mut dyn GateSink) {
        match self.streaming {
            Streaming::HoldAll => {}
            Streaming::PassThrough => {
                self.text.push_str(more);
                if sink.is_read() {
                    self.show(self.text.len(), sink).await;
                }
            }
            Streaming::Checkpoint(checkpoint) => {
                let start = self.text.len();
                self.text.push_str(more);
                for (at, next) in more.char_indices() {
                    if self.checkpoints.is_behind(next, checkpoint) {
                        let end = start + at + next.len_utf8();
                        // Who begins to read later gets everything up to the next checkpoint.
                        if sink.is_read() && self.passes(end).await {
                            self.show(end, sink).await;
                        }
                    }
                }
            }
        }
    }

    /// Whether every cheap check accepts the text up to here as if it were the whole answer.
    async fn passes(&mut self, end: usize) -> bool {
        let so_far = Response { finish: Some(FinishReason::Stop), ..Response::from_text(&self.text[..end]) };
        if so_far.is_empty() || !self.is_checked {
            return !so_far.is_empty();
        }
        for check in &self.validators.cheap {
            let Ok(judgement) = check.run(&so_far, self.state).await else { return false };
            self.spent += judgement.usage.unwrap_or_default();
            // A changed text is another one than what would be shown.
            if judgement.verdict != Verdict::Accept {
                return false;
            }
        }
        true
    }

    async fn show(&mut self, end: usize, sink: &mut dyn GateSink) {
        let piece = self.text[self.shown..end].to_owned();
        self.shown = end;
        if !piece.is_empty() {
            sink.event(GatedEvent::Text(piece)).await;
        }
    }

    /// What is left to show of an accepted text, after what was shown and doesn't belong to it was taken back.
    pub(crate) async fn rest<'t>(&mut self, accepted: &'t str, attempt: u32, sink: &mut dyn GateSink) -> &'t str {
        if let Some(rest) = accepted.strip_prefix(&self.text[..self.shown]) {
            return rest;
        }
        self.retract(attempt, Vec::new(), sink).await;
        accepted
    }

    /// Takes back what was shown, if something was.
    pub(crate) async fn retract(&mut self, attempt: u32, codes: Vec<Code>, sink: &mut dyn GateSink) {
        let chars = self.text[..self.shown].chars().count() as u64;
        if std::mem::take(&mut self.shown) > 0 {
            sink.event(GatedEvent::Retract(Retracted { attempt, chars, codes })).await;
        }
    }
}
