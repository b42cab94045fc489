//! What each stage's gate checks before a response has any effect.
//!
//! What a model makes up is rejected here, and asked for again. What the guest
//! says wrong passes, and the tools answer it: the guest should hear why.

mod agreement;
mod guided;
mod hotels;
mod prices;
mod season;

use crate::hotel::clean::clean;
use crate::hotel::stage::Stage;
use crate::hotel::state::Hotel;
use graph_nodes::gate::{AllowedTools, ArgumentsParse, CleanFinish, Validators, Verdict};
use graph_nodes::message::ToolCall;
use graph_nodes::model::Response;
use graph_nodes::tool::ToolBox;
use serde::de::DeserializeOwned;

/// The longest answer, in letters.
const LONGEST: usize = 4000;

/// The checks of one stage of a graph with these tools.
///
/// A tool that no stage has is rejected here. A tool of another stage passes
/// and is answered by the tool vertex, which says what is offered instead.
#[must_use]
pub fn validators(stage: Stage, tools: &ToolBox<Hotel>) -> Validators<Hotel> {
    with_usual(Validators::new(), stage, tools)
}

fn with_usual(first: Validators<Hotel>, stage: Stage, tools: &ToolBox<Hotel>) -> Validators<Hotel> {
    let common = first
        .with(CleanFinish)
        .with(ArgumentsParse)
        .with(AllowedTools::new(tools.names()))
        .with_fn("readable_text", |response, _| readable(response))
        .with_fn("known_prices", prices::known_prices)
        .with_fn("known_hotels", hotels::known_hotels)
        .with_fn("inside_season", season::inside_season);
    match stage {
        Stage::Explore => common,
        Stage::Present | Stage::Compare => common.with_fn("offered_hotels", hotels::offered_hotels),
        Stage::Booking => {
            common.with_fn("offered_hotels", hotels::offered_hotels).with_fn("guest_agreed", agreement::guest_agreed)
        }
    }
}

/// The checks of one stage of the guided graph: those of the usual one, and what only a small model gets wrong.
#[must_use]
pub fn guided_validators(stage: Stage, tools: &ToolBox<Hotel>) -> Validators<Hotel> {
    // The first one changes the response, and the others have to see the change.
    let first = Validators::new()
        .with_fn("only_what_was_said", guided::only_what_was_said)
        .with_fn("calls_a_tool", |response, _| guided::calls_a_tool(response))
        .with_fn("guest_leaves", guided::guest_leaves);
    with_usual(first, stage, tools)
}

/// A text of sane length without control characters.
fn readable(response: &Response) -> Verdict {
    let letters = response.text.chars().count();
    if letters > LONGEST {
        return Verdict::retry("too_long", format!("the answer has {letters} letters: use at most {LONGEST}"));
    }
    if clean(&response.text) != response.text {
        return Verdict::retry("control_characters", "the answer holds control characters: use plain text");
    }
    Verdict::Accept
}

/// The arguments of a call; `None` if they are not of this type, which the tool
/// vertex answers.
fn arguments<T: DeserializeOwned>(call: &ToolCall) -> Option<T> {
    let arguments = call.arguments.parsed().ok()?;
    serde_json::from_value(arguments.clone().into()).ok()
}
