//! Random streams in seven styles, cut at random places, assemble to the calls
//! they were made from.
//!
//! Each style gets 8,000 streams, half of them with a registry of tools. A failing stream is named by its seed.

use std::collections::BTreeSet;

use graph_nodes::assemble::{ArgumentsDelta, Assembler, AssemblyEvent, CallDelta};
use proptest::prelude::*;

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
    // Neighbouring seeds are far apart in the generator.
    let mut random = Random(seed.wrapping_mul(0xd1b5_4a32_d192_ed03));
    let style = STYLES[(seed % STYLES.len() as u64) as usize];
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
    if (seed / 7).is_multiple_of(2) {
        assembler = assembler.with_known_tools(TOOLS);
    }
    let mut starts = Vec::new();
    for delta in deltas.clone() {
        starts.extend(assembler.push(delta));
    }
    let fed: usize = calls.iter().map(|call| call.arguments.len()).sum();
    assert_eq!(assembler.scanned_bytes(), fed, "seed {seed}, {style:?}");
    let assembly = assembler.finish().expect("lenient");
    starts.extend(assembly.events.iter().cloned());
    let got: Vec<_> =
        assembly.calls.iter().map(|call| (call.id.as_str(), call.name.as_str(), call.arguments.raw())).collect();
    assert_eq!(got, expected, "seed {seed}, {style:?}, {deltas:#?}");
    assert!(assembly.calls.iter().all(|call| call.fault().is_none()), "seed {seed}, {style:?}");
    let mut started: Vec<_> = starts
        .into_iter()
        .map(|event| match event {
            AssemblyEvent::Started { id, name, .. } => (id.unwrap_or_default(), name),
            other => panic!("unexpected {other:?}"),
        })
        .collect();
    started.sort_unstable();
    let wanted: Vec<_> = calls.iter().map(|call| (call.id.clone(), call.name.to_owned())).collect();
    assert_eq!(started, wanted, "seed {seed}, {style:?}");
}

const STREAMS: u64 = 56_000;

#[test]
fn random_streams_of_seven_styles_assemble_to_their_calls() {
    // Four threads: the order of seeds doesn't matter.
    std::thread::scope(|scope| {
        for part in 0..4 {
            scope.spawn(move || (0..STREAMS).filter(|seed| seed / 14 % 4 == part).for_each(check));
        }
    });
}

fn any_delta() -> impl Strategy<Value = CallDelta> {
    let field =
        |choices: &'static [&'static str]| prop::option::of(prop::sample::select(choices).prop_map(str::to_owned));
    let text = prop::sample::select(&["", " ", "{", "}", "{}", "[1]", "\"", "\\", "\"q\":", "日", "null"][..]);
    let arguments = prop_oneof![
        Just(ArgumentsDelta::Absent),
        Just(ArgumentsDelta::Null),
        text.prop_map(|text| ArgumentsDelta::Text(text.to_owned())),
        Just(ArgumentsDelta::Value(serde_json::json!({"q": 1}))),
    ];
    (prop::option::of(0..3_u32), field(&["", "a", "b", "call_auto_0"]), field(&["", "f", "g", "fg"]), arguments)
        .prop_map(|(index, id, name, arguments)| CallDelta { index, id, name, arguments })
}

fn fed_bytes(deltas: &[CallDelta]) -> usize {
    let bytes = |delta: &CallDelta| match &delta.arguments {
        ArgumentsDelta::Text(text) if text.trim().is_empty() => 0,
        ArgumentsDelta::Text(text) => text.len(),
        ArgumentsDelta::Value(value) => value.to_string().len(),
        _ => 0,
    };
    deltas.iter().map(bytes).sum()
}

proptest! {
    /// Nothing that a provider could send breaks the promises of the result.
    #[test]
    fn any_fragments_give_distinct_ids_and_lose_no_text(deltas in prop::collection::vec(any_delta(), 0..20)) {
        let mut assembler = Assembler::new().with_known_tools(["f", "fg"]);
        let mut starts: Vec<_> = deltas.iter().cloned().flat_map(|delta| assembler.push(delta)).collect();
        let scanned = assembler.scanned_bytes();
        let assembly = assembler.finish().expect("lenient");
        starts.extend(assembly.events);

        let ids: BTreeSet<_> = assembly.calls.iter().map(|call| call.id.as_str()).collect();
        prop_assert_eq!(ids.len(), assembly.calls.len());
        prop_assert!(ids.iter().all(|id| !id.trim().is_empty()));
        let kept: usize = assembly.calls.iter().map(|call| call.arguments.raw().len()).sum();
        prop_assert_eq!(kept, scanned);
        prop_assert!(kept >= fed_bytes(&deltas));
        let named = assembly.calls.iter().filter(|call| !call.name.is_empty()).count();
        prop_assert_eq!(starts.len(), named);
        for event in &starts {
            let AssemblyEvent::Started { name, .. } = event else { panic!("unexpected {event:?}") };
            prop_assert!(assembly.calls.iter().any(|call| call.name == *name));
        }
    }
}
