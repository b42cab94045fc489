//! The tools of the concierge: what they do to the state, and to which stage they
//! lead.

pub mod args;
mod availability;
mod booking;
mod both;
mod comparison;
mod desk;
mod details;
mod offers;
mod wishes;

pub(crate) use booking::{choose_hotel, confirm_booking};
pub(crate) use comparison::compare_hotels;
pub use desk::Desk;
pub(crate) use details::hotel_details;
pub(crate) use offers::search_with;
pub(crate) use wishes::capture;

use crate::hotel::stage::Stage;
use crate::hotel::state::{Hotel, HotelUpdate};
use crate::hotel::tools::args::NoArgs;
use graph_nodes::tool::{FnTool, ToolBox, ToolBoxError, ToolReply, tool};
use serde::Serialize;

/// The name of the stage that ends a conversation.
pub const GOODBYE: &str = "goodbye";

/// All tools of the graph.
///
/// # Errors
/// If two of them have the same name, a schema cannot be used, or a group names
/// a tool that there is not.
pub fn toolbox() -> Result<ToolBox<Hotel>, ToolBoxError> {
    ToolBox::builder()
        .tool(wishes::capture_criteria())
        .tool(wishes::change_criteria())
        .tool(offers::search())
        .tool(offers::show_offers())
        .tool(hotel_details())
        .tool(availability::check_availability())
        .tool(compare_hotels())
        .tool(choose_hotel())
        .tool(confirm_booking())
        .tool(close_conversation())
        .group(both::BOTH, both::details_and_comparison())
        .build()
}

pub(crate) fn close_conversation() -> FnTool<Hotel> {
    tool::<Hotel, NoArgs>("close_conversation", "Says goodbye and ends the conversation.", |_, _| async {
        Ok(ToolReply::text("The conversation ends here.").go(GOODBYE))
    })
}

/// Moves on to another stage.
fn enter(stage: Stage, report: impl Serialize, update: HotelUpdate) -> ToolReply<Hotel> {
    ToolReply::json(report).update(update).go(stage.name())
}

/// Stays in the stage and tells its model why.
fn stay(why: impl ToString) -> ToolReply<Hotel> {
    let why = why.to_string();
    ToolReply::text("").stay(why)
}

/// Stays in the stage with data for its model.
fn stay_with(report: &impl Serialize, update: HotelUpdate) -> Result<ToolReply<Hotel>, serde_json::Error> {
    Ok(ToolReply::text("").update(update).stay(serde_json::to_string(report)?))
}
