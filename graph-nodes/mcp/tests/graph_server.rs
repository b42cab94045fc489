//! A graph that is offered as a tool, called by the client of this package.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use graph_engine::{Ctx, Graph, MemoryStore, NodeError, Runner, START, Snap, State};
use graph_nodes::tool::tool_once;
use graph_nodes_mcp::{GraphServer, McpServer, OfferError, ToolOffer, ToolPolicy};
use rmcp::ServiceExt;
use serde_json::{Value, json};

#[derive(State, Clone, Default)]
struct Trip {
    wish: String,
    #[state(append)]
    said: Vec<String>,
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
struct Wish {
    /// What the guest wants.
    text: String,
}

/// How often the plan was refused and how often it was given up.
#[derive(Clone, Default)]
struct Seen(Arc<(AtomicU32, AtomicU32)>);

struct GivenUp(Seen);

impl Drop for GivenUp {
    fn drop(&mut self) {
        self.0.0.1.fetch_add(1, Ordering::Relaxed);
    }
}

fn runner(seen: &Seen, store: MemoryStore) -> Runner<Trip> {
    let seen = seen.clone();
    let plan = move |trip: Snap<Trip>, ctx: Ctx| {
        let seen = seen.clone();
        async move {
            match trip.wish.as_str() {
                "hotel" => {
                    let hotel: String = ctx.interrupt("Which hotel?")?;
                    Ok(Trip::update().said([format!("booked {hotel}")]))
                }
                "flaky" if seen.0.0.fetch_add(1, Ordering::Relaxed) == 0 => Err(NodeError::fatal("no room")),
                "hang" => {
                    let _given_up = GivenUp(seen);
                    std::future::pending::<()>().await;
                    Ok(Trip::update())
                }
                wish => Ok(Trip::update().said([format!("planned {wish}")])),
            }
        }
    };
    let graph = Graph::<Trip>::builder("trip").node("plan", plan).edge(START, "plan").compile().unwrap();
    graph.runner().store(store)
}

fn offer(runner: &Runner<Trip>) -> ToolOffer<Trip> {
    ToolOffer::new(runner, "concierge", "Plans trips.", |wish: Wish| Trip::update().wish(wish.text))
        .reply(|end| end.state.said.join(", "))
}

/// The server of this graph, connected.
async fn connected(seen: &Seen, store: &MemoryStore) -> McpServer {
    let runner = runner(seen, store.clone());
    let open = move || {
        let server = GraphServer::new("hotel").offer(offer(&runner));
        let next = AtomicU32::new(1);
        let server = server.fresh_threads(move || format!("t{}", next.fetch_add(1, Ordering::Relaxed)));
        let (ours, theirs) = tokio::io::duplex(64 * 1024);
        let (read, write) = tokio::io::split(theirs);
        tokio::spawn(server.serve(read, write));
        async { Ok(tokio::io::split(ours)) }
    };
    McpServer::streams("hotel", open)
        .policy("concierge", ToolPolicy::new().confirm(false).timeout(Duration::from_secs(5)))
        .connect()
        .await
        .unwrap()
}

async fn said(server: &McpServer, name: &str, arguments: Value) -> Result<String, String> {
    let name = format!("hotel.{name}");
    let tool = server.tools().unwrap().into_iter().find(|tool| tool.name() == name).unwrap();
    let reply = tool_once::<Trip>(tool, &arguments).run().await.map_err(|error| error.to_string())?;
    let graph_nodes::message::Content::Text { text } = &reply.content().unwrap()[0] else { panic!("no text") };
    Ok(text.clone())
}

#[tokio::test(start_paused = true)]
async fn a_call_runs_a_turn_and_a_named_thread_goes_on() {
    let server = connected(&Seen::default(), &MemoryStore::new()).await;
    let first = said(&server, "concierge", json!({"text": "Oslo"})).await.unwrap();
    assert_eq!(first, "planned Oslo\n{\"status\":\"done\",\"thread\":\"t1\"}");
    let second = said(&server, "concierge", json!({"text": "Bern", "thread": "t1"})).await.unwrap();
    assert_eq!(second, "planned Oslo, planned Bern\n{\"status\":\"done\",\"thread\":\"t1\"}");
    let other = said(&server, "concierge", json!({"text": "Rome"})).await.unwrap();
    assert_eq!(other, "planned Rome\n{\"status\":\"done\",\"thread\":\"t2\"}");
}

#[tokio::test(start_paused = true)]
async fn the_schema_is_that_of_the_input_and_the_thread() {
    let server = connected(&Seen::default(), &MemoryStore::new()).await;
    let tools = server.tools().unwrap();
    let names: Vec<&str> = tools.iter().map(|tool| tool.name()).collect();
    assert_eq!(names, ["hotel.concierge", "hotel.concierge_resume"]);
    let properties = &tools[0].spec().parameters["properties"];
    assert_eq!(properties["text"], json!({"type": "string", "description": "What the guest wants."}));
    assert_eq!(properties["thread"]["type"], "string");
    assert_eq!(tools[0].spec().parameters["required"], json!(["text"]));
    assert!(tools[1].is_confirmed(), "what may destroy something asks, also where it goes on");
}

#[tokio::test(start_paused = true)]
async fn a_graph_that_asks_a_person_waits_and_is_answered_by_the_second_tool() {
    let store = MemoryStore::new();
    let server = connected(&Seen::default(), &store).await;
    let asked = said(&server, "concierge", json!({"text": "hotel"})).await.unwrap();
    let (words, facts) = asked.split_once('\n').unwrap();
    let expected = "The conversation `t1` waits and has done nothing yet of what it asks about. Ask the person, then answer with the tool `concierge_resume`.";
    assert_eq!(words, expected);
    let facts: Value = serde_json::from_str(facts).unwrap();
    assert_eq!((&facts["status"], &facts["questions"][0]["question"]), (&json!("paused"), &json!("Which hotel?")));
    // New input is refused while it waits; another program that was started anew answers it.
    let error = said(&server, "concierge", json!({"text": "Oslo", "thread": "t1"})).await.unwrap_err();
    assert!(
        error.contains("This was the conversation `t1`. `concierge_resume` with this `thread` tries again"),
        "{error}"
    );
    let server = connected(&Seen::default(), &store).await;
    let id = &facts["questions"][0]["id"];
    let answers = json!({"thread": "t1", "answers": {id.as_str().unwrap(): "Palace"}});
    assert!(said(&server, "concierge_resume", answers).await.unwrap().starts_with("booked Palace\n"));
    let error = said(&server, "concierge_resume", json!({"thread": "t1", "answer": "Inn"})).await.unwrap_err();
    assert!(error.contains("t1"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn an_open_question_can_be_dropped() {
    let server = connected(&Seen::default(), &MemoryStore::new()).await;
    said(&server, "concierge", json!({"text": "hotel"})).await.unwrap();
    let dropped = said(&server, "concierge_resume", json!({"thread": "t1", "abandon": true})).await.unwrap();
    assert_eq!(dropped, "What was open is dropped.");
    assert!(
        said(&server, "concierge", json!({"text": "Oslo", "thread": "t1"})).await.unwrap().starts_with("planned Oslo")
    );
}

#[tokio::test(start_paused = true)]
async fn a_turn_that_fails_is_an_error_and_is_tried_again_by_the_second_tool() {
    let server = connected(&Seen::default(), &MemoryStore::new()).await;
    let error = said(&server, "concierge", json!({"text": "flaky"})).await.unwrap_err();
    assert!(error.contains("no room") && error.contains("This was the conversation `t1`."), "{error}");
    let again = said(&server, "concierge_resume", json!({"thread": "t1"})).await.unwrap();
    assert_eq!(again, "planned flaky\n{\"status\":\"done\",\"thread\":\"t1\"}");
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_call_cancels_its_turn_and_leaves_the_thread_free() {
    let seen = Seen::default();
    let server = connected(&seen, &MemoryStore::new()).await;
    let error = said(&server, "concierge", json!({"text": "hang", "thread": "a"})).await.unwrap_err();
    assert!(error.contains("gave no answer within 5s and was cancelled"), "{error}");
    tokio::time::sleep(Duration::from_millis(10)).await;
    assert_eq!(seen.0.1.load(Ordering::Relaxed), 1);
    assert!(
        said(&server, "concierge", json!({"text": "Oslo", "thread": "a"})).await.unwrap().starts_with("planned Oslo")
    );
}

#[tokio::test(start_paused = true)]
async fn callers_reach_no_threads_of_others() {
    let (seen, store) = (Seen::default(), MemoryStore::new());
    let guest = runner(&seen, store.clone()).thread("guest-7");
    guest.run(Trip::update().wish("Rome")).await.unwrap();
    let server = connected(&seen, &store).await;
    let text = said(&server, "concierge", json!({"text": "Oslo", "thread": "guest-7"})).await.unwrap();
    assert!(text.starts_with("planned Oslo\n"), "{text}");
    assert_eq!(guest.state().await.unwrap().state.said, ["planned Rome"]);
    assert_eq!(runner(&seen, store).thread("mcp/guest-7").state().await.unwrap().state.said, ["planned Oslo"]);
}

#[tokio::test(start_paused = true)]
async fn arguments_that_can_not_be_read_are_errors() {
    let server = connected(&Seen::default(), &MemoryStore::new()).await;
    for (name, arguments, expected) in [
        (
            "concierge",
            json!({"text": "a", "thread": ""}),
            "`thread` is a text of 1 to 200 bytes; correct it and call again",
        ),
        (
            "concierge_resume",
            json!({"thread": "a", "answer": 1, "answers": {}}),
            "give `answer` or `answers`, not both",
        ),
        (
            "concierge_resume",
            json!({"thread": "a", "answers": {"x": 1}}),
            "`x` is not the id of an interrupt; it has 32 hexadecimal digits",
        ),
    ] {
        assert_eq!(said(&server, name, arguments).await.unwrap_err(), expected);
    }
}

#[test]
fn offers_that_can_not_be_are_errors() {
    let runner = runner(&Seen::default(), MemoryStore::new());
    let serve = |server: GraphServer| {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(server.serve(tokio::io::empty(), tokio::io::sink())).unwrap_err()
    };
    let server = || GraphServer::new("hotel");
    assert_eq!(serve(server()), OfferError::Nothing { server: "hotel".into() });
    assert_eq!(
        serve(server().offer(offer(&runner)).offer(offer(&runner))),
        OfferError::Twice { tool: "concierge".into() }
    );
    let with = |name: &str, schema: Value| ToolOffer::with_schema(&runner, name, "", schema, |_| Ok(Trip::update()));
    let tool = || "a".to_owned();
    assert_eq!(serve(server().offer(with("a", json!({"type": "array"})))), OfferError::NoObject { tool: tool() });
    let thread = json!({"type": "object", "properties": {"thread": {}}});
    assert_eq!(serve(server().offer(with("a", thread))), OfferError::ThreadTaken { tool: tool() });
    assert_eq!(
        serve(server().offer(with("a.b", json!({"type": "object"})))),
        OfferError::BadName { tool: "a.b".into() }
    );
    assert!(matches!(serve(server().offer(offer(&runner))), OfferError::Handshake { .. }));
}

/// A client that keeps what it is told of progress.
#[derive(Clone, Default)]
struct Watcher(Arc<Mutex<Vec<String>>>);

impl rmcp::ClientHandler for Watcher {
    async fn on_progress(
        &self,
        params: rmcp::model::ProgressNotificationParam,
        _: rmcp::service::NotificationContext<rmcp::RoleClient>,
    ) {
        self.0.lock().unwrap().push(params.message.unwrap_or_default());
    }
}

#[tokio::test(start_paused = true)]
async fn a_client_that_wants_to_know_is_told_of_every_node() {
    let runner = runner(&Seen::default(), MemoryStore::new());
    let (ours, theirs) = tokio::io::duplex(64 * 1024);
    let (read, write) = tokio::io::split(theirs);
    tokio::spawn(GraphServer::new("hotel").offer(offer(&runner)).serve(read, write));
    let watcher = Watcher::default();
    let client = watcher.clone().serve(ours).await.unwrap();
    let arguments = json!({"text": "Oslo", "thread": "a"}).as_object().unwrap().clone();
    let call = rmcp::model::CallToolRequestParams::new("concierge").with_arguments(arguments);
    let result = client.peer().call_tool(call).await.unwrap();
    assert_eq!(result.structured_content.unwrap(), json!({"thread": "a", "status": "done", "reply": "planned Oslo"}));
    tokio::time::sleep(Duration::from_millis(1)).await;
    assert_eq!(*watcher.0.lock().unwrap(), ["super-step 0: plan"]);
    let error = client.peer().call_tool(rmcp::model::CallToolRequestParams::new("nobody")).await.unwrap_err();
    assert!(error.to_string().contains("no such tool; the tools are concierge, concierge_resume"), "{error}");
}
