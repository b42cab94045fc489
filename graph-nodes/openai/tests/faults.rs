//! A provider that fails, over real sockets and through a whole stage: every retry is one request and counted, no tool
//! runs twice, and the history is good for the next turn.

use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use graph_engine::{Graph, Log, MemoryStore, Runner, START, State, Thread, TurnEnd, TurnError};
use graph_nodes::gate::{Backoff, Code, ExhaustedBy, GatePolicy, Validators};
use graph_nodes::message::{Message, check_history};
use graph_nodes::model::ChatModel;
use graph_nodes::stage::{AgentNode, Draft, GateBook, GateNode, Seat, StageError, ToolsNode};
use graph_nodes::tool::{ToolBox, tool};
use graph_nodes_openai::testing::{Framing, Offline, Reply, Server};
use graph_nodes_openai::{OpenAi, Timeouts};
use serde_json::Value;

/// Five recorded streams. The first two call tools, the third is cut off by a limit, the others are texts.
const STREAMS: [(&str, &[u8]); 5] = [
    ("one call", include_bytes!("fixtures/sse/smollm2-135m/explore_required.sse")),
    ("two calls", include_bytes!("fixtures/sse/qwen2.5-coder-0.5b/parallel_two_different_tools.sse")),
    ("a cut call", include_bytes!("fixtures/sse/qwen2.5-coder-0.5b/tool_call_truncated_by_max_tokens.sse")),
    ("a text", include_bytes!("fixtures/sse/smollm2-135m/text_only.sse")),
    ("a text of another server", include_bytes!("fixtures/sse/llama-cpp-python/text_only.sse")),
];

const CALL: &[u8] = STREAMS[0].1;
const TEXT: &[u8] = STREAMS[3].1;
const HELLO: &str = "Hello, welcome to the luxurious B&B in the heart of the city.";

/// From so many bytes on an answer is whole, whatever follows: behind the event with the finish reason.
fn whole_from(body: &[u8]) -> usize {
    let text = std::str::from_utf8(body).unwrap();
    let reason =
        ["\"stop\"", "\"tool_calls\",\"index\"", "\"length\""].iter().find_map(|word| text.find(word)).unwrap();
    reason + text[reason..].find("\n\n").unwrap() + 2
}

#[derive(State, Clone, Debug, Default)]
struct Trip {
    #[state(append)]
    history: Log<Message>,
    draft: Option<Draft>,
    book: GateBook,
}

fn seat() -> Seat<Trip> {
    Seat { history: Trip::HISTORY, draft: Trip::DRAFT, book: Trip::BOOK }
}

/// Who plays the replies.
enum Provider {
    Network(Server),
    Offline(Offline),
}

impl Provider {
    fn push(&self, reply: Reply) {
        match self {
            Self::Network(server) => server.push(reply),
            Self::Offline(server) => server.push(reply),
        }
    }

    fn requests(&self) -> usize {
        match self {
            Self::Network(server) => server.requests().len(),
            Self::Offline(server) => server.requests().len(),
        }
    }
}

/// A stage behind a server that plays these replies.
struct Played {
    server: Provider,
    runner: Runner<Trip>,
    thread: Thread<Trip>,
    /// How often tools ran.
    ran: Arc<AtomicUsize>,
}

fn policy(attempts: usize) -> GatePolicy {
    let attempts = NonZeroU32::new(u32::try_from(attempts).unwrap()).unwrap();
    GatePolicy::new().with_max_attempts(attempts).with_backoff(Backoff::Fixed(Duration::ZERO))
}

impl Played {
    async fn new(policy: GatePolicy, replies: impl IntoIterator<Item = Reply>) -> Self {
        let server = Server::start(replies).await.unwrap();
        let model = OpenAi::new(server.base_url(), "local").build().unwrap();
        Self::with_model(policy, Provider::Network(server), model)
    }

    fn offline(policy: GatePolicy, replies: impl IntoIterator<Item = Reply>) -> Self {
        let server = Offline::new(replies);
        let model = OpenAi::new("http://127.0.0.1:9/v1", "local").offline(&server).build().unwrap();
        Self::with_model(policy, Provider::Offline(server), model)
    }

    fn with_model(policy: GatePolicy, server: Provider, model: impl ChatModel) -> Self {
        let ran = Arc::new(AtomicUsize::new(0));
        let counted = |name: &str| {
            let ran = ran.clone();
            tool::<Trip, BTreeMap<String, Value>>(name, "A tool.", move |_, _| {
                ran.fetch_add(1, Ordering::Relaxed);
                async { Ok("done".into()) }
            })
        };
        let names = ["search_hotels", "get_weather"];
        let tools = names.iter().fold(ToolBox::builder(), |all, name| all.tool(counted(name))).build().unwrap();
        let graph = Graph::<Trip>::builder("trip")
            .cluster("explore", "agent", |stage| {
                let agent = AgentNode::new("explore", seat()).tools(tools.clone()).with_tools(names);
                let gate = GateNode::new("explore", seat(), policy, Validators::new()).calls("tools");
                let run = ToolsNode::new("explore", seat(), tools, names).then("agent");
                stage.node("agent", agent).node("gate", gate).node("tools", run).edge("agent", "gate")
            })
            .edge(START, "agent")
            .compile()
            .unwrap();
        let model: Arc<dyn ChatModel> = Arc::new(model);
        // Each further attempt of a gate is a stay as well.
        let runner = graph.runner().step_limit(1_000).stay_limit(100).provide_arc(model);
        Self { server, thread: runner.thread("t"), runner, ran }
    }

    /// Keeps the thread between turns.
    fn stored(self) -> Self {
        Self { thread: self.runner.clone().store(MemoryStore::new()).thread("t"), ..self }
    }

    async fn turn(&self) -> Result<TurnEnd<Trip>, TurnError> {
        self.thread.run(seat().user("hi")).await
    }

    fn requests(&self) -> usize {
        self.server.requests()
    }

    fn ran(&self) -> usize {
        self.ran.load(Ordering::Relaxed)
    }
}

/// What must hold at the end of each turn: every request is an attempt, and the history can be sent again.
fn assert_sound(end: &TurnEnd<Trip>, played: &Played, what: &str) {
    let trip = &end.state;
    assert_eq!(check_history(trip.history.iter()), Ok(()), "{what}");
    let calls: Vec<_> = trip.history.iter().flat_map(|message| message.calls()).map(|call| &call.id).collect();
    let answers: Vec<_> = trip.history.iter().filter_map(|message| message.call_id()).collect();
    assert_eq!(calls, answers, "{what}");
    assert_eq!((&trip.draft, trip.book.open.len()), (&None, 0), "{what}");
    assert_eq!(trip.book.totals("explore").attempts as usize, played.requests(), "{what}");
}

/// A turn in which the stream fails in each of these ways, then comes whole. Streams of text come behind a call, so that
/// there is a side effect that could be repeated.
async fn fails(name: &str, body: &[u8], faults: Vec<Reply>, is_offline: bool) {
    let is_text = name.contains("text");
    let first = is_text.then(|| Reply::stream(CALL));
    let count = faults.len();
    let replies = first.into_iter().chain(faults).chain([Reply::stream(body), Reply::stream(TEXT)]);
    // As many attempts as are needed: all of them fail but the last one, and a cut answer is rejected as well.
    let is_cut = name == "a cut call";
    let policy = policy(count + 1 + usize::from(is_cut));
    let played = if is_offline { Played::offline(policy, replies) } else { Played::new(policy, replies).await };
    let end = played.turn().await.unwrap_or_else(|error| panic!("{name}: {error}"));
    assert_sound(&end, &played, name);
    assert_eq!(end.reply().and_then(|reply| reply.as_str()), Some(HELLO), "{name}");

    let totals = end.state.book.totals("explore");
    let counted = |code: &Code| totals.counters.get(code).copied().unwrap_or_default() as usize;
    // Besides those that failed: an answer, and a text behind its calls, or calls in front of it, or a text in the
    // place of a cut one.
    assert_eq!((counted(&Code::INVOCATION), totals.attempts as usize), (count, count + 2), "{name}");
    assert_eq!(counted(&Code::TRUNCATED), usize::from(is_cut), "{name}");
    let effects = match name {
        "two calls" => 2,
        "a cut call" => 0,
        _ => 1,
    };
    assert_eq!(played.ran(), effects, "{name}");

    // The next turn sends the whole history, and is answered.
    let before = end.state.history.len();
    played.server.push(Reply::stream(TEXT));
    let again = Trip::update().history(end.state.history.iter().cloned().chain([Message::user("and now?")]));
    let end = played.runner.thread("next").run(again).await.unwrap_or_else(|error| panic!("{name}: {error}"));
    assert_eq!(check_history(end.state.history.iter()), Ok(()), "{name}");
    assert_eq!((end.state.history.len(), played.ran()), (before + 2, effects), "{name}");
}

/// Fails at bytes before the answer is whole, many of them in one turn; returns how many there were. Each stream has a
/// thread of its own.
fn at_bytes(step: usize, is_offline: bool, fault: impl Fn(&[u8], usize) -> Reply + Sync) -> usize {
    let check = |(name, body): (&str, &[u8])| {
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_all().start_paused(is_offline).build().unwrap();
        let at: Vec<usize> = (0..whole_from(body)).step_by(step).collect();
        for at in at.chunks(64) {
            let faults = at.iter().map(|at| fault(body, *at)).collect();
            runtime.block_on(fails(name, body, faults, is_offline));
        }
        at.len()
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = STREAMS.map(|stream| scope.spawn(move || check(stream))).into();
        threads.into_iter().map(|thread| thread.join().expect("a stream failed")).sum()
    })
}

#[test]
fn r37_a_reset_at_every_byte_of_five_recorded_streams_is_one_counted_retry() {
    let faults = at_bytes(1, true, |body, at| Reply::stream(body).reset_at(at).pieces_of(1_000));
    let bytes: usize = STREAMS.iter().map(|(_, body)| whole_from(body)).sum();
    assert_eq!((faults, bytes), (bytes, 20_339));
}

#[test]
fn r37_a_reset_of_a_real_connection_is_one_counted_retry() {
    // `scripts/streams` takes every byte.
    let step = std::env::var("FAULTS_STEP").map_or(37, |text| text.parse().expect("FAULTS_STEP is a number"));
    at_bytes(step, false, |body, at| Reply::stream(body).reset_at(at));
}

#[tokio::test]
async fn r37_a_reset_behind_the_finish_reason_is_a_whole_answer_or_a_counted_retry() {
    for (name, body) in STREAMS.into_iter().filter(|(name, _)| *name != "a cut call") {
        for at in (whole_from(body)..=body.len()).step_by(11) {
            // What had arrived when the connection was reset, nobody knows: the same answer may be asked for again.
            let replies = [Reply::stream(body).reset_at(at), Reply::stream(body), Reply::stream(TEXT)];
            let played = Played::new(policy(2), replies).await;
            let end = played.turn().await.unwrap_or_else(|error| panic!("{name} at {at}: {error}"));
            assert_sound(&end, &played, name);
            let failed = end.state.book.totals("explore").counters.get(&Code::INVOCATION).copied().unwrap_or_default();
            assert!(failed <= 1, "{name} at {at}");
            let calls: usize = end.state.history.iter().map(|message| message.calls().len()).sum();
            assert_eq!(played.ran(), calls, "{name} at {at}");
            assert_eq!(end.reply().and_then(|reply| reply.as_str()), Some(HELLO), "{name} at {at}");
        }
    }
}

#[test]
fn r37_a_stream_that_is_closed_early_is_one_counted_retry_however_its_end_is_told() {
    at_bytes(211, false, |body, at| Reply::stream(body).close_at(at));
    at_bytes(223, false, |body, at| Reply::stream(body).framing(Framing::Length).close_at(at));
    // The client can't tell this from an end: without a finish reason it is none.
    at_bytes(227, false, |body, at| Reply::stream(body).framing(Framing::UntilClose).close_at(at.saturating_sub(2)));
}

#[tokio::test]
async fn r37_a_status_that_asks_to_try_again_is_one_counted_retry() {
    for status in [408, 409, 429, 500, 502, 503, 504, 529] {
        let body = r#"{"error":{"message":"later"}}"#;
        for times in [1, 2, 5] {
            let replies = vec![Reply::status(status).body(body); times];
            let replies = replies.into_iter().chain([Reply::stream(CALL)]);
            let replies = replies.chain(vec![Reply::status(status); times]).chain([Reply::stream(TEXT)]);
            let played = Played::new(policy(times + 1), replies).await;
            let end = played.turn().await.unwrap();
            assert_sound(&end, &played, &status.to_string());
            let code = if status == 429 { Code::RATE } else { Code::INVOCATION };
            let totals = end.state.book.totals("explore");
            assert_eq!(totals.counters.get(&code).copied(), Some(2 * times as u32), "{status}");
            assert_eq!((played.requests(), played.ran()), (2 * times + 2, 1), "{status}");
            assert_eq!(end.reply().and_then(|reply| reply.as_str()), Some(HELLO));
        }
    }
}

#[tokio::test]
async fn r37_the_wait_that_a_provider_asks_for_is_waited_and_counted() {
    for (header, value) in [("retry-after-ms", "40"), ("retry-after", "0.04")] {
        let limited = Reply::status(429).header(header, value);
        let played = Played::new(policy(3), [limited.clone(), limited, Reply::stream(TEXT)]).await;
        let start = std::time::Instant::now();
        let end = played.turn().await.unwrap();
        assert_sound(&end, &played, header);
        let counted = end.state.book.totals("explore").elapsed;
        assert!(counted >= Duration::from_millis(80) && start.elapsed() >= Duration::from_millis(80), "{counted:?}");
        assert_eq!(played.requests(), 3);
    }
}

#[tokio::test]
async fn r37_silence_at_a_byte_is_one_counted_retry() {
    let long = Duration::from_secs(60);
    for (name, body) in STREAMS {
        let whole = whole_from(body);
        for at in [1, whole / 3, whole / 2, whole - 1] {
            let stalled = Reply::stream(body).pause_at(at, long);
            let server =
                Server::start([stalled, Reply::never(), Reply::stream(body), Reply::stream(TEXT)]).await.unwrap();
            let limit = Duration::from_millis(150);
            let timeouts = Timeouts::new().first_byte(Duration::from_millis(600)).between_chunks(limit);
            let model = OpenAi::new(server.base_url(), "local").timeouts(timeouts).build().unwrap();
            let is_cut = name == "a cut call";
            let played = Played::with_model(policy(3 + usize::from(is_cut)), Provider::Network(server), model);
            let end = played.turn().await.unwrap_or_else(|error| panic!("{name}: {error}"));
            assert_sound(&end, &played, name);
            let totals = end.state.book.totals("explore");
            assert_eq!(totals.counters.get(&Code::INVOCATION).copied(), Some(2), "{name} at {at}");
            let effects = [1, 2, 0, 0, 0][STREAMS.iter().position(|(known, _)| *known == name).unwrap()];
            assert_eq!(played.ran(), effects, "{name} at {at}");
        }
    }
}

#[tokio::test]
async fn r37_the_budget_of_attempts_is_kept_and_the_thread_goes_on_in_the_next_turn() {
    for (name, body) in STREAMS {
        let reset = |at: usize| Reply::stream(body).reset_at(at);
        let played = Played::new(policy(3), [reset(0), reset(100), reset(1_000)]).await.stored();
        let error = played.turn().await.unwrap_err();
        let reason: &StageError = error.failures()[0].source.downcast_ref().unwrap();
        let StageError::Exhausted { ledger, failure, .. } = reason else { panic!("{name}: {reason}") };
        assert_eq!(failure.by, ExhaustedBy::Attempts, "{name}");
        assert_eq!((ledger.started(), played.requests(), played.ran()), (3, 3, 0), "{name}");

        played.thread.abandon().await.unwrap();
        played.server.push(Reply::stream(CALL));
        played.server.push(Reply::stream(TEXT));
        let end = played.turn().await.unwrap();
        assert_eq!(check_history(end.state.history.iter()), Ok(()), "{name}");
        assert_eq!((played.requests(), played.ran()), (5, 1), "{name}");
        assert_eq!(end.reply().and_then(|reply| reply.as_str()), Some(HELLO), "{name}");
    }
}

#[tokio::test]
async fn r37_what_will_be_refused_again_is_asked_once() {
    for (status, body, code) in [
        (400, r#"{"error":{"message":"no","type":"invalid_request_error"}}"#, Code::INVOCATION),
        (400, r#"{"error":{"message":"long","type":"exceed_context_size_error"}}"#, Code::CONTEXT_TOO_LONG),
        (401, r#"{"error":{"message":"who?"}}"#, Code::AUTHENTICATION),
        (429, r#"{"error":{"message":"broke","code":"insufficient_quota"}}"#, Code::QUOTA),
        (404, "not here", Code::INVOCATION),
    ] {
        let played = Played::new(policy(5), [Reply::stream(CALL), Reply::status(status).body(body)]).await;
        let error = played.turn().await.unwrap_err();
        let reason: &StageError = error.failures()[0].source.downcast_ref().unwrap();
        assert!(matches!(reason, StageError::Fatal { code: told, .. } if *told == code), "{status}: {reason}");
        assert_eq!((played.requests(), played.ran()), (2, 1), "{status}");
    }
}

#[tokio::test]
async fn r37_a_server_that_is_not_there_is_a_counted_retry() {
    let server = Server::start([]).await.unwrap();
    let model = OpenAi::new(server.base_url(), "local").build().unwrap();
    drop(server);
    let played = Played::with_model(policy(4), Provider::Offline(Offline::default()), model);
    let error = played.turn().await.unwrap_err();
    let reason: &StageError = error.failures()[0].source.downcast_ref().unwrap();
    let StageError::Exhausted { ledger, .. } = reason else { panic!("{reason}") };
    assert_eq!((ledger.started(), ledger.count(&Code::INVOCATION)), (4, 4));
}
