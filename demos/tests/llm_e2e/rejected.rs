//! A prompt that is known to fail: a stage without examples, whose gate wants what the model can't give.

use crate::proxy::Proxy;
use graph_engine::{Command, Log, MemoryStore, Route, State};
use graph_nodes::flow::{Cursor, Flow, Stage};
use graph_nodes::gate::{AttemptOutcome, Backoff, GatePolicy, Verdict};
use graph_nodes::message::{Message, check_history};
use graph_nodes::model::{ChatModel, ToolChoice};
use graph_nodes::stage::{Draft, GateBook, RoundEnd, Seat};
use graph_nodes::tool::{ToolBox, ToolReply, tool};
use graph_nodes_openai::OpenAi;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

#[derive(State, Clone, Default)]
struct Trip {
    #[state(append)]
    history: Log<Message>,
    draft: Option<Draft>,
    book: GateBook,
    cursor: Cursor,
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Search {
    #[expect(dead_code, reason = "no call gets so far")]
    city: String,
    #[expect(dead_code, reason = "no call gets so far")]
    guests: u32,
}

#[derive(Route)]
#[route(direct)]
enum Reply {}

const SORRY: &str = "I am sorry.";

async fn apology() -> Command<Trip, Reply> {
    Command::direct(SORRY).with(Trip::update().history([Message::assistant(SORRY)]))
}

#[tokio::test]
async fn the_gate_rejects_counts_and_stops() {
    let Some(url) = crate::server() else { return };
    let proxy = Proxy::start(&url, None);
    let ran = Arc::new(AtomicUsize::new(0));
    let counted = ran.clone();
    let search = tool::<Trip, Search>("search_hotels", "Searches hotels in a city.", move |_, _| {
        counted.fetch_add(1, Ordering::Relaxed);
        async { Ok(ToolReply::text("12 hotels")) }
    });
    let seat = Seat { history: Trip::HISTORY, draft: Trip::DRAFT, book: Trip::BOOK };
    let explore = Stage::new("explore")
        .prompt(|_| "You are the explore stage of a hotel agent.".into())
        .tools(["search_hotels"])
        .tool_choice(ToolChoice::Required)
        .parameter("temperature", 0)
        .parameter("max_tokens", 60)
        .check("both_at_once", |response, _| match response.calls.len() {
            ..=8 => Verdict::retry("too_few", "search in nine cities at once"),
            _ => Verdict::Accept,
        })
        .exhausted("apology");
    let policy = GatePolicy::new().with_backoff(Backoff::Fixed(Duration::from_millis(10)));
    let graph = Flow::new("trip", seat, Trip::CURSOR)
        .policy(policy)
        .tools(ToolBox::builder().tool(search).build().unwrap())
        .stage(explore)
        .with(|builder| builder.node("apology", apology))
        .build()
        .unwrap();
    let model: Arc<dyn ChatModel> = Arc::new(OpenAi::new(proxy.url(), "local").build().unwrap());
    let thread = graph.runner().store(MemoryStore::new()).provide_arc(model).thread("guest-7");
    for turn in 1..=2 {
        let end = thread.run(seat.user("Find me a hotel in Paris for 2 guests.")).await.unwrap();
        assert_eq!(end.reply_as::<String>().unwrap().as_deref(), Some(SORRY));
        let state = &end.state;
        assert_eq!((check_history(state.history.iter()), state.history.len()), (Ok(()), 2 * turn));
        assert!(state.draft.is_none());
        let totals = state.book.totals("explore");
        assert_eq!((totals.attempts as usize, totals.accepted_attempts), (3 * turn, 0));
        assert_eq!((totals.accepted.total(), totals.rejected.total()), (0, proxy.tokens()));
        let round = state.book.last_round("explore").unwrap();
        assert!(matches!(round.end, RoundEnd::Escalated { exhausted: Some(_), .. }), "{:?}", round.end);
        assert!(round.ledger.attempts.iter().all(|attempt| attempt.outcome != AttemptOutcome::Accepted));
    }
    // No call of a rejected answer has run, and the model was told why it was asked again.
    assert_eq!(ran.load(Ordering::Relaxed), 0);
    let seen = proxy.seen();
    assert_eq!(seen.len(), 6);
    for (number, asked) in seen.iter().enumerate() {
        assert_eq!(asked.body.contains("was rejected"), number % 3 != 0, "{}", asked.body);
    }
}
