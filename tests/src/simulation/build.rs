//! The plan as a graph of the engine. Where a lint refuses it, the plan is repaired.

use std::sync::Arc;
use std::time::Duration;

use graph_engine::{
    Builder, Cache, CompileError, END, Graph, Level, Lint, NodeError, NodeExt, NodeSpec, Retry, START, Siblings,
};

use super::behave::{decide, enter};
use super::node::SimNode;
use super::plan::{GraphPlan, NAMES, NodePlan, RetryPlan};
use super::route::{add_entry, add_router};
use super::state::Sim;
use super::world::World;

/// What came of a plan.
pub(super) type Built = (Graph<Sim>, Arc<GraphPlan>);

/// Compiles the plan; where a lint refuses it, declarations are taken back or the lint is lowered.
///
/// # Errors
/// The findings that no repair helped against.
pub(super) fn build(plan: &GraphPlan, world: &Arc<World>, repairs: &mut u64) -> Result<Built, CompileError> {
    let mut plan = Arc::new(plan.clone());
    let mut ignored: Vec<Lint> = Vec::new();
    loop {
        let refused = match describe(&plan, world, &ignored).compile() {
            Ok(graph) => return Ok((graph, plan)),
            Err(refused) => refused,
        };
        *repairs += 1;
        let errors = refused.diagnostics.iter().filter(|finding| finding.level == Level::Error);
        let lints: Vec<Lint> = errors.map(|finding| finding.lint).collect();
        if lints.iter().any(|lint| lint.is_fixed() || ignored.contains(lint)) {
            return Err(refused);
        }
        if lints.contains(&Lint::WriteConflict) {
            let plan = Arc::make_mut(&mut plan);
            plan.nodes.iter_mut().for_each(|node| node.declares_writes = false);
        } else {
            ignored.extend(lints);
        }
    }
}

fn describe(plan: &Arc<GraphPlan>, world: &Arc<World>, ignored: &[Lint]) -> Builder<Sim> {
    let mut builder = Graph::<Sim>::builder("simulated");
    if plan.cancels_siblings {
        builder = builder.siblings(Siblings::Cancel);
    }
    builder = members(builder, plan, world, None);
    for (from, node) in plan.nodes.iter().enumerate() {
        for to in &node.edges {
            builder = builder.edge(NAMES[from], to.map_or(END, |to| NAMES[to]));
        }
        if let Some(router) = node.router {
            let (graph, world) = (plan.clone(), world.clone());
            let choose = move |sim: &Sim| judged(decide(&graph, world.seed, world.turn(), from, &sim.view()));
            builder = add_router(builder, from, (router.a, router.b), Box::new(choose));
        }
    }
    for join in &plan.joins {
        builder = builder.join(join.sources.iter().map(|source| NAMES[*source]), NAMES[join.to]);
    }
    if plan.start_router {
        let (graph, world) = (plan.clone(), world.clone());
        let choose = move |sim: &Sim| judged(enter(&graph, world.seed, world.turn(), &sim.view()));
        builder = add_entry(builder, plan.start[0], Box::new(choose));
    } else {
        for to in &plan.start {
            builder = builder.edge(START, NAMES[*to]);
        }
    }
    ignored.iter().fold(builder, |builder, lint| builder.lint(*lint, Level::Ignore))
}

fn judged<T>(chosen: Result<T, bool>) -> Result<T, NodeError> {
    match chosen {
        Ok(way) => Ok(way),
        Err(true) => panic!("{}", super::PANIC),
        Err(false) => Err(NodeError::fatal("undecided")),
    }
}

/// The nodes of a cluster, or of none, and the clusters in it.
fn members(
    mut builder: Builder<Sim>,
    plan: &Arc<GraphPlan>,
    world: &Arc<World>,
    around: Option<usize>,
) -> Builder<Sim> {
    for (at, node) in plan.nodes.iter().enumerate().filter(|(_, node)| node.cluster == around) {
        let body = SimNode { at, plan: plan.clone(), world: world.clone() };
        builder = builder.node(NAMES[at], spec(node, body));
    }
    for (at, cluster) in plan.clusters.iter().enumerate().filter(|(_, cluster)| cluster.parent == around) {
        let name = format!("c{at}");
        builder = builder.cluster(name, NAMES[cluster.entry], |inside| members(inside, plan, world, Some(at)));
    }
    builder
}

fn spec(plan: &NodePlan, body: SimNode) -> NodeSpec<Sim> {
    let mut spec = NodeSpec::new(Arc::new(body));
    if plan.declares_writes {
        let shared = Sim::LOG | Sim::TOTAL | Sim::FUEL | Sim::LAST | Sim::DRAFT;
        spec = if plan.temper.owns > 0 { spec.writes(shared | Sim::OWNER) } else { spec.writes(shared) };
    }
    if let Some(retry) = plan.retry {
        spec = spec.retry(policy(retry));
    }
    if let Some(idle) = plan.idle {
        spec = spec.idle_timeout(Duration::from_millis(idle));
    }
    if let Some(limit) = plan.limit {
        spec = spec.limit(limit);
    }
    if plan.cached {
        spec = spec.cache(Cache::by(|sim: &Sim| sim.view().cache_key()));
    }
    if let Some(handler) = plan.on_error {
        spec = spec.on_error(NAMES[handler]);
    }
    if let Some(timeout) = plan.timeout {
        spec = spec.timeout(Duration::from_millis(timeout));
    }
    if plan.deferred { spec.deferred() } else { spec }
}

fn policy(plan: RetryPlan) -> Retry {
    let base = Duration::from_millis(plan.base);
    let retry = if plan.doubles { Retry::exponential(plan.attempts, base) } else { Retry::fixed(plan.attempts, base) };
    // At most 100, which a double holds exactly.
    retry.jitter(f64::from(u32::try_from(plan.jitter).unwrap_or(100)) / 100.0)
}
