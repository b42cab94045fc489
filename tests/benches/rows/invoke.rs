//! Row 7: whole turns of tiny graphs.

use futures_util::future::join_all;
use graph_engine::{Parallel, Runner};

use crate::limit::{self, Update};
use crate::measure::{Timed, times};
use crate::suite::{Row, Suite};
use crate::workloads::count::{Count, Tick, chain_runner, five_at_once};
use crate::workloads::{Here, turn};

pub(crate) const TURNS: u64 = 10_000;

fn engine(here: &Here, runner: Runner<Count>, n: u64) -> Timed<'static> {
    let here = here.clone();
    times(1, move || {
        here.run(async {
            for _ in 0..TURNS {
                assert_eq!(turn(&runner, Count::update()).await.state.n, n);
            }
        });
    })
}

pub(crate) fn seq_by_hand(here: &Here) -> Timed<'static> {
    let here = here.clone();
    let nodes = limit::boxed(3, |_| limit::Count);
    times(1, move || {
        here.run(async {
            for _ in 0..TURNS {
                assert_eq!(limit::chain(&nodes).await.n, 3);
            }
        });
    })
}

fn par_by_hand(here: &Here) -> Timed<'static> {
    let here = here.clone();
    let nodes = limit::boxed(5, limit::Emit);
    times(1, move || {
        here.run(async {
            for _ in 0..TURNS {
                let mut state = limit::State::default();
                let updates = join_all(nodes.iter().map(|node| node.run(&state))).await;
                updates.into_iter().for_each(|update| state.apply(update));
                let count = state.out.len() as u64;
                state.apply(Update { n: Some(count), ..Update::default() });
                assert_eq!(state.n, 5);
            }
        });
    })
}

pub(crate) fn rows(suite: &mut Suite, here: &Here) {
    let row = |n, variant, ratio: f64, most: f64| {
        Row::new(7, "invoke_small", n, variant).unit("invoke", TURNS).ratio(ratio).most(most)
    };
    suite.pair(row(3, "seq", 8.5, 500.0), || (seq_by_hand(here), engine(here, chain_runner(3, || Tick), 3)));
    suite.pair(row(5, "par", 6.2, 1_500.0), || (par_by_hand(here), engine(here, five_at_once(Parallel::Joined), 5)));
    suite.pair(row(5, "par, spawned", 6.2, 1_500.0).beside(), || {
        (par_by_hand(here), engine(here, five_at_once(Parallel::Spawned), 5))
    });
}
