//! The shapes that graphs are made of.

use super::Sketch;
use crate::simulation::plan::{ClusterPlan, JoinPlan, Moves, RouterPlan};

impl Sketch {
    /// One more shape that fits into so many nodes.
    pub(super) fn block(&mut self, room: usize) {
        match self.rng.below(23) {
            0..=2 | 16 | 18 | 21 if room >= 4 => self.fork(room),
            3 | 4 if room >= 3 => self.nested_fan_out(),
            5 | 6 if room >= 2 => self.fan_out(),
            7 | 8 | 20 if room >= 2 => self.cluster(room),
            9 | 10 if !self.graph.nodes.is_empty() => self.back(),
            11 | 12 | 15 | 22 if !self.graph.nodes.is_empty() => self.deferred(room),
            13 | 19 => self.stays_alone(),
            14 if room >= 3 => self.rivals(),
            _ => {
                self.node();
            }
        }
    }

    /// Branches of one or two nodes that meet at a join, or without one.
    fn fork(&mut self, room: usize) {
        if room >= 5 || self.open.is_empty() {
            let head = self.node();
            // An earlier node may come back here: then the join fires again.
            self.graph.nodes[head].eager = 0;
        }
        let heads = self.open.clone();
        let branches = if room >= 6 { 2 + self.rng.below(2) } else { 2 };
        let mut left = room - 2 - branches;
        let mut tails = Vec::new();
        for _ in 0..branches {
            self.open.clone_from(&heads);
            let mut tail = self.node();
            if left > 0 && self.rng.percent(50) {
                left -= 1;
                tail = self.node();
            }
            self.graph.nodes[tail].eager = 0;
            tails.push(tail);
        }
        if self.rng.percent(85) {
            let to = self.add();
            self.graph.joins.push(JoinPlan { sources: tails, to });
            self.open = vec![to];
            if self.rng.percent(88) {
                let router = RouterPlan { a: heads[0], b: to, can: Moves::default(), fails: 18 };
                self.graph.nodes[to].router = Some(router);
            }
        } else {
            self.open = tails;
        }
    }

    /// A node that sends payloads to a worker.
    fn fan_out(&mut self) {
        let sender = self.node();
        let worker = self.node();
        let sends = &mut self.graph.nodes[sender];
        (sends.commands, sends.can.send, sends.eager) = (vec![worker], true, 88);
        self.open = if self.rng.percent(50) { vec![worker] } else { vec![sender, worker] };
    }

    /// A worker that sends payloads to others.
    fn nested_fan_out(&mut self) {
        let sender = self.node();
        let middle = self.node();
        let worker = self.node();
        for (from, to) in [(sender, middle), (middle, worker)] {
            let sends = &mut self.graph.nodes[from];
            (sends.commands, sends.can.send, sends.eager) = (vec![to], true, 88);
        }
        if self.rng.percent(30) {
            self.graph.nodes[sender].commands.push(worker);
        }
    }

    /// An agent and its gate, which stays; perhaps with an inner cluster before the gate.
    fn cluster(&mut self, room: usize) {
        let outer = self.graph.clusters.len();
        let agent = self.node();
        self.graph.clusters.push(ClusterPlan { entry: agent, parent: None });
        let mut inside = vec![agent];
        if room >= 4 && self.rng.percent(40) {
            let (first, second) = (self.node(), self.node());
            let inner = self.graph.clusters.len();
            self.graph.clusters.push(ClusterPlan { entry: first, parent: Some(outer) });
            for at in [first, second] {
                self.graph.nodes[at].cluster = Some(inner);
            }
            self.graph.nodes[second].can.stay = true;
            if self.rng.percent(30) {
                // The entry of the outer cluster is that of the inner one: a stay enters it anew.
                self.graph.nodes[agent].cluster = Some(inner);
                self.graph.clusters[outer].entry = first;
            }
        }
        let gate = self.node();
        inside.push(gate);
        for at in inside {
            let cluster = &mut self.graph.nodes[at].cluster;
            *cluster = cluster.or(Some(outer));
        }
        let can = Moves { stay: true, direct: self.rng.percent(40), ..Moves::default() };
        if self.rng.percent(50) {
            self.graph.nodes[gate].router = Some(RouterPlan { a: agent, b: agent, can, fails: 18 });
        } else {
            (self.graph.nodes[gate].can, self.graph.nodes[gate].eager) = (can, 60);
        }
    }

    /// A router or a command that leads back.
    fn back(&mut self) {
        let to = self.rng.below(self.graph.nodes.len());
        let from = self.node();
        match self.rng.below(3) {
            0 => {
                let can = Moves { send: self.rng.percent(30), stay: self.rng.percent(30), ..Moves::default() };
                self.graph.nodes[from].router = Some(RouterPlan { a: to, b: to, can, fails: 18 });
            }
            1 => self.graph.nodes[from].commands.push(to),
            // An edge that is always taken, but for a command once there is no fuel.
            _ => self.edge(from, Some(to)),
        }
    }

    /// A node that waits beside the rest, and perhaps leads to another that waits.
    fn deferred(&mut self, room: usize) {
        let before = self.open.clone();
        let late = self.node();
        self.graph.nodes[late].deferred = true;
        if room >= 2 && self.rng.percent(75) {
            let later = self.node();
            self.graph.nodes[later].deferred = true;
        }
        if self.rng.percent(30) {
            self.graph.nodes[late].can.stay = true;
        }
        let from = before.first().copied().filter(|from| self.graph.nodes[*from].router.is_none());
        if let Some(from) = from
            && self.rng.percent(90)
        {
            // It may be sent something as well.
            self.graph.nodes[from].commands.push(late);
            self.graph.nodes[from].can.send = true;
            self.graph.nodes[from].eager = 88;
        }
        if self.rng.percent(60) {
            self.end();
            self.open = before;
        }
    }

    /// A node in no cluster that stays.
    fn stays_alone(&mut self) {
        let at = self.node();
        if self.rng.percent(50) {
            (self.graph.nodes[at].can.stay, self.graph.nodes[at].eager) = (true, 60);
        } else {
            let can = Moves { stay: true, ..Moves::default() };
            self.graph.nodes[at].router = Some(RouterPlan { a: at, b: at, can, fails: 18 });
        }
    }

    /// Two nodes at once, both of which write what only one may.
    fn rivals(&mut self) {
        self.node();
        let heads = self.open.clone();
        let mut both = Vec::new();
        for _ in 0..2 {
            self.open.clone_from(&heads);
            let at = self.node();
            self.graph.nodes[at].temper.owns = 65;
            both.push(at);
        }
        self.open = both;
    }
}
