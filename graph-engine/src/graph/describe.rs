//! The way back: a compiled graph as data.

use super::vertex::{Exit, VertexSpec};
use super::{Graph, Inner};
use crate::name::Name;
use crate::spec::{
    ClusterEntry, EdgeEntry, FieldEntry, GraphSpec, JoinEntry, Moves, NodeEntry, PolicyEntry, RouterEntry,
};
use crate::state::{FieldSet, State};
use crate::task::{END, NodeIx, NodeKind, START, TargetSpec};

impl<S: State> Graph<S> {
    /// The graph as data, for files and for comparing two graphs.
    ///
    /// A graph that was built from a [`GraphSpec`] gives exactly that. For one that was described by code, the names of
    /// registered things are not known: `use` is the node's own name, `route:` and a router's beginning, `retry:` and
    /// the name of the node for a predicate. Everything then stands in a fixed order, default policies stand at the nodes
    /// that they count for, and configs, layers and checks of the input are left out.
    ///
    /// ```
    /// use graph_engine::{END, Graph, START, State};
    ///
    /// #[derive(State, Clone, Default)]
    /// struct Trip {
    ///     #[state(append)]
    ///     notes: Vec<String>,
    /// }
    ///
    /// async fn explore() {}
    ///
    /// let graph = Graph::<Trip>::builder("trip")
    ///     .node("explore", explore)
    ///     .edge(START, "explore")
    ///     .edge("explore", END)
    ///     .compile()?;
    /// let spec = graph.spec();
    /// assert_eq!(spec.fields[0].name, "notes");
    /// assert_eq!(spec.nodes[0].use_, "explore");
    /// # Ok::<(), graph_engine::CompileError>(())
    /// ```
    #[must_use]
    pub fn spec(&self) -> GraphSpec {
        let inner = self.inner();
        inner.made_of.as_ref().map_or_else(|| describe(inner), |spec| GraphSpec::clone(spec))
    }
}

fn describe<S: State>(graph: &Inner<S>) -> GraphSpec {
    let mut spec = GraphSpec::new(&graph.name);
    spec.fields = graph.initial.fields().iter().map(FieldEntry::of).collect();
    spec.nodes = graph.vertices.iter().zip(&*graph.names).map(|(vertex, name)| node(graph, name, vertex)).collect();
    let start: Name = START.into();
    let exits = graph.vertices.iter().zip(&*graph.names).map(|(vertex, name)| (name, &vertex.exit));
    for (from, exit) in std::iter::once((&start, &graph.start)).chain(exits) {
        match exit {
            Exit::Edges(edges) => {
                spec.edges.extend(edges.iter().map(|to| EdgeEntry::new(from, name_of(graph, *to))));
            }
            Exit::Router { moves, .. } => {
                let (typed, named) = (&moves.spec, &moves.named);
                let mut declared = declared(typed.targets, &named.targets, named.sends.iter().map(|(name, _)| name));
                let all = moves.all();
                (declared.stay, declared.direct, declared.finish) = (all.stay, all.direct, all.finish);
                let mut router = RouterEntry::new(from, format!("route:{from}"), declared);
                router.reads = fields(graph, moves.reads);
                spec.routers.push(router);
            }
        }
    }
    let joins = graph
        .joins
        .iter()
        .map(|join| JoinEntry::new(join.sources.iter().map(|source| graph.name_of(*source)), graph.name_of(join.to)));
    spec.joins = joins.collect();
    spec.clusters = clusters(graph, None);
    spec.siblings = graph.siblings;
    spec.input = graph.input.allowed().map(|set| fields(graph, set));
    spec.lints.clone_from(&graph.levels);
    spec
}

fn node<S: State>(graph: &Inner<S>, name: &Name, vertex: &VertexSpec<S>) -> NodeEntry {
    let info = &vertex.info;
    let mut entry = NodeEntry::new(name, name);
    entry.kind = (info.kind != NodeKind::Plain).then_some(info.kind);
    entry.deferred = vertex.deferred;
    entry.writes = info.writes.map(|set| fields(graph, set));
    entry.moves = declared(&info.targets, &info.named_targets, info.named_sends.iter().map(|(name, _)| name));
    (entry.moves.stay, entry.moves.direct, entry.moves.finish) = (info.stay, info.direct, info.finish);
    entry.moves.dynamic = info.dynamic;
    entry.policy = PolicyEntry::of(&vertex.policy, name);
    entry
}

fn declared<'a>(typed: &[TargetSpec], named: &[Name], named_sends: impl Iterator<Item = &'a Name>) -> Moves {
    let (sends, targets): (Vec<_>, Vec<_>) = typed.iter().partition(|target| target.payload.is_some());
    let names = |targets: Vec<&TargetSpec>| targets.into_iter().map(|target| Name::from(target.name)).collect();
    let (mut targets, mut sends): (Vec<Name>, Vec<Name>) = (names(targets), names(sends));
    targets.extend(named.iter().cloned());
    sends.extend(named_sends.cloned());
    let mut moves = Moves::to(targets);
    moves.sends = sends;
    moves
}

fn clusters<S: State>(graph: &Inner<S>, parent: Option<usize>) -> Vec<ClusterEntry> {
    let inside = graph.clusters.iter().enumerate().filter(|(_, cluster)| cluster.parent == parent);
    let entry = |(at, cluster): (usize, &super::ClusterSpec)| {
        let members = graph.vertices.iter().zip(&*graph.names).filter(|(vertex, _)| vertex.cluster == Some(at));
        let mut entry = ClusterEntry::new(&cluster.name, graph.name_of(cluster.entry), members.map(|(_, name)| name));
        entry.clusters = clusters(graph, Some(at));
        entry
    };
    inside.map(entry).collect()
}

fn fields<S: State>(graph: &Inner<S>, set: FieldSet) -> Vec<Name> {
    let fields = graph.initial.fields();
    set.iter().filter_map(|at| fields.get(at)).map(|field| Name::from(&*field.name)).collect()
}

fn name_of<S: State>(graph: &Inner<S>, node: Option<NodeIx>) -> Name {
    node.map_or_else(|| END.into(), |node| graph.name_of(node).clone())
}
