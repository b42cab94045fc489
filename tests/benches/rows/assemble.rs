//! The assembly of streamed tool calls beside a plain append to a string: a megabyte of arguments in pieces.

use std::hint::black_box;

use graph_nodes::assemble::{ArgumentsDelta, Assembler, CallDelta};
use serde_json::Value;

use crate::measure::{Clock, Timed, times};
use crate::suite::{Law, Row, Suite};
use crate::workloads::calls::{self, fragments, interleaved};

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

/// The least: four strings, and a parser at the end.
fn by_hand(count: usize, runs: u64) -> Timed<'static> {
    let pieces = interleaved(count);
    times(runs, move || {
        let mut whole = vec![String::new(); 4];
        pieces.iter().for_each(|(call, text)| whole[*call].push_str(text));
        whole.iter().for_each(|text| drop(black_box(serde_json::from_str::<Value>(text).expect("JSON"))));
    })
}

fn kept(count: usize, runs: u64) -> Timed<'static> {
    let kept = fragments(count);
    times(runs, move || calls::assemble(&kept))
}

/// Does work with fragments that are made, and whose places are dropped, outside of the time. As many at a time as fit in
/// the cache: fragments come one by one.
fn with_fragments(count: usize, runs: u64, work: fn(&mut Vec<CallDelta>)) -> Timed<'static> {
    let together = 4_000 / count;
    Box::new(move |clock: Clock| {
        let time = || {
            let mut all: Vec<_> = (0..together).map(|_| fragments(count)).collect();
            clock.time(|| all.iter_mut().for_each(work))
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

const DELTAS: u64 = 800_000;

pub(crate) fn rows(suite: &mut Suite) {
    let row = |count| Row::new(21, "assemble", count, "").unit("delta", DELTAS).ratio(4.5).most(20.0);
    suite.pair(row(4_000), || (by_hand(4_000, DELTAS / 4_000), kept(4_000, DELTAS / 4_000)));
    suite.pair(row(250).beside(), || (by_hand(250, DELTAS / 250), kept(250, DELTAS / 250)));
}

pub(crate) fn extras(suite: &mut Suite) {
    let row = Row::extra("assemble", 4_000, "fragments that are given away").unit("delta", DELTAS);
    suite.pair(row, || (folded_fragments(4_000, 200), assembled_calls(4_000, 200)));
    let text = arguments();
    for size in [16, 1_024] {
        let pieces = pieces(&text, size);
        let units = text.len() as u64 / 1_024 * RUNS;
        let row = Row::extra("assemble 1 MB", 0, format!("pieces of {size}")).unit("KiB", units);
        suite.pair(row, || (appended(&pieces), assembled(&pieces)));
    }
}

pub(crate) fn laws(suite: &mut Suite) {
    let law = |rows, name, unit, units, most| Law { rows, name, unit, units, most };
    suite.law(&law(&[21], "assemble: 250, 4,000 deltas", "delta", (DELTAS, DELTAS), 1.2), || {
        (kept(250, DELTAS / 250), kept(4_000, DELTAS / 4_000))
    });
    let text = arguments();
    let (small, large) = (pieces(&text[..BYTES / 16], 64), pieces(&text, 64));
    let units = (BYTES as u64 / 16 / 1_024 * RUNS, BYTES as u64 / 1_024 * RUNS);
    suite.law(&law(&[], "assemble: 64 kB, 1 MB", "KiB", units, 1.3), || (assembled(&small), assembled(&large)));
    for (name, delta) in STYLES {
        suite.law(&law(&[], name, "call", (625 * 16, 10_000), 1.5), || {
            (opened(625, 16, delta), opened(10_000, 1, delta))
        });
    }
}

type Style = fn(u32) -> CallDelta;

/// How calls that are open at once are told apart.
const STYLES: [(&str, Style); 3] = [
    ("assemble: 625, 10,000 open calls by name", |n| CallDelta::new().name(format!("f{n}")).text("{")),
    ("assemble: 625, 10,000 open calls by id", |n| CallDelta::new().id(format!("c{n}")).name("f").text("{")),
    ("assemble: 625, 10,000 open calls by index", |n| CallDelta::new().at(n).text("{")),
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
