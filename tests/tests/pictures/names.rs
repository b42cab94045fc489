//! Names that break diagrams, and graphs full of them, from a fixed seed.

use std::collections::BTreeSet;

use graph_engine::{Cluster, END, Edge, EdgeKind, NodeKind, START, Topology, Vertex};

/// The generator SplitMix64: the same numbers on every machine.
pub(crate) struct SplitMix(u64);

impl SplitMix {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub(crate) fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.next() % limit as u64).expect("below a usize")
    }

    pub(crate) fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }
}

/// Reported against other exporters.
const REPORTED: [&str; 4] = ["a[1] \"x\"", "\\d+ \"x\"\n\0", "1. first", "end"];

#[rustfmt::skip]
const KEYWORDS: [&str; 32] = [
    "end", "End", "END", "graph", "subgraph", "digraph", "node", "edge", "strict", "class", "click", "style",
    "default", "linkStyle", "direction", "classDef", "flowchart", "href", "call", "interpolate", "accTitle", "title",
    "o", "x", "TB", "LR", "n0", "u0", "c0", "start", "done", "cluster_0",
];

#[rustfmt::skip]
const FRAGMENTS: [&str; 99] = [
    // Quotes, brackets, backslashes.
    "\"", "\"\"", "'", "`", "```", "\"`", "`\"", "\\", "\\\\", "\\\"", "\\n", "\\l", "\\N", "\\G", "[", "]", "[[",
    "(", ")", "((", "{", "}", "{{", "[/", "/]", ">",
    // Line ends, spaces, control characters.
    "\n", "\n\n", "\r", "\r\n", "\t", "\0", "\u{7}", "\u{1b}[31m", "\u{7f}", "\u{85}", "\u{2028}", " ", "  ", "    ",
    "\u{a0}", "\u{3000}",
    // Other scripts, combining marks, bidirectional and invisible characters.
    "😀", "👩\u{200d}👩\u{200d}👧", "🏴\u{e0067}\u{e0062}\u{e007f}", "e\u{301}\u{323}", "酒店", "ß", "שלום", "مرحبا",
    "\u{202e}", "\u{202a}", "\u{2066}", "\u{2069}", "\u{200f}", "\u{61c}", "\u{200b}", "\u{feff}", "\u{fffe}",
    "\u{ad}", "\u{10ffff}",
    // HTML and entities, also in Mermaid's own spelling of them.
    "<", "<b>", "</b>", "<br/>", "<!--", "<script>alert(1)</script>", "<img src=\"x\" onerror='y'>", "&", "&amp;",
    "&lt;", "&#34;", "&#x41;", "#", "#quot;", "#35;", ";", "ﬂ°°60¶ß", "ﬂ°lt¶ß",
    // Operators of both languages, comments, styles, icons, formulas, links, Markdown.
    "--", "-->", "->", "-.->", "==>", "--o", "|", "%", "%%", "%%{init: {}}%%", "//", "/* ", ":::unknown",
    "@{ shape: circle }", "fa:fa-user", "$$x$$", "https://example.invalid/?a=b", "- ", "**b**", "_",
];

const WORDS: [&str; 8] = ["explore", "present", "gate", "Hotel", "a", "x1", "ünïcode", "42"];

pub(crate) fn hostile_name(random: &mut SplitMix) -> String {
    let mut name = String::new();
    match random.below(100) {
        // 10 kB.
        0 => {
            while name.len() < 10_240 {
                name.push_str(random.pick(&FRAGMENTS));
                name.push_str(random.pick(&WORDS));
            }
        }
        1 => {
            let word = random.pick(&WORDS);
            name = word.repeat(10_240 / word.len() + 1);
        }
        2..=4 => name.push_str(random.pick(&REPORTED)),
        5..=14 => name.push_str(random.pick(&KEYWORDS)),
        15..=29 => {
            let length = 1 + random.below(20);
            name.extend((0..length).filter_map(|_| char::from_u32(random.below(0x11_0000) as u32)));
        }
        30..=44 => {
            let length = random.below(12);
            name.extend((0..length).map(|_| char::from(random.below(128) as u8)));
        }
        _ => {
            for _ in 0..=random.below(5) {
                name.push_str(random.pick(&FRAGMENTS));
                match random.below(4) {
                    0 => name.push_str(random.pick(&WORDS)),
                    1 => name.push_str(random.pick(&KEYWORDS)),
                    _ => {}
                }
            }
        }
    }
    if random.below(12) == 0 {
        name.push('\\');
    }
    name
}

/// A graph with eight hostile names: its own, three nodes, one target that is no node, two clusters, one label.
pub(crate) fn hostile_graph(random: &mut SplitMix) -> Topology {
    let mut seen = BTreeSet::new();
    let mut fresh = |random: &mut SplitMix| loop {
        let name = hostile_name(random);
        if seen.insert(name.clone()) {
            return name;
        }
    };
    let [first, second, third, unknown] = std::array::from_fn(|_| fresh(random));
    let [outer, inner] = std::array::from_fn(|_| fresh(random));
    let label = format!("{}!", fresh(random));

    const NODES: [NodeKind; 5] = [NodeKind::Plain, NodeKind::Agent, NodeKind::Tools, NodeKind::Gate, NodeKind::Human];
    const EDGES: [EdgeKind; 8] = [
        EdgeKind::Static,
        EdgeKind::Join,
        EdgeKind::Go,
        EdgeKind::FanOut,
        EdgeKind::Stay,
        EdgeKind::Direct,
        EdgeKind::Finish,
        EdgeKind::Error,
    ];
    let node = |random: &mut SplitMix, name: &str| {
        let mut vertex = Vertex::new(name, random.pick(&NODES));
        vertex.deferred = random.below(4) == 0;
        vertex.dynamic = random.below(4) == 0;
        vertex
    };
    let nodes = vec![node(random, &first), node(random, &second), node(random, &third)];
    let edges = vec![
        Edge::new(START, &*first, EdgeKind::Static),
        Edge::new(&*first, &*second, random.pick(&EDGES)).labelled(&*label),
        Edge::new(&*second, &*unknown, random.pick(&EDGES)).labelled(&*label),
        Edge::new(&*third, &*third, EdgeKind::Stay).labelled(&*label),
        Edge::new(&*second, END, random.pick(&EDGES)).labelled("reply"),
    ];
    let mut nested = Cluster::new(&*inner, &*second, [&*second]);
    nested.parent = Some(outer.as_str().into());
    let clusters = vec![Cluster::new(&*outer, &*first, [&*first]), nested];
    Topology::new(fresh(random), nodes, edges, clusters)
}
