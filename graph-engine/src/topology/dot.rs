//! Graphviz's language.

use std::fmt;

use super::escape::DotText;
use super::plan::{Pad, Plan, Step, words};
use super::{Direction, Topology, Vertex};
use crate::edge_kind::EdgeKind;
use crate::task::NodeKind;

/// A topology in Graphviz's language. Made by [`Topology::dot`].
///
/// Names appear only in labels; nodes are called `n0`, `n1` and so on, in their order. An agent is a rounded box, tools
/// are a component, a gate is a diamond, a person is a hexagon. An edge that is taken only sometimes is dashed, a
/// fan-out is bold, a join ends in a dot. Replies lead to the end in blue, an error route is red. What is only named by an edge, and the `?`
/// of a node that may lead anywhere, are dotted. A name is shown as [`Topology::visible`] says.
///
/// ```
/// use graph_engine::{Edge, EdgeKind, NodeKind, START, Topology, Vertex};
///
/// let nodes = vec![Vertex::new("explore", NodeKind::Agent)];
/// let edges = vec![Edge::new(START, "explore", EdgeKind::Static)];
/// let topology = Topology::new("trip", nodes, edges, vec![]);
///
/// let dot = topology.dot().to_string();
/// assert!(dot.contains(r#"n0 [label="explore", shape=box, style=rounded, tooltip="agent"]"#));
/// assert!(dot.contains("start -> n0"));
/// ```
#[derive(Clone, Debug)]
pub struct Dot<'a> {
    topology: &'a Topology,
    direction: Direction,
}

impl<'a> Dot<'a> {
    pub(super) fn new(topology: &'a Topology) -> Self {
        Self { topology, direction: Direction::default() }
    }

    /// Sets where edges lead.
    ///
    /// ```
    /// use graph_engine::{Direction, Topology};
    ///
    /// let topology = Topology::new("trip", vec![], vec![], vec![]);
    /// assert!(topology.dot().direction(Direction::LeftToRight).to_string().contains("rankdir=LR"));
    /// ```
    #[must_use]
    pub fn direction(mut self, direction: Direction) -> Self {
        self.direction = direction;
        self
    }
}

impl fmt::Display for Dot<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plan = Plan::new(self.topology);
        let direction = match self.direction {
            Direction::TopToBottom => "TB",
            Direction::LeftToRight => "LR",
        };
        writeln!(f, "digraph G {{")?;
        let name = DotText(&self.topology.name);
        writeln!(f, r#"  graph [rankdir={direction}, label="{name}", labelloc=t, fontname="sans-serif"]"#)?;
        writeln!(f, r#"  node [fontname="sans-serif"]"#)?;
        writeln!(f, r#"  edge [fontname="sans-serif"]"#)?;
        let mut depth = 1;
        for step in plan.steps() {
            let pad = Pad(depth);
            match step {
                Step::Start => writeln!(f, "{pad}start [{START_LOOK}]")?,
                Step::End => writeln!(f, "{pad}done [{END_LOOK}]")?,
                Step::Node(index, node) => writeln!(f, "{pad}n{index} [{}]", Look(node))?,
                Step::Unknown(index, name) => {
                    let name = DotText(name);
                    writeln!(f, r#"{pad}u{index} [label="{name}", shape=box, style=dotted, tooltip="unknown"]"#)?;
                }
                Step::Open(index, cluster) => {
                    writeln!(f, "{pad}subgraph cluster_{index} {{")?;
                    depth += 1;
                    writeln!(f, r#"{}graph [label="{}", style=rounded]"#, Pad(depth), DotText(&cluster.name))?;
                }
                Step::Close => {
                    depth -= 1;
                    writeln!(f, "{}}}", Pad(depth))?;
                }
            }
        }
        for (from, to, edge) in plan.edges() {
            write!(f, "  {from} -> {to}")?;
            let line = line(edge.kind);
            match words(edge).map(DotText) {
                Some(label) if line.is_empty() => writeln!(f, r#" [label="{label}"]"#)?,
                Some(label) => writeln!(f, r#" [label="{label}", {line}]"#)?,
                None => writeln!(f)?,
            }
        }
        for index in plan.dynamic() {
            writeln!(f, r#"  q{index} [label="?", shape=circle, style=dotted, tooltip="anywhere"]"#)?;
            writeln!(f, "  n{index} -> q{index} [style=dotted]")?;
        }
        writeln!(f, "}}")
    }
}

const START_LOOK: &str = r#"label="", shape=circle, style=filled, fillcolor=black, width=0.2, tooltip="start""#;
const END_LOOK: &str = r#"label="", shape=doublecircle, style=filled, fillcolor=black, width=0.15, tooltip="end""#;

/// The attributes of a node.
struct Look<'a>(&'a Vertex);

impl fmt::Display for Look<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let node = self.0;
        let (shape, kind) = match node.kind {
            NodeKind::Plain => ("shape=box", "node"),
            NodeKind::Agent => ("shape=box, style=rounded", "agent"),
            NodeKind::Tools => ("shape=component", "tools"),
            NodeKind::Gate => ("shape=diamond", "gate"),
            NodeKind::Human => ("shape=hexagon", "human"),
        };
        let deferred = if node.deferred { r"\n(deferred)" } else { "" };
        write!(f, r#"label="{}{deferred}", {shape}, tooltip="{kind}""#, DotText(&node.name))
    }
}

const fn line(kind: EdgeKind) -> &'static str {
    match kind {
        EdgeKind::Static => "",
        EdgeKind::Join => "arrowhead=dot",
        EdgeKind::Go => "style=dashed",
        EdgeKind::FanOut => "style=bold",
        // A way back must not push the entry below the node.
        EdgeKind::Stay => "style=dashed, constraint=false",
        EdgeKind::Direct => "style=dashed, color=royalblue, fontcolor=royalblue",
        EdgeKind::Finish => r#"style="dashed,bold", color=royalblue, fontcolor=royalblue"#,
        EdgeKind::Error => "style=dashed, color=red, fontcolor=red",
    }
}
