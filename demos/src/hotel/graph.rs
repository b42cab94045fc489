//! The graph of the conversation: four stages, a goodbye, an apology.

use crate::hotel::phrase;
use crate::hotel::stage::Stage;
use crate::hotel::state::{Booking, Hotel};
use crate::hotel::tools::{GOODBYE, toolbox};
use crate::hotel::validators::validators;
use graph_engine::{Builder, Command, CompileError, Graph, Route, START, Snap};
use graph_nodes::gate::{Backoff, GatePolicy};
use graph_nodes::message::Message;
use graph_nodes::stage::{Accepted, AgentNode, GateNode, Seat, ToolsNode};
use graph_nodes::tool::{ToolBox, ToolBoxError};
use std::time::Duration;

/// The name of the vertex that answers when no response was accepted.
pub const APOLOGY: &str = "apology";

/// Why the graph cannot be built.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GraphError {
    /// The tools do not fit each other or the stages.
    #[error(transparent)]
    Tools(#[from] ToolBoxError),
    /// The vertices do not fit each other.
    #[error(transparent)]
    Compile(#[from] CompileError),
}

/// Where a turn begins.
#[derive(Route)]
enum Begin {
    #[route(to = "explore_agent")]
    Explore,
    #[route(to = "present_agent")]
    Present,
    #[route(to = "compare_agent")]
    Compare,
    #[route(to = "booking_agent")]
    Booking,
}

#[derive(Route)]
#[route(finish)]
enum End {}

#[derive(Route)]
#[route(direct)]
enum Reply {}

/// Builds the graph. It asks for two resources: a model as `dyn ChatModel`, and
/// the catalogue as [`Desk`](crate::hotel::tools::Desk).
///
/// ```
/// let graph = demos::hotel::graph::graph()?;
/// assert!(graph.warnings().is_empty());
/// # Ok::<(), demos::hotel::graph::GraphError>(())
/// ```
///
/// # Errors
///
/// [`GraphError`] if the description is not consistent, which a test rules out.
pub fn graph() -> Result<Graph<Hotel>, GraphError> {
    let tools = toolbox()?;
    let mut builder = Graph::<Hotel>::builder("hotel")
        .route(START, |visit: &Hotel| match visit.stage {
            Stage::Explore => Begin::Explore,
            Stage::Present => Begin::Present,
            Stage::Compare => Begin::Compare,
            Stage::Booking => Begin::Booking,
        })
        .node(GOODBYE, goodbye)
        .node(APOLOGY, apology);
    for stage in Stage::ALL {
        builder = add_stage(builder, stage, tools.expose(stage.offered())?);
    }
    Ok(builder.compile()?)
}

/// One stage: a cluster of an agent, its gate and its tools.
fn add_stage(builder: Builder<Hotel>, stage: Stage, tools: ToolBox<Hotel>) -> Builder<Hotel> {
    let seat = Seat { history: Hotel::HISTORY, draft: Hotel::DRAFT, book: Hotel::BOOK };
    let policy = GatePolicy::new().with_backoff(Backoff::Fixed(Duration::from_millis(200)));
    let agent = AgentNode::new(stage.name(), seat)
        .prompt(move |visit: &Hotel| visit.briefing().prompt(stage))
        .tools(tools.clone())
        .policy(&policy);
    let gate = GateNode::new(stage.name(), seat, policy, validators(stage))
        .calls(stage.tools())
        .accepted(Accepted::Direct)
        .escalate("blocked", APOLOGY)
        .exhausted(APOLOGY);
    let run = ToolsNode::new(stage.name(), seat, tools, stage.offered())
        .then(stage.agent())
        .targets(leads_to(stage).iter().map(|target| target.agent()))
        .targets([GOODBYE])
        .max_calls(4);
    builder.cluster(stage.name(), stage.agent(), |cluster| {
        cluster
            .node(stage.agent(), agent)
            .node(stage.gate(), gate)
            .node(stage.tools(), run)
            .edge(stage.agent(), stage.gate())
    })
}

/// The stages that the tools of a stage may lead to.
const fn leads_to(stage: Stage) -> &'static [Stage] {
    match stage {
        Stage::Explore => &[Stage::Present],
        Stage::Present => &[Stage::Explore, Stage::Compare, Stage::Booking],
        Stage::Compare => &[Stage::Explore, Stage::Present, Stage::Booking],
        Stage::Booking => &[Stage::Explore, Stage::Present, Stage::Compare],
    }
}

/// Says goodbye and completes the thread: whatever comes later needs no model.
async fn goodbye(visit: Snap<Hotel>) -> Command<Hotel, End> {
    let text = match &visit.booking {
        Some(booking) => booked(booking),
        None => "Goodbye, and have a good trip!".to_owned(),
    };
    Command::finish(&text).with(Hotel::update().history([Message::assistant(text)]))
}

fn booked(booking: &Booking) -> String {
    let Booking { reference, hotel, street, room, stay, guests, total } = booking;
    format!(
        "Booked: {hotel}, {street}, a {} for {}, {} ({}), {total} in total.\n\
         Your reference is {reference}. Goodbye, and have a good trip!",
        phrase::room(*room),
        phrase::guests(*guests),
        phrase::stay(*stay),
        phrase::nights(stay.nights()),
    )
}

/// The answer when the model refused or no response was accepted.
async fn apology() -> Command<Hotel, Reply> {
    let text = "I am sorry, I have no good answer to that. Please say it in other words.";
    Command::direct(text).with(Hotel::update().history([Message::assistant(text)]))
}
