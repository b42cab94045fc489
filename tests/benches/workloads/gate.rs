//! The acceptance gate with five checks.

use std::time::Duration;

use graph_nodes::gate::{
    ArgumentsParse, CleanFinish, ForbiddenPatterns, GateLedger, GatePolicy, Length, ModelOutcome, NonEmptyText,
    Validators, decide,
};
use graph_nodes::model::Response;

use super::Here;

/// What no answer may contain.
pub(crate) fn patterns() -> ForbiddenPatterns {
    ForbiddenPatterns::new([("an e-mail address", r"[a-z]+@[a-z]+\.[a-z]+"), ("a card number", r"\b\d{16}\b")])
        .expect("patterns")
}

/// Five checks.
pub(crate) fn five() -> Validators<()> {
    Validators::new()
        .with(NonEmptyText)
        .with(CleanFinish)
        .with(ArgumentsParse)
        .with(patterns())
        .with(Length::at_most(usize::MAX))
}

/// An answer of so many bytes.
pub(crate) fn answer(bytes: usize) -> Response {
    Response::from_text("A quiet room is free in the old town, with breakfast. ".repeat(bytes / 54 + 1))
}

/// The answer as the gate is given it.
pub(crate) fn outcome(bytes: usize) -> ModelOutcome {
    ModelOutcome::new("m", Duration::ZERO, Ok(answer(bytes)))
}

/// Decides about one answer.
pub(crate) fn accept(here: &Here, policy: &GatePolicy, validators: &Validators<()>, outcome: ModelOutcome) {
    let mut ledger = GateLedger::default();
    let decided = here.run(decide(policy, validators, &mut ledger, outcome, &()));
    assert!(decided.is_ok() && ledger.acceptance_rate() == Some(1.0));
}
