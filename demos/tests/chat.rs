//! One chat in process: stopping a turn, failing turns, and going on.

use async_trait::async_trait;
use demos::hotel::catalogue::Catalogue;
use demos::hotel::model::Concierge;
use demos::hotel::terminal::{Chat, Next, Setup, Style};
use graph_nodes::message::check_history;
use graph_nodes::model::{ChatModel, ChunkStream, ModelError, Request};
use jiff::civil::{Date, date};
use std::future::{pending, ready};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

const TODAY: Date = date(2026, 6, 10);

fn setup() -> Setup {
    Setup {
        catalogue: Catalogue::in_memory().unwrap(),
        faults: false,
        trace: false,
        guided: false,
        style: Style::PLAIN,
    }
}

async fn said(chat: &mut Chat, line: &str) -> String {
    let mut out = Vec::new();
    assert_eq!(chat.turn(line, TODAY, &mut out, pending()).await.unwrap(), Next::GoOn);
    String::from_utf8(out).unwrap()
}

/// A model that thinks for an hour at its first request.
struct Slow(AtomicU32);

#[async_trait]
impl ChatModel for Slow {
    fn name(&self) -> &str {
        "slow"
    }

    async fn stream(&self, request: Request) -> Result<ChunkStream, ModelError> {
        if self.0.fetch_add(1, Ordering::Relaxed) == 0 {
            tokio::time::sleep(Duration::from_secs(3600)).await;
        }
        Concierge.stream(request).await
    }
}

#[tokio::test(start_paused = true)]
async fn ctrl_c_ends_the_turn_and_the_chat_goes_on() {
    let mut chat = Chat::with_model(setup(), Arc::new(Slow(AtomicU32::new(0)))).unwrap();
    let mut out = Vec::new();
    let stop = tokio::time::sleep(Duration::from_secs(5));
    let begin = tokio::time::Instant::now();
    assert_eq!(chat.turn("Lisbon", TODAY, &mut out, stop).await.unwrap(), Next::GoOn);
    assert_eq!(begin.elapsed(), Duration::from_secs(5));
    assert_eq!(String::from_utf8(out).unwrap(), "Stopped.\nWhat was not finished is dropped. Please go on.\n");
    assert!(said(&mut chat, "Porto").await.starts_with("Noted: Porto."));
}

#[tokio::test(start_paused = true)]
async fn a_turn_that_is_stopped_at_once_changes_nothing() {
    let mut chat = Chat::new(setup()).unwrap();
    let mut out = Vec::new();
    chat.turn("Lisbon", TODAY, &mut out, ready(())).await.unwrap();
    assert!(String::from_utf8(out).unwrap().starts_with("Stopped."));
    let found = chat.conversations().await.unwrap();
    assert_eq!(found[0].state.criteria.city, None);
    assert!(said(&mut chat, "hello").await.starts_with("Hello!"));
}

/// A model that panics once.
struct Broken(AtomicU32);

#[async_trait]
impl ChatModel for Broken {
    fn name(&self) -> &str {
        "broken"
    }

    async fn stream(&self, request: Request) -> Result<ChunkStream, ModelError> {
        assert!(self.0.fetch_add(1, Ordering::Relaxed) > 0, "\u{1b}[31mboom");
        Concierge.stream(request).await
    }
}

#[tokio::test(start_paused = true)]
async fn an_error_is_told_and_the_chat_goes_on() {
    let mut chat = Chat::with_model(setup(), Arc::new(Broken(AtomicU32::new(0)))).unwrap();
    let told = said(&mut chat, "Lisbon").await;
    assert!(told.starts_with("error: thread `guest-1`, super-step 1: `explore_agent`"), "{told}");
    assert_eq!(told.matches("boom").count(), 1, "{told}");
    assert!(!told.contains('\u{1b}'), "{told}");
    assert!(told.ends_with("What was not finished is dropped. Please go on.\n"), "{told}");
    assert!(said(&mut chat, "Porto").await.starts_with("Noted: Porto."));
}

#[tokio::test(start_paused = true)]
async fn empty_and_endless_lines_ask_no_model() {
    let mut chat = Chat::with_model(setup(), Arc::new(Broken(AtomicU32::new(0)))).unwrap();
    assert_eq!(said(&mut chat, " \u{7}\t ").await, "");
    assert!(said(&mut chat, &"x".repeat(2001)).await.starts_with("That is too long for me."));
}

/// What guests often say about offers.
const OFTEN: [&str; 8] = [
    "yes",
    "book the first",
    "compare the first two",
    "tell me about the first two and compare them",
    "tell me about the first three",
    "are they all free next weekend?",
    "back",
    "more",
];

/// Whatever a guest says in whatever order, with a model that errs or not: no
/// turn fails, and the history could be sent to any provider.
#[tokio::test(start_paused = true)]
async fn any_talk_ends_well() {
    let table = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/utterances.jsonl")).unwrap();
    let sentences: Vec<String> = table
        .lines()
        .filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok()?["text"].as_str().map(str::to_owned))
        .chain(OFTEN.map(str::to_owned))
        .collect();
    assert!(sentences.len() > 100);
    // A small generator, so that every run is the same.
    let mut seed = 7_u32;
    let mut draw = |below: usize| {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        usize::try_from(seed >> 8).unwrap() % below
    };
    for round in 0..24 {
        let mut chat = Chat::new(Setup { faults: round % 2 == 1, ..setup() }).unwrap();
        let mut out = Vec::new();
        chat.turn("Lisbon 3-6 July for 2", TODAY, &mut out, pending()).await.unwrap();
        for _ in 0..30 {
            let line = &sentences[draw(sentences.len())];
            if chat.turn(line, TODAY, &mut out, pending()).await.unwrap() == Next::Leave {
                break;
            }
        }
        let out = String::from_utf8(out).unwrap();
        assert!(!out.contains("error:"), "{out}");
        for found in chat.conversations().await.unwrap() {
            assert_eq!(check_history(found.state.history.iter()), Ok(()));
            assert!(found.state.draft.is_none() && found.next.is_empty());
        }
    }
}

/// Counts what a model is asked.
struct Counted(Arc<AtomicU32>);

#[async_trait]
impl ChatModel for Counted {
    fn name(&self) -> &str {
        "counted"
    }

    async fn stream(&self, request: Request) -> Result<ChunkStream, ModelError> {
        self.0.fetch_add(1, Ordering::Relaxed);
        Concierge.stream(request).await
    }
}

#[tokio::test(start_paused = true)]
async fn after_a_booking_every_sentence_gets_one_fixed_reply_without_a_model_call() {
    let asked = Arc::new(AtomicU32::new(0));
    let mut chat = Chat::with_model(setup(), Arc::new(Counted(asked.clone()))).unwrap();
    for line in ["Lisbon 3-6 July for 2", "book the first", "yes", "yes"] {
        said(&mut chat, line).await;
    }
    let before = asked.load(Ordering::Relaxed);
    for line in ["thank you", "compare the first two", "no, cancel it!"] {
        assert_eq!(
            said(&mut chat, line).await,
            "Your booking is made and this conversation is complete. Say \"new\" for another one, or \"quit\" to leave.\n"
        );
    }
    assert_eq!(asked.load(Ordering::Relaxed), before);
    assert!(chat.conversations().await.unwrap()[0].completed);
}

#[tokio::test(start_paused = true)]
async fn ids_of_conversations_are_plain_words_of_1_to_128_letters() {
    let mut chat = Chat::new(setup()).unwrap();
    for line in ["Lisbon 3-6 July for 2", "book the first", "yes", "yes", "thanks"] {
        said(&mut chat, line).await;
    }
    let first = chat.thread_id().clone();
    said(&mut chat, "new").await;
    assert_eq!((first.as_str(), chat.thread_id().as_str()), ("guest-1", "guest-2"));
    for id in [&first, chat.thread_id()] {
        assert!((1..=128).contains(&id.len()));
        assert!(id.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')));
    }
}
