//! Odd edges, policies, tempers, and what happens around each turn.

use super::Sketch;
use crate::simulation::plan::{Fault, GraphPlan, RetryPlan, SeedPlan, Temper, TurnEnv};
use crate::simulation::rng::Rng;
use crate::simulation::state::{Op, PANICS, REFUSED};

impl Sketch {
    /// Edges, targets and joins that no block would have made.
    pub(super) fn odd_edges(&mut self) {
        let count = self.graph.nodes.len();
        for _ in 0..self.rng.below(4) {
            let from = self.rng.below(count);
            let to = self.rng.below(count);
            match self.rng.below(4) {
                0 if from < to && self.graph.nodes[from].router.is_none() => self.edge(from, Some(to)),
                1 => self.graph.nodes[from].commands.push(to),
                2 => self.graph.nodes[from].can.send = true,
                _ if from < to && self.graph.nodes[from].router.is_none() => {
                    let other = self.rng.below(count);
                    let fits = other != from && other < to && self.graph.nodes[other].router.is_none();
                    if fits {
                        let join = crate::simulation::plan::JoinPlan { sources: vec![other, from], to };
                        self.graph.joins.push(join);
                    }
                }
                _ => {}
            }
        }
        let before = self.graph.joins.clone();
        self.graph.joins.dedup_by(|a, b| a.sources == b.sources && a.to == b.to);
        debug_assert!(self.graph.joins.len() <= before.len(), "joins only get fewer");
        // A self-made circle of static edges needs a way out, and one without a command has none.
        for node in &mut self.graph.nodes {
            node.commands.sort_unstable();
            node.commands.dedup();
        }
        if self.rng.percent(20) {
            self.graph.start.truncate(1);
            self.graph.start_router = true;
        }
    }

    /// Policies and tempers. Some graphs are calm.
    pub(super) fn policies(&mut self) {
        let rng = &mut self.rng;
        self.graph.cap = rng.between(12, 30);
        // Loops over joins are long, and a failure on the way would end most of them.
        let calm = rng.percent(if self.graph.joins.is_empty() { 15 } else { 45 });
        self.graph.cancels_siblings = rng.percent(55);
        let count = self.graph.nodes.len();
        for node in &mut self.graph.nodes {
            node.declares_writes = rng.percent(25);
            node.can.direct |= rng.percent(6);
            node.can.finish |= rng.percent(7);
            if rng.percent(40) {
                let (attempts, base) = (u32::try_from(rng.between(1, 4)).unwrap_or(1), 4 * rng.between(0, 5));
                let jitter = if rng.percent(60) { rng.between(1, 100) } else { 0 };
                node.retry = Some(RetryPlan { attempts, base, doubles: rng.percent(50), jitter });
            }
            if rng.percent(35) {
                node.timeout = Some(4 * rng.between(1, 8) + 2);
            }
            if rng.percent(20) {
                node.idle = Some(4 * rng.between(1, 6) + 3);
            }
            if rng.percent(32) {
                node.limit = Some(1 + usize::from(rng.percent(25)));
            }
            node.cached = rng.percent(14);
            if calm {
                node.temper.slow = 30;
                continue;
            }
            let mut rate = |chance: u64, low: u64, high: u64| {
                if rng.percent(chance) { rng.between(low, high) } else { 0 }
            };
            node.temper = Temper {
                retryable: rate(30, 5, 50),
                fatal: rate(14, 5, 25),
                panics: rate(14, 5, 25),
                hangs: rate(15, 5, 30),
                slow: if self.crashes { 80 } else { rate(70, 20, 90) },
                refused: rate(8, 5, 25),
                owns: node.temper.owns.max(rate(15, 20, 60)),
                replaces: rate(10, 10, 40),
            };
            if rng.percent(25) {
                // Ahead, so that failures don't go round for ever.
                node.on_error = (node.order + 1 < count).then(|| node.order + 1 + rng.below(count - node.order - 1));
            }
            // A node that declares what it writes may not write anything else.
            if node.temper.owns > 0 && node.declares_writes {
                node.declares_writes = rng.percent(50);
            }
        }
    }
}

/// The environment of the graph.
pub(super) fn environment(seed: u64, graph: GraphPlan, crashes: bool, rng: &mut Rng) -> SeedPlan {
    let store = (crashes || !rng.percent(8)).then(|| crashes || rng.percent(75));
    let count = 1 + rng.below(6);
    let mut turns: Vec<TurnEnv> = (0..count).map(|_| turn(rng)).collect();
    if crashes {
        for env in turns.iter_mut().step_by(2) {
            (env.cancel_at, env.deadline, env.drain_at) = (None, None, None);
            env.drop_at = Some(4 * rng.between(1, 9) + 1);
        }
    }
    let step_limit = if rng.percent(18) { rng.between(1, 6) } else { 60 };
    let stay_limit = if rng.percent(60) { u32::try_from(rng.below(2)).unwrap_or(0) } else { 10 };
    let commit_delay = if rng.percent(15) { 4 } else { 0 };
    SeedPlan { seed, graph, turns, store, commit_delay, step_limit, stay_limit }
}

fn turn(rng: &mut Rng) -> TurnEnv {
    let mut input = Vec::new();
    if rng.percent(60) {
        input.push(Op::Add(1));
    }
    if rng.percent(40) {
        input.push(Op::Draft(5));
    }
    if rng.percent(4) {
        input.push(Op::Add(if rng.percent(50) { REFUSED } else { PANICS }));
    }
    let at = 4 * rng.between(0, 14) + 1;
    let disturbed = rng.below(100);
    TurnEnv {
        cancel_at: (disturbed < 14).then_some(at),
        drop_at: (14..34).contains(&disturbed).then_some(at),
        deadline: (34..44).contains(&disturbed).then_some(at),
        drain_at: (44..55).contains(&disturbed).then_some(at),
        commit_fault: rng
            .percent(22)
            .then(|| (rng.below(7), if rng.percent(50) { Fault::Refused } else { Fault::Lost })),
        load_fault: rng.percent(2),
        slow_reader: rng.percent(25),
        leaver: rng.percent(15).then(|| rng.below(12)),
        streamed: rng.percent(30),
        intruder: rng.percent(8),
        input,
        choice: rng.next() % 100,
    }
}
