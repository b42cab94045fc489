//! Child graphs in place of the nodes that run them.

use std::collections::BTreeMap;

use super::{Cluster, Edge, Topology, Vertex};
use crate::name::Name;
use crate::task::{END, START};

impl Topology {
    /// The same graph with the nodes of each child graph, in a cluster, in place of the node that runs it: what leads to
    /// that node leads to the child's first nodes, and what it leads to follows the child's last ones. Without this a
    /// child is drawn as one node.
    ///
    /// ```
    /// use graph_engine::{Graph, START, State, child};
    ///
    /// #[derive(State, Clone, Default)]
    /// struct Trip {
    ///     city: String,
    /// }
    ///
    /// async fn search() {}
    ///
    /// let explore = Graph::<Trip>::builder("explore").node("search", search).edge(START, "search").compile()?;
    /// let trip = Graph::<Trip>::builder("trip").node("explore", child(&explore)).edge(START, "explore").compile()?;
    /// let expanded = trip.topology().expanded();
    /// assert_eq!(expanded.nodes[0].name, "explore/search");
    /// assert_eq!(expanded.clusters[0].name, "explore");
    /// # Ok::<(), graph_engine::CompileError>(())
    /// ```
    #[must_use]
    pub fn expanded(&self) -> Self {
        let mut flat = self.clone();
        let children: Vec<(Name, Self)> = self
            .nodes
            .iter()
            .filter_map(|vertex| Some((vertex.name.clone(), vertex.child.as_ref()?.expanded())))
            .collect();
        for (node, child) in children {
            flat.put(&node, child);
        }
        let exits = flat.exits;
        Self { exits, ..Self::new(flat.name, flat.nodes, flat.edges, flat.clusters) }
    }

    /// A name that nothing of this graph has.
    fn free(&self, mut name: String) -> Name {
        while self.nodes.iter().any(|vertex| vertex.name == *name) || self.clusters.iter().any(|own| own.name == *name)
        {
            name.push('/');
        }
        name.into()
    }

    fn put(&mut self, node: &Name, child: Self) {
        let deferred = self.nodes.iter().any(|vertex| vertex.name == *node && vertex.deferred);
        self.nodes.retain(|vertex| vertex.name != *node);
        let mut names: BTreeMap<Name, Name> = BTreeMap::new();
        for vertex in child.nodes {
            let name = self.free(format!("{node}/{}", vertex.name));
            names.insert(vertex.name.clone(), name.clone());
            self.nodes.push(Vertex { name, deferred: deferred || vertex.deferred, ..vertex });
        }
        let inside = |name: &Name| names.get(name).cloned();
        let leaves = |edge: &Edge| {
            child.exits.iter().any(|exit| exit.from == edge.from && edge.label.as_ref() == Some(&exit_label(&exit.to)))
        };
        let firsts: Vec<Name> =
            child.edges.iter().filter(|edge| edge.from == START).filter_map(|edge| inside(&edge.to)).collect();
        let ends = child.edges.iter().filter(|edge| edge.to == END && !leaves(edge)).map(|edge| &edge.from);
        // A node that nothing leaves ends its branch too.
        let silent = names.keys().filter(|name| child.edges.iter().all(|edge| edge.from != **name));
        let lasts: Vec<Name> = ends.chain(silent).filter_map(inside).collect();
        let outside: Vec<&Name> = child.exits.iter().map(|exit| &exit.to).collect();
        let (own, rest): (Vec<Edge>, Vec<Edge>) =
            std::mem::take(&mut self.edges).into_iter().partition(|edge| edge.from == *node || edge.to == *node);
        self.edges = rest;
        // Where the child goes by itself: one edge for each of its nodes that does.
        for exit in &child.exits {
            let way = own.iter().find(|edge| edge.from == *node && edge.to == exit.to);
            if let (Some(way), Some(from)) = (way, inside(&exit.from)) {
                self.edges.push(Edge { from, ..way.clone() });
            }
        }
        let mut goes_on = false;
        for edge in &own {
            let by_exit = edge.from == *node && outside.contains(&&edge.to) && edge.label.as_deref() == Some("go");
            if by_exit {
                continue;
            }
            goes_on |= edge.from == *node;
            let from = if edge.from == *node { lasts.clone() } else { vec![edge.from.clone()] };
            let to = if edge.to == *node { firsts.clone() } else { vec![edge.to.clone()] };
            for from in &from {
                self.edges.extend(to.iter().map(|to| Edge { from: from.clone(), to: to.clone(), ..edge.clone() }));
            }
        }
        for edge in child.edges.iter().filter(|edge| !leaves(edge)) {
            match (inside(&edge.from), inside(&edge.to)) {
                (Some(from), Some(to)) => self.edges.push(Edge { from, to, ..edge.clone() }),
                // The end of the child is that of the branch when nothing follows it.
                (Some(from), None) if !goes_on => self.edges.push(Edge { from, ..edge.clone() }),
                _ => {}
            }
        }
        let around = self.clusters.iter_mut().find(|cluster| cluster.members.contains(node));
        let parent = around.map(|cluster| {
            cluster.members.retain(|member| member != node);
            (cluster.name.clone(), cluster.entry == *node)
        });
        let entry = firsts.first().cloned().unwrap_or_else(|| node.clone());
        if let Some((name, true)) = &parent
            && let Some(cluster) = self.clusters.iter_mut().find(|cluster| cluster.name == *name)
        {
            cluster.entry = entry.clone();
        }
        let name = self.free(node.to_string());
        let clusters: BTreeMap<Name, Name> = child
            .clusters
            .iter()
            .map(|cluster| (cluster.name.clone(), self.free(format!("{node}/{}", cluster.name))))
            .collect();
        let grouped: Vec<&Name> = child.clusters.iter().flat_map(|cluster| &cluster.members).collect();
        let members = names.iter().filter(|(own, _)| !grouped.contains(own)).map(|(_, name)| name);
        let mut cluster = Cluster::new(&name, &entry, members);
        cluster.parent = parent.map(|(name, _)| name);
        self.clusters.push(cluster);
        for inner in child.clusters {
            let own = |member: &Name| inside(member).unwrap_or_else(|| member.clone());
            let mut cluster = Cluster::new(&clusters[&inner.name], own(&inner.entry), inner.members.iter().map(own));
            let around = inner.parent.as_ref().and_then(|parent| clusters.get(parent));
            cluster.parent = Some(around.unwrap_or(&name).clone());
            self.clusters.push(cluster);
        }
    }
}

/// What is written beside an edge that leads out of a graph.
pub(crate) fn exit_label(to: &str) -> String {
    format!("exit to {to}")
}
