//! Mermaid's language.

use std::fmt;

use super::escape::MermaidText;
use super::overlay::{Alarm, Mark, Use};
use super::plan::{Line, Pad, Plan, Step};
use super::{Direction, Topology};
use crate::edge_kind::EdgeKind;
use crate::executed::ExecutedPath;
use crate::task::{END, NodeKind, START};

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
    path: Option<&'a ExecutedPath>,
}

impl<'a> Mermaid<'a> {
    pub(super) fn new(topology: &'a Topology) -> Self {
        Self { topology, direction: Direction::default(), path: None }
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

    /// Draws over the graph where turns really went, in the way of [`Dot::executed`](super::Dot::executed).
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
    /// let mermaid = topology.mermaid().executed(&path).to_string();
    /// assert!(mermaid.contains("n0(\"explore x3\")"));
    /// assert!(mermaid.contains("start -->|\"x3\"| n0"));
    /// ```
    #[must_use]
    pub fn executed(mut self, path: &'a ExecutedPath) -> Self {
        self.path = Some(path);
        self
    }
}

impl fmt::Display for Mermaid<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plan = Plan::new(self.topology, self.path);
        let direction = match self.direction {
            Direction::TopToBottom => "TD",
            Direction::LeftToRight => "LR",
        };
        writeln!(f, "flowchart {direction}")?;
        writeln!(f, "  %% {}", MermaidText(&self.topology.name))?;
        for name in plan.strangers() {
            writeln!(f, "  %% no node of this graph: {}", MermaidText(name))?;
        }
        let mut alarms = Vec::new();
        let mut depth = 1;
        for step in plan.steps() {
            let pad = Pad(depth);
            match step {
                Step::Start => writeln!(f, r#"{pad}start(("start{}"))"#, Badge(plan.mark(START)))?,
                Step::End => writeln!(f, r#"{pad}done((("end{}")))"#, Badge(plan.mark(END)))?,
                Step::Node(index, node) => {
                    let mark = plan.mark(&node.name);
                    let (open, close) = brackets(node.kind);
                    let deferred = if node.deferred { r"\n#40;deferred#41;" } else { "" };
                    let (name, visits, details) = (MermaidText(&node.name), mark.visits(), Details(mark));
                    let class = class(mark, &mut alarms);
                    writeln!(f, r#"{pad}n{index}{open}"{name}{visits}{deferred}{details}"{close}{class}"#)?;
                }
                Step::Unknown(index, name) => {
                    let mark = plan.mark(name);
                    // A node has one class in this form, and what needs attention is more than what is unknown.
                    let class = match class(mark, &mut alarms) {
                        "" => ":::unknown",
                        class => class,
                    };
                    writeln!(f, r#"{pad}u{index}["{}{}"]{class}"#, MermaidText(name), Badge(mark))?;
                }
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
        let mut styles = Vec::new();
        let mut position = 0;
        for line in plan.lines() {
            let arrow = match line.kind {
                _ if matches!(line.used, Use::Undeclared(_)) => "-.->",
                EdgeKind::Static => "-->",
                EdgeKind::Join => "--o",
                EdgeKind::FanOut => "==>",
                EdgeKind::Go | EdgeKind::Stay | EdgeKind::Direct | EdgeKind::Finish | EdgeKind::Error => "-.->",
            };
            let (from, to, label) = (line.from, line.to, label(&line));
            if label.is_empty() {
                writeln!(f, "  {from} {arrow} {to}")?;
            } else {
                writeln!(f, r#"  {from} {arrow}|"{label}"| {to}"#)?;
            }
            styles.extend(style(&line).map(|style| (position, style)));
            position += 1;
        }
        let mut dotted = plan.has_unknown();
        for index in plan.dynamic() {
            writeln!(f, r#"  q{index}(("?")):::unknown"#)?;
            writeln!(f, "  n{index} -.-> q{index}")?;
            styles.extend(plan.is_walked().then(|| (position, GREY.to_owned())));
            position += 1;
            dotted = true;
        }
        for (position, style) in styles {
            writeln!(f, "  linkStyle {position} {style}")?;
        }
        if dotted {
            writeln!(f, "  classDef unknown stroke-dasharray:2 4")?;
        }
        if alarms.contains(&Alarm::Failed) {
            writeln!(f, "  classDef failed fill:#ffc9c9,stroke:red,stroke-width:2px")?;
        }
        if alarms.contains(&Alarm::Waiting) {
            writeln!(f, "  classDef waiting fill:#ffe8a3,stroke:orange,stroke-width:2px")?;
        }
        Ok(())
    }
}

/// Of an edge that was not taken.
const GREY: &str = "stroke:#b3b3b3,color:#b3b3b3";

const fn brackets(kind: NodeKind) -> (&'static str, &'static str) {
    match kind {
        NodeKind::Plain => ("[", "]"),
        NodeKind::Agent => ("(", ")"),
        NodeKind::Tools => ("[[", "]]"),
        NodeKind::Gate => ("{", "}"),
        NodeKind::Human => ("{{", "}}"),
    }
}

/// What happened at a node, as it is written behind its name.
struct Badge(Mark);

impl fmt::Display for Badge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.0.visits(), Details(self.0))
    }
}

/// What happened at a node besides its visits, in a line of its own.
struct Details(Mark);

impl fmt::Display for Details {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let details = self.0.details();
        if details.is_empty() { Ok(()) } else { write!(f, r"\n{details}") }
    }
}

/// What is written on an edge: its words, and how often it was taken.
fn label(line: &Line<'_>) -> String {
    match line.words {
        None => line.used.count().to_string().trim_start().to_owned(),
        Some(words) => format!("{}{}", MermaidText(words), line.used.count()),
    }
}

fn class(mark: Mark, alarms: &mut Vec<Alarm>) -> &'static str {
    let alarm = mark.alarm();
    alarms.extend(alarm);
    match alarm {
        None => "",
        Some(Alarm::Failed) => ":::failed",
        Some(Alarm::Waiting) => ":::waiting",
    }
}

fn style(line: &Line<'_>) -> Option<String> {
    if line.used == Use::NotTaken {
        return Some(GREY.to_owned());
    }
    let colour = match line.kind {
        EdgeKind::Direct => "stroke:royalblue",
        EdgeKind::Finish if line.used == Use::Unasked => "stroke:royalblue,stroke-width:3px",
        EdgeKind::Finish => "stroke:royalblue",
        EdgeKind::Error => "stroke:red,color:red",
        _ => "",
    };
    let width = match line.used {
        Use::Unasked | Use::NotTaken => "",
        Use::Taken(_) => "stroke-width:4px",
        Use::Undeclared(_) => "stroke-width:4px,stroke-dasharray:2 4",
    };
    let style: Vec<&str> = [colour, width].into_iter().filter(|part| !part.is_empty()).collect();
    (!style.is_empty()).then(|| style.join(","))
}
