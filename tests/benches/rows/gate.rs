//! The acceptance gate with five checks, beside the same checks called by hand; and how its cost grows with the answer.

use std::sync::Mutex;

use async_trait::async_trait;
use graph_nodes::gate::{
    ArgumentsParse, CleanFinish, GatePolicy, Gated, GatedEvent, Length, NonEmptyText, Streaming, Validator, Verdict,
};
use graph_nodes::message::FinishReason;
use graph_nodes::model::{ChatModel, Chunk, ChunkStream, ModelError, Request, Response};

use crate::measure::{Timed, on_each};
use crate::suite::{Law, Row, Suite};
use crate::workloads::Here;
use crate::workloads::gate::{accept, answer, five, outcome, patterns};

const ANSWERS: u64 = 200;

fn by_hand<'a>(bytes: usize) -> Timed<'a> {
    let patterns = patterns();
    let length = Length::at_most(usize::MAX);
    let work = move |response: Response| {
        let checks: [&dyn Validator<()>; 5] = [&NonEmptyText, &CleanFinish, &ArgumentsParse, &patterns, &length];
        assert!(checks.iter().all(|check| check.validate(&response, &()) == Verdict::Accept));
    };
    on_each(ANSWERS, move || answer(bytes), work)
}

fn gated(here: &Here, bytes: usize, count: u64) -> Timed<'static> {
    let (here, policy, validators) = (here.clone(), GatePolicy::new(), five());
    on_each(count, move || outcome(bytes), move |outcome| accept(&here, &policy, &validators, outcome))
}

pub(crate) fn rows(suite: &mut Suite, here: &Here) {
    for bytes in [1_000, 100_000] {
        let row = Row::extra("gate", 0, format!("5 validators, {bytes} bytes")).unit("answer", ANSWERS);
        suite.pair(row, || (by_hand(bytes), gated(here, bytes, ANSWERS)));
    }
}

pub(crate) fn laws(suite: &mut Suite, here: &Here) {
    let (small, large) = (10_000, 1_000_000);
    let law = |name, most| Law { rows: &[], name, unit: "10 kB", units: (200, 200), most };
    suite.law(&law("gate with 5 validators: 10 kB, 1 MB", 1.3), || (gated(here, small, 200), gated(here, large, 2)));
    suite.law(&law("gate by sentences: 10 kB, 1 MB", 1.5), || (streamed(here, small, 200), streamed(here, large, 2)));
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
