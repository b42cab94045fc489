//! A capable model: it has all tools and its own words.

use crate::played::{call, messages, offered, options, talk, text};
use demos::hotel::stage::Stage;
use demos::hotel::terminal::Mode;
use graph_nodes::message::{Role, check_history};
use graph_nodes_openai::testing::{Reply, Server};
use serde_json::json;

#[tokio::test]
async fn a_whole_conversation_runs_over_streamed_calls() {
    let wish = json!({"city": "Lisbon", "check_in": "2026-07-03", "check_out": "2026-07-06", "guests": 2});
    let server = Server::start([
        text("Hello! Where to?"),
        call("capture_criteria", wish),
        call("search", json!({})),
        text("I found Casa Limoa and more."),
        call("compare_hotels", json!({"hotels": ["Casa Limoa", "Tram Bell Inn"]})),
        text("The first one is cheaper."),
        call("choose_hotel", json!({"hotel": "Casa Limoa"})),
        text("Shall I book Casa Limoa?"),
        call("confirm_booking", json!({"hotel": "Casa Limoa", "confirmed": true})),
    ])
    .await
    .unwrap();
    let lines = ["hello", "Lisbon 3-6 July for 2", "compare the first two", "book the first", "yes", "yes"];
    let (said, chat) = talk(&options(&server.base_url()), &lines).await;
    let welcome = format!("Hotel concierge. The language model `played` at {}; invented hotels.\n", server.base_url());
    assert!(said.starts_with(&welcome), "{said}");
    for words in ["Hello! Where to?", "I found Casa Limoa and more.", "Shall I book Casa Limoa?", "Booked: Casa Limoa"]
    {
        assert!(said.contains(words), "{words} in {said}");
    }

    // What went out: each stage offers its own tools, with no word about a choice, and no example.
    let requests = server.requests();
    assert_eq!(requests.len(), 9);
    assert_eq!(offered(&requests[0]), ["capture_criteria", "search", "close_conversation"]);
    assert_eq!(offered(&requests[3])[..2], ["show_offers", "hotel_details"]);
    assert_eq!(offered(&requests[8])[0], "confirm_booking");
    for asked in &requests {
        let body = asked.json();
        assert_eq!(asked.path, "/v1/chat/completions");
        assert_eq!((&body["model"], &body["stream"], body.get("tool_choice")), (&json!("played"), &json!(true), None));
        assert_eq!((asked.header("authorization"), body.get("temperature")), (None, None));
    }
    assert_eq!(messages(&requests[0])[1..], ["user: hello"]);
    assert_eq!(
        messages(&requests[2])[1..5],
        [
            "user: hello",
            "assistant: Hello! Where to?",
            "user: Lisbon 3-6 July for 2",
            r#"assistant calls capture_criteria{"check_in":"2026-07-03","check_out":"2026-07-06","city":"Lisbon","guests":2}"#,
        ]
    );

    let found = chat.conversations().await.unwrap().pop().unwrap();
    let state = &*found.state;
    assert_eq!(check_history(state.history.iter()), Ok(()));
    assert!(found.completed && state.draft.is_none() && state.booking.is_some());
    assert_eq!(state.history.iter().filter(|message| message.role() == Role::Tool).count(), 5);
    // Nine calls of 42 tokens, and all of them accepted.
    let totals: Vec<_> = Stage::ALL.iter().map(|stage| state.book.totals(stage.name())).collect();
    let sum = |count: fn(&graph_nodes::stage::StageTotals) -> u64| totals.iter().map(count).sum::<u64>();
    assert_eq!((sum(|stage| stage.attempts.into()), sum(|stage| stage.accepted_attempts.into())), (9, 9));
    assert_eq!((state.book.tokens(), sum(|stage| stage.rejected.total())), (9 * 42, 0));
}

#[tokio::test]
async fn structured_output_takes_the_place_of_tool_calls() {
    let answer = |json: serde_json::Value| text(&json.to_string());
    let server = Server::start([
        answer(json!({"name": "capture_criteria", "arguments": {"city": "Lisbon"}})),
        answer(json!({"reply": "On which days?"})),
    ])
    .await
    .unwrap();
    let options = demos::hotel::terminal::Options { tool_mode: Mode::Schema, ..options(&server.base_url()) };
    let (said, chat) = talk(&options, &["Lisbon"]).await;
    assert!(said.ends_with("> Lisbon\nOn which days?\n"), "{said}");
    let body = server.requests()[0].json();
    assert_eq!((body.get("tools"), &body["response_format"]["type"]), (None, &json!("json_schema")));
    let found = chat.conversations().await.unwrap().pop().unwrap();
    assert_eq!(check_history(found.state.history.iter()), Ok(()));
    assert_eq!(found.state.criteria.city.map(|city| city.to_string()).as_deref(), Some("Lisbon"));
}

#[tokio::test]
async fn what_a_model_invents_is_asked_for_again_and_counted() {
    let broken = Reply::stream("data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hal\"}}]}\n\n");
    let server = Server::start([text("The Grand costs €1.00."), broken, text("Where to?")]).await.unwrap();
    let (said, chat) = talk(&options(&server.base_url()), &["hello"]).await;
    assert!(said.ends_with("> hello\nWhere to?\n"), "{said}");
    let found = chat.conversations().await.unwrap().pop().unwrap();
    let totals = found.state.book.totals("explore");
    assert_eq!((totals.attempts, totals.accepted_attempts, totals.rounds), (3, 1, 1));
    assert_eq!(totals.counters[&"invented_price".into()], 1);
    let rejected = messages(&server.requests()[1]);
    assert!(rejected.last().unwrap().contains("no offer costs €1.00"), "{rejected:?}");
    assert_eq!(found.state.history.len(), 2);
}
