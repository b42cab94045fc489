//! What real servers sent, and exactly what it is read as. The expectations were written down from the files.

use graph_nodes::assemble::AssemblyWarning;
use graph_nodes::message::{FinishReason, Usage};
use graph_nodes::model::{Chunk, Collector, CutOff, ModelError, Response};
use graph_nodes_openai::{HeaderMap, read_answer, read_error};

use crate::files::{STREAMS, stream};
use crate::support::Read;

/// What a recording is read as. Nothing is said by default but that the answer ends with `stop`.
struct Expected {
    text: &'static str,
    /// Id, name, arguments.
    calls: &'static [(&'static str, &'static str, &'static str)],
    finish: FinishReason,
    usage: Option<Usage>,
    warnings: Vec<AssemblyWarning>,
}

const fn nothing() -> Expected {
    Expected { text: "", calls: &[], finish: FinishReason::Stop, usage: None, warnings: Vec::new() }
}

fn calls() -> Expected {
    Expected { finish: FinishReason::ToolCalls, ..nothing() }
}

const fn used(input: u64, output: u64, total: u64, cached: u64) -> Option<Usage> {
    Some(Usage { input, output, total: Some(total), cached })
}

fn check(response: &Response, expected: &Expected) {
    let calls: Vec<_> =
        response.calls.iter().map(|call| (call.id.as_str(), call.name.as_str(), call.arguments.raw())).collect();
    assert_eq!(response.text, expected.text);
    assert_eq!(calls, expected.calls);
    assert_eq!(response.finish.as_ref(), Some(&expected.finish));
    assert_eq!(response.usage, expected.usage);
    assert_eq!(response.warnings, expected.warnings);
    assert_eq!((&response.refusal, response.reasoning.as_slice()), (&None, &[][..]));
}

macro_rules! recorded {
    ($($test:ident: $name:literal => $expected:expr;)*) => {
        $(#[test] fn $test() { check(&Read::whole(stream($name)).response(), &$expected); })*

        /// The recordings with a test here.
        const TESTED: &[&str] = &[$($name),*];
    };
}

recorded! {
    llama_cpp_python_compare_forced: "llama-cpp-python/compare_forced" => Expected {
        calls: &[(
            "call__0_compare_hotels_cmpl-0f504104-1c4a-4804-ae96-8e5e6cb6199c",
            "compare_hotels",
            r#"{ "hotel_ids": [ "h1", "h2"], "criteria": ["price"] }"#,
        )],
        warnings: vec![AssemblyWarning::RepeatedName { call: 0, name: "compare_hotels".into() }],
        ..calls()
    };
    llama_cpp_python_explore_forced: "llama-cpp-python/explore_forced" => Expected {
        calls: &[(
            "call__0_search_hotels_cmpl-a654c84e-5ea3-4501-9207-b663199b67d5",
            "search_hotels",
            r#"{ "city":"Paris", "guests":2}"#,
        )],
        warnings: vec![AssemblyWarning::RepeatedName { call: 0, name: "search_hotels".into() }],
        ..calls()
    };
    llama_cpp_python_text_only: "llama-cpp-python/text_only" => Expected {
        text: "Hello, welcome to the luxurious B&B in the heart of the city.",
        ..nothing()
    };
    qwen_duplicate_argument_key: "qwen2.5-coder-0.5b/duplicate_argument_key" => Expected {
        calls: &[(
            "3qGGEDfs9CUYdIZCpnMu8CUvlidGGO3Y",
            "get_hotel_details",
            r#"{"hotel_id": "h1", "hotel_id": "h2"}"#,
        )],
        warnings: vec![AssemblyWarning::ParseError {
            call: 0,
            message: "the arguments hold a duplicate key `hotel_id` at line 1 column 29; send each key once".into(),
        }],
        ..calls()
    };
    qwen_json_schema_output: "qwen2.5-coder-0.5b/json_schema_output" => Expected {
        text: "{\n  \"hotel_id\": \"h1\",\n  \"reason\": \"The hotel offers a 4.2 star rating, which is higher than the 4.7 \
               star rating of the hotel in h2. This means that the h1,\" }",
        ..nothing()
    };
    qwen_one_tool_call_auto_two_tools: "qwen2.5-coder-0.5b/one_tool_call_auto_two_tools" => Expected {
        calls: &[(
            "31rTq8Hduwv39zRBpKEYTSInqYxcskgA",
            "compare_hotels",
            r#"{"hotel_ids": ["h1", "h2"], "criteria": ["price", "rating"]}"#,
        )],
        ..calls()
    };
    qwen_one_tool_call_required: "qwen2.5-coder-0.5b/one_tool_call_required" => Expected {
        calls: &[(
            "tWrcAZ7KUTtYUZWaV6dJKTYBzOuUKGYh",
            "search_hotels",
            r#"{"city": "Paris", "check_in": "2026-12-05", "nights": 3, "guests": 2}"#,
        )],
        usage: used(159, 48, 207, 0),
        ..calls()
    };
    qwen_parallel_tool_calls: "qwen2.5-coder-0.5b/parallel_tool_calls" => Expected {
        calls: &[
            ("jsReObX1XA5yZq0G4CJ176TK4YobCpep", "get_hotel_details", r#"{"hotel_id": "h1"}"#),
            ("OowyM4n3Y8l6Q4zo3tiZ13X6wGT03dXX", "get_hotel_details", r#"{"hotel_id": "h2"}"#),
        ],
        ..calls()
    };
    qwen_parallel_two_different_tools: "qwen2.5-coder-0.5b/parallel_two_different_tools" => Expected {
        calls: &[
            ("Uw6BpLjUBqORcrjIuz3XlWf2edfHgGdD", "search_hotels", r#"{"city": "Oslo"}"#),
            ("NJJgInga3x85C8WvtIRKnS0QDnOu0vVv", "get_weather", r#"{"city": "Oslo"}"#),
        ],
        ..calls()
    };
    qwen_required_but_text_in_code_fence: "qwen2.5-coder-0.5b/required_but_text_in_code_fence" => Expected {
        text: concat!(
            "```json\n[\n  {\"name\": \"search_hotels\", \"arguments\": {\"city\": \"Paris\", \"check_in\": \"2026-12-05\", ",
            "\"nights\": 3, \"guests\": 2}}\n]\n```",
            // 73 empty lines, up to the limit of tokens.
            "\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n",
            "\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n",
        ),
        finish: FinishReason::Length,
        usage: used(163, 200, 363, 0),
        ..nothing()
    };
    qwen_text_only: "qwen2.5-coder-0.5b/text_only" => Expected {
        text: "Comparing hotels by rating can help hotel agents make informed decisions about which hotel to visit based \
               on their ratings.",
        usage: used(32, 23, 55, 0),
        ..nothing()
    };
    qwen_tool_call_as_plain_text: "qwen2.5-coder-0.5b/tool_call_as_plain_text" => Expected {
        text: "{\"name\": \"compare_hotels\", \"arguments\": {\"hotel_ids\": [\"h1\", \"h2\"], \"criteria\": [\"price\", \
               \"rating\"]}}\n{\"name\": \"finish\", \"arguments\": {\"hotel_id\": \"h1\", \"reason\": \"The price of Hotel \
               Lumiere is higher than Hotel Grand Rivoli, and it has a higher rating than Hotel Petit Nord.\"}}",
        usage: used(460, 81, 541, 6),
        ..nothing()
    };
    qwen_tool_call_truncated_by_max_tokens: "qwen2.5-coder-0.5b/tool_call_truncated_by_max_tokens" => Expected {
        calls: &[("7sEjeymA4I579jF5Hh1pUMiQQZnnLWjA", "search_hotels", r#"{"city": "Paris"#)],
        finish: FinishReason::Length,
        warnings: vec![AssemblyWarning::ParseError {
            call: 0,
            message: "the arguments are not valid JSON (EOF while parsing a string at line 1 column 15); send one \
                      complete JSON object"
                .into(),
        }],
        ..nothing()
    };
    smollm_arguments_violate_schema: "smollm2-135m/arguments_violate_schema" => Expected {
        calls: &[(
            "0TBHWZVobTHqyOT769nHZATlE3nVidYW",
            "compare_hotels",
            r#"{"hotel_ids": ["h1", "h2", "h3"], "rating": 1.5}"#,
        )],
        ..calls()
    };
    smollm_compare_required: "smollm2-135m/compare_required" => Expected {
        calls: &[(
            "ewDA8S63nv6RJ9zGKBuFOMRIrfwxWYOU",
            "compare_hotels",
            r#"{"hotel_ids": ["h1", "h2"], "criteria": ["price"]}"#,
        )],
        ..calls()
    };
    smollm_explore_required: "smollm2-135m/explore_required" => Expected {
        calls: &[("tEpC20i2FstCliQXe0L5tqu0aJXLkK3D", "search_hotels", r#"{"city": "Paris", "guests": 2}"#)],
        usage: used(293, 26, 319, 0),
        ..calls()
    };
    smollm_json_schema_output: "smollm2-135m/json_schema_output" => Expected {
        text: "{\n  \"hotel_id\": \"h1\",\n  \"reason\": \"h1\"\n}",
        ..nothing()
    };
    smollm_parallel_tool_calls: "smollm2-135m/parallel_tool_calls" => Expected {
        calls: &[
            ("Hp5a5UJmcXhzBXPjFyyvIrqpSZkUOfRO", "get_hotel_details", r#"{"hotel_id": "h1"}"#),
            ("GmRdz7hDHVtbGwaHCrqMNvM0mhBqE1ld", "get_hotel_details", r#"{"hotel_id": "h2"}"#),
        ],
        ..calls()
    };
    smollm_parallel_two_different_tools: "smollm2-135m/parallel_two_different_tools" => Expected {
        calls: &[
            ("Bx4HF1NCGCPizfCLZpjk0g748GJkcwcn", "search_hotels", r#"{"city": "Oslo", "guests": 3}"#),
            ("j5aYnIGsUJKm0rQv8UOzyB5NRxB8nSkr", "get_weather", r#"{"city": "Oslo"}"#),
        ],
        ..calls()
    };
    smollm_text_only: "smollm2-135m/text_only" => Expected {
        text: "Hello, welcome to the luxurious B&B in the heart of the city.",
        usage: used(30, 17, 47, 5),
        ..nothing()
    };
}

#[test]
fn every_recorded_stream_has_its_expectation() {
    // These two are errors, with a test each below.
    let errors = ["llama-cpp-python/stream_without_any_event", "qwen2.5-coder-0.5b/midstream_error_event"];
    let mut tested: Vec<&str> = TESTED.iter().copied().chain(errors).collect();
    tested.sort_unstable();
    let names: Vec<&str> = STREAMS.iter().map(|(name, _)| *name).collect();
    assert_eq!((tested, names.len()), (names, 22));
}

#[test]
fn the_calls_of_a_complete_answer_are_executable_and_of_a_cut_one_not() {
    for (name, _) in STREAMS.iter().filter(|(name, _)| TESTED.contains(name)) {
        let response = Read::whole(stream(name)).response();
        let expected = match *name {
            "qwen2.5-coder-0.5b/required_but_text_in_code_fence"
            | "qwen2.5-coder-0.5b/tool_call_truncated_by_max_tokens" => Err(CutOff::Length),
            _ => Ok(response.calls.as_slice()),
        };
        assert_eq!(response.executable_calls(), expected, "{name}");
    }
}

#[test]
fn an_error_event_after_status_200_is_the_providers_error_behind_what_came_before_it() {
    let read = Read::whole(stream("qwen2.5-coder-0.5b/midstream_error_event"));
    let Some(ModelError::Provider { message, retry_after: None, .. }) = &read.error else { panic!("{:?}", read.error) };
    assert_eq!(
        message,
        "error event: The model produced output that does not match the expected peg-native format (server_error)",
    );
    // Half a call is no call: without a finish reason nothing is executable.
    let half = read.collector().finish().unwrap();
    assert_eq!(half.calls[0].arguments.raw(), r#"{"hotel_id": "h1", "additionalProperties": false"#);
    assert_eq!((half.calls[0].id.as_str(), half.finish.as_ref()), ("7Qydf64dY3fNrCpSB8o9BmZvh1dV5E2o", None));
    assert_eq!(half.executable_calls(), Err(CutOff::NoFinishReason));
}

#[test]
fn a_stream_without_any_event_is_no_empty_answer() {
    let read = Read::whole(stream("llama-cpp-python/stream_without_any_event"));
    assert_eq!(read.chunks, []);
    let error = read.error.expect("an error");
    assert!(matches!(&error, ModelError::Truncated { message } if message == "the stream ended without any event"));
    assert!(error.is_retryable());
}

fn answer(chunk: Chunk) -> Response {
    let mut collector = Collector::new();
    collector.push(chunk);
    collector.finish().unwrap()
}

macro_rules! body {
    ($name:literal) => {
        include_bytes!(concat!("../fixtures/sse/", $name, ".json")).as_slice()
    };
}

#[test]
fn an_answer_that_is_not_streamed_is_read_as_the_same_kind_of_response() {
    let response = answer(read_answer(body!("qwen2.5-coder-0.5b/non_stream_tool_call")).unwrap());
    let expected = Expected {
        calls: &[(
            "eLJr3DH5M3ap74b8vBamv1ZNcscgfidm",
            "search_hotels",
            r#"{"city": "Rome", "check_in": "2023-04-01", "nights": 4, "guests": 4}"#,
        )],
        usage: used(143, 49, 192, 132),
        ..calls()
    };
    check(&response, &expected);
}

#[test]
fn a_call_that_is_mirrored_in_the_old_field_is_one_call() {
    let response = answer(read_answer(body!("llama-cpp-python/compare_forced_nonstream")).unwrap());
    let expected = Expected {
        calls: &[(
            "call__0_compare_hotels_cmpl-850a5729-e592-4208-b2c0-eacd5f37d6fc",
            "compare_hotels",
            r#"{ "hotel_ids": [ "h1", "h2"], "criteria": ["price"] }"#,
        )],
        usage: used(415, 26, 441, 0),
        ..calls()
    };
    check(&response, &expected);
}

#[test]
fn error_bodies_are_typed_by_what_they_say() {
    let read = |status, body| read_error(status, &HeaderMap::new(), body);
    let error = read(400, body!("qwen2.5-coder-0.5b/error_bad_tool_choice"));
    assert!(
        matches!(&error, ModelError::Rejected { message }
            if message == "HTTP 400: Invalid tool_choice: always (invalid_request_error)"),
        "{error:?}",
    );
    assert!(!error.is_retryable());

    let error = read(400, body!("qwen2.5-coder-0.5b/error_context_too_long"));
    assert!(
        matches!(&error, ModelError::ContextTooLong { message }
            if message == "HTTP 400: request (9020 tokens) exceeds the available context size (4096 tokens), try \
                           increasing it (exceed_context_size_error)"),
        "{error:?}",
    );
    assert!(!error.is_retryable());

    // The status says that the server is at fault, which it isn't; nothing in the body says otherwise.
    let error = read(500, body!("qwen2.5-coder-0.5b/error_malformed_json"));
    assert!(
        matches!(&error, ModelError::Provider { message, retry_after: None, .. }
            if message == "HTTP 500: [json.exception.parse_error.101] parse error at line 1, column 15: syntax error \
                           while parsing value - unexpected end of input; expected '[', '{', or a literal (server_error)"),
        "{error:?}",
    );
    assert!(error.is_retryable());
}
