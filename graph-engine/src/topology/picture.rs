//! Boxes and lines in characters.

use ascii_dag::{AUTO, Direction, Graph, LayoutConfig, RenderOptions};

use super::width;

/// The most boxes, lines and layers passed by lines: more can't be read, and takes long to lay out.
pub(super) const WORK: usize = 2_000;

/// Lays out a graph without cycles. Says why there is no picture if there is none.
///
/// The layout counts characters, not columns, and it may shorten or omit what has no room. So each label goes in as a
/// run of one private character, as long as the label is wide, and the picture is taken only if every run comes back
/// whole. The names themselves never meet the layout.
pub(super) fn picture(
    labels: &[String],
    edges: &[(usize, usize)],
    passed: usize,
    columns: usize,
) -> Result<String, String> {
    if labels.is_empty() {
        return Ok(String::new());
    }
    if labels.len() + edges.len() + passed > WORK {
        return Err("the graph has too many lines to be read, draw it with Graphviz".to_owned());
    }
    let stand_ins: Option<Vec<StandIn<'_>>> = labels.iter().enumerate().map(StandIn::new).collect();
    let stand_ins = stand_ins.ok_or("the graph has too many nodes")?;
    for direction in [Direction::TopDown, Direction::LeftRight] {
        let drawn = layout(&stand_ins, edges, direction);
        let Some(picture) = replaced(&stand_ins, &drawn) else {
            return Err("a label has no room in it, draw the graph with Graphviz".to_owned());
        };
        if picture.lines().all(|line| width::columns(line) <= columns) {
            return Ok(picture);
        }
    }
    Err(format!("it is wider than {columns} columns"))
}

struct StandIn<'a> {
    label: &'a str,
    first: char,
    run: String,
}

impl<'a> StandIn<'a> {
    fn new((index, label): (usize, &'a String)) -> Option<Self> {
        let code = u32::try_from(index).ok().filter(|index| *index < 0xfffd)?;
        let first = char::from_u32(PRIVATE + code)?;
        let run = std::iter::repeat_n(first, width::columns(label)).collect();
        Some(Self { label, first, run })
    }
}

/// Where Unicode's second private plane begins. Nothing else in a picture comes from there.
const PRIVATE: u32 = 0xf_0000;

fn layout(stand_ins: &[StandIn<'_>], edges: &[(usize, usize)], direction: Direction) -> String {
    let mut graph = Graph::new();
    graph.set_direction(direction);
    let ids: Vec<_> = stand_ins.iter().map(|stand_in| graph.add_node(AUTO, &*stand_in.run).node).collect();
    for (from, to) in edges {
        graph.add_edge(ids[*from], ids[*to], None);
    }
    let mut config = LayoutConfig::standard();
    config.direction = direction;
    graph.compute_layout_with_config(&config).render_string(&RenderOptions::plain())
}

/// The picture with the labels themselves, if each is there exactly once.
fn replaced(stand_ins: &[StandIn<'_>], drawn: &str) -> Option<String> {
    let mut picture = String::with_capacity(drawn.len());
    let mut seen = vec![false; stand_ins.len()];
    for line in drawn.lines() {
        let mut rest = line.trim_end();
        while let Some(c) = rest.chars().next() {
            let index = u32::from(c).checked_sub(PRIVATE).and_then(|index| usize::try_from(index).ok());
            let Some(stand_in) = index.and_then(|index| stand_ins.get(index)).filter(|found| found.first == c) else {
                picture.push(c);
                rest = &rest[c.len_utf8()..];
                continue;
            };
            rest = rest.strip_prefix(&*stand_in.run)?;
            picture.push_str(stand_in.label);
            if std::mem::replace(&mut seen[index?], true) {
                return None;
            }
        }
        picture.push('\n');
    }
    let end = picture.trim_end().len();
    picture.truncate(end);
    // Without its label nobody could tell what a box is.
    seen.into_iter().all(|seen| seen).then_some(picture)
}
