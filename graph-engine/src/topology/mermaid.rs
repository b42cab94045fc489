//! Mermaid's language.

use std::fmt;

use super::overlay::{Alarm, Mark, Use};
use super::plan::{Line, Plan, Step};
use super::writer::Writer;
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
        let mut to = Writer::new(f);
        to.put("flowchart ");
        to.end(match self.direction {
            Direction::TopToBottom => "TD",
            Direction::LeftToRight => "LR",
        })?;
        to.put("  %% ");
        to.mermaid(&self.topology.name)?;
        to.end("")?;
        for name in plan.strangers() {
            to.put("  %% no node of this graph: ");
            to.mermaid(name)?;
            to.end("")?;
        }
        let alarms = write_vertices(&mut to, &plan)?;
        let mut styles = Vec::new();
        let mut position = 0;
        for line in plan.lines() {
            write_line(&mut to, &line)?;
            styles.extend(style(&line).map(|(colour, width)| (position, colour, width)));
            position += 1;
        }
        let mut dotted = plan.has_unknown();
        for index in plan.dynamic() {
            to.put("  q");
            to.number(index);
            to.end(r#"(("?")):::unknown"#)?;
            to.put("  n");
            to.number(index);
            to.put(" -.-> q");
            to.number(index);
            to.end("")?;
            styles.extend(plan.is_walked().then_some((position, GREY, "")));
            position += 1;
            dotted = true;
        }
        for (position, colour, width) in styles {
            to.put("  linkStyle ");
            to.number(position);
            to.put(" ");
            to.put(colour);
            to.put(if colour.is_empty() || width.is_empty() { "" } else { "," });
            to.end(width)?;
        }
        if dotted {
            to.end("  classDef unknown stroke-dasharray:2 4")?;
        }
        if alarms.contains(&Alarm::Failed) {
            to.end("  classDef failed fill:#ffc9c9,stroke:red,stroke-width:2px")?;
        }
        if alarms.contains(&Alarm::Waiting) {
            to.end("  classDef waiting fill:#ffe8a3,stroke:orange,stroke-width:2px")?;
        }
        to.finish()
    }
}

/// Everything but the edges, and what needs attention of it.
fn write_vertices(to: &mut Writer<'_, '_>, plan: &Plan<'_>) -> Result<Vec<Alarm>, fmt::Error> {
    let mut alarms = Vec::new();
    let mut depth = 1;
    for step in plan.steps() {
        match step {
            Step::Start => {
                to.pad(depth);
                to.put(r#"start(("start"#);
                write_badge(to, plan.mark(START), "")?;
                to.end(r#""))"#)?;
            }
            Step::End => {
                to.pad(depth);
                to.put(r#"done((("end"#);
                write_badge(to, plan.mark(END), "")?;
                to.end(r#"")))"#)?;
            }
            Step::Node(index, node) => {
                let mark = plan.mark(&node.name);
                let (open, close) = brackets(node.kind);
                to.pad(depth);
                to.put("n");
                to.number(index);
                to.put(open);
                to.mermaid(&node.name)?;
                write_badge(to, mark, if node.deferred { r"\n#40;deferred#41;" } else { "" })?;
                to.put(close);
                to.end(class(mark, &mut alarms))?;
            }
            Step::Unknown(index, name) => {
                let mark = plan.mark(name);
                // A node has one class in this form, and what needs attention is more than what is unknown.
                let class = match class(mark, &mut alarms) {
                    "" => ":::unknown",
                    class => class,
                };
                to.pad(depth);
                to.put("u");
                to.number(index);
                to.put(r#"[""#);
                to.mermaid(name)?;
                write_badge(to, mark, "")?;
                to.put(r#""]"#);
                to.end(class)?;
            }
            Step::Open(index, cluster) => {
                to.pad(depth);
                to.put("subgraph c");
                to.number(index);
                to.put(r#"[""#);
                to.mermaid(&cluster.name)?;
                to.end(r#""]"#)?;
                depth += 1;
            }
            Step::Close => {
                depth -= 1;
                to.pad(depth);
                to.end("end")?;
            }
        }
    }
    Ok(alarms)
}

/// What happened at a node, as it is written behind its name: its visits, then what the node is, then all else in a line
/// of its own.
fn write_badge(to: &mut Writer<'_, '_>, mark: Mark, note: &str) -> fmt::Result {
    if mark == Mark::default() {
        to.put(note);
        return Ok(());
    }
    to.show(mark.visits())?;
    to.put(note);
    let details = mark.details();
    if !details.is_empty() {
        to.put(r"\n");
        to.put(&details);
    }
    Ok(())
}

fn write_line(to: &mut Writer<'_, '_>, line: &Line<'_>) -> fmt::Result {
    to.put("  ");
    to.id(line.from);
    to.put(match line.kind {
        _ if matches!(line.used, Use::Undeclared(_)) => " -.->",
        EdgeKind::Static => " -->",
        EdgeKind::Join => " --o",
        EdgeKind::FanOut => " ==>",
        EdgeKind::Go | EdgeKind::Stay | EdgeKind::Direct | EdgeKind::Finish | EdgeKind::Error => " -.->",
    });
    // Its words, and how often it was taken.
    let count = line.used.count();
    match line.words {
        None if count.0 == 0 => {}
        None => {
            to.put(r#"|"x"#);
            to.show(count.0)?;
            to.put(r#""|"#);
        }
        Some(words) => {
            to.put(r#"|""#);
            to.mermaid(words)?;
            to.show(count)?;
            to.put(r#""|"#);
        }
    }
    to.put(" ");
    to.id(line.to);
    to.end("")
}

/// Of an edge that was not taken.
const GREY: &str = "stroke:#b3b3b3,color:#b3b3b3";

const fn brackets(kind: NodeKind) -> (&'static str, &'static str) {
    match kind {
        NodeKind::Plain => (r#"[""#, r#""]"#),
        NodeKind::Agent => (r#"(""#, r#"")"#),
        NodeKind::Tools => (r#"[[""#, r#""]]"#),
        NodeKind::Gate => (r#"{""#, r#""}"#),
        NodeKind::Human => (r#"{{""#, r#""}}"#),
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

/// The colour and the width of an edge, if it has one of them.
fn style(line: &Line<'_>) -> Option<(&'static str, &'static str)> {
    if line.used == Use::NotTaken {
        return Some((GREY, ""));
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
    (!colour.is_empty() || !width.is_empty()).then_some((colour, width))
}
