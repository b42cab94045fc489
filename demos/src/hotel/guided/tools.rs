//! The tools of a small model.

use super::find::find_hotels;
use super::spoken::Spoken;
use super::tell::tell_guest;
use crate::hotel::state::Hotel;
use crate::hotel::tools;
use graph_nodes::tool::{ToolBox, ToolBoxError};
use serde_json::{Value, json};

/// All tools of the guided graph.
pub(super) fn toolbox() -> Result<ToolBox<Hotel>, ToolBoxError> {
    let name = || json!({"type": "string"});
    ToolBox::builder()
        .tool(Spoken::new(
            find_hotels(),
            "Finds hotels. Leave out what the guest does not say.",
            object(json!({"city": name(), "dates": name(), "guests": {"type": "integer", "minimum": 0}}), &[]),
        ))
        .tool(Spoken::new(
            tools::compare_hotels(),
            "Compares hotels.",
            object(json!({"hotels": {"type": "array", "items": name(), "maxItems": 3}}), &["hotels"]),
        ))
        .tool(Spoken::new(
            tools::choose_hotel(),
            "The guest takes a hotel.",
            object(json!({"hotel": name()}), &["hotel"]),
        ))
        .tool(Spoken::new(
            tools::hotel_details(),
            "Tells more about a hotel.",
            object(json!({"hotel": name()}), &["hotel"]),
        ))
        .tool(Spoken::new(
            tools::confirm_booking(),
            "Books the hotel. The guest has said yes.",
            object(json!({"hotel": name(), "confirmed": {"type": "boolean"}}), &["hotel", "confirmed"]),
        ))
        .tool(Spoken::new(tools::close_conversation(), "The guest leaves.", object(json!({}), &[])))
        .tool(tell_guest())
        .build()
}

fn object(properties: Value, required: &[&str]) -> Value {
    json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false})
}
