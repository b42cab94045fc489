//! The assembly of streamed tool calls beside a plain append to a string: a megabyte of arguments in pieces.

use std::hint::black_box;

use graph_nodes::assemble::{ArgumentsDelta, Assembler, CallDelta};

use serde_json::Value;

use crate::measure::{Row, Target, Timed, cpu, times};

const BYTES: usize = 1 << 20;
const RUNS: u64 = 20;

/// Arguments of many short strings, as models write them.
fn arguments() -> String {
    let mut text = "{\"items\":[".to_owned();
    while text.len() < BYTES {
        text.push_str("{\"name\":\"Hotel \\\"Adler\\\"\",\"price\":120},");
    }
    text.truncate(text.len() - 1);
    text + "]}"
}

fn pieces(text: &str, size: usize) -> Vec<String> {
    text.as_bytes().chunks(size).map(|piece| String::from_utf8_lossy(piece).into_owned()).collect()
}

fn appended(pieces: &[String]) -> Timed<'_> {
    times(RUNS, move || {
        let mut whole = String::new();
        pieces.iter().for_each(|piece| whole.push_str(&piece.clone()));
        black_box(whole);
    })
}

fn assembled(pieces: &[String]) -> Timed<'_> {
    times(RUNS, move || {
        let mut assembler = Assembler::new();
        assembler.push(CallDelta::new().at(0).id("c1").name("book"));
        for piece in pieces {
            assembler.push(CallDelta::new().at(0).text(piece.clone()));
        }
        black_box(assembler);
    })
}

/// So many fragments of eight bytes of four calls in turn, as index and text.
fn interleaved(count: usize) -> Vec<(u32, &'static str)> {
    let each = |text| (0..4).map(move |call| (call, text));
    let middle = (0..4).cycle().take(count - 8).map(|call| (call, "abcdefgh"));
    each("{\"q\":\"").chain(middle).chain(each("\"}")).collect()
}

/// The least: four strings, and a parser at the end.
fn folded(count: usize, runs: u64) -> Timed<'static> {
    let pieces = interleaved(count);
    times(runs, move || {
        let mut whole = vec![String::new(); 4];
        pieces.iter().for_each(|(call, text)| whole[*call as usize].push_str(text));
        whole.iter().for_each(|text| drop(black_box(serde_json::from_str::<Value>(text).expect("JSON"))));
    })
}

fn fragments(count: usize) -> Vec<CallDelta> {
    let fragment = |(call, text): &(u32, &str)| match text.starts_with('{') {
        true => CallDelta::new().at(*call).id(format!("c{call}")).name("search").text(*text),
        false => CallDelta::new().at(*call).text(*text),
    };
    interleaved(count).iter().map(fragment).collect()
}

/// Does work with fragments that are made, and whose places are dropped, outside of the time. As many at a time as fit in
/// the cache: fragments come one by one.
fn with_fragments(count: usize, runs: u64, work: fn(&mut Vec<CallDelta>)) -> Timed<'static> {
    let together = 4_000 / count;
    Box::new(move || {
        let time = || {
            let mut all: Vec<_> = (0..together).map(|_| fragments(count)).collect();
            cpu(|| all.iter_mut().for_each(work))
        };
        (0..runs / together as u64).map(|_| time()).sum()
    })
}

fn assembled_calls(count: usize, runs: u64) -> Timed<'static> {
    with_fragments(count, runs, |fragments| {
        let mut assembler = Assembler::new();
        fragments.drain(..).for_each(|fragment| drop(assembler.push(fragment)));
        let calls = assembler.finish().expect("lenient").calls;
        assert!(calls.iter().all(|call| call.fault().is_none()));
        black_box(calls);
    })
}

/// Fragments that whoever shows them keeps, as the pieces are kept by hand.
fn assembled_kept(count: usize, runs: u64) -> Timed<'static> {
    let kept = fragments(count);
    times(runs, move || {
        let mut assembler = Assembler::new();
        kept.iter().for_each(|fragment| drop(assembler.push_ref(fragment)));
        let calls = assembler.finish().expect("lenient").calls;
        assert!(calls.iter().all(|call| call.fault().is_none()));
        black_box(calls);
    })
}

/// The least for fragments that own their text: each is freed.
fn folded_fragments(count: usize, runs: u64) -> Timed<'static> {
    with_fragments(count, runs, |fragments| {
        let mut whole = vec![String::new(); 4];
        for CallDelta { index, arguments, .. } in fragments.drain(..) {
            if let (Some(index), ArgumentsDelta::Text(text)) = (index, arguments) {
                whole[index as usize].push_str(&text);
            }
        }
        whole.iter().for_each(|text| drop(black_box(serde_json::from_str::<Value>(text).expect("JSON"))));
    })
}

pub(crate) fn rows() {
    for count in [250, 4_000] {
        let (name, runs) = (format!("21 assemble:{count}"), 800_000 / count as u64);
        Row { name, unit: "delta", units: (800_000, 800_000), target: Target::Nanoseconds(20.0) }
            .pair(folded(count, runs), assembled_kept(count, runs));
    }
    let name = "assemble:4000, fragments that are given away".to_owned();
    Row { name, unit: "delta", units: (800_000, 800_000), target: Target::Shown }
        .pair(folded_fragments(4_000, 200), assembled_calls(4_000, 200));
    let text = arguments();
    for size in [16, 1_024] {
        let pieces = pieces(&text, size);
        let units = text.len() as u64 / 1_024 * RUNS;
        let name = format!("assemble:1 MB in pieces of {size}");
        let row = Row { name, unit: "KiB", units: (units, units), target: Target::Shown };
        row.pair(appended(&pieces), assembled(&pieces));
    }
}

pub(crate) fn laws() {
    Row {
        name: "assemble: 250, 4,000 deltas".to_owned(),
        unit: "delta",
        units: (800_000, 800_000),
        target: Target::Ratio(1.2),
    }
    .pair(assembled_kept(250, 3_200), assembled_kept(4_000, 200));
    let text = arguments();
    let (small, large) = (pieces(&text[..BYTES / 16], 64), pieces(&text, 64));
    let units = (BYTES as u64 / 16 / 1_024 * RUNS, BYTES as u64 / 1_024 * RUNS);
    Row { name: "assemble: 64 kB, 1 MB".to_owned(), unit: "KiB", units, target: Target::Ratio(1.3) }
        .pair(assembled(&small), assembled(&large));
    for (style, delta) in STYLES {
        let name = format!("assemble: 625, 10,000 open calls by {style}");
        Row { name, unit: "call", units: (625 * 16, 10_000), target: Target::Ratio(1.5) }
            .pair(opened(625, 16, delta), opened(10_000, 1, delta));
    }
}

type Style = fn(u32) -> CallDelta;

/// How calls that are open at once are told apart.
const STYLES: [(&str, Style); 3] = [
    ("name", |n| CallDelta::new().name(format!("f{n}")).text("{")),
    ("id", |n| CallDelta::new().id(format!("c{n}")).name("f").text("{")),
    ("index", |n| CallDelta::new().at(n).text("{")),
];

fn opened(count: u32, runs: u64, delta: Style) -> Timed<'static> {
    times(runs, move || {
        let mut assembler = Assembler::new();
        for n in (0..count).chain(0..count) {
            assembler.push(delta(n));
        }
        black_box(assembler.finish().is_ok());
    })
}
