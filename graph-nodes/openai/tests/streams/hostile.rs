//! Hostile streams: no panic, the same wherever they are cut, never more than the limit, and never complete when cut off.
//!
//! A stream is made of items whose meaning is known, so what it has to be read as is known too, wherever it ends.

use graph_nodes::assemble::Random;
use graph_nodes::message::FinishReason;
use graph_nodes::model::{Chunk, ModelErrorKind};
use graph_nodes_openai::StreamReader;

use crate::chunking::BY_HAND;
use crate::files::STREAMS;
use crate::support::{Read, cuts, for_seeds, pieces};
use crate::wire::{Said, event, line};

/// The most bytes of an answer here, so that some are too large.
const MAX: usize = 1_500;

/// What an item does to the answer.
#[derive(Clone, Debug)]
enum Effect {
    Nothing,
    Text(&'static str),
    Usage(u64, u64),
    Finish(&'static str),
    Error(ModelErrorKind),
    Done,
}

/// An item that was written.
#[derive(Debug)]
struct Written {
    effect: Effect,
    /// From so many bytes on, it is there even if the stream ends: the text of an event is whole, its end may be missing.
    said: usize,
    /// From so many bytes on, it is there.
    ended: usize,
}

/// What has to come out.
#[derive(Clone, Debug, Default, PartialEq)]
struct Outcome {
    text: String,
    usage: Option<(u64, u64)>,
    finish: Option<FinishReason>,
    error: Option<ModelErrorKind>,
}

const TEXTS: [&str; 6] = ["a", "日本", "🏨 ", "data: [DONE]\n\n", "{\"error\":1}", "\u{0}\u{feff}"];

/// Events that are errors, and of which kind.
const ERRORS: [(&str, ModelErrorKind); 9] = [
    (r#"{"error":{"message":"m","type":"server_error"}}"#, ModelErrorKind::Provider),
    (r#"{"error":"down","choices":[]}"#, ModelErrorKind::Provider),
    (r#"{"object":"error","message":"m"}"#, ModelErrorKind::Provider),
    (r#"{"choices":[{"finish_reason":"error"}]}"#, ModelErrorKind::Provider),
    (r#"{"error":{"message":"m","code":429}}"#, ModelErrorKind::Rate),
    (r#"{"error":{"code":"context_length_exceeded"}}"#, ModelErrorKind::ContextTooLong),
    (r#"{"error":{"type":"insufficient_quota"}}"#, ModelErrorKind::Quota),
    (r#"{"error":{"message":"m","code":401}}"#, ModelErrorKind::Authentication),
    (r#"{"error":{"message":"m","type":"invalid_request_error"}}"#, ModelErrorKind::BadRequest),
];

/// Events that say nothing.
const NOTHING: [&str; 10] = [
    "{}",
    r#"{"choices":null}"#,
    r#"{"choices":[],"usage":null,"error":null}"#,
    r#"{"choices":[{"index":null,"delta":null,"finish_reason":null,"usage":null}],"error":null,"object":null}"#,
    r#"{"choices":[{"index":0,"delta":{"role":null,"content":null,"refusal":null,"tool_calls":null,"function_call":null}}]}"#,
    r#"{"choices":[{"index":0,"delta":{"content":""},"finish_reason":""}]}"#,
    r#"{"choices":[{"index":1,"delta":{"content":"another answer"},"finish_reason":"stop"}]}"#,
    r#"{"choices":[{"delta":{"tool_calls":[]}}]}"#,
    r#"{"usage":{"prompt_tokens":null,"completion_tokens":"many"}}"#,
    r#"{"id":1,"id":2,"choices":[]}"#,
];

/// Bytes that are no text.
const NO_TEXT: [&[u8]; 5] = [b"data: \xff", b"\xc0\xaf", b": \xed\xa0\x80", b"data: \xe6\x97 ", b"\xf5"];

struct Stream {
    bytes: Vec<u8>,
    items: Vec<Written>,
}

impl Stream {
    fn new(random: &mut Random) -> Self {
        let mut stream = Self { bytes: Vec::new(), items: Vec::new() };
        if random.below(6) == 0 {
            stream.bytes.extend_from_slice("\u{feff}".as_bytes());
        }
        for _ in 0..random.below(14) {
            stream.item(random);
        }
        stream
    }

    fn item(&mut self, random: &mut Random) {
        let said = |said: Said<'_>, random: &mut Random| event(&said, random);
        match random.below(24) {
            0..=6 => {
                let text = random.pick(&TEXTS);
                let json = said(Said { text: Some(text), ..Said::default() }, random);
                self.event(&json, Effect::Text(text), random);
            }
            7..=10 => {
                let finish = random.pick(&["stop", "tool_calls", "length", "content_filter", "eos"]);
                let json = said(Said { finish: Some(finish), ..Said::default() }, random);
                self.event(&json, Effect::Finish(finish), random);
            }
            11 | 12 => {
                let usage = (random.below(100) as u64, random.below(100) as u64);
                let json = said(Said { usage: Some(usage), ..Said::default() }, random);
                self.event(&json, Effect::Usage(usage.0, usage.1), random);
            }
            13..=15 => {
                let json = random.pick(&NOTHING);
                self.event(json, Effect::Nothing, random);
            }
            16 => {
                let (json, kind) = random.pick(&ERRORS);
                self.event(json, Effect::Error(kind), random);
            }
            17 => self.ended_event(random.pick(&["[DONE]", " [DONE] "]), Effect::Done, random),
            18 => {
                let text = random.pick(&[
                    "<html>",
                    "{\"choices\":",
                    "{\"choices\":[{\"delta\":{\"content\":\"\\ud83c\"}}]}",
                    "nul",
                ]);
                self.ended_event(text, Effect::Error(ModelErrorKind::Provider), random);
            }
            19 => {
                line(random.pick(&NO_TEXT), &mut self.bytes, random);
                self.written(Effect::Error(ModelErrorKind::Provider), usize::MAX);
            }
            20 => {
                // A comment that doesn't come to an end for long, sometimes for too long.
                let long = ":".repeat(random.below(2 * MAX));
                self.line(&long, random);
            }
            // Keep-alives: comments, blank events, other fields.
            21 => self.line(random.pick(&[":", ": ping", ":data: x"]), random),
            22 => self.ended_event(random.pick(&["", " ", "\t"]), Effect::Nothing, random),
            _ => {
                self.line(random.pick(&["event: error", "id", "retry: 0", "dataa: x", " data: x"]), random);
                self.line("", random);
            }
        }
    }

    /// An event whose text counts even if the stream ends behind it.
    fn event(&mut self, json: &str, effect: Effect, random: &mut Random) {
        // A line may end within it, between two tokens.
        let at = json.find(",\"").filter(|_| random.below(4) == 0).map_or(json.len(), |at| at + 1);
        let (first, second) = json.split_at(at);
        self.line(&format!("data: {first}"), random);
        if !second.is_empty() {
            self.line(&format!("data:{second}"), random);
        }
        let said = self.before_line_end();
        if random.below(8) == 0 {
            self.line(": within an event", random);
        }
        self.line("", random);
        self.written(effect, said);
    }

    /// An event that counts only when it has ended.
    fn ended_event(&mut self, text: &str, effect: Effect, random: &mut Random) {
        self.line(&format!("data: {text}"), random);
        self.line("", random);
        self.written(effect, usize::MAX);
    }

    fn line(&mut self, text: &str, random: &mut Random) {
        line(text.as_bytes(), &mut self.bytes, random);
    }

    /// Where the last line ended, its line end aside.
    fn before_line_end(&self) -> usize {
        self.bytes.len() - if self.bytes.ends_with(b"\r\n") { 2 } else { 1 }
    }

    fn written(&mut self, effect: Effect, said: usize) {
        // The first byte of a line end ends the line.
        let ended = self.before_line_end() + 1;
        self.items.push(Written { effect, said, ended });
    }

    /// What has to come out of so many bytes.
    fn outcome(&self, length: usize) -> Outcome {
        let mut outcome = Outcome::default();
        let mut items = self.items.iter();
        let mut is_over = false;
        while !is_over && let Some(item) = items.as_slice().first().filter(|item| item.ended <= length.min(MAX)) {
            is_over = outcome.take(&item.effect);
            items.next();
        }
        if is_over {
            outcome.error = outcome.error.or(outcome.finish.is_none().then_some(ModelErrorKind::Truncated));
            return outcome;
        }
        if length > MAX {
            return Outcome { error: Some(ModelErrorKind::Provider), ..outcome };
        }
        // The last event counts without its end if it makes the answer whole, or is an error.
        let mut last = outcome.clone();
        if let Some(item) = items.next().filter(|item| item.said <= length) {
            last.take(&item.effect);
        }
        match (&last.finish, last.error) {
            (None, None) => Outcome { error: Some(ModelErrorKind::Truncated), ..outcome },
            _ => last,
        }
    }
}

impl Outcome {
    /// Takes an item; returns whether the stream is over.
    fn take(&mut self, effect: &Effect) -> bool {
        match effect {
            Effect::Nothing => {}
            Effect::Text(text) => self.text.push_str(text),
            Effect::Usage(input, output) => self.usage = Some((*input, *output)),
            Effect::Finish(word) => {
                let reason = FinishReason::from(*word);
                match &self.finish {
                    Some(first) if first.is_cut() || !reason.is_cut() => {}
                    _ => self.finish = Some(reason),
                }
            }
            Effect::Error(kind) => self.error = Some(*kind),
            Effect::Done => {}
        }
        matches!(effect, Effect::Error(_) | Effect::Done)
    }
}

fn reader() -> StreamReader {
    StreamReader::new().with_max_bytes(MAX)
}

fn check(seed: u64) {
    let mut random = Random::new(seed);
    let stream = Stream::new(&mut random);
    let length = if random.below(2) == 0 { stream.bytes.len() } else { random.below(stream.bytes.len() + 1) };
    let bytes = &stream.bytes[..length];
    let what = || format!("seed {seed}: {:?}", String::from_utf8_lossy(bytes));

    let whole = Read::of(reader(), [bytes]);
    let at = cuts(length, &mut random);
    whole.assert_same(&Read::of(reader(), pieces(bytes, &at)), what);

    let error = whole.error.as_ref().map(|error| error.kind());
    let response = whole.collector().finish().expect("lenient");
    // Whatever came: without a finish reason there is an error, and nothing that could be executed.
    assert!(response.finish.is_some() || (error.is_some() && response.executable_calls().is_err()), "{}", what());
    let got = Outcome {
        text: response.text,
        usage: response.usage.map(|usage| (usage.input, usage.output)),
        finish: response.finish,
        error,
    };
    assert_eq!(got, stream.outcome(length), "{}", what());
}

#[test]
fn hostile_streams_are_read_as_they_are_meant_wherever_they_are_cut_and_end() {
    for_seeds(20_000, check);
}

/// Changes some bytes: what comes out has no meaning that anybody knows.
fn mutated(body: &[u8], random: &mut Random) -> Vec<u8> {
    const PIECES: [&[u8]; 10] =
        [b"\n", b"\r", b"\n\n", b"data: ", b"[DONE]", b"\xff", b"\xe6\x97", b"{", b"null", b"\\ud83c"];
    let mut bytes = body.to_vec();
    for _ in 0..1 + random.below(4) {
        let at = random.below(bytes.len() + 1);
        match random.below(5) {
            0 => bytes.truncate(at),
            1 => drop(bytes.splice(at..at, random.pick(&PIECES).iter().copied())),
            2 if at < bytes.len() => bytes[at] ^= 1 << random.below(8),
            3 => drop(bytes.drain(at..(at + random.below(40)).min(bytes.len()))),
            _ => {
                let from = random.below(at + 1);
                let copy = bytes[from..at].to_vec();
                bytes.splice(at..at, copy);
            }
        }
    }
    bytes
}

#[test]
fn bytes_that_were_changed_anywhere_give_the_same_wherever_they_are_cut_and_are_never_complete_without_a_reason() {
    for_seeds(10_000, |seed| {
        let mut random = Random::new(seed);
        let body = match seed % 16 {
            0 => STREAMS[(seed / 16) as usize % STREAMS.len()].1,
            _ => random.pick(BY_HAND).1.as_bytes(),
        };
        let bytes = mutated(body, &mut random);
        let whole = Read::of(StreamReader::new(), [bytes.as_slice()]);
        let at = cuts(bytes.len(), &mut random);
        whole.assert_same(&Read::of(StreamReader::new(), pieces(&bytes, &at)), || format!("seed {seed}"));
        let is_whole = whole.chunks.iter().any(|chunk| chunk.finish.is_some());
        assert!(is_whole || whole.error.is_some(), "seed {seed}");
    });
}

macro_rules! corpus {
    ($($name:literal: $expected:expr;)*) => {
        /// Streams that broke something once, or nearly; made by hand.
        const CORPUS: &[(&str, &[u8], Expected)] =
            &[$(($name, include_bytes!(concat!("../fixtures/hostile/", $name, ".sse")), $expected)),*];
    };
}

/// The text and the finish reason, or the beginning of the error's text.
type Expected = Result<(&'static str, &'static str), &'static str>;

corpus! {
    "blank_event_as_keep_alive": Ok(("ab", "stop"));
    "byte_order_mark_twice": Err("the model's answer is not whole (the stream ended without a finish reason, after 1 events)");
    "carriage_returns_alone": Ok(("ab", "stop"));
    "cut_within_the_last_event": Err("the model's answer is not whole (the stream ended without a finish reason, after 1 events)");
    "done_before_the_finish_reason": Err("the model's answer is not whole (the stream ended without a finish reason, after 1 events)");
    "done_then_no_text": Ok(("ab", "stop"));
    "error_event_behind_text_in_one_piece": Err("the model's provider failed (error event: overloaded (overloaded_error))");
    "everything_null": Ok(("", "stop"));
    "finish_reason_blank_until_the_end": Ok(("ab", "length"));
    "half_a_surrogate_pair": Err("the model's provider failed (an event is no JSON (");
    "html_of_a_proxy": Err("the model's answer is not whole (the stream ended without any event)");
    "json_in_two_data_lines": Ok(("ab", "stop"));
    "key_twice": Ok(("b", "stop"));
    "last_event_without_an_end": Ok(("ab", "stop"));
    "nested_too_deeply": Err("the model's provider failed (an event is no JSON (");
    "no_space_after_the_colon": Ok(("ab", "stop"));
    "text_behind_the_finish_reason": Ok(("ab", "stop"));
    "usage_behind_the_finish_reason_and_done_twice": Ok(("ab", "stop"));
}

#[test]
fn the_cases_that_were_found_are_read_as_expected_wherever_they_are_cut() {
    for (name, body, expected) in CORPUS {
        let whole = Read::whole(body);
        for at in 0..=body.len() {
            whole.assert_same(&Read::of(StreamReader::new(), pieces(body, &[at])), || format!("{name}, cut at {at}"));
        }
        let bytes: Vec<usize> = (0..body.len()).collect();
        whole.assert_same(&Read::of(StreamReader::new(), pieces(body, &bytes)), || format!("{name} in bytes"));
        match (&whole.error, expected) {
            (Some(error), Err(beginning)) => assert!(error.to_string().starts_with(beginning), "{name}: {error}"),
            (None, Ok((text, finish))) => {
                let response = whole.response();
                assert_eq!(
                    (response.text.as_str(), response.finish),
                    (*text, Some(FinishReason::from(*finish))),
                    "{name}"
                );
            }
            (error, expected) => panic!("{name}: {error:?} instead of {expected:?}"),
        }
    }
}

#[test]
fn an_answer_of_exactly_the_allowed_size_is_whole_and_one_byte_more_is_an_error() {
    let body = "data: {\"choices\":[{\"delta\":{\"content\":\"日\"},\"finish_reason\":\"stop\"}]}\n\n".as_bytes();
    for (max, is_whole) in [(body.len(), true), (body.len() - 1, false)] {
        for at in 0..=body.len() {
            let read = Read::of(StreamReader::new().with_max_bytes(max), pieces(body, &[at]));
            assert_eq!(read.error.is_none(), is_whole, "{max} bytes, cut at {at}");
            let expected = if is_whole { vec![Chunk::text("日").with_finish(FinishReason::Stop)] } else { Vec::new() };
            assert_eq!(read.chunks, expected, "{max} bytes, cut at {at}");
        }
    }
}
