//! Tool calls in every known shape, as the bytes of a stream: the right calls, or a typed error.
//!
//! The shapes and the calls come from the same generator as those of the assembler's own tests; here they are written as
//! events, cut anywhere, and read back.

use graph_nodes::assemble::{AssemblyError, AssemblyPolicy, CallDelta, CallStream, Random, Shape};
use graph_nodes::message::FinishReason;
use graph_nodes::model::{Collector, CutOff, Request, Response, ToolSpec};
use graph_nodes_openai::StreamReader;
use serde_json::json;

use crate::support::{Read, cuts, for_seeds, pieces};
use crate::wire::{Said, event, put};

/// How the stream ends.
const ENDS: [&[&str]; 6] = [
    &["tool_calls"],
    // S44.
    &["stop"],
    // S45.
    &["tool_calls", "stop"],
    &["length"],
    // What is cut stays cut.
    &["length", "stop"],
    &[],
];

/// A body with what it has to be read as.
struct Body {
    bytes: Vec<u8>,
    text: String,
    usage: Option<(u64, u64)>,
    finish: Option<&'static str>,
}

/// Writes the fragments, some of them in one event (S03), with text between them (S47).
fn write(deltas: &[CallDelta], ends: &[&'static str], random: &mut Random) -> Body {
    let mut bytes = Vec::new();
    let mut text = String::new();
    let mut rest = deltas;
    put(&event(&Said { text: Some(""), ..Said::default() }, random), &mut bytes, random);
    while !rest.is_empty() {
        let (calls, after) = rest.split_at(rest.len().min(1 + random.below(3) * random.below(2)));
        rest = after;
        let said = (random.below(6) == 0).then(|| random.pick(&["One moment. ", "日本 ", "{\"a\": ", "\n"]));
        text.push_str(said.unwrap_or_default());
        put(&event(&Said { text: said, calls, ..Said::default() }, random), &mut bytes, random);
    }
    for finish in ends {
        put(&event(&Said { finish: Some(finish), ..Said::default() }, random), &mut bytes, random);
    }
    let usage = (random.below(2) == 0).then(|| (random.below(1_000) as u64, random.below(1_000) as u64));
    if usage.is_some() {
        put(&event(&Said { usage, ..Said::default() }, random), &mut bytes, random);
    }
    (0..random.below(3)).for_each(|_| put("[DONE]", &mut bytes, random));
    // The first reason counts; the only one that is replaced would be a complete one by one that cuts.
    Body { bytes, text, usage, finish: ends.first().copied() }
}

fn request() -> Request {
    let tool = |name: &&str| ToolSpec::new(*name, "A tool.", json!({"type": "object"}));
    Request::new([]).with_tools(CallStream::TOOLS.iter().map(tool))
}

fn collect(read: Read, mut collector: Collector) -> Result<Response, AssemblyError> {
    read.chunks.into_iter().for_each(|chunk| drop(collector.push(chunk)));
    collector.finish()
}

fn check(seed: u64) {
    let shape = Shape::ALL[(seed % Shape::ALL.len() as u64) as usize];
    let CallStream { deltas, calls, .. } = CallStream::new(shape, seed);
    let mut random = Random::new(!seed);
    let ends = random.pick(&ENDS);
    let body = write(&deltas, ends, &mut random);
    let at = cuts(body.bytes.len(), &mut random);
    let read = Read::of(StreamReader::new(), pieces(&body.bytes, &at));
    let wire = || format!("seed {seed}, {shape:?}: {}", String::from_utf8_lossy(&body.bytes));

    // Without a finish reason it is an error, and no shorter answer.
    let Some(finish) = body.finish else {
        assert!(read.told().is_some_and(|told| told.starts_with("Truncated")), "{}", wire());
        let half = collect(read, Collector::new()).expect("lenient");
        assert_eq!(half.executable_calls(), Err(CutOff::NoFinishReason), "{}", wire());
        return;
    };
    assert_eq!(read.told(), None, "{}", wire());
    let collector = if random.below(2) == 0 { Collector::for_request(&request()) } else { Collector::new() };
    let response = collect(read, collector).expect("lenient");
    let got: Vec<_> = response
        .calls
        .iter()
        .map(|call| (call.id.as_str(), call.name.as_str(), call.arguments.raw(), call.fault().is_none()))
        .collect();
    let expected: Vec<_> =
        calls.iter().map(|call| (call.id.as_str(), call.name, call.arguments.as_str(), call.is_sound)).collect();
    assert_eq!(got, expected, "{}", wire());
    assert_eq!(response.text, body.text, "{}", wire());
    assert_eq!(response.finish, Some(FinishReason::from(finish)), "{}", wire());
    assert_eq!(response.usage.map(|usage| (usage.input, usage.output)), body.usage, "{}", wire());
    match finish {
        "length" => assert_eq!(response.executable_calls(), Err(CutOff::Length), "{}", wire()),
        _ => assert_eq!(response.executable_calls(), Ok(response.calls.as_slice()), "{}", wire()),
    }
}

#[test]
fn calls_in_every_known_shape_are_read_right_or_are_a_typed_error() {
    for_seeds(10_000, check);
}

#[test]
fn the_strict_policy_refuses_what_has_no_id_of_its_own() {
    let policy = AssemblyPolicy::Strict;
    for seed in 0..200 {
        let refused = |shape: Shape| {
            let stream = CallStream::new(shape, seed);
            let body = write(&stream.deltas, &["tool_calls"], &mut Random::new(seed));
            let strict = collect(Read::whole(&body.bytes), Collector::new().with_policy(policy));
            (stream.calls.len(), strict.map(|response| response.calls.len()))
        };
        // S48.
        assert!(matches!(refused(Shape::NoIds).1, Err(AssemblyError::MissingId { .. })));
        match refused(Shape::OneId) {
            (1, kept) => assert_eq!(kept, Ok(1)),
            (_, kept) => assert!(matches!(kept, Err(AssemblyError::DuplicateId { id, .. }) if id == "id0")),
        }
        let (calls, kept) = refused(Shape::Gaps);
        assert_eq!(kept, Ok(calls));
    }
}

#[test]
fn a_reason_for_calls_without_any_call_is_an_empty_response() {
    // S46.
    let body = write(&[], &["tool_calls"], &mut Random::new(1));
    let response = Read::whole(&body.bytes).response();
    assert!(response.is_empty());
    assert_eq!(response.executable_calls(), Ok(&[][..]));
}

#[test]
fn a_mebibyte_of_arguments_in_a_thousand_events_is_one_call() {
    // S49. How the time grows is counted in `growth`.
    let text = format!("{{\"q\":\"{}\"}}", "日".repeat((1 << 20) / 3));
    let mut random = Random::new(49);
    let mut deltas = vec![CallDelta::new().at(0).id("a").name("search")];
    let mut rest = text.as_str();
    while !rest.is_empty() {
        let (piece, after) = rest.split_at(rest.floor_char_boundary(1_049.min(rest.len())));
        deltas.push(CallDelta::new().at(0).text(piece));
        rest = after;
    }
    let body = write(&deltas, &["tool_calls"], &mut random);
    let at = cuts(body.bytes.len(), &mut random);
    let response = Read::of(StreamReader::new(), pieces(&body.bytes, &at)).response();
    assert!(response.calls[0].arguments.raw() == text);
    assert_eq!(response.calls[0].fault(), None);
}
