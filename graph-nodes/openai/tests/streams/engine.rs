//! A stage with an agent, its gate and its tools, whose model is bytes of a server.

use std::collections::VecDeque;
use std::num::NonZeroU32;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use graph_engine::{Graph, Log, Runner, START, State};
use graph_nodes::gate::{GatePolicy, Length, Validators};
use graph_nodes::message::{Message, check_history};
use graph_nodes::model::{ChatModel, ChunkStream, ModelError, Request};
use graph_nodes::stage::{AgentNode, Draft, GateBook, GateNode, Seat, ToolsNode};
use graph_nodes::tool::{ToolBox, ToolReply, tool};
use graph_nodes_openai::StreamReader;

/// Answers with one body after the other, each in pieces of so many bytes.
#[derive(Clone)]
pub(crate) struct WireModel(Arc<Inner>);

struct Inner {
    bodies: Mutex<VecDeque<Vec<u8>>>,
    requests: Mutex<Vec<Request>>,
    piece: usize,
}

impl WireModel {
    pub(crate) fn new(bodies: impl IntoIterator<Item = Vec<u8>>, piece: usize) -> Self {
        let bodies = Mutex::new(bodies.into_iter().collect());
        Self(Arc::new(Inner { bodies, requests: Mutex::default(), piece }))
    }

    pub(crate) fn requests(&self) -> Vec<Request> {
        self.0.requests.lock().unwrap().clone()
    }
}

#[async_trait]
impl ChatModel for WireModel {
    fn name(&self) -> &str {
        "wire"
    }

    async fn stream(&self, request: Request) -> Result<ChunkStream, ModelError> {
        self.0.requests.lock().unwrap().push(request);
        let body = self.0.bodies.lock().unwrap().pop_front().expect("one body for each request");
        let mut reader = StreamReader::new();
        let mut items = Vec::new();
        let mut broken = None;
        for piece in body.chunks(self.0.piece) {
            match reader.push(piece) {
                Ok(chunks) => items.extend(chunks.into_iter().map(Ok)),
                Err(error) => {
                    broken = Some(error);
                    break;
                }
            }
        }
        match broken.map_or_else(|| reader.finish(), Err) {
            Ok(chunks) => items.extend(chunks.into_iter().map(Ok)),
            Err(error) => items.push(Err(error)),
        }
        Ok(Box::pin(futures_util::stream::iter(items)))
    }
}

#[derive(State, Clone, Debug, Default)]
pub(crate) struct Trip {
    #[state(append)]
    pub(crate) notes: Vec<String>,
    #[state(append)]
    pub(crate) history: Log<Message>,
    pub(crate) draft: Option<Draft>,
    pub(crate) book: GateBook,
}

pub(crate) fn seat() -> Seat<Trip> {
    Seat { history: Trip::HISTORY, draft: Trip::DRAFT, book: Trip::BOOK }
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Search {
    #[schemars(length(max = 100))]
    pub(crate) city: String,
    #[expect(dead_code, reason = "only its type matters")]
    nights: Option<u8>,
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Refund {}

/// How often each tool ran.
#[derive(Clone, Default)]
pub(crate) struct Ran {
    search: Arc<AtomicUsize>,
    refund: Arc<AtomicUsize>,
}

impl Ran {
    pub(crate) fn search(&self) -> usize {
        self.search.load(Ordering::Relaxed)
    }

    /// The tool that no stage here offers.
    pub(crate) fn refund(&self) -> usize {
        self.refund.load(Ordering::Relaxed)
    }
}

/// The stage `explore`: offers `search`, which notes the city, and knows `refund` without offering it.
pub(crate) fn stage(attempts: u32) -> (Graph<Trip>, Ran) {
    let ran = Ran::default();
    let count = ran.search.clone();
    let search = tool::<Trip, Search>("search", "Searches hotels.", move |args, _| {
        count.fetch_add(1, Ordering::Relaxed);
        async move { Ok(ToolReply::text("two hotels").update(Trip::update().notes([args.city]))) }
    });
    let count = ran.refund.clone();
    let refund = tool::<Trip, Refund>("refund", "Pays back.", move |_, _| {
        count.fetch_add(1, Ordering::Relaxed);
        async move { Ok(ToolReply::text("paid").update(Trip::update().notes(["refund"]))) }
    });
    let tools = ToolBox::builder().tool(search).tool(refund).build().unwrap();
    let policy = GatePolicy::new().with_max_attempts(NonZeroU32::new(attempts).unwrap());
    let graph = Graph::<Trip>::builder("trip")
        .cluster("explore", "agent", |stage| {
            let agent = AgentNode::new("explore", seat()).tools(tools.clone()).with_tools(["search"]);
            let gate = GateNode::new("explore", seat(), policy, Validators::new().with(Length::at_most(1_000_000)))
                .calls("tools")
                .escalate("blocked", "handoff");
            let run = ToolsNode::new("explore", seat(), tools, ["search"]).then("agent").max_calls(8);
            stage.node("agent", agent).node("gate", gate).node("tools", run).edge("agent", "gate")
        })
        .node("handoff", async || Trip::update().notes(["handoff"]))
        .edge(START, "agent")
        .compile()
        .unwrap();
    (graph, ran)
}

pub(crate) fn runner(graph: &Graph<Trip>, model: &WireModel) -> Runner<Trip> {
    let model: Arc<dyn ChatModel> = Arc::new(model.clone());
    graph.runner().provide_arc(model)
}

/// What must hold for every end of a turn: a history that can be sent, every call answered, nothing left over.
pub(crate) fn assert_sound(trip: &Trip, what: &str) {
    assert_eq!(check_history(trip.history.iter()), Ok(()), "{what}");
    let calls: Vec<_> = trip.history.iter().flat_map(|message| message.calls()).map(|call| &call.id).collect();
    let answers: Vec<_> = trip.history.iter().filter_map(|message| message.call_id()).collect();
    assert_eq!(calls, answers, "{what}");
    assert_eq!(trip.draft, None, "{what}");
}
