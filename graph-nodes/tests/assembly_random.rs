//! Random streams in every known shape, cut at random places, assemble to the calls they were made from.
//!
//! The seven common styles get 8,000 streams each, the others 2,000; half of them with a registry of tools. A failing
//! stream is named by its shape and seed.

use std::collections::BTreeSet;

use graph_nodes::assemble::{ArgumentsDelta, Assembler, AssemblyEvent, CallDelta, CallStream, Shape};
use proptest::prelude::*;

/// Streams of each shape.
const STREAMS: u64 = 8_000;

fn check(shape: Shape, seed: u64) {
    let CallStream { deltas, calls, .. } = CallStream::new(shape, seed);
    let mut assembler = Assembler::new();
    if seed.is_multiple_of(2) {
        assembler = assembler.with_known_tools(CallStream::TOOLS);
    }
    let mut starts = Vec::new();
    for (at, delta) in (seed..).zip(&deltas) {
        // Given away or kept: no difference.
        let shown = if at.is_multiple_of(3) { assembler.push(delta.clone()) } else { assembler.push_ref(delta) };
        starts.extend(shown);
    }
    let fed: usize = calls.iter().map(|call| call.arguments.len()).sum();
    assert_eq!(assembler.scanned_bytes(), fed, "seed {seed}, {shape:?}");
    let assembly = assembler.finish().expect("lenient");
    starts.extend(assembly.events.iter().cloned());
    let got: Vec<_> = assembly
        .calls
        .iter()
        .map(|call| (call.id.as_str(), call.name.as_str(), call.arguments.raw(), call.fault().is_none()))
        .collect();
    let expected: Vec<_> =
        calls.iter().map(|call| (call.id.as_str(), call.name, call.arguments.as_str(), call.is_sound)).collect();
    assert_eq!(got, expected, "seed {seed}, {shape:?}, {deltas:#?}");
    let mut started: Vec<_> = starts
        .into_iter()
        .map(|event| match event {
            AssemblyEvent::Started { name, .. } => name,
            other => panic!("unexpected {other:?}"),
        })
        .collect();
    started.sort_unstable();
    let mut wanted: Vec<_> = calls.iter().map(|call| call.name.to_owned()).collect();
    wanted.sort_unstable();
    assert_eq!(started, wanted, "seed {seed}, {shape:?}");
}

/// Checks streams of these shapes on four threads: the order of seeds doesn't matter.
fn check_all(shapes: &[Shape], streams: u64) {
    std::thread::scope(|scope| {
        for part in 0..4 {
            let seeds = (0..streams).filter(move |seed| seed / 2 % 4 == part);
            scope.spawn(move || seeds.for_each(|seed| shapes.iter().for_each(|shape| check(*shape, seed))));
        }
    });
}

#[test]
fn random_streams_of_seven_styles_assemble_to_their_calls() {
    check_all(&Shape::ALL[..7], STREAMS);
}

#[test]
fn random_streams_of_every_other_known_shape_assemble_to_their_calls() {
    check_all(&Shape::ALL[7..], STREAMS / 4);
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
        let mut kept = Assembler::new().with_known_tools(["f", "fg"]);
        let shown: Vec<_> = deltas.iter().flat_map(|delta| kept.push_ref(delta)).collect();
        prop_assert_eq!((&shown, &kept.finish().expect("lenient")), (&starts, &assembly));
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
