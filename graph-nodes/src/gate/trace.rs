//! Attempts and rounds as events of `tracing`. They hold no text of a message.

use super::{Attempt, Code, GateLedger};

/// One event for each attempt from the `from`th on.
pub(crate) fn attempts(stage: &str, ledger: &GateLedger, from: u32) {
    for attempt in ledger.attempts.iter().skip(from as usize) {
        tracing::info!(
            target: "graph_nodes",
            { gate.stage = stage,
            gate.attempt = attempt.n,
            gate.outcome = attempt.outcome.as_str(),
            gate.codes = codes(attempt),
            gate.latency_ms = u64::try_from(attempt.latency.as_millis()).unwrap_or(u64::MAX),
            gen_ai.request.model = attempt.model,
            gen_ai.usage.input_tokens = attempt.usage.map(|usage| usage.input),
            gen_ai.usage.output_tokens = attempt.usage.map(|usage| usage.output) },
            "gate.attempt"
        );
    }
}

/// The end of a round.
pub(crate) fn round(stage: &str, ledger: &GateLedger, end: &str) {
    let last = ledger.attempts.last();
    tracing::info!(
        target: "graph_nodes",
        { gate.stage = stage,
        gate.end = end,
        gate.attempts = ledger.started(),
        gate.codes = last.map(codes),
        gate.tokens.accepted = ledger.accepted.total(),
        gate.tokens.rejected = ledger.rejected.total(),
        gate.tokens.judge = ledger.judge.total(),
        gate.elapsed_ms = u64::try_from(ledger.elapsed.as_millis()).unwrap_or(u64::MAX),
        gen_ai.request.model = last.map(|attempt| attempt.model.as_str()) },
        "gate.round"
    );
}

fn codes(attempt: &Attempt) -> String {
    attempt.codes().iter().map(Code::as_str).collect::<Vec<_>>().join(",")
}
