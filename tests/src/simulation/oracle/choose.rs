//! What routers choose, and the limit of stays.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use super::turn::Turn;
use crate::simulation::behave::{Way, decide};
use crate::simulation::coverage::Construct;
use crate::simulation::plan::NAMES;

impl Turn<'_, '_> {
    /// Asks every router once and counts stays, in task order, before anything moves.
    pub(super) fn choose(&mut self) -> Result<BTreeMap<usize, Option<Way>>, String> {
        let (step, graph, seed) = (self.model.step, self.oracle.graph, self.oracle.plan.seed);
        let view = self.model.facts.view();
        let mut chosen: BTreeMap<usize, Option<Way>> = BTreeMap::new();
        let mut stayed = BTreeSet::new();
        for rank in 0..self.model.tasks.len() {
            let task = &self.model.tasks[rank];
            let (node, mut way) = (task.node, task.done.as_ref().map(|(_, way)| way.clone()));
            if way == Some(Way::Declared) && graph.nodes[node].router.is_some() {
                if let Entry::Vacant(vacant) = chosen.entry(node) {
                    let Ok(choice) = decide(graph, seed, self.number, node, &view) else {
                        self.oracle.coverage.hit(Construct::RouterFailed);
                        return Err(format!("router {step} {}", NAMES[node]));
                    };
                    vacant.insert(Some(choice));
                }
                way = chosen[&node].clone();
            }
            if !matches!(way, Some(Way::Stay(_))) {
                continue;
            }
            let cluster = graph.nodes[node].cluster;
            let count = match cluster {
                Some(cluster) if !stayed.insert(cluster) => continue,
                Some(cluster) => &mut self.model.stays[cluster],
                None => &mut self.model.tasks[rank].stays,
            };
            let limit = self.oracle.plan.stay_limit;
            if *count >= limit {
                self.oracle.coverage.hit(Construct::StayLimit);
                let cluster = cluster.map(|cluster| format!("c{cluster}"));
                return Err(format!("stay limit {limit} at {step} {} {cluster:?}", NAMES[node]));
            }
            *count += 1;
            self.stays += 1;
        }
        Ok(chosen)
    }
}
