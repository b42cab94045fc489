//! How fast this machine is beside the one on which the figures of the table were set.

use crate::measure::{Clock, Timed, alone};
use crate::workloads::Here;
use crate::{invoke, sequence, shape};

/// How many times as long this machine takes for the limits of rows 1, 2, 7 and 22, which are pure computing and the same
/// programs as on the machine of the table: the second of the four, the shortest first. On a faster machine the figures stay
/// what the table says.
pub(crate) fn measure(here: &Here, pairs: usize) -> f64 {
    let by_hand: [(f64, u64, Timed<'_>); 4] = [
        (20.0, sequence::RUNS * sequence::STEPS, sequence::loop_by_hand(here, sequence::STEPS, false)),
        (19.0, 100 * 1_000, sequence::chain_by_hand(here, 1_000, 100)),
        (59.0, invoke::TURNS, invoke::seq_by_hand(here)),
        (135.0, shape::RUNS * shape::LENGTH, shape::compile_by_hand()),
    ];
    let mut paces = by_hand.map(|(table, units, work)| alone(pairs, Clock::Cpu, units, work) / table);
    paces.sort_by(f64::total_cmp);
    paces[1]
}
