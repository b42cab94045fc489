//! Row 8: 200 super-steps beside a history of messages, which they leave alone or append to.

use std::hint::black_box;
use std::sync::Arc;

use crate::limit::{self, Node};
use crate::measure::{Timed, times};
use crate::suite::{Law, Row, Suite};
use crate::workloads::chat::{History, Touch, beside, msg};
use crate::workloads::{Here, turn};

const STEPS: u64 = 200;
const RUNS: u64 = 200;

/// Super-steps of one measurement.
pub(crate) const UNITS: u64 = STEPS * RUNS;

pub(crate) fn engine(here: &Here, bytes: u64, touch: Touch) -> Timed<'static> {
    let (here, runner) = (here.clone(), beside(bytes, touch));
    times(RUNS, move || {
        let end = here.run(turn(&runner, History::update().limit(STEPS)));
        assert_eq!(end.state.n, STEPS);
    })
}

fn by_hand(here: &Here, bytes: u64, touch: Touch) -> Timed<'static> {
    let here = here.clone();
    let node: Box<dyn Node> = if touch == Touch::Idle { Box::new(limit::Count) } else { Box::new(limit::Append(100)) };
    let mut state =
        limit::State { messages: (0..bytes / 100).map(|i| Arc::new(msg(i, 100))).collect(), ..Default::default() };
    let before = state.messages.len();
    state.messages.reserve(STEPS as usize);
    times(RUNS, move || {
        state.n = 0;
        state.messages.truncate(before);
        here.run(async {
            while state.n < STEPS {
                let update = node.run(&state).await;
                state.apply(update);
            }
        });
        black_box(state.messages.len());
    })
}

const SIZES: [(u64, &str); 3] = [(0, "0"), (10_000, "10 kB"), (1_000_000, "1 MB")];

pub(crate) fn rows(suite: &mut Suite, here: &Here) {
    for (touch, label, most) in [(Touch::Idle, "idle", 80.0), (Touch::Append, "append", 600.0)] {
        for (bytes, size) in SIZES {
            let row = Row::new(8, "state_size", STEPS, format!("{label}, {size}"));
            let row = row.unit("super-step", UNITS).ratio(2.5).most(most);
            suite.pair(row, || (by_hand(here, bytes, touch), engine(here, bytes, touch)));
        }
    }
}

pub(crate) fn laws(suite: &mut Suite, here: &Here) {
    for (touch, name, most) in
        [(Touch::Idle, "state size: idle beside 0, 1 MB", 1.05), (Touch::Append, "state size: append to 0, 1 MB", 1.1)]
    {
        suite.law(&Law { rows: &[8], name, unit: "super-step", units: (UNITS, UNITS), most }, || {
            (engine(here, 0, touch), engine(here, 1_000_000, touch))
        });
    }
}
