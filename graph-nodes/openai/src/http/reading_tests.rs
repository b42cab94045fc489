//! Who reads sets the pace, and who leaves ends the call.

use std::sync::atomic::Ordering;
use std::time::Duration;

use futures_util::StreamExt;
use graph_nodes::message::Message;
use graph_nodes::model::{ChatModel, ChunkStream, Request};

use super::memory::{Memory, says, stops};
use crate::{OpenAi, Timeouts, ToolMode};

async fn stream(memory: &Memory, change: impl FnOnce(OpenAi) -> OpenAi) -> ChunkStream {
    let model = change(OpenAi::new("http://model.test/v1", "m")).transport(memory.clone()).build().unwrap();
    model.stream(Request::new([Message::user("hi")])).await.unwrap()
}

fn many() -> Memory {
    let mut pieces = vec![(Duration::ZERO, says("a")); 1_000];
    pieces.push((Duration::ZERO, stops()));
    Memory { pieces, ..Memory::default() }
}

#[tokio::test(start_paused = true)]
async fn nothing_is_read_before_somebody_asks_for_it() {
    let memory = many();
    let mut stream = stream(&memory, |model| model).await;
    assert_eq!(memory.seen.taken.load(Ordering::SeqCst), 0);
    for read in 1..=5 {
        assert_eq!(stream.next().await.unwrap().unwrap().text.as_deref(), Some("a"));
        // The HTTP client may hold one piece.
        assert!(memory.seen.taken.load(Ordering::SeqCst) <= read + 1);
    }
    assert_eq!(stream.count().await, 996);
    assert_eq!(memory.seen.taken.load(Ordering::SeqCst), 1_001);
}

#[tokio::test(start_paused = true)]
async fn whoever_reads_slowly_does_not_make_the_server_silent() {
    let memory = Memory { pieces: vec![(Duration::from_secs(2), says("a")); 3], ..many() };
    let mut stream =
        stream(&memory, |model| model.timeouts(Timeouts::none().between_chunks(Duration::from_secs(3)))).await;
    for _ in 0..3 {
        assert!(stream.next().await.unwrap().is_ok());
        tokio::time::sleep(Duration::from_secs(60)).await;
    }
}

#[tokio::test(start_paused = true)]
async fn dropping_the_stream_drops_the_answer_at_once() {
    let memory = many();
    let mut reading = stream(&memory, |model| model).await;
    assert!(reading.next().await.is_some());
    assert_eq!(memory.seen.dropped.load(Ordering::SeqCst), 0);
    drop(reading);
    assert_eq!(memory.seen.dropped.load(Ordering::SeqCst), 1);
    drop(stream(&memory, |model| model).await);
    assert_eq!(memory.seen.dropped.load(Ordering::SeqCst), 2);
}

#[tokio::test(start_paused = true)]
async fn the_answer_is_let_go_at_its_end() {
    let memory =
        Memory { pieces: vec![(Duration::ZERO, stops() + "data: [DONE]\n\n")], hangs: true, ..Memory::default() };
    let mut stream = stream(&memory, |model| model).await;
    assert!(stream.next().await.unwrap().unwrap().finish.is_some());
    assert_eq!(memory.seen.dropped.load(Ordering::SeqCst), 1);
    assert!(stream.next().await.is_none());
    assert!(stream.next().await.is_none());
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_is_too_large_is_cut() {
    let mut stream = stream(&many(), |model| model.max_answer_bytes(100)).await;
    assert!(stream.next().await.unwrap().is_ok());
    let error = loop {
        if let Err(error) = stream.next().await.unwrap() {
            break error;
        }
    };
    assert_eq!(error.to_string(), "the model's provider failed (the answer is larger than 100 bytes); try again");
    assert!(stream.next().await.is_none());
}

#[tokio::test(start_paused = true)]
async fn what_is_held_back_comes_before_the_error_that_cuts_it_off() {
    let memory = Memory { pieces: vec![(Duration::ZERO, says("{\\\"name\\\":"))], ..Memory::default() };
    let tool = graph_nodes::model::ToolSpec::new("f", "", serde_json::json!({"type": "object"}));
    let model = OpenAi::new("http://model.test/v1", "m").tool_mode(ToolMode::Schema).transport(memory).build().unwrap();
    let items: Vec<_> =
        model.stream(Request::new([Message::user("hi")]).with_tools([tool])).await.unwrap().collect().await;
    assert_eq!(items.len(), 2);
    assert_eq!(items[0].as_ref().unwrap().text.as_deref(), Some("{\"name\":"));
    assert!(items[1].is_err());
}
