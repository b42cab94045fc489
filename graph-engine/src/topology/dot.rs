//! Graphviz's language.

use std::fmt;

use super::escape::DotText;
use super::overlay::{Alarm, Mark, Use};
use super::plan::{Line, Pad, Plan, Step};
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
        let direction = match self.direction {
            Direction::TopToBottom => "TB",
            Direction::LeftToRight => "LR",
        };
        writeln!(f, "digraph G {{")?;
        for name in plan.strangers() {
            writeln!(f, "  // no node of this graph: {}", DotText(name))?;
        }
        let name = DotText(&self.topology.name);
        writeln!(f, r#"  graph [rankdir={direction}, label="{name}", labelloc=t, fontname="sans-serif"]"#)?;
        writeln!(f, r#"  node [fontname="sans-serif"]"#)?;
        writeln!(f, r#"  edge [fontname="sans-serif"]"#)?;
        let mut depth = 1;
        for step in plan.steps() {
            let pad = Pad(depth);
            match step {
                Step::Start => writeln!(f, "{pad}start [{START_LOOK}{}]", Beside(plan.mark(START)))?,
                Step::End => writeln!(f, "{pad}done [{END_LOOK}{}]", Beside(plan.mark(END)))?,
                Step::Node(index, node) => {
                    let (shape, style, kind) = look(node.kind);
                    let deferred = if node.deferred { r"\n(deferred)" } else { "" };
                    let look = Look { name: &node.name, deferred, shape, style, kind, mark: plan.mark(&node.name) };
                    writeln!(f, "{pad}n{index} [{look}]")?;
                }
                Step::Unknown(index, name) => {
                    let (shape, style, kind) = ("box", "dotted", "unknown");
                    let look = Look { name, deferred: "", shape, style, kind, mark: plan.mark(name) };
                    writeln!(f, "{pad}u{index} [{look}]")?;
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
        for line in plan.lines() {
            write!(f, "  {} -> {}", line.from, line.to)?;
            match attributes(&line) {
                none if none.is_empty() => writeln!(f)?,
                some => writeln!(f, " [{}]", some.join(", "))?,
            }
        }
        let grey = if plan.is_walked() { format!(", {GREY}") } else { String::new() };
        for index in plan.dynamic() {
            writeln!(f, r#"  q{index} [label="?", shape=circle, style=dotted, tooltip="anywhere"]"#)?;
            writeln!(f, "  n{index} -> q{index} [style=dotted{grey}]")?;
        }
        writeln!(f, "}}")
    }
}

const START_LOOK: &str = r#"label="", shape=circle, style=filled, fillcolor=black, width=0.2, tooltip="start""#;
const END_LOOK: &str = r#"label="", shape=doublecircle, style=filled, fillcolor=black, width=0.15, tooltip="end""#;

/// Of an edge that was not taken.
const GREY: &str = "color=gray70, fontcolor=gray70";

/// What happened at the start or the end: there is no room inside of their dots.
struct Beside(Mark);

impl fmt::Display for Beside {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 == Mark::default() {
            return Ok(());
        }
        let text = format!("{} {}", self.0.visits(), self.0.details());
        write!(f, r#", xlabel="{}""#, text.trim())
    }
}

/// The attributes of a node.
struct Look<'a> {
    name: &'a str,
    deferred: &'static str,
    shape: &'static str,
    style: &'static str,
    kind: &'static str,
    mark: Mark,
}

impl fmt::Display for Look<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, deferred, shape, style, kind, mark } = self;
        write!(f, r#"label="{}{}{deferred}"#, DotText(name), mark.visits())?;
        let details = mark.details();
        if !details.is_empty() {
            write!(f, r"\n{details}")?;
        }
        write!(f, r#"", shape={shape}"#)?;
        let colours = match mark.alarm() {
            None => "",
            Some(Alarm::Failed) => r##", color=red, penwidth=2, fillcolor="#ffc9c9""##,
            Some(Alarm::Waiting) => r##", color=orange, penwidth=2, fillcolor="#ffe8a3""##,
        };
        match (style.is_empty(), colours.is_empty()) {
            (true, true) => {}
            (true, false) => f.write_str(", style=filled")?,
            (false, true) => write!(f, ", style={style}")?,
            (false, false) => write!(f, r#", style="{style},filled""#)?,
        }
        write!(f, r#"{colours}, tooltip="{kind}""#)
    }
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

/// The attributes of an edge.
fn attributes(line: &Line<'_>) -> Vec<String> {
    let mut attributes = Vec::new();
    let words = line.words.map(|words| DotText(words).to_string()).unwrap_or_default();
    let label = format!("{words}{}", line.used.count());
    // A count without words begins with the space that would have parted them.
    let label = if words.is_empty() { label.trim_start() } else { &label };
    if !label.is_empty() {
        attributes.push(format!(r#"label="{label}""#));
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
    let width = if line.used.count().0 > 0 { "penwidth=3" } else { "" };
    let more = [style, constraint, colour, width].into_iter().filter(|more| !more.is_empty());
    attributes.extend(more.map(str::to_owned));
    attributes
}
