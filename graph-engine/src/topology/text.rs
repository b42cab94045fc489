//! A drawing for the terminal: a picture of what leads forward, then everything in words.

use std::fmt::{self, Write};

use super::Topology;
use super::layers::Layers;
use super::overlay::{Mark, Use};
use super::picture::{WORK, picture};
use super::plan::{Id, Line, Plan, Step, kind_words};
use super::width;
use crate::executed::ExecutedPath;
use crate::name::Place;
use crate::task::{END, NodeKind, START};

/// A topology for the terminal. Made by [`Topology::text`] (feature `ascii-dag`).
///
/// First comes a picture of the edges that lead forward, from the top or, if that is too wide, from the left. Then all
/// nodes, all edges and all clusters are listed. Edges that lead back are only listed, because a line back can't be told
/// from the line forth beside it; so are, in a graph that is mostly lines, the edges to nodes that others lead to step
/// by step. Nothing else than the picture is ever left out, and that only when it is wider
/// than [`columns`](Self::columns) or has too many lines to be read.
///
/// A name of letters, digits, `_`, `-` and `.` is written as it is, any other between quotation marks and with Rust's
/// escapes, so nothing that a terminal would obey is written. In the picture a name of more than 32 columns is
/// shortened, with the id that the lists say.
///
/// ```
/// use graph_engine::{Edge, EdgeKind, NodeKind, START, Topology, Vertex};
///
/// let nodes = vec![Vertex::new("explore", NodeKind::Agent)];
/// let edges = vec![
///     Edge::new(START, "explore", EdgeKind::Static),
///     Edge::new("explore", "explore", EdgeKind::Stay),
/// ];
/// let topology = Topology::new("trip", nodes, edges, vec![]);
///
/// assert_eq!(topology.text().to_string(), "\
/// trip
///
///   [(start)]
///       │
///       ↓
///   [explore]
///
/// nodes
///   explore: agent
/// edges
///   (start) -> explore
/// edges that lead back, not in the picture
///   explore -> explore: stay
/// ");
/// ```
#[derive(Clone, Debug)]
pub struct TextDrawing<'a> {
    topology: &'a Topology,
    columns: usize,
    path: Option<&'a ExecutedPath>,
}

impl Topology {
    /// The graph for the terminal.
    #[must_use]
    pub fn text(&self) -> TextDrawing<'_> {
        TextDrawing { topology: self, columns: 200, path: None }
    }
}

impl<'a> TextDrawing<'a> {
    /// Sets how wide the picture may be. The lists have no limit.
    ///
    /// ```
    /// use graph_engine::{NodeKind, Topology, Vertex};
    ///
    /// let topology = Topology::new("trip", vec![Vertex::new("explore", NodeKind::Agent)], vec![], vec![]);
    /// let text = topology.text().columns(8).to_string();
    /// assert!(text.contains("the picture is left out: it is wider than 8 columns"));
    /// assert!(text.contains("explore: agent"));
    /// ```
    #[must_use]
    pub fn columns(mut self, columns: usize) -> Self {
        self.columns = columns;
        self
    }

    /// Says where turns really went, with the words of [`Dot::executed`](super::Dot::executed).
    ///
    /// ```
    /// use graph_engine::{ExecutedPath, NodeKind, Topology, Vertex};
    ///
    /// let topology = Topology::new("trip", vec![Vertex::new("explore", NodeKind::Agent)], vec![], vec![]);
    /// let mut path = ExecutedPath::new();
    /// path.visit("explore").visits = 3;
    /// assert!(topology.text().executed(&path).to_string().contains("[explore x3]"));
    /// ```
    #[must_use]
    pub fn executed(mut self, path: &'a ExecutedPath) -> Self {
        self.path = Some(path);
        self
    }
}

impl fmt::Display for TextDrawing<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plan = Plan::new(self.topology, self.path);
        let spots = Spots::new(&plan);
        let lines: Vec<Line<'_>> = plan.lines().collect();
        let ends: Vec<(usize, usize)> = lines.iter().map(|line| (spots.find(line.from), spots.find(line.to))).collect();
        let mut layers = Layers::new(spots.0.len(), &ends);
        let back = layers.left_out.clone();
        // A graph that is mostly lines can be read again without those that only lead past others.
        if layers.passed() > spots.0.len() && spots.0.len() < WORK {
            layers.leave_out_detours();
        }
        let drawn = ends.iter().zip(&layers.left_out).filter(|(_, left_out)| !**left_out);
        let mut drawn: Vec<_> = drawn.map(|(end, _)| *end).collect();
        drawn.sort_unstable();
        drawn.dedup();

        writeln!(f, "{}\n", shown(&self.topology.name))?;
        let labels: Vec<String> = spots.0.iter().map(Spot::label).collect();
        let has_picture = match picture(&labels, &drawn, layers.passed(), self.columns) {
            Ok(picture) if picture.is_empty() => false,
            Ok(picture) => {
                writeln!(f, "{picture}\n")?;
                true
            }
            Err(why) => {
                writeln!(f, "the picture is left out: {why}\n")?;
                false
            }
        };
        self.nodes(f, &plan, &spots)?;
        let is_back = |index: usize| has_picture && back[index];
        let is_past = |index: usize| has_picture && layers.left_out[index] && !back[index];
        let listed = |f: &mut fmt::Formatter<'_>, title: &str, wanted: &dyn Fn(usize) -> bool| {
            let mut title = Some(title);
            for (_, line) in lines.iter().enumerate().filter(|(index, _)| wanted(*index)) {
                if let Some(title) = title.take() {
                    writeln!(f, "{title}")?;
                }
                let name = |id| &spots.0[spots.find(id)].name;
                writeln!(f, "  {} {}{}", name(line.from), arrow(line, name(line.to)), beside(line))?;
            }
            Ok(())
        };
        listed(f, "edges", &|index| !is_back(index) && !is_past(index))?;
        listed(f, "edges that lead past others, not in the picture", &is_past)?;
        listed(f, "edges that lead back, not in the picture", &is_back)?;
        self.clusters(f)
    }
}

impl TextDrawing<'_> {
    fn nodes(&self, f: &mut fmt::Formatter<'_>, plan: &Plan<'_>, spots: &Spots) -> fmt::Result {
        let mut title = Some("nodes");
        for found in &spots.0 {
            let mut words = Vec::new();
            match found.id {
                Id::Start | Id::End => {}
                Id::Node(index) => {
                    let node = &self.topology.nodes[index.index()];
                    words.extend(match node.kind {
                        NodeKind::Plain => None,
                        NodeKind::Agent => Some("agent"),
                        NodeKind::Tools => Some("tools"),
                        NodeKind::Gate => Some("gate"),
                        NodeKind::Human => Some("human"),
                    });
                    words.extend(node.deferred.then_some("deferred"));
                    words.extend(node.dynamic.then_some("may lead anywhere"));
                }
                Id::Unknown(_) => words.push("no node of this graph"),
            }
            let badge = badge(found.mark);
            words.extend((!badge.is_empty()).then_some(&*badge));
            // The start and the end are in the picture and at the ends of edges.
            if matches!(found.id, Id::Start | Id::End) && words.is_empty() {
                continue;
            }
            if let Some(title) = title.take() {
                writeln!(f, "{title}")?;
            }
            let id = if found.is_long() { format!("{} = ", found.id) } else { String::new() };
            let colon = if words.is_empty() { "" } else { ": " };
            writeln!(f, "  {id}{}{colon}{}", found.name, words.join(", "))?;
        }
        let strangers: Vec<String> = plan.strangers().map(shown).collect();
        if !strangers.is_empty() {
            writeln!(f, "on the path, but no node of this graph: {}", strangers.join(", "))?;
        }
        Ok(())
    }

    fn clusters(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.topology.clusters.is_empty() {
            writeln!(f, "clusters")?;
        }
        for cluster in &self.topology.clusters {
            let members: Vec<String> = cluster.members.iter().map(|name| shown(name)).collect();
            write!(f, "  {}", shown(&cluster.name))?;
            if let Some(parent) = &cluster.parent {
                write!(f, " in {}", shown(parent))?;
            }
            writeln!(f, ": {}, entered at {}", members.join(", "), shown(&cluster.entry))?;
        }
        Ok(())
    }
}

/// Everything that can be the end of an edge, in the order of drawing.
struct Spots(Vec<Spot>);

struct Spot {
    id: Id,
    name: String,
    mark: Mark,
}

impl Spots {
    fn new(plan: &Plan<'_>) -> Self {
        let mut spots: Vec<Spot> = plan.steps().filter_map(|step| Spot::of(plan, step)).collect();
        spots.sort_by_key(|found| found.id);
        Self(spots)
    }

    /// Every end of an edge has a step of its own in the plan.
    fn find(&self, id: Id) -> usize {
        self.0.partition_point(|found| found.id < id)
    }
}

impl Spot {
    fn of(plan: &Plan<'_>, step: Step<'_>) -> Option<Self> {
        let (id, name, mark) = match step {
            Step::Start => (Id::Start, "(start)".to_owned(), plan.mark(START)),
            Step::End => (Id::End, "(end)".to_owned(), plan.mark(END)),
            Step::Node(index, node) => (Id::Node(u32::from_index(index)), shown(&node.name), plan.mark(&node.name)),
            Step::Unknown(index, name) => (Id::Unknown(u32::from_index(index)), shown(name), plan.mark(name)),
            Step::Open(..) | Step::Close => return None,
        };
        Some(Self { id, name, mark })
    }

    fn is_long(&self) -> bool {
        width::columns(&self.name) > LONG
    }

    fn label(&self) -> String {
        let badge = badge(self.mark);
        let space = if badge.is_empty() { "" } else { " " };
        if !self.is_long() {
            return format!("{}{space}{badge}", self.name);
        }
        let mut label = format!("{} = ", self.id);
        let mut left = LONG.saturating_sub(3 + label.len());
        for c in self.name.chars() {
            let Some(rest) = left.checked_sub(width::of(c)) else { break };
            left = rest;
            label.push(c);
        }
        label + "..." + space + &badge
    }
}

/// The most columns of a name in the picture.
const LONG: usize = 32;

/// A name in which nothing is hidden and nothing is obeyed by a terminal.
fn shown(name: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
    if !name.is_empty() && name.chars().all(is_plain) { name.to_owned() } else { format!("{name:?}") }
}

fn badge(mark: Mark) -> String {
    let (visits, details) = (mark.visits().to_string(), mark.details());
    let parts = [visits.trim_start(), &details];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ")
}

fn arrow(line: &Line<'_>, to: &str) -> String {
    match line.used {
        Use::Undeclared(_) => format!("..> {to}"),
        Use::Unasked | Use::NotTaken | Use::Taken(_) => format!("-> {to}"),
    }
}

/// What stands behind an edge: its label, its kind, how often it was taken.
fn beside(line: &Line<'_>) -> String {
    let mut text = String::new();
    let kind = kind_words(line.kind);
    match line.words {
        Some(words) if Some(words) != kind => {
            text += &shown(words);
            if let Some(kind) = kind {
                // Writing to a string can't fail.
                let _ = write!(text, " ({kind})");
            }
        }
        words => text += words.unwrap_or_default(),
    }
    let used = match line.used {
        Use::Unasked => String::new(),
        Use::NotTaken => "not taken".to_owned(),
        Use::Taken(count) => format!("x{count}"),
        Use::Undeclared(count) => format!("x{count}, not declared"),
    };
    let parts: Vec<&str> = [&*text, &used].into_iter().filter(|part| !part.is_empty()).collect();
    if parts.is_empty() { text } else { format!(": {}", parts.join(", ")) }
}
