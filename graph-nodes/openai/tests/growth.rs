//! How the cost of reading a stream grows: counted, not timed.

use allocation_counter::measure;
use graph_nodes::assemble::{Assembler, CallDelta};
use graph_nodes::model::Collector;
use graph_nodes_openai::StreamReader;

/// So many events of a call in pieces of eight characters, then the end.
fn calls(events: usize) -> String {
    let event =
        |call: &str| format!("data: {{\"choices\":[{{\"index\":0,\"delta\":{{\"tool_calls\":[{call}]}}}}]}}\n\n");
    let start = event(r#"{"index":0,"id":"c","function":{"name":"search","arguments":"{\"q\":\""}}"#);
    let piece = event(r#"{"index":0,"function":{"arguments":"abcdefgh"}}"#);
    let end = event(r#"{"index":0,"function":{"arguments":"\"}"}}"#);
    format!(
        "{start}{}{end}{}",
        piece.repeat(events),
        "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"tool_calls\"}]}\n\n"
    )
}

fn texts(events: usize) -> String {
    let piece = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"abcdefgh\"}}]}\n\n";
    piece.repeat(events) + "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n"
}

/// Reads a body in pieces into a response.
fn read(body: &[u8], piece: usize) {
    let (mut reader, mut collector) = (StreamReader::new(), Collector::new());
    for piece in body.chunks(piece) {
        reader.push(piece).unwrap().into_iter().for_each(|chunk| drop(collector.push(chunk)));
    }
    reader.finish().unwrap().into_iter().for_each(|chunk| drop(collector.push(chunk)));
    assert!(collector.finish().unwrap().executable_calls().is_ok());
}

#[test]
fn an_event_costs_as_many_allocations_late_as_early() {
    for make in [calls, texts] {
        for piece in [1, 100, usize::MAX] {
            let allocations = |events: usize| {
                let body = make(events);
                let counted = measure(|| read(body.as_bytes(), piece));
                counted.count_total as f64 / events as f64
            };
            let (few, many) = (allocations(250), allocations(4_000));
            assert!(many <= few * 1.05, "{few} allocations an event of 250, {many} of 4,000, in pieces of {piece}");
            assert!(many <= 6.1, "{many} allocations an event, in pieces of {piece}");
        }
    }
}

#[test]
fn an_event_costs_as_many_bytes_of_memory_late_as_early() {
    for make in [calls, texts] {
        for piece in [1, 100] {
            let bytes = |events: usize| {
                let body = make(events);
                measure(|| read(body.as_bytes(), piece)).bytes_total as f64 / events as f64
            };
            let (few, many) = (bytes(250), bytes(4_000));
            assert!(many <= few * 1.1, "{few} bytes an event of 250, {many} of 4,000, in pieces of {piece}");
        }
    }
}

#[test]
fn each_byte_of_the_arguments_is_scanned_once() {
    let scanned = |pieces: usize| {
        let mut assembler = Assembler::new();
        assembler.push(CallDelta::new().at(0).id("c").name("search").text("{\"q\":\""));
        (0..pieces).for_each(|_| drop(assembler.push(CallDelta::new().at(0).text("abcdefgh"))));
        assembler.scanned_bytes()
    };
    assert_eq!((scanned(250), scanned(4_000)), (6 + 250 * 8, 6 + 4_000 * 8));
}

/// Endless streams: each is this, over and over.
const ENDLESS: [(&str, &[u8]); 11] = [
    ("a line", b"x"),
    ("a comment", b": keep-alive\n"),
    ("blank lines", b"\n"),
    ("one event", b"data: x\n"),
    ("blank lines of an event", b"data\r"),
    ("events that say nothing", b"data: {}\n\n"),
    ("half of a character", b"\xe6"),
    ("blank events", b"data:\n\n"),
    ("fields", b"event: message\r\n"),
    ("an event that does not end", b"data: {\"choices\":[{\"delta\":{\"content\":\""),
    ("reports of tokens", b"data: {\"usage\":{\"prompt_tokens\":1}}\n\n"),
];

#[test]
fn memory_stays_below_a_small_multiple_of_the_limit_whatever_comes() {
    const MAX: usize = 100_000;
    for (name, piece) in ENDLESS {
        for size in [1, 1_000, 16 * MAX] {
            let body = piece.repeat((2 * MAX).div_ceil(piece.len()).max(16 * MAX / piece.len()));
            let counted = measure(|| {
                let mut reader = StreamReader::new().with_max_bytes(MAX);
                let mut error = None;
                for part in body.chunks(size) {
                    if let Err(told) = reader.push(part) {
                        error = Some(told);
                        break;
                    }
                }
                assert!(error.or_else(|| reader.finish().err()).is_some(), "{name}");
            });
            // All chunks of one piece are given at once.
            let times = if size > MAX { 12 } else { 3 };
            assert!(counted.bytes_max <= times * MAX as u64, "{name} in pieces of {size}: {} bytes", counted.bytes_max);
        }
    }
}

#[test]
fn chunks_of_one_piece_are_a_small_multiple_of_it() {
    // The shortest event that says something, in the largest piece.
    let body = "data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n".repeat(2_000);
    let counted = measure(|| assert_eq!(StreamReader::new().push(body.as_bytes()).unwrap().len(), 2_000));
    assert!(counted.bytes_max <= 12 * body.len() as u64, "{} bytes for {}", counted.bytes_max, body.len());
}

#[test]
fn what_was_read_is_kept_once_in_a_response() {
    // Chunks that nobody keeps are gone: the answer itself and what is on its way is all there is.
    for make in [calls, texts] {
        let body = make(20_000);
        let counted = measure(|| read(body.as_bytes(), 100));
        let said = 20_000 * 8;
        assert!(counted.bytes_max <= 4 * said + 20_000, "{} bytes for an answer of {said}", counted.bytes_max);
    }
}
