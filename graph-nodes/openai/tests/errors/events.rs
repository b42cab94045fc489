//! Errors within a stream whose status was 200, and streams that are no streams.

use graph_nodes::model::{Chunk, ModelError, ModelErrorKind, ModelErrorKind::*};
use graph_nodes_openai::{StreamReader, read_answer};

fn fails(body: &[u8]) -> ModelError {
    let mut reader = StreamReader::new();
    match reader.push(body) {
        Err(error) => {
            assert!(reader.is_over());
            assert_eq!(reader.finish().unwrap(), []);
            error
        }
        Ok(_) => reader.finish().unwrap_err(),
    }
}

#[test]
fn an_error_event_has_the_kind_of_what_it_says() {
    let cases: [(&str, ModelErrorKind); 12] = [
        // As recorded from a server whose status was 200.
        (
            r#"{"error":{"code":500,"message":"The model produced output that does not match","type":"server_error"}}"#,
            Provider,
        ),
        // Hand-made.
        (r#"{"error":{"code":400,"message":"too long","type":"exceed_context_size_error"}}"#, ContextTooLong),
        (r#"{"error":{"code":"429","message":"slow down"}}"#, Rate),
        (r#"{"error":{"message":"no credit","type":"insufficient_quota"}}"#, Quota),
        (r#"{"error":{"message":"bad key","type":"invalid_request_error","code":"invalid_api_key"}}"#, Authentication),
        (r#"{"error":{"message":"bad schema","type":"invalid_request_error"}}"#, BadRequest),
        (r#"{"error":{"message":"overloaded","type":"overloaded_error"}}"#, Provider),
        (r#"{"error":"out of memory"}"#, Provider),
        (r#"{"object":"error","message":"gone","code":404}"#, BadRequest),
        (r#"{"message":"internal"}"#, Provider),
        (r#"{"choices":[{"delta":{},"finish_reason":"error","error":{"code":502,"message":"upstream"}}]}"#, Provider),
        (r#"{"choices":[{"delta":{"content":"a"},"finish_reason":"error"}]}"#, Provider),
    ];
    for (event, kind) in cases {
        assert_eq!(fails(format!("data: {event}\n\n").as_bytes()).kind(), kind, "{event}");
        assert_eq!(read_answer(event.as_bytes()).unwrap_err().kind(), kind, "{event}");
    }
    assert_eq!(
        fails(b"event: error\ndata: {\"error\":{\"code\":500,\"message\":\"oops\",\"type\":\"server_error\"}}\n\n")
            .to_string(),
        "the model's provider failed (error event: oops (server_error)); try again",
    );
}

#[test]
fn what_is_no_error_is_none() {
    let mut reader = StreamReader::new();
    for event in
        [r#"{"error":null,"choices":[]}"#, r#"{"error":false}"#, "{}", r#"{"type":"ping"}"#, r#"{"usage":null}"#]
    {
        assert_eq!(reader.push(format!("data: {event}\n\n").as_bytes()).unwrap(), [], "{event}");
    }
    assert_eq!(reader.finish().unwrap_err().kind(), Truncated);
}

#[test]
fn an_error_after_the_finish_reason_is_one_nevertheless() {
    let body = "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: {\"error\":\"oops\"}\n\n";
    assert_eq!(fails(body.as_bytes()).kind(), Provider);
    let after_the_end = body.replace("\n\ndata: {\"error\"", "\n\ndata: [DONE]\n\ndata: {\"error\"");
    let mut reader = StreamReader::new();
    assert_eq!(reader.push(after_the_end.as_bytes()).unwrap().len(), 1);
    assert_eq!(reader.finish().unwrap(), []);
}

#[test]
fn chunks_before_an_error_are_given_first_however_the_bytes_are_cut() {
    let body = b"data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\ndata: \xff\n\n";
    for cut in 0..body.len() {
        let mut reader = StreamReader::new();
        let mut chunks = Vec::new();
        let mut errors = Vec::new();
        for piece in [&body[..cut], &body[cut..], &[]] {
            match reader.push(piece) {
                Ok(more) => chunks.extend(more),
                Err(error) => errors.push(error.to_string()),
            }
        }
        assert_eq!(chunks, [Chunk::text("a")], "{cut}");
        assert_eq!(
            errors,
            [
                "the model's provider failed (the stream is not UTF-8 at byte 53; ask again, or report it to the provider); \
              try again"
            ],
            "{cut}",
        );
        assert!(reader.is_over());
        assert_eq!(reader.finish().unwrap(), []);
    }
}

#[test]
fn an_event_that_is_no_json_and_a_stream_that_is_too_large() {
    let error = fails(b"data: oops\n\n");
    assert_eq!(
        error.to_string(),
        "the model's provider failed (an event is no JSON (expected value at line 1 column 1): oops); try again",
    );
    let mut reader = StreamReader::new().with_max_bytes(10);
    assert_eq!(reader.push(b"data: 1234").unwrap(), []);
    let error = reader.push(b"5").unwrap_err();
    assert_eq!(error.to_string(), "the model's provider failed (the answer is larger than 10 bytes); try again");
}

#[test]
fn a_whole_body_without_an_answer_is_not_whole() {
    for (body, text) in [
        ("", "the answer is empty"),
        (" \n", "the answer is empty"),
        ("{}", "there is no choice in the answer"),
        (r#"{"choices":[]}"#, "there is no choice in the answer"),
        (r#"{"choices":[{"message":{"content":"hi"},"finish_reason":null}]}"#, "the answer has no finish reason"),
    ] {
        let error = read_answer(body.as_bytes()).unwrap_err();
        assert_eq!(error.to_string(), format!("the model's answer is not whole ({text}); try again"));
    }
    let error = read_answer(b"<html>").unwrap_err();
    assert_eq!(
        error.to_string(),
        "the model's provider failed (the answer is no JSON (expected value at line 1 column 1): <html>); try again",
    );
    assert_eq!(read_answer(b"\xff").unwrap_err().kind(), Provider);
}
