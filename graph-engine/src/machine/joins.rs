//! Which sources of each join have finished since it last fired.

use crate::graph::Inner;
use crate::report::WaitingJoin;
use crate::state::State;

/// Arrivals of all joins of a graph.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Joins(Vec<Arrivals>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Arrivals {
    arrived: Vec<bool>,
    left: usize,
}

impl Arrivals {
    fn new(sources: usize) -> Self {
        Self { arrived: vec![false; sources], left: sources }
    }

    fn is_waiting(&self) -> bool {
        self.left < self.arrived.len()
    }

    fn reset(&mut self) {
        self.arrived.fill(false);
        self.left = self.arrived.len();
    }
}

impl Joins {
    pub(super) fn new<S: State>(graph: &Inner<S>) -> Self {
        Self(graph.joins.iter().map(|join| Arrivals::new(join.sources.len())).collect())
    }

    /// Notes that a source has finished. True when it was the last one; the join is armed again at once.
    pub(super) fn arrive(&mut self, join: usize, bit: usize) -> bool {
        let arrivals = &mut self.0[join];
        if !std::mem::replace(&mut arrivals.arrived[bit], true) {
            arrivals.left -= 1;
        }
        let fires = arrivals.left == 0;
        if fires {
            arrivals.reset();
        }
        fires
    }

    pub(super) fn reset(&mut self) {
        self.0.iter_mut().for_each(Arrivals::reset);
    }

    /// Joins that have seen some of their sources, by index, with the arrival of each source.
    pub(super) fn seen(&self) -> impl Iterator<Item = (usize, &[bool])> {
        let waiting = self.0.iter().enumerate().filter(|(_, arrivals)| arrivals.is_waiting());
        waiting.map(|(join, arrivals)| (join, arrivals.arrived.as_slice()))
    }

    pub(super) fn is_quiet(&self) -> bool {
        !self.0.iter().any(Arrivals::is_waiting)
    }

    pub(super) fn waiting<S: State>(&self, graph: &Inner<S>) -> Vec<WaitingJoin> {
        let waiting = self.0.iter().zip(&graph.joins).filter(|(arrivals, _)| arrivals.is_waiting());
        waiting
            .map(|(arrivals, join)| {
                let missing = join.sources.iter().zip(&arrivals.arrived).filter(|(_, seen)| !**seen);
                WaitingJoin::new(graph.name_of(join.to), missing.map(|(source, _)| graph.name_of(*source)))
            })
            .collect()
    }
}
