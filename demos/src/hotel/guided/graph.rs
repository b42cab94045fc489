//! The graph of the conversation with a small model.

use super::{ask, examples, tools};
use crate::hotel::graph::{APOLOGY, GraphError, conversation, forget_choice};
use crate::hotel::stage::Stage;
use crate::hotel::state::Hotel;
use crate::hotel::tools::GOODBYE;
use crate::hotel::validators::guided_validators;
use graph_engine::Graph;
use graph_nodes::flow;
use graph_nodes::model::ToolChoice;
use graph_nodes::stage::SeveralCalls;
use graph_nodes::tool::ToolBox;

/// What a small model is told. Facts would only confuse it.
const PROMPT: &str = "You work at a hotel desk. Call the one function that fits what the guest says.";

/// Builds the graph. It asks for the same resources as [the other one](crate::hotel::graph::graph), and its vertices
/// have the same names, so that a conversation that was begun with one goes on with the other.
///
/// ```
/// let graph = demos::hotel::guided::graph()?;
/// assert!(graph.warnings().is_empty());
/// # Ok::<(), demos::hotel::graph::GraphError>(())
/// ```
///
/// # Errors
///
/// [`GraphError`] if the description is not consistent, which a test rules out.
pub fn graph() -> Result<Graph<Hotel>, GraphError> {
    let tools = tools::toolbox()?;
    let list = ["compare_hotels", "choose_hotel", "hotel_details", "find_hotels"];
    let stages = [
        stage(Stage::Explore, &tools, ["find_hotels"]).leads_to(["present"]),
        stage(Stage::Present, &tools, list).leads_to(["present", "compare", "booking"]),
        stage(Stage::Compare, &tools, list).leads_to(["present", "booking"]),
        stage(Stage::Booking, &tools, ["confirm_booking", "choose_hotel"]).on_exit(forget_choice),
    ];
    Ok(conversation(stages, tools).build()?)
}

fn stage<const N: usize>(stage: Stage, tools: &ToolBox<Hotel>, offered: [&str; N]) -> flow::Stage<Hotel> {
    flow::Stage::new(stage.name())
        .prompt(|_| PROMPT.to_owned())
        .tools(offered)
        .tools(["close_conversation", ask::TELL])
        .leads_to([GOODBYE])
        .tool_choice(ToolChoice::Required)
        .examples(move |visit| if ask::speaks(visit) { Vec::new() } else { examples::of(stage, visit) })
        .request(ask::shorter)
        .several(SeveralCalls::First)
        .validators(guided_validators(stage, tools))
        .escalate("blocked", APOLOGY)
        .exhausted(APOLOGY)
}
