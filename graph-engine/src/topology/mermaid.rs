//! Mermaid's language.

use std::fmt;

use super::escape::MermaidText;
use super::plan::{Pad, Plan, Step, words};
use super::{Direction, Topology, Vertex};
use crate::edge_kind::EdgeKind;
use crate::task::NodeKind;

/// A topology as a flowchart in Mermaid's language. Made by [`Topology::mermaid`].
///
/// Names appear only in quoted labels, with codes for all that Mermaid, Markdown or HTML could interpret; nodes are
/// called `n0`, `n1` and so on, in their order. An agent is a rounded box, tools are a box with two more lines, a gate
/// is a diamond, a person is a hexagon. An edge that is taken only sometimes is dotted, a fan-out is thick, a join ends
/// in a dot. Replies lead to the end in blue, an error route is red. What is only named by an edge, and the `?` of a node that may lead
/// anywhere, are dotted. A name is shown as [`Topology::visible`] says; that of the graph is a comment, because
/// Mermaid's titles drop what looks like HTML.
///
/// Mermaid refuses more than 500 edges and 50 000 characters unless the page sets `maxEdges` and `maxTextSize`, and it
/// draws the codes themselves when the page turns `htmlLabels` off.
///
/// ```
/// use graph_engine::{Edge, EdgeKind, NodeKind, START, Topology, Vertex};
///
/// let nodes = vec![Vertex::new("explore", NodeKind::Agent)];
/// let edges = vec![Edge::new(START, "explore", EdgeKind::Static)];
/// let topology = Topology::new("trip", nodes, edges, vec![]);
///
/// let expected = "flowchart TD\n  %% trip\n  start((\"start\"))\n  n0(\"explore\")\n  start --> n0\n";
/// assert_eq!(topology.mermaid().to_string(), expected);
/// ```
#[derive(Clone, Debug)]
pub struct Mermaid<'a> {
    topology: &'a Topology,
    direction: Direction,
}

impl<'a> Mermaid<'a> {
    pub(super) fn new(topology: &'a Topology) -> Self {
        Self { topology, direction: Direction::default() }
    }

    /// Sets where edges lead.
    ///
    /// ```
    /// use graph_engine::{Direction, Topology};
    ///
    /// let topology = Topology::new("trip", vec![], vec![], vec![]);
    /// assert!(topology.mermaid().direction(Direction::LeftToRight).to_string().starts_with("flowchart LR\n"));
    /// ```
    #[must_use]
    pub fn direction(mut self, direction: Direction) -> Self {
        self.direction = direction;
        self
    }
}

impl fmt::Display for Mermaid<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plan = Plan::new(self.topology);
        let direction = match self.direction {
            Direction::TopToBottom => "TD",
            Direction::LeftToRight => "LR",
        };
        writeln!(f, "flowchart {direction}")?;
        writeln!(f, "  %% {}", MermaidText(&self.topology.name))?;
        let mut depth = 1;
        for step in plan.steps() {
            let pad = Pad(depth);
            match step {
                Step::Start => writeln!(f, r#"{pad}start(("start"))"#)?,
                Step::End => writeln!(f, r#"{pad}done((("end")))"#)?,
                Step::Node(index, node) => writeln!(f, "{pad}n{index}{}", Look(node))?,
                Step::Unknown(index, name) => writeln!(f, r#"{pad}u{index}["{}"]:::unknown"#, MermaidText(name))?,
                Step::Open(index, cluster) => {
                    writeln!(f, r#"{pad}subgraph c{index}["{}"]"#, MermaidText(&cluster.name))?;
                    depth += 1;
                }
                Step::Close => {
                    depth -= 1;
                    writeln!(f, "{}end", Pad(depth))?;
                }
            }
        }
        let mut coloured = Vec::new();
        for (position, (from, to, edge)) in plan.edges().enumerate() {
            let arrow = match edge.kind {
                EdgeKind::Static => "-->",
                EdgeKind::Join => "--o",
                EdgeKind::FanOut => "==>",
                EdgeKind::Go | EdgeKind::Stay | EdgeKind::Direct | EdgeKind::Finish | EdgeKind::Error => "-.->",
            };
            match words(edge).map(MermaidText) {
                Some(label) => writeln!(f, r#"  {from} {arrow}|"{label}"| {to}"#)?,
                None => writeln!(f, "  {from} {arrow} {to}")?,
            }
            match edge.kind {
                EdgeKind::Direct => coloured.push((position, "stroke:royalblue")),
                EdgeKind::Finish => coloured.push((position, "stroke:royalblue,stroke-width:3px")),
                EdgeKind::Error => coloured.push((position, "stroke:red,color:red")),
                _ => {}
            }
        }
        let mut dotted = plan.has_unknown();
        for index in plan.dynamic() {
            writeln!(f, r#"  q{index}(("?")):::unknown"#)?;
            writeln!(f, "  n{index} -.-> q{index}")?;
            dotted = true;
        }
        for (position, style) in coloured {
            writeln!(f, "  linkStyle {position} {style}")?;
        }
        if dotted {
            writeln!(f, "  classDef unknown stroke-dasharray:2 4")?;
        }
        Ok(())
    }
}

/// The brackets and the label of a node.
struct Look<'a>(&'a Vertex);

impl fmt::Display for Look<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (open, close) = match self.0.kind {
            NodeKind::Plain => ("[", "]"),
            NodeKind::Agent => ("(", ")"),
            NodeKind::Tools => ("[[", "]]"),
            NodeKind::Gate => ("{", "}"),
            NodeKind::Human => ("{{", "}}"),
        };
        let deferred = if self.0.deferred { r"\n#40;deferred#41;" } else { "" };
        write!(f, r#"{open}"{}{deferred}"{close}"#, MermaidText(&self.0.name))
    }
}
