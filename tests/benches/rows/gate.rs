//! The acceptance gate with five checks, beside the same checks called by hand; and how its cost grows with the answer.

use std::sync::Mutex;
use std::time::Duration;

use async_trait::async_trait;
use graph_nodes::gate::{
    ArgumentsParse, CleanFinish, ForbiddenPatterns, GateLedger, GatePolicy, Gated, GatedEvent, Length, ModelOutcome,
    NonEmptyText, Streaming, Validator, Validators, Verdict, decide,
};
use graph_nodes::message::FinishReason;
use graph_nodes::model::{ChatModel, Chunk, ChunkStream, ModelError, Request, Response};

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
    let row = Row { name: "gate by sentences, a longer answer".to_owned(), target: Target::Ratio(1.5), ..row };
    row.pair(streamed(here, small, 200), streamed(here, large, 2));
}

/// Every sentence is checked as it arrives, together with what came before.
fn streamed(here: &Here, bytes: usize, count: u64) -> Timed<'_> {
    let make = move || {
        let pieces = answer(bytes)
            .text
            .as_bytes()
            .chunks(20)
            .map(|piece| Ok(Chunk::text(String::from_utf8_lossy(piece))))
            .chain([Ok(Chunk::finish(FinishReason::Stop))])
            .collect::<Vec<_>>();
        Gated::new(Pieces(Mutex::new(pieces)), GatePolicy::new(), five()).with_streaming(Streaming::every_sentence())
    };
    let work = move |gated: Gated<()>| {
        let mut shown = 0;
        let count = |event| {
            if let GatedEvent::Text(text) = event {
                shown += text.len();
            }
        };
        let answered = here.run(gated.run(Request::default(), &(), count));
        assert!(answered.is_ok() && shown >= bytes);
    };
    on_each(count, make, work)
}

/// A model that says these pieces, once.
struct Pieces(Mutex<Vec<Result<Chunk, ModelError>>>);

#[async_trait]
impl ChatModel for Pieces {
    fn name(&self) -> &str {
        "pieces"
    }

    async fn stream(&self, _: Request) -> Result<ChunkStream, ModelError> {
        let pieces = std::mem::take(&mut *self.0.lock().expect("nobody panicked"));
        Ok(Box::pin(futures_util::stream::iter(pieces)))
    }
}
