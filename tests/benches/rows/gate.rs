//! The acceptance gate with five checks, beside the same checks called by hand; and how its cost grows with the answer.

use std::time::Duration;

use graph_nodes::gate::{
    ArgumentsParse, CleanFinish, ForbiddenPatterns, GateLedger, GatePolicy, Length, ModelOutcome, NonEmptyText,
    Validator, Validators, Verdict, decide,
};
use graph_nodes::model::Response;

use crate::Here;
use crate::measure::{Row, Target, Timed, on_each};

const ANSWERS: u64 = 200;

fn patterns() -> ForbiddenPatterns {
    ForbiddenPatterns::new([("an e-mail address", r"[a-z]+@[a-z]+\.[a-z]+"), ("a card number", r"\b\d{16}\b")])
        .expect("patterns")
}

fn five() -> Validators<()> {
    Validators::new()
        .with(NonEmptyText)
        .with(CleanFinish)
        .with(ArgumentsParse)
        .with(patterns())
        .with(Length::at_most(usize::MAX))
}

/// An answer of so many bytes.
fn answer(bytes: usize) -> Response {
    Response::from_text("A quiet room is free in the old town, with breakfast. ".repeat(bytes / 54 + 1))
}

fn outcome(bytes: usize) -> ModelOutcome {
    ModelOutcome::new("m", Duration::ZERO, Ok(answer(bytes)))
}

fn by_hand<'a>(bytes: usize) -> Timed<'a> {
    let patterns = patterns();
    let length = Length::at_most(usize::MAX);
    let work = move |response: Response| {
        let checks: [&dyn Validator<()>; 5] = [&NonEmptyText, &CleanFinish, &ArgumentsParse, &patterns, &length];
        assert!(checks.iter().all(|check| check.validate(&response, &()) == Verdict::Accept));
    };
    on_each(ANSWERS, move || answer(bytes), work)
}

fn gated(here: &Here, bytes: usize, count: u64) -> Timed<'_> {
    let (policy, validators) = (GatePolicy::new(), five());
    let work = move |outcome: ModelOutcome| {
        let mut ledger = GateLedger::default();
        let decided = here.run(decide(&policy, &validators, &mut ledger, outcome, &()));
        assert!(decided.is_ok() && ledger.acceptance_rate() == Some(1.0));
    };
    on_each(count, move || outcome(bytes), work)
}

pub(crate) fn rows(here: &Here) {
    for bytes in [1_000, 100_000] {
        let name = format!("gate with 5 validators, {bytes} bytes");
        let row = Row { name, unit: "answer", units: (ANSWERS, ANSWERS), target: Target::Shown };
        row.pair(by_hand(bytes), gated(here, bytes, ANSWERS));
    }
}

pub(crate) fn laws(here: &Here) {
    let (small, large) = (10_000, 1_000_000);
    let row = Row {
        name: "gate with 5 validators, a longer answer".to_owned(),
        unit: "10 kB",
        units: (200, 200),
        target: Target::Ratio(1.3),
    };
    row.pair(gated(here, small, 200), gated(here, large, 2));
}
