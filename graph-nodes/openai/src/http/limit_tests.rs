//! Limits of time, each with its own error, under a paused clock.

use std::sync::Arc;
use std::time::Duration;

use graph_nodes::message::Message;
use graph_nodes::model::{ChatModel, ModelError, Request, Response};
use reqwest::Url;
use reqwest::dns::{Name, Resolve, Resolving};
use tokio::time::Instant;

use super::memory::{Memory, says, stops};
use super::transport::Transport;
use super::{ReqwestTransport, client};
use crate::{OpenAi, Timeouts};

const fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

/// The four limits: 1, 4, 3 and 20 seconds.
fn limits() -> Timeouts {
    Timeouts::none().connect(seconds(1)).first_byte(seconds(4)).between_chunks(seconds(3)).whole(seconds(20))
}

async fn ask(transport: impl Transport, timeouts: Timeouts) -> (Result<Response, ModelError>, Duration) {
    let model = OpenAi::new("http://model.test/v1", "m").timeouts(timeouts).transport(transport).build().unwrap();
    let start = Instant::now();
    (model.complete(Request::new([Message::user("hi")])).await, start.elapsed())
}

fn text(result: Result<Response, ModelError>) -> String {
    let error = result.unwrap_err();
    assert!(error.is_retryable());
    error.to_string()
}

#[tokio::test(start_paused = true)]
async fn headers_that_do_not_come() {
    let (result, after) = ask(Memory { headers: seconds(60), ..Memory::default() }, limits()).await;
    assert_eq!(after, seconds(4));
    assert_eq!(
        text(result),
        "the model could not be reached (timeout `first_byte`: no byte of the answer came within 4s); try again",
    );
}

#[tokio::test(start_paused = true)]
async fn a_first_byte_that_does_not_come_is_counted_from_the_request() {
    let memory = Memory { headers: seconds(3), pieces: vec![(seconds(2), says("late"))], ..Memory::default() };
    let (result, after) = ask(memory, limits()).await;
    assert_eq!(after, seconds(4));
    assert!(text(result).contains("timeout `first_byte`"));
}

#[tokio::test(start_paused = true)]
async fn silence_within_an_answer() {
    let pieces = vec![(seconds(1), says("Hel")), (seconds(2), says("lo"))];
    let (result, after) = ask(Memory { pieces, hangs: true, ..Memory::default() }, limits()).await;
    assert_eq!(after, seconds(1 + 2 + 3));
    assert_eq!(result.as_ref().unwrap_err().received().unwrap().text, "Hello");
    assert_eq!(
        text(result),
        "the model's stream broke off (timeout `between_chunks`: the server was silent and nothing more came within \
         3s); try again",
    );
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_does_not_end_although_it_keeps_coming() {
    let pieces = std::iter::repeat_n((seconds(2), ": still here\n".to_owned()), 100).collect();
    let (result, after) = ask(Memory { pieces, ..Memory::default() }, limits()).await;
    assert_eq!(after, seconds(20));
    assert_eq!(
        text(result),
        "the model could not be reached (timeout `whole`: the answer did not end within 20s); try again",
    );
}

#[tokio::test(start_paused = true)]
async fn a_slow_answer_within_its_limits_is_whole() {
    let mut pieces = vec![(seconds(3), says("a")), (Duration::from_millis(2_999), ": wait\n\n".to_owned())];
    pieces.push((seconds(2), stops()));
    let (result, after) = ask(Memory { headers: Duration::ZERO, pieces, ..Memory::default() }, limits()).await;
    assert_eq!((result.unwrap().text.as_str(), after), ("a", Duration::from_millis(7_999)));
}

#[tokio::test(start_paused = true)]
async fn silence_after_the_finish_reason_is_no_failure() {
    let pieces = vec![(seconds(1), says("all")), (seconds(1), stops())];
    let (result, after) = ask(Memory { pieces, hangs: true, ..Memory::default() }, limits()).await;
    assert_eq!((result.unwrap().text.as_str(), after), ("all", seconds(1 + 1 + 3)));
}

#[tokio::test(start_paused = true)]
async fn without_limits_an_answer_may_take_for_ever() {
    let day = seconds(86_400);
    let pieces = vec![(day, says("a")), (day, stops())];
    let (result, after) = ask(Memory { headers: day, pieces, ..Memory::default() }, Timeouts::none()).await;
    assert_eq!((result.unwrap().text.as_str(), after), ("a", 3 * day));
    let (result, _) =
        ask(Memory { pieces: vec![(day, stops())], ..Memory::default() }, Timeouts::none().whole(Duration::MAX)).await;
    assert!(result.is_ok());
}

/// Never finds an address.
struct Nowhere;

impl Resolve for Nowhere {
    fn resolve(&self, _: Name) -> Resolving {
        Box::pin(std::future::pending())
    }
}

#[tokio::test(start_paused = true)]
async fn a_connection_that_is_not_made() {
    let url = Url::parse("http://model.test/v1").unwrap();
    let http = client(&url, limits().connect).unwrap().no_proxy().dns_resolver(Arc::new(Nowhere)).build().unwrap();
    let (result, after) = ask(ReqwestTransport(http), limits()).await;
    assert_eq!(after, seconds(1));
    assert_eq!(
        text(result),
        "the model could not be reached (timeout `connect`: there was no connection within 1s); try again",
    );
}
