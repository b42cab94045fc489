//! Graphviz's language.

use std::fmt;

use super::overlay::{Alarm, Mark, Use};
use super::plan::{Line, Plan, Step};
use super::writer::Writer;
use super::{Direction, Topology};
use crate::edge_kind::EdgeKind;
use crate::executed::ExecutedPath;
use crate::task::{END, NodeKind, START};

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
    path: Option<&'a ExecutedPath>,
}

impl<'a> Dot<'a> {
    pub(super) fn new(topology: &'a Topology) -> Self {
        Self { topology, direction: Direction::default(), path: None }
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

    /// Draws over the graph where turns really went.
    ///
    /// A node says how often its tasks ran (`explore x3`), what it rejected, and how many attempts failed; it is red if
    /// it failed for good and amber if it waits. An edge that was taken is bold and says how often, one that wasn't is
    /// grey. An edge that was taken but isn't declared is dotted. Names that are no nodes of this topology
    /// ([`Topology::strangers`]) are drawn dotted, and named in comments at the top.
    ///
    /// ```
    /// use graph_engine::{Edge, EdgeKind, ExecutedPath, NodeKind, START, Topology, Vertex};
    ///
    /// let nodes = vec![Vertex::new("explore", NodeKind::Agent)];
    /// let edges = vec![Edge::new(START, "explore", EdgeKind::Static)];
    /// let topology = Topology::new("trip", nodes, edges, vec![]);
    /// let mut path = ExecutedPath::new();
    /// path.take(START, "explore", EdgeKind::Static, 3);
    /// path.visit("explore").visits = 3;
    ///
    /// let dot = topology.dot().executed(&path).to_string();
    /// assert!(dot.contains(r#"label="explore x3""#));
    /// assert!(dot.contains(r#"start -> n0 [label="x3", penwidth=3]"#));
    /// ```
    #[must_use]
    pub fn executed(mut self, path: &'a ExecutedPath) -> Self {
        self.path = Some(path);
        self
    }
}

impl fmt::Display for Dot<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plan = Plan::new(self.topology, self.path);
        let mut to = Writer::new(f);
        to.end("digraph G {")?;
        for name in plan.strangers() {
            to.put("  // no node of this graph: ");
            to.dot(name)?;
            to.end("")?;
        }
        to.put("  graph [rankdir=");
        to.put(match self.direction {
            Direction::TopToBottom => "TB",
            Direction::LeftToRight => "LR",
        });
        to.put(r#", label=""#);
        to.dot(&self.topology.name)?;
        to.end(r#"", labelloc=t, fontname="sans-serif"]"#)?;
        to.end(r#"  node [fontname="sans-serif"]"#)?;
        to.end(r#"  edge [fontname="sans-serif"]"#)?;
        write_vertices(&mut to, &plan)?;
        for line in plan.lines() {
            to.put("  ");
            to.id(line.from);
            to.put(" -> ");
            to.id(line.to);
            write_attributes(&mut to, &line)?;
            to.end("")?;
        }
        for index in plan.dynamic() {
            to.put("  q");
            to.number(index);
            to.end(r#" [label="?", shape=circle, style=dotted, tooltip="anywhere"]"#)?;
            to.put("  n");
            to.number(index);
            to.put(" -> q");
            to.number(index);
            to.put(" [style=dotted");
            if plan.is_walked() {
                to.put(", ");
                to.put(GREY);
            }
            to.end("]")?;
        }
        to.end("}")?;
        to.finish()
    }
}

/// Everything but the edges.
fn write_vertices(to: &mut Writer<'_, '_>, plan: &Plan<'_>) -> fmt::Result {
    let mut depth = 1;
    for step in plan.steps() {
        match step {
            Step::Start => {
                to.pad(depth);
                to.put("start [");
                to.put(START_LOOK);
                write_beside(to, plan.mark(START))?;
                to.end("]")?;
            }
            Step::End => {
                to.pad(depth);
                to.put("done [");
                to.put(END_LOOK);
                write_beside(to, plan.mark(END))?;
                to.end("]")?;
            }
            Step::Node(index, node) => {
                let deferred = if node.deferred { r"\n(deferred)" } else { "" };
                to.pad(depth);
                to.put("n");
                to.number(index);
                write_look(to, &node.name, deferred, look(node.kind), plan.mark(&node.name))?;
            }
            Step::Unknown(index, name) => {
                to.pad(depth);
                to.put("u");
                to.number(index);
                write_look(to, name, "", ("box", "dotted", "unknown"), plan.mark(name))?;
            }
            Step::Open(index, cluster) => {
                to.pad(depth);
                to.put("subgraph cluster_");
                to.number(index);
                to.end(" {")?;
                depth += 1;
                to.pad(depth);
                to.put(r#"graph [label=""#);
                to.dot(&cluster.name)?;
                to.end(r#"", style=rounded]"#)?;
            }
            Step::Close => {
                depth -= 1;
                to.pad(depth);
                to.end("}")?;
            }
        }
    }
    Ok(())
}

const START_LOOK: &str = r#"label="", shape=circle, style=filled, fillcolor=black, width=0.2, tooltip="start""#;
const END_LOOK: &str = r#"label="", shape=doublecircle, style=filled, fillcolor=black, width=0.15, tooltip="end""#;

/// Of an edge that was not taken.
const GREY: &str = "color=gray70, fontcolor=gray70";

/// What happened at the start or the end: there is no room inside of their dots.
fn write_beside(to: &mut Writer<'_, '_>, mark: Mark) -> fmt::Result {
    if mark == Mark::default() {
        return Ok(());
    }
    let text = format!("{} {}", mark.visits(), mark.details());
    to.put(r#", xlabel=""#);
    to.put(text.trim());
    to.put("\"");
    Ok(())
}

/// The attributes of a node, to the end of its line.
fn write_look(
    to: &mut Writer<'_, '_>,
    name: &str,
    deferred: &str,
    (shape, style, kind): (&str, &str, &str),
    mark: Mark,
) -> fmt::Result {
    to.put(r#" [label=""#);
    to.dot(name)?;
    let mut colours = "";
    if mark == Mark::default() {
        to.put(deferred);
    } else {
        to.show(mark.visits())?;
        to.put(deferred);
        let details = mark.details();
        if !details.is_empty() {
            to.put(r"\n");
            to.put(&details);
        }
        colours = match mark.alarm() {
            None => "",
            Some(Alarm::Failed) => r##", color=red, penwidth=2, fillcolor="#ffc9c9""##,
            Some(Alarm::Waiting) => r##", color=orange, penwidth=2, fillcolor="#ffe8a3""##,
        };
    }
    to.put(r#"", shape="#);
    to.put(shape);
    match (style.is_empty(), colours.is_empty()) {
        (true, true) => {}
        (true, false) => to.put(", style=filled"),
        (false, true) => {
            to.put(", style=");
            to.put(style);
        }
        (false, false) => {
            to.put(r#", style=""#);
            to.put(style);
            to.put(r#",filled""#);
        }
    }
    to.put(colours);
    to.put(r#", tooltip=""#);
    to.put(kind);
    to.end(r#""]"#)
}

/// The shape, the style and the tooltip.
const fn look(kind: NodeKind) -> (&'static str, &'static str, &'static str) {
    match kind {
        NodeKind::Plain => ("box", "", "node"),
        NodeKind::Agent => ("box", "rounded", "agent"),
        NodeKind::Tools => ("component", "", "tools"),
        NodeKind::Gate => ("diamond", "", "gate"),
        NodeKind::Human => ("hexagon", "", "human"),
    }
}

/// The attributes of an edge, if it has any.
fn write_attributes(to: &mut Writer<'_, '_>, line: &Line<'_>) -> fmt::Result {
    let count = line.used.count();
    let mut between = " [";
    if line.words.is_some() || count.0 > 0 {
        to.put(std::mem::replace(&mut between, ", "));
        to.put(r#"label=""#);
        match line.words {
            Some(words) => {
                to.dot(words)?;
                to.show(count)?;
            }
            None => {
                to.put("x");
                to.show(count.0)?;
            }
        }
        to.put("\"");
    }
    let dotted = matches!(line.used, Use::Undeclared(_));
    let style = match line.kind {
        _ if dotted => "style=dotted",
        EdgeKind::Static => "",
        EdgeKind::Join => "arrowhead=dot",
        EdgeKind::FanOut => "style=bold",
        EdgeKind::Go | EdgeKind::Stay | EdgeKind::Direct | EdgeKind::Error => "style=dashed",
        EdgeKind::Finish => r#"style="dashed,bold""#,
    };
    let colour = match line.kind {
        _ if line.used == Use::NotTaken => GREY,
        EdgeKind::Direct | EdgeKind::Finish => "color=royalblue, fontcolor=royalblue",
        EdgeKind::Error => "color=red, fontcolor=red",
        _ => "",
    };
    // A way back must not push the entry below the node.
    let constraint = if line.kind == EdgeKind::Stay { "constraint=false" } else { "" };
    let width = if count.0 > 0 { "penwidth=3" } else { "" };
    for more in [style, constraint, colour, width].into_iter().filter(|more| !more.is_empty()) {
        to.put(std::mem::replace(&mut between, ", "));
        to.put(more);
    }
    to.put(if between == ", " { "]" } else { "" });
    Ok(())
}
