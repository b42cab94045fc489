//! The recorded files, in the bytes of the program: streams, and the requests that they answer.

macro_rules! files {
    ($($name:literal),* $(,)?) => {
        /// Every recorded stream, by its name.
        pub(crate) const STREAMS: &[(&str, &[u8])] =
            &[$(($name, include_bytes!(concat!("../fixtures/sse/", $name, ".sse")))),*];

        /// The request of each of them.
        const REQUESTS_OF_STREAMS: &[(&str, &str)] =
            &[$(($name, include_str!(concat!("../fixtures/sse/", $name, ".request.json")))),*];
    };
}

files! {
    "llama-cpp-python/compare_forced",
    "llama-cpp-python/explore_forced",
    "llama-cpp-python/stream_without_any_event",
    "llama-cpp-python/text_only",
    "qwen2.5-coder-0.5b/duplicate_argument_key",
    "qwen2.5-coder-0.5b/json_schema_output",
    "qwen2.5-coder-0.5b/midstream_error_event",
    "qwen2.5-coder-0.5b/one_tool_call_auto_two_tools",
    "qwen2.5-coder-0.5b/one_tool_call_required",
    "qwen2.5-coder-0.5b/parallel_tool_calls",
    "qwen2.5-coder-0.5b/parallel_two_different_tools",
    "qwen2.5-coder-0.5b/required_but_text_in_code_fence",
    "qwen2.5-coder-0.5b/text_only",
    "qwen2.5-coder-0.5b/tool_call_as_plain_text",
    "qwen2.5-coder-0.5b/tool_call_truncated_by_max_tokens",
    "smollm2-135m/arguments_violate_schema",
    "smollm2-135m/compare_required",
    "smollm2-135m/explore_required",
    "smollm2-135m/json_schema_output",
    "smollm2-135m/parallel_tool_calls",
    "smollm2-135m/parallel_two_different_tools",
    "smollm2-135m/text_only",
}

/// Requests whose answer was no stream.
const OTHER_REQUESTS: [(&str, &str); 3] = [
    (
        "llama-cpp-python/compare_forced_nonstream",
        include_str!("../fixtures/sse/llama-cpp-python/compare_forced_nonstream.request.json"),
    ),
    (
        "qwen2.5-coder-0.5b/error_bad_tool_choice",
        include_str!("../fixtures/sse/qwen2.5-coder-0.5b/error_bad_tool_choice.request.json"),
    ),
    (
        "qwen2.5-coder-0.5b/non_stream_tool_call",
        include_str!("../fixtures/sse/qwen2.5-coder-0.5b/non_stream_tool_call.request.json"),
    ),
];

/// Every recorded request, by its name.
pub(crate) fn requests() -> impl Iterator<Item = (&'static str, &'static str)> {
    REQUESTS_OF_STREAMS.iter().copied().chain(OTHER_REQUESTS)
}

/// One of the streams.
pub(crate) fn stream(name: &str) -> &'static [u8] {
    STREAMS.iter().find(|(known, _)| *known == name).unwrap_or_else(|| panic!("no stream `{name}`")).1
}
