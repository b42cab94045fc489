//! What the gate itself rejects, whatever the validators say.

use super::attempt::LONGEST_REASON;
use super::{AttemptOutcome, Code, Reason};
use crate::message::FinishReason;
use crate::model::Response;
use crate::schema::clip;

/// A rejection by the gate itself.
pub(super) fn core_check(response: &Response) -> Option<(AttemptOutcome, Reason)> {
    let rejected =
        |outcome, code, message: String| Some((outcome, Reason { code, validator: None, message: Some(message) }));
    if let Some(refusal) = &response.refusal {
        return rejected(AttemptOutcome::Blocked, Code::BLOCKED, clip(refusal, LONGEST_REASON));
    }
    if response.finish == Some(FinishReason::ContentFilter) {
        let message = "a content filter stopped the answer".to_owned();
        return rejected(AttemptOutcome::Blocked, Code::BLOCKED, message);
    }
    if !response.calls.is_empty() && response.cut_off().is_some() {
        let message = "the answer was cut off, so its tool calls were not executed; answer shorter".to_owned();
        return rejected(AttemptOutcome::Rejected, Code::TRUNCATED, message);
    }
    if response.finish.is_none() && !response.text.trim().is_empty() {
        let message = "the answer ended without a finish reason, so it may be half of one; answer again".to_owned();
        return rejected(AttemptOutcome::Rejected, Code::TRUNCATED, message);
    }
    if response.is_empty() {
        let message = "the answer was empty; write a text or call a tool".to_owned();
        return rejected(AttemptOutcome::Rejected, Code::EMPTY, message);
    }
    None
}
