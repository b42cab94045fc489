//! A small model: it only chooses tools, and the program says what they found.

use crate::played::{call, messages, offered, options, talk, text};
use demos::hotel::terminal::Options;
use graph_nodes::message::{Role, check_history};
use graph_nodes_openai::testing::{Asked, Server};
use serde_json::json;

fn guided(url: &str) -> Options {
    Options { guided: true, ..options(url) }
}

fn find() -> graph_nodes_openai::testing::Reply {
    call("find_hotels", json!({"city": "Lisbon", "dates": "3-6 July", "guests": 2}))
}

/// Every request of a small model is short, certain and wants a call.
fn is_small(asked: &Asked) {
    let body = asked.json();
    assert_eq!(body["tool_choice"], "required");
    assert_eq!((&body["temperature"], &body["seed"], &body["max_tokens"]), (&json!(0), &json!(7), &json!(80)));
    assert!(asked.body.len() < 3000, "{} bytes", asked.body.len());
}

#[tokio::test]
async fn a_whole_conversation_needs_nothing_but_calls() {
    let tell = || call("tell_guest", json!({}));
    let server = Server::start([
        find(),
        tell(),
        call("compare_hotels", json!({"hotels": ["Casa Limoa", "Tram Bell Inn"]})),
        tell(),
        call("choose_hotel", json!({"hotel": "Tram Bell Inn"})),
        tell(),
        call("confirm_booking", json!({"hotel": "Tram Bell Inn", "confirmed": true})),
    ])
    .await
    .unwrap();
    let lines = ["Lisbon 3-6 July for 2", "compare the first two", "I take the Tram Bell Inn", "yes", "yes"];
    let (said, chat) = talk(&guided(&server.base_url()), &lines).await;
    for words in [
        "A small model only chooses what to do",
        "I found 11 hotels: Lisbon, 3 to 6 July 2026 (3 nights), 2 guests.\n 1. Casa Limoa",
        "hotel      Casa Limoa                  Tram Bell Inn",
        "Tram Bell Inn in Campo de Ourique: a double room for 2 guests",
        "Booked: Tram Bell Inn",
    ] {
        assert!(said.contains(words), "{words} in {said}");
    }
    let requests = server.requests();
    assert_eq!(requests.len(), 7);
    requests.iter().for_each(is_small);
    let tools: Vec<Vec<String>> = requests.iter().map(offered).collect();
    assert_eq!(tools[0], ["find_hotels", "close_conversation"]);
    // A stage that was entered within the turn has nothing to choose.
    assert_eq!((&tools[1], &tools[3], &tools[5]), (&vec!["tell_guest".to_owned()], &tools[1], &tools[1]));
    assert_eq!(tools[2], ["compare_hotels", "choose_hotel", "hotel_details", "find_hotels", "close_conversation"]);
    assert_eq!(tools[6], ["confirm_booking", "choose_hotel", "close_conversation"]);

    // Two examples, then the last sentence; of earlier sentences and of answers nothing.
    assert_eq!(
        messages(&requests[0])[1..],
        [
            "user: bye",
            "assistant calls close_conversation{}",
            "tool: done",
            "user: Hotel in Madrid 10-12 May for 3",
            r#"assistant calls find_hotels{"city":"Madrid","dates":"10-12 May","guests":3}"#,
            "tool: done",
            "user: Lisbon 3-6 July for 2",
        ]
    );
    assert_eq!(
        messages(&requests[1])[1..],
        [
            "user: Lisbon 3-6 July for 2",
            r#"assistant calls find_hotels{"city":"Lisbon","dates":"3-6 July","guests":2}"#,
            "tool: done",
        ]
    );
    assert_eq!(
        messages(&requests[2])[1..],
        [
            "user: I take Tejo Lantern House",
            r#"assistant calls choose_hotel{"hotel":"Tejo Lantern House"}"#,
            "tool: done",
            "user: compare the first two",
            r#"assistant calls compare_hotels{"hotels":["Casa Limoa","Tram Bell Inn"]}"#,
            "tool: done",
            "user: compare the first two",
        ]
    );

    // The history has everything but the examples.
    let found = chat.conversations().await.unwrap().pop().unwrap();
    let state = &*found.state;
    assert_eq!(check_history(state.history.iter()), Ok(()));
    assert!(found.completed && state.draft.is_none());
    let kept = serde_json::to_string(&state.history).unwrap();
    assert!(!kept.contains("Madrid") && !kept.contains("example"), "{kept}");
    let answers: Vec<String> =
        state.history.iter().filter(|message| message.role() == Role::Tool).map(|message| message.text()).collect();
    assert!(answers[0].contains("Casa Limoa") && answers.len() == 7, "{answers:?}");
}

#[tokio::test]
async fn criteria_that_nobody_said_are_taken_out_and_the_rest_is_asked_for() {
    let invented = json!({"city": "Oslo", "dates": "10-12 May", "guests": 3});
    let server = Server::start([call("find_hotels", invented.clone()), call("find_hotels", invented)]).await.unwrap();
    let (said, chat) = talk(&guided(&server.base_url()), &["I want to go to Oslo", "hello"]).await;
    let asks = "So far I have: Oslo. On which days do you arrive and leave, and how many people are coming?";
    assert!(said.contains(&format!("> I want to go to Oslo\n{asks}\n> hello\n{asks}\n")), "{said}");
    let found = chat.conversations().await.unwrap().pop().unwrap();
    let rounds: Vec<Option<&str>> = found
        .state
        .book
        .recent
        .iter()
        .map(|round| round.ledger.attempts[0].modified.as_ref().map(|modified| modified.note.as_str()))
        .collect();
    assert_eq!(
        rounds,
        [Some("the guest did not say: dates, guests"), Some("the guest did not say: city, dates, guests")]
    );
    let calls: Vec<String> = found
        .state
        .history
        .iter()
        .flat_map(|message| message.calls())
        .map(|call| call.arguments.raw().to_owned())
        .collect();
    assert_eq!(calls, [r#"{"city":"Oslo"}"#, "{}"]);
}

#[tokio::test]
async fn what_a_small_model_gets_wrong_is_rejected_or_told_to_the_guest_and_the_talk_goes_on() {
    let server = Server::start([
        text("Once upon a time"),
        call("close_conversation", json!({})),
        // Arguments of a wrong type pass the gate, and the tool vertex answers them.
        call("find_hotels", json!({"city": 7})),
        call("tell_guest", json!({})),
        // In the next turn it does better.
        find(),
        call("tell_guest", json!({})),
        // A hotel that nobody offers.
        call("choose_hotel", json!({"hotel": "Grand Mirage"})),
        call("choose_hotel", json!({"hotel": "the second"})),
        call("hotel_details", json!({"hotel": "Casa Limoa"})),
    ])
    .await
    .unwrap();
    let lines = ["hello", "Lisbon 3-6 July for 2", "I take the nicest"];
    let (said, chat) = talk(&guided(&server.base_url()), &lines).await;
    assert!(said.contains("Casa Limoa, ") && !said.contains("Once upon"), "{said}");
    let found = chat.conversations().await.unwrap().pop().unwrap();
    let state = &*found.state;
    assert_eq!(check_history(state.history.iter()), Ok(()));
    let explore = state.book.totals("explore");
    assert_eq!((explore.counters[&"no_call".into()], explore.counters[&"not_leaving".into()]), (1, 1));
    assert!(said.contains("> hello\nThat did not work: "), "{said}");
    assert_eq!(state.book.totals("present").counters[&"not_offered".into()], 2);
}
