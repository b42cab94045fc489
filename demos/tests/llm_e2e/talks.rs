//! Whole talks, by tool calls and by structured output.

use crate::proxy::{Proxy, Seen};
use demos::hotel::stage::Stage;
use demos::hotel::terminal::{Mode, Options, Style, run};
use graph_nodes::message::{Role, check_history};
use serde_json::json;

/// The last line answers the question of the program.
const TALK: [&str; 5] = ["Lisbon 3-6 July for 2", "compare the first two", "I take the Tram Bell Inn", "yes", "yes"];

/// What holds for every talk, whatever the model chose.
async fn talk(url: &str, tool_mode: Mode) -> Vec<Seen> {
    let proxy = Proxy::start(url, None);
    let options = Options {
        llm: Some(proxy.url()),
        model: Some("local".to_owned()),
        guided: true,
        tool_mode,
        ledger: true,
        today: Some(jiff::civil::date(2026, 6, 10)),
        store: Some("memory".into()),
        ..Options::default()
    };
    let mut said = Vec::new();
    let chat = run(&options, TALK.join("\n").as_bytes(), &mut said, false, Style::PLAIN).await.unwrap().unwrap();
    let said = String::from_utf8(said).unwrap();
    assert!(!said.contains("error:"), "{said}");

    let found = chat.conversations().await.unwrap().pop().unwrap();
    let state = &*found.state;
    assert_eq!(check_history(state.history.iter()), Ok(()));
    assert!(found.next.is_empty());
    assert_eq!(state.draft.is_some(), !found.interrupts.is_empty());
    // Every call that was accepted names a tool and has arguments that could be read, and was answered.
    let calls: Vec<_> = state.history.iter().flat_map(|message| message.calls()).collect();
    assert!(calls.iter().all(|call| call.fault().is_none()), "{calls:?}");
    let answers = state.history.iter().filter(|message| message.role() == Role::Tool).count();
    assert_eq!(answers, calls.len());
    // The first sentence is so near to the example that it leads to the list.
    assert_eq!((calls[0].name.as_str(), calls[1].name.as_str()), ("find_hotels", "tell_guest"), "{said}");
    assert!(state.cursor.path().any(|stage| *stage == "present") && !state.offers.is_empty(), "{said}");
    // Examples are shown and not kept.
    let kept = serde_json::to_string(&state.history).unwrap();
    assert!(!kept.contains("Madrid") && !kept.contains("example_"), "{kept}");

    // Every request is an attempt, and every token of it is in the book.
    let seen = proxy.seen();
    let totals: Vec<_> = Stage::ALL.iter().map(|stage| state.book.totals(stage.name())).collect();
    assert_eq!(totals.iter().map(|stage| stage.attempts as usize).sum::<usize>(), seen.len(), "{said}");
    assert_eq!((state.book.tokens(), totals.iter().map(|stage| stage.usage_unknown).sum::<u32>()), (proxy.tokens(), 0));
    for stage in &totals {
        let rejected = stage.attempts - stage.accepted_attempts;
        assert_eq!(stage.tokens(), stage.accepted.total() + stage.rejected.total());
        assert_eq!(
            (stage.accepted.total() > 0, stage.rejected.total() > 0),
            (stage.accepted_attempts > 0, rejected > 0)
        );
        assert!(stage.counters.values().sum::<u32>() >= rejected && stage.attempts <= 3 * stage.rounds, "{said}");
    }
    seen
}

#[tokio::test]
async fn a_talk_by_streamed_tool_calls_is_valid_from_the_first_request_to_the_last() {
    let Some(url) = crate::server() else { return };
    for asked in talk(&url, Mode::Native).await {
        let body = asked.json();
        assert_eq!((&body["stream"], &body["tool_choice"]), (&json!(true), &json!("required")));
        // Two examples before the last sentence, unless there is nothing to choose.
        let said = body["messages"].as_array().unwrap().iter().filter(|message| message["role"] == "user").count();
        assert_eq!(said, if asked.offered() == ["tell_guest"] { 1 } else { 3 }, "{}", asked.body);
    }
}

#[tokio::test]
async fn the_same_talk_is_valid_by_structured_output() {
    let Some(url) = crate::server() else { return };
    for asked in talk(&url, Mode::Schema).await {
        let body = asked.json();
        assert_eq!((body.get("tools"), &body["response_format"]["type"]), (None, &json!("json_schema")));
    }
}
