//! Random streams in seven styles, cut at random places, assemble to the calls
//! they were made from.
//!
//! `GRAPH_NODES_STREAMS` sets how many streams are made (2,000 by default).

use graph_nodes::assemble::{Assembler, CallDelta};

/// A small seeded generator, so that a failing stream can be made again.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) % bound as u64) as usize
    }

    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.below(from.len())]
    }

    fn json(&mut self, depth: usize) -> String {
        const LEAVES: [&str; 9] =
            [r#""x""#, r#""}{[]""#, r#""\"}\\""#, r#""日本 🏨""#, "0", "-1.5", "true", "null", r#""\u00fc""#];
        match self.below(if depth == 0 { 1 } else { 3 }) {
            1 => self.object(depth - 1),
            2 => {
                let items: Vec<_> = (0..self.below(3)).map(|_| self.json(depth - 1)).collect();
                format!("[{}]", items.join(", "))
            }
            _ => self.pick(&LEAVES).to_owned(),
        }
    }

    fn object(&mut self, depth: usize) -> String {
        let fields: Vec<_> = (0..self.below(4)).map(|n| format!("\"k{n}\": {}", self.json(depth))).collect();
        format!("{{{}}}", fields.join(","))
    }

    /// Cuts a text at up to five places.
    fn cut(&mut self, text: &str) -> Vec<String> {
        let mut at: Vec<usize> =
            (0..self.below(6)).map(|_| text.floor_char_boundary(self.below(text.len() + 1))).collect();
        at.extend([0, text.len()]);
        at.sort_unstable();
        at.windows(2).map(|pair| text[pair[0]..pair[1]].to_owned()).collect()
    }

    /// Merges lists and keeps the order within each.
    fn interleave(&mut self, mut lists: Vec<Vec<CallDelta>>) -> Vec<CallDelta> {
        lists.iter_mut().for_each(|list| list.reverse());
        let mut merged = Vec::new();
        while !lists.is_empty() {
            let n = self.below(lists.len());
            merged.extend(lists[n].pop());
            lists.retain(|list| !list.is_empty());
        }
        merged
    }
}

#[derive(Clone, Copy, Debug)]
enum Style {
    Interleaved,
    IdAndNameRepeated,
    NoIndex,
    IndexZeroWhole,
    IndexZeroFragments,
    NameLate,
    NullIndexInterleaved,
}

const STYLES: [Style; 7] = [
    Style::Interleaved,
    Style::IdAndNameRepeated,
    Style::NoIndex,
    Style::IndexZeroWhole,
    Style::IndexZeroFragments,
    Style::NameLate,
    Style::NullIndexInterleaved,
];

const TOOLS: [&str; 4] = ["search", "get_weather", "get", "book_hotel"];

#[derive(Debug)]
struct Call {
    id: String,
    name: &'static str,
    arguments: String,
}

fn fragments(style: Style, n: usize, call: &Call, random: &mut Random) -> Vec<CallDelta> {
    let index = u32::try_from(n).expect("few calls");
    let start = CallDelta::new().id(&call.id).name(call.name);
    let pieces = random.cut(&call.arguments);
    let texts = |base: CallDelta| pieces.iter().map(move |piece| base.clone().text(piece.clone()));
    let mut deltas: Vec<CallDelta> = match style {
        Style::Interleaved => {
            let (first, second) = call.name.split_at(random.below(call.name.len()));
            let opening = [start.name(first).at(index), CallDelta::new().at(index).name(second)];
            opening.into_iter().chain(texts(CallDelta::new().at(index))).collect()
        }
        Style::IdAndNameRepeated => texts(start.at(index)).collect(),
        Style::NoIndex => [start].into_iter().chain(texts(CallDelta::new())).collect(),
        Style::IndexZeroWhole => vec![start.at(0).text(call.arguments.clone())],
        Style::IndexZeroFragments => [start.at(0)].into_iter().chain(texts(CallDelta::new().at(0))).collect(),
        Style::NameLate => {
            let mut list: Vec<_> = [CallDelta::new().at(index).id(&call.id)]
                .into_iter()
                .chain(texts(CallDelta::new().at(index)))
                .collect();
            let at = 1 + random.below(list.len());
            list.insert(at, CallDelta::new().at(index).name(call.name));
            list
        }
        Style::NullIndexInterleaved => [start].into_iter().chain(texts(CallDelta::new().id(&call.id))).collect(),
    };
    if random.below(4) == 0
        && let Some(last) = deltas.last().cloned()
    {
        deltas.push(CallDelta { name: None, ..last }.text(""));
    }
    deltas
}

fn check(seed: u64) {
    let mut random = Random(seed);
    let style = STYLES[random.below(STYLES.len())];
    let calls: Vec<Call> = (0..1 + random.below(4))
        .map(|n| Call {
            id: format!("id{n}"),
            name: random.pick(&TOOLS),
            arguments: if random.below(8) == 0 { String::new() } else { random.object(3) },
        })
        .collect();
    let lists: Vec<_> = calls.iter().enumerate().map(|(n, call)| fragments(style, n, call, &mut random)).collect();
    let interleaved = matches!(style, Style::Interleaved | Style::NameLate | Style::NullIndexInterleaved);
    let deltas = if interleaved { random.interleave(lists) } else { lists.concat() };

    let mut expected: Vec<_> =
        calls.iter().map(|call| (call.id.as_str(), call.name, call.arguments.as_str())).collect();
    if matches!(style, Style::NullIndexInterleaved) {
        // Without an index the order is the order of arrival.
        expected.sort_by_key(|(id, ..)| deltas.iter().position(|delta| delta.id.as_deref() == Some(id)));
    }

    let mut assembler = Assembler::new();
    if random.below(2) == 0 {
        assembler = assembler.with_known_tools(TOOLS);
    }
    let mut starts = 0;
    for delta in deltas.clone() {
        starts += assembler.push(delta).len();
    }
    let fed: usize = calls.iter().map(|call| call.arguments.len()).sum();
    assert_eq!(assembler.scanned_bytes(), fed, "seed {seed}, {style:?}");
    let assembly = assembler.finish().expect("lenient");
    starts += assembly.events.len();
    let got: Vec<_> =
        assembly.calls.iter().map(|call| (call.id.as_str(), call.name.as_str(), call.arguments.raw())).collect();
    assert_eq!(got, expected, "seed {seed}, {style:?}, {deltas:#?}");
    assert!(assembly.calls.iter().all(|call| call.fault().is_none()), "seed {seed}, {style:?}");
    assert_eq!(starts, calls.len(), "seed {seed}, {style:?}");
}

#[test]
fn random_streams_of_every_style_assemble_to_their_calls() {
    let streams = std::env::var("GRAPH_NODES_STREAMS").ok().and_then(|text| text.parse().ok()).unwrap_or(2_000);
    (0..streams).for_each(check);
}
