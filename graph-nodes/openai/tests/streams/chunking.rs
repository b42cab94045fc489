//! The same bytes, cut elsewhere, are the same answer.

use std::sync::LazyLock;

use graph_nodes::assemble::Random;
use graph_nodes_openai::StreamReader;

use crate::files::STREAMS;
use crate::support::{Read, cuts, for_seeds, pieces};
use crate::wire::line;

/// Made by hand: short, with everything that a cut can go through.
pub(crate) const BY_HAND: &[(&str, &str)] = &[
    (
        "characters of two, three and four bytes, as they are and escaped",
        "data: {\"choices\":[{\"delta\":{\"content\":\"Grüezi 日本 🏨 \\u65e5 \\ud83c\\udfe8\"}}]}\n\n\
         data: {\"choices\":[{\"delta\":{\"content\":\"é\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n",
    ),
    (
        "a byte order mark, and all three line ends",
        "\u{feff}data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\r\n\r\n\
         data: {\"choices\":[{\"delta\":{\"content\":\"b\"}}]}\r\r\
         data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\r\ndata: [DONE]\r\n\n",
    ),
    (
        "comments, other fields, and one event in several lines",
        ": ping\n\nevent: delta\nid: 7\nretry: 10\ndata: {\"choices\":[{\"delta\":\ndata: {\"content\":\"x\"}}\ndata:]}\n\n\
         :\n\ndata:{\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n",
    ),
    (
        "two calls in pieces, cut within escapes",
        "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"f\",\
         \"arguments\":\"{\\\"q\\\": \\\"\"}},{\"index\":1,\"id\":\"b\",\"function\":{\"name\":\"g\"}}]}}]}\n\n\
         data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":\"日\\\\\\\"\\\"}\"}}]}}]}\n\n\
         data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"tool_calls\"}]}\n\n\
         data: {\"choices\":[],\"usage\":{\"prompt_tokens\":3,\"completion_tokens\":4}}\n\n",
    ),
    (
        "an error behind some text",
        "data: {\"choices\":[{\"delta\":{\"content\":\"half\"}}]}\n\n\
         data: {\"error\":{\"message\":\"zu spät\",\"code\":503}}\n\n\
         data: {\"choices\":[{\"delta\":{\"content\":\"never\"},\"finish_reason\":\"stop\"}]}\n\n",
    ),
    (
        "an end within the last event",
        "data: {\"choices\":[{\"delta\":{\"content\":\"half\"}}]}\n\ndata: {\"choices\":[{\"delta\":{},\"finish_rea",
    ),
    ("no end of the last line", "data: {\"choices\":[{\"delta\":{\"content\":\"日\"},\"finish_reason\":\"stop\"}]}"),
    ("not a stream", "<html>\n<body>Bad gateway</body>\n</html>\n"),
    ("an event that is no JSON", "data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\ndata: <html>\n\n"),
];

/// Made by hand: bytes that are no text.
const NO_TEXT: &[&[u8]] = &[
    b"data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\ndata: \xe6\x97\n\n",
    b"data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\r\n\r\n\xff\r\n",
    b"data: {\"choices\":[{\"delta\":{\"content\":\"\xf0\x9f\x8f",
];

/// Each stream with what it is read as in one piece.
static WHOLE: LazyLock<Vec<(&[u8], Read)>> = LazyLock::new(|| {
    let by_hand = BY_HAND.iter().map(|(_, text)| text.as_bytes()).chain(NO_TEXT.iter().copied());
    let recorded = STREAMS.iter().map(|(_, body)| *body);
    by_hand.chain(recorded).map(|body| (body, Read::whole(body))).collect()
});

fn check(body: &[u8], whole: &Read, at: &[usize], what: impl Fn() -> String) {
    whole.assert_same(&Read::of(StreamReader::new(), pieces(body, at)), || format!("{}, cuts at {at:?}", what()));
}

#[test]
fn every_stream_cut_at_every_single_place_is_the_same_answer() {
    for (n, (body, whole)) in WHOLE.iter().enumerate() {
        // The recorded ones are long and alike: a prime number of bytes meets every place of their events.
        let step = if body.len() > 1_000 { 97 } else { 1 };
        for at in (n % step..=body.len()).step_by(step) {
            check(body, whole, &[at], || format!("stream {n}"));
        }
    }
}

#[test]
fn streams_in_single_bytes_are_the_same_answer() {
    for (n, (body, whole)) in WHOLE.iter().enumerate() {
        check(body, whole, &(0..body.len()).collect::<Vec<_>>(), || format!("stream {n}"));
    }
}

#[test]
fn twenty_thousand_random_cuts_give_identical_answers() {
    let by_hand = BY_HAND.len() + NO_TEXT.len();
    for_seeds(20_000, |seed| {
        let mut random = Random::new(seed);
        // A recorded stream is twenty times as long as one made by hand; each of them has its share nevertheless.
        let n = match seed % 8 {
            0 => by_hand + (seed / 8) as usize % STREAMS.len(),
            _ => random.below(by_hand),
        };
        let (body, whole) = &WHOLE[n];
        check(body, whole, &cuts(body.len(), &mut random), || format!("seed {seed}, stream {n}"));
    });
}

#[test]
fn line_ends_make_no_difference() {
    for_seeds(500, |seed| {
        let mut random = Random::new(seed);
        let (n, name) = (seed as usize % STREAMS.len(), STREAMS[seed as usize % STREAMS.len()].0);
        let (body, whole) = &WHOLE[BY_HAND.len() + NO_TEXT.len() + n];
        let mut other = Vec::new();
        for text in body.split_inclusive(|byte| *byte == b'\n') {
            match text.strip_suffix(b"\n") {
                Some(text) => line(text, &mut other, &mut random),
                None => other.extend_from_slice(text),
            }
        }
        check(&other, whole, &cuts(other.len(), &mut random), || format!("seed {seed}, {name}"));
    });
}

#[test]
fn what_was_made_by_hand_is_read_as_it_was_meant() {
    let read = |n: usize| Read::whole(BY_HAND[n].1.as_bytes());
    let text = |n: usize| read(n).response().text;
    assert_eq!(text(0), "Grüezi 日本 🏨 日 🏨é");
    assert_eq!(text(1), "ab");
    assert_eq!(text(2), "x");
    let calls = read(3).response();
    let told: Vec<_> = calls.calls.iter().map(|call| (call.name.as_str(), call.arguments.raw())).collect();
    assert_eq!(told, [("f", r#"{"q": "日\""}"#), ("g", "")]);
    assert_eq!(calls.usage.map(|usage| (usage.input, usage.output)), Some((3, 4)));
    assert_eq!(text(6), "日");
    let errors: Vec<String> = [4, 5, 7, 8].map(|n| read(n).error.expect("an error").to_string()).into();
    assert_eq!(
        errors,
        [
            "the model's provider failed (error event: zu spät); try again",
            "the model's answer is not whole (the stream ended without a finish reason, after 1 events); try again",
            "the model's answer is not whole (the stream ended without any event); try again",
            "the model's provider failed (an event is no JSON (expected value at line 1 column 1): <html>); try again",
        ],
    );
    let no_text = |n: usize| Read::whole(NO_TEXT[n]).error.expect("an error").to_string();
    assert!(no_text(0).contains("the stream is not UTF-8 at byte 53"), "{}", no_text(0));
    assert!(no_text(1).contains("the stream is not UTF-8 at byte 49"), "{}", no_text(1));
    assert!(no_text(2).contains("without any event"), "{}", no_text(2));
}
