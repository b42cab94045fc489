//! What the model is sent on the next attempt.

use crate::driver::{ask, attempts, only_good, poem, reject_all, run};
use graph_nodes::gate::FeedbackMode;
use graph_nodes::message::{Message, ToolCall, check_history};
use graph_nodes::model::Turn;

#[tokio::test(start_paused = true)]
async fn g11_blind_requests_are_byte_identical() {
    let run = run(&attempts(3).with_feedback(FeedbackMode::Blind), &reject_all(), poem(3)).await;
    let texts: Vec<_> = run.requests.iter().map(|request| request.canonical_json()).collect();
    assert_eq!(texts, vec![texts[0].clone(); 3]);
}

#[tokio::test(start_paused = true)]
async fn g12_reason_adds_exactly_one_correction_the_latest() {
    let run = run(&attempts(3), &reject_all(), poem(3)).await;
    let correction = |line| Message::system(format!("Your previous answer was rejected: line {line}"));
    assert_eq!(run.requests[0].messages, [ask()]);
    assert_eq!(run.requests[1].messages, [ask(), correction(1)]);
    assert_eq!(run.requests[2].messages, [ask(), correction(2)]);
}

#[tokio::test(start_paused = true)]
async fn g13_a_correction_is_not_in_the_saved_memory() {
    let run = run(&attempts(3), &only_good(), [Turn::text("bad"), Turn::text("good")]).await;
    assert_eq!(run.requests[1].messages.len(), 2);
    assert_eq!(run.history.iter().map(Message::text).collect::<Vec<_>>(), ["hi", "good"]);
}

#[tokio::test(start_paused = true)]
async fn transcript_shows_the_rejected_answer_and_keeps_the_protocol() {
    let policy = attempts(2).with_feedback(FeedbackMode::Transcript);
    let call = ToolCall::from_text("a", "f", "{}");
    let run = run(&policy, &reject_all(), [Turn::text("so").with_call(call.clone()), Turn::text("other")]).await;
    let messages = &run.requests[1].messages;
    assert_eq!(messages[1], Message::assistant("so").with_calls([call]));
    assert_eq!(messages[2].text(), "not executed, because the whole answer was rejected: so");
    assert_eq!(messages.len(), 3);
    assert_eq!(check_history(messages), Ok(()));
}
