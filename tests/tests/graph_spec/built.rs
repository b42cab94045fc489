//! Random specs that can be built: the graph gives its spec back, and what is built of that is the same graph.

use graph_engine::{
    ClusterEntry, END, EdgeEntry, FieldEntry, GraphSpec, JoinEntry, JsonType, Merge, Moves, NodeEntry, NodeKind,
    PolicyEntry, RetryEntry, RouterEntry, START,
};
use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::json;

use super::registry::registry;

/// How one node is left.
#[derive(Clone, Debug)]
enum Exit {
    /// To one of the nodes after it, or the end.
    Edge(usize),
    /// To any nodes, and by other moves.
    Router(Vec<usize>, [bool; 3]),
}

#[derive(Clone, Debug)]
struct Node {
    exit: Exit,
    kind: Option<NodeKind>,
    flags: [bool; 4],
    cluster: usize,
}

fn node() -> impl Strategy<Value = Node> {
    let router = (vec(0..8_usize, 1..4), any::<[bool; 3]>()).prop_map(|(to, moves)| Exit::Router(to, moves));
    let exit = prop_oneof![(0..8_usize).prop_map(Exit::Edge), router];
    let kind = proptest::option::of(proptest::sample::select(vec![NodeKind::Agent, NodeKind::Human, NodeKind::Plain]));
    (exit, kind, any::<[bool; 4]>(), 0..4_usize).prop_map(|(exit, kind, flags, cluster)| Node {
        exit,
        kind,
        flags,
        cluster,
    })
}

fn entry(index: usize, node: &Node) -> NodeEntry {
    let [deferred, retried, replies, stays] = node.flags;
    let mut entry = NodeEntry::new(name(index), "note");
    entry.config = json!({ "into": "log", "text": format!("{index}") });
    (entry.kind, entry.deferred) = (node.kind, deferred);
    (entry.moves.direct, entry.moves.stay) = (replies, stays);
    if retried {
        let mut policy = PolicyEntry::default();
        policy.retry = vec![RetryEntry::new(3, 10)];
        policy.timeout_ms = Some(1000);
        entry.policy = policy;
    }
    entry
}

fn name(index: usize) -> String {
    format!("n{index}")
}

fn spec(nodes: &[Node]) -> GraphSpec {
    let mut spec = GraphSpec::new("random");
    let mut log = FieldEntry::new("log", Merge::Append);
    log.r#type = JsonType::Text;
    spec.fields = vec![log, FieldEntry::new("city", Merge::Any)];
    let (mut clusters, mut left) = ([vec![], vec![], vec![]], Vec::new());
    for (index, node) in nodes.iter().enumerate() {
        spec.nodes.push(entry(index, node));
        spec.edges.push(EdgeEntry::new(START, name(index)));
        if let Some(members) = clusters.get_mut(node.cluster) {
            members.push(name(index));
        }
        match &node.exit {
            Exit::Edge(by) if index + 1 + by < nodes.len() => {
                spec.edges.push(EdgeEntry::new(name(index), name(index + 1 + by)));
                left.push(index);
            }
            Exit::Edge(_) => spec.edges.push(EdgeEntry::new(name(index), END)),
            Exit::Router(to, [stay, direct, finish]) => {
                let mut to: Vec<String> = to.iter().map(|to| name(to % nodes.len())).collect();
                to.sort();
                to.dedup();
                let mut moves = Moves::to(to);
                (moves.stay, moves.direct, moves.finish) = (*stay, *direct, *finish);
                let mut router = RouterEntry::new(name(index), "lost", moves);
                router.config = json!(name(0));
                router.reads = vec!["city".into()];
                spec.routers.push(router);
            }
        }
    }
    // A join of everything that is left by edges, into a node after all of them.
    if left.len() > 1 {
        spec.nodes.push(entry(nodes.len(), &nodes[0]));
        spec.edges.push(EdgeEntry::new(name(nodes.len()), END));
        spec.joins.push(JoinEntry::new(left.into_iter().map(name), name(nodes.len())));
    }
    let [outer, inner, other] = clusters.map(|members| {
        let entry = members.first().cloned().unwrap_or_default();
        ClusterEntry::new(format!("c{entry}"), entry, members)
    });
    let mut outer = outer;
    for (mut cluster, inside) in [(inner, true), (other, false)] {
        cluster.members.reverse();
        if cluster.members.is_empty() {
            continue;
        }
        if inside && !outer.members.is_empty() { outer.clusters.push(cluster) } else { spec.clusters.push(cluster) }
    }
    if !outer.members.is_empty() {
        spec.clusters.push(outer);
    }
    spec
}

proptest! {
    #[test]
    fn what_is_built_of_its_own_spec_is_the_same_graph(nodes in vec(node(), 1..8)) {
        let spec = spec(&nodes);
        let graph = spec.build(&registry()).unwrap_or_else(|error| panic!("{error}\n{}", spec.to_json()));
        prop_assert_eq!(&graph.spec(), &spec);
        let again = GraphSpec::from_json(&graph.spec().to_json()).unwrap().build(&registry()).unwrap();
        prop_assert_eq!(&again.spec(), &spec);
        prop_assert_eq!(again.topology(), graph.topology());
        prop_assert_eq!(again.topology().mermaid().to_string(), graph.topology().mermaid().to_string());
        prop_assert_eq!(again.topology().dot().to_string(), graph.topology().dot().to_string());
        prop_assert_eq!(again.warnings(), graph.warnings());
        prop_assert_eq!(again.schema().specs(), graph.schema().specs());
        prop_assert_eq!(graph.topology().nodes.len(), spec.nodes.len());
        let routed: usize = spec.routers.iter().map(|router| router.moves.targets.len()).sum();
        prop_assert!(graph.topology().edges.len() >= spec.edges.len() + routed);
    }
}
