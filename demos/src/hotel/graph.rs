//! The graph of the conversation: four stages, a goodbye, an apology.

use crate::hotel::phrase;
use crate::hotel::stage::Stage;
use crate::hotel::state::{Booking, Hotel, HotelUpdate};
use crate::hotel::tools::{GOODBYE, toolbox};
use crate::hotel::validators::validators;
use graph_engine::{Command, Graph, Route};
use graph_nodes::flow::{self, Flow, FlowError};
use graph_nodes::gate::{Backoff, GatePolicy};
use graph_nodes::message::Message;
use graph_nodes::stage::Seat;
use graph_nodes::tool::{ToolBox, ToolBoxError};
use std::time::Duration;

/// The name of the vertex that answers when no response was accepted.
pub const APOLOGY: &str = "apology";

/// How many calls of one response are run: the details of a whole city's hotels
/// and their comparison.
const MOST_CALLS: usize = 12;

/// Why the graph cannot be built.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GraphError {
    /// The tools do not fit each other.
    #[error(transparent)]
    Tools(#[from] ToolBoxError),
    /// The stages do not fit each other.
    #[error(transparent)]
    Flow(#[from] FlowError),
}

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
    let stages = [explore(&tools), present(&tools), compare(&tools), booking(&tools)];
    Ok(conversation(stages, tools).build()?)
}

/// Stages with these tools, a goodbye and an apology.
pub(super) fn conversation(stages: [flow::Stage<Hotel>; 4], tools: ToolBox<Hotel>) -> Flow<Hotel> {
    let seat = Seat { history: Hotel::HISTORY, draft: Hotel::DRAFT, book: Hotel::BOOK };
    let flow = Flow::new("hotel", seat, Hotel::CURSOR)
        .policy(GatePolicy::new().with_backoff(Backoff::Fixed(Duration::from_millis(200))));
    let flow = stages.into_iter().fold(flow, Flow::stage);
    flow.stage(flow::Stage::end(GOODBYE, farewell)).tools(tools).with(|builder| builder.node(APOLOGY, apology))
}

fn explore(tools: &ToolBox<Hotel>) -> flow::Stage<Hotel> {
    stage(Stage::Explore, tools, ["capture_criteria", "search"]).leads_to(["present"])
}

fn present(tools: &ToolBox<Hotel>) -> flow::Stage<Hotel> {
    stage(
        Stage::Present,
        tools,
        ["show_offers", "hotel_details", "compare_hotels", "check_availability", "choose_hotel", "change_criteria"],
    )
    .leads_to(["explore", "compare", "booking"])
}

fn compare(tools: &ToolBox<Hotel>) -> flow::Stage<Hotel> {
    stage(
        Stage::Compare,
        tools,
        ["compare_hotels", "hotel_details", "check_availability", "show_offers", "choose_hotel", "change_criteria"],
    )
    .leads_to(["explore", "present", "booking"])
}

fn booking(tools: &ToolBox<Hotel>) -> flow::Stage<Hotel> {
    let offered = [
        "confirm_booking",
        "choose_hotel",
        "hotel_details",
        "compare_hotels",
        "check_availability",
        "show_offers",
        "change_criteria",
    ];
    stage(Stage::Booking, tools, offered).leads_to(["explore", "present", "compare"]).on_exit(forget_choice)
}

/// What all stages have: the prompt with the facts, the checks, the two ways out.
fn stage<const N: usize>(stage: Stage, tools: &ToolBox<Hotel>, offered: [&str; N]) -> flow::Stage<Hotel> {
    flow::Stage::new(stage.name())
        .prompt(move |visit: &Hotel| visit.briefing().prompt(stage))
        .tools(offered)
        .tools(["close_conversation"])
        .leads_to([GOODBYE])
        .validators(validators(stage, tools))
        .escalate("blocked", APOLOGY)
        .exhausted(APOLOGY)
        .run(|run| run.max_calls(MOST_CALLS))
}

/// A proposal is for as long as its stage.
pub(super) async fn forget_choice() -> HotelUpdate {
    Hotel::update().chosen(None)
}

/// The last words; whatever comes later needs no model.
fn farewell(visit: &Hotel) -> String {
    match &visit.booking {
        Some(booking) => booked(booking),
        None => "Goodbye, and have a good trip!".to_owned(),
    }
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

#[derive(Route)]
#[route(direct)]
enum Reply {}

/// The answer when the model refused or no response was accepted.
async fn apology() -> Command<Hotel, Reply> {
    let text = "I am sorry, I have no good answer to that. Please say it in other words.";
    Command::direct(text).with(Hotel::update().history([Message::assistant(text)]))
}
