//! A gate counts each error, waits as long as the server asks, and gives up where another attempt is pointless.

use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use graph_nodes::gate::{
    Backoff, Code, ExhaustedBy, GatePolicy, Gated, GatedAnswer, GatedError, GatedFailure, Validators,
};
use graph_nodes::message::Message;
use graph_nodes::model::{ModelError, Request, ScriptedModel, Turn};
use graph_nodes_openai::testing::{Reply, Server};
use graph_nodes_openai::{OpenAi, read_answer};
use tokio::time::Instant;

use crate::error;

const WAIT: Duration = Duration::from_millis(500);

fn policy() -> GatePolicy {
    GatePolicy::new().with_max_attempts(NonZeroU32::new(3).unwrap()).with_backoff(Backoff::Fixed(WAIT))
}

fn hi() -> Request {
    Request::new([Message::user("hi")])
}

/// What a gate makes of these errors and a good answer after them, how often it asked, and how long it waited.
async fn gated(errors: Vec<ModelError>, policy: GatePolicy) -> (Result<GatedAnswer, GatedFailure>, usize, Duration) {
    let model = Arc::new(ScriptedModel::new(errors.into_iter().map(Turn::error).chain([Turn::text("good")])));
    let gated = Gated::new(model.clone(), policy, Validators::<()>::new());
    let start = Instant::now();
    let ran = gated.round(hi(), &()).run(()).await;
    (ran, model.requests().len(), start.elapsed())
}

#[tokio::test(start_paused = true)]
async fn an_error_that_passes_is_an_attempt_and_is_waited_for() {
    let truncated = || read_answer(b"").unwrap_err();
    for (failed, code, waited) in [
        (error(429, &[("retry-after", "7")], ""), Code::RATE, Duration::from_secs(7)),
        (error(429, &[("retry-after-ms", "20")], ""), Code::RATE, WAIT),
        (error(429, &[], ""), Code::RATE, WAIT),
        (error(503, &[("retry-after", "3")], ""), Code::INVOCATION, Duration::from_secs(3)),
        (error(500, &[], ""), Code::INVOCATION, WAIT),
        (ModelError::transport("reset"), Code::INVOCATION, WAIT),
        (truncated(), Code::INVOCATION, WAIT),
    ] {
        let text = failed.to_string();
        let (answer, asked, elapsed) = gated(vec![failed], policy()).await;
        let answer = answer.unwrap();
        assert_eq!((answer.response.text.as_str(), asked, elapsed), ("good", 2, waited), "{text}");
        assert_eq!((answer.ledger.started(), answer.ledger.count(&code)), (2, 1), "{text}");
        assert_eq!(answer.ledger.attempts[0].reasons[0].message.as_deref(), Some(text.as_str()));
    }
}

#[tokio::test(start_paused = true)]
async fn an_error_that_will_come_again_ends_it_at_once() {
    for (failed, code) in [
        (error(401, &[], ""), Code::AUTHENTICATION),
        (error(429, &[("retry-after", "7")], r#"{"error":{"code":"insufficient_quota"}}"#), Code::QUOTA),
        (error(400, &[], r#"{"error":{"type":"exceed_context_size_error"}}"#), Code::CONTEXT_TOO_LONG),
        (error(400, &[], ""), Code::INVOCATION),
        (ModelError::unsendable("no tool"), Code::INVOCATION),
    ] {
        let text = failed.to_string();
        let (ran, asked, elapsed) = gated(vec![failed], policy()).await;
        let failure = ran.unwrap_err();
        assert_eq!(*failure.error, GatedError::Fatal { code: code.clone(), reason: text });
        assert_eq!((asked, elapsed, failure.ledger.count(&code)), (1, Duration::ZERO, 1));
    }
}

#[tokio::test(start_paused = true)]
async fn the_last_attempt_is_not_waited_for() {
    let limited = || error(429, &[("retry-after", "7")], "");
    let (ran, asked, elapsed) = gated(vec![limited(), limited(), limited()], policy()).await;
    let failure = ran.unwrap_err();
    assert!(matches!(&*failure.error, GatedError::Exhausted(failure) if failure.by == ExhaustedBy::Attempts));
    assert_eq!((asked, elapsed, failure.ledger.count(&Code::RATE)), (3, Duration::from_secs(14), 3));
}

#[tokio::test(start_paused = true)]
async fn a_wait_beyond_the_deadline_is_not_begun() {
    let limited = error(429, &[("retry-after", "3600")], "");
    let (ran, asked, elapsed) = gated(vec![limited], policy().with_deadline(Duration::from_secs(60))).await;
    let failure = ran.unwrap_err();
    assert!(matches!(&*failure.error, GatedError::Exhausted(failure) if failure.by == ExhaustedBy::Deadline));
    assert_eq!((asked, elapsed), (1, Duration::ZERO));
}

#[tokio::test(start_paused = true)]
async fn a_code_has_a_cap_of_its_own() {
    let limited = || error(429, &[], "");
    let (ran, asked, _) = gated(vec![limited(), limited()], policy().with_code_cap(Code::RATE, 1)).await;
    let failure = ran.unwrap_err();
    assert!(
        matches!(&*failure.error, GatedError::Exhausted(failure) if failure.by != ExhaustedBy::Attempts),
        "{failure:?}"
    );
    assert_eq!(asked, 2);
}

/// The whole way: sockets, the adapter, the gate.
#[tokio::test]
async fn each_attempt_of_a_gate_is_one_http_request() {
    let good =
        "data: {\"choices\":[{\"delta\":{\"content\":\"good\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";
    let replies =
        [Reply::status(503).header("retry-after-ms", "1"), Reply::stream(good).reset_at(20), Reply::stream(good)];
    let server = Server::start(replies).await.unwrap();
    let model = OpenAi::new(server.base_url(), "local").build().unwrap();
    let quick = policy().with_backoff(Backoff::Fixed(Duration::from_millis(1)));
    let gated = Gated::new(model, quick, Validators::<()>::new());
    let answer = gated.round(hi(), &()).run(()).await.unwrap();
    assert_eq!((answer.response.text.as_str(), answer.ledger.started(), server.requests().len()), ("good", 3, 3));
    assert_eq!(answer.ledger.count(&Code::INVOCATION), 2);
}
