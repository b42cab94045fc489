//! HTTP errors: recorded ones, and hand-made ones in the forms of other servers.

use std::time::Duration;

use graph_nodes::model::ModelErrorKind::{self, *};

use crate::error;

#[test]
fn each_status_has_its_kind() {
    for (status, kind) in [
        (301, BadRequest),
        (400, BadRequest),
        (401, Authentication),
        (402, Quota),
        (403, Authentication),
        (404, BadRequest),
        (405, BadRequest),
        (408, Provider),
        (409, Provider),
        (413, ContextTooLong),
        (415, BadRequest),
        (422, BadRequest),
        (425, Provider),
        (429, Rate),
        (500, Provider),
        (501, BadRequest),
        (502, Provider),
        (503, Provider),
        (504, Provider),
        (505, BadRequest),
        (529, Provider),
    ] {
        assert_eq!(error(status, &[], "").kind(), kind, "{status}");
    }
}

#[test]
fn what_a_body_says_counts_more_than_its_status() {
    for (status, body, kind) in [
        // Recorded.
        (400, include_str!("../fixtures/error_context_too_long.json"), ContextTooLong),
        (500, include_str!("../fixtures/error_malformed_json.json"), Provider),
        (
            400,
            r#"{"error":{"code":400,"message":"Invalid tool_choice: always","type":"invalid_request_error"}}"#,
            BadRequest,
        ),
        // Hand-made.
        (429, r#"{"error":{"message":"no credit","type":"insufficient_quota","code":"insufficient_quota"}}"#, Quota),
        (429, r#"{"error":{"message":"slow","type":"tokens","param":null,"code":"rate_limit_exceeded"}}"#, Rate),
        (
            400,
            r#"{"error":{"message":"This model's maximum context length is 8192 tokens","code":null}}"#,
            ContextTooLong,
        ),
        (
            400,
            r#"{"error":{"message":"long","type":"invalid_request_error","code":"context_length_exceeded"}}"#,
            ContextTooLong,
        ),
        (
            400,
            r#"{"object":"error","message":"prompt is too long: 9 > 8","type":"BadRequestError","code":400}"#,
            ContextTooLong,
        ),
        (400, r#"{"error":{"message":"bad key","code":"invalid_api_key"}}"#, Authentication),
        (401, r#"{"error":{"code":401,"message":"Invalid API Key","type":"authentication_error"}}"#, Authentication),
        (503, r#"{"error":{"code":503,"message":"Loading model","type":"unavailable_error"}}"#, Provider),
        (422, r#"{"detail":[{"loc":["body"],"msg":"field required"}]}"#, BadRequest),
        (500, "<html>maximum context length</html>", Provider),
    ] {
        assert_eq!(error(status, &[], body).kind(), kind, "{status} {body}");
    }
}

#[test]
fn the_text_says_what_the_server_said_and_what_to_do() {
    let text = |status, body| error(status, &[], body).to_string();
    assert_eq!(
        text(400, include_str!("../fixtures/error_context_too_long.json")),
        "the request is too long for the model (HTTP 400: request (9020 tokens) exceeds the available context size \
         (4096 tokens), try increasing it (exceed_context_size_error)); send fewer or shorter messages",
    );
    assert_eq!(
        text(401, r#"{"error":"who are you?"}"#),
        "the model's provider did not accept the key (HTTP 401: who are you?); check the key and what it may do",
    );
    assert_eq!(
        text(429, r#"{"error":{"message":"no credit","code":"insufficient_quota"}}"#),
        "the account at the model's provider is used up (HTTP 429: no credit (insufficient_quota)); add credit or raise \
         its limit",
    );
    assert_eq!(text(502, "Bad Gateway\n"), "the model's provider failed (HTTP 502: Bad Gateway); try again");
    assert_eq!(text(404, ""), "the model's provider refused the request (HTTP 404); correct the request");
    assert_eq!(
        text(422, r#"{"detail":[{"msg":"field required"}]}"#),
        "the model's provider refused the request (HTTP 422: {\"detail\":[{\"msg\":\"field required\"}]}); correct the \
         request",
    );
    assert_eq!(
        text(400, r#"{"error":{}}"#),
        "the model's provider refused the request (HTTP 400: {}); correct the request",
    );
}

#[test]
fn a_long_body_is_cut() {
    let text = error(500, &[], &"x".repeat(50_000)).to_string();
    assert!(text.len() < 1_200 && text.contains("(50000 bytes in all)"), "{} bytes", text.len());
    let text =
        error(500, &[], &format!(r#"{{"error":{{"message":"{0}","type":"{0}"}}}}"#, "y".repeat(9_000))).to_string();
    assert!(text.len() < 2_300, "{} bytes", text.len());
}

#[test]
fn the_wait_is_kept_where_waiting_helps() {
    let after = [("retry-after", "7")];
    let wait = |status, body| error(status, &after, body).retry_after();
    assert_eq!(wait(429, ""), Some(Duration::from_secs(7)));
    assert_eq!(wait(503, ""), Some(Duration::from_secs(7)));
    assert_eq!(wait(429, r#"{"error":{"code":"insufficient_quota"}}"#), None);
    assert_eq!(wait(400, ""), None);
    let date = [("date", "Sun, 06 Nov 1994 08:49:37 GMT"), ("retry-after", "Sun, 06 Nov 1994 08:50:07 GMT")];
    assert_eq!(error(503, &date, "").retry_after(), Some(Duration::from_secs(30)));
    assert_eq!(error(429, &[("retry-after-ms", "40")], "").retry_after(), Some(Duration::from_millis(40)));
}

#[test]
fn only_some_kinds_are_worth_another_attempt() {
    let retryable: Vec<ModelErrorKind> =
        [Authentication, Quota, Rate, ContextTooLong, BadRequest, Transport, Provider, Truncated, Cancelled]
            .into_iter()
            .filter(|kind| kind.is_retryable())
            .collect();
    assert_eq!(retryable, [Rate, Transport, Provider, Truncated]);
}
