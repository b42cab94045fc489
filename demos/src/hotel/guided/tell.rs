//! What tools found, in the program's words.

use super::ask::TELL;
use crate::hotel::facts::Captured;
use crate::hotel::phrase;
use crate::hotel::state::Hotel;
use crate::hotel::tools::args::NoArgs;
use graph_nodes::message::{CallStatus, Role};
use graph_nodes::tool::{FnTool, ToolReply, tool};
use serde::de::DeserializeOwned;

/// Says to the guest what the last tool found.
pub(super) fn tell_guest() -> FnTool<Hotel> {
    tool::<Hotel, NoArgs>(TELL, "Tells the guest what was found.", |_, call| async move {
        let found = call.state().history.iter().rfind(|message| message.role() == Role::Tool);
        let said = match found {
            Some(answer) if answer.status() == Some(CallStatus::Error) => failed(&answer.text()),
            Some(answer) => words(answer.tool_name().unwrap_or_default(), &answer.text()),
            None => "What can I do for you?".to_owned(),
        };
        Ok(ToolReply::text("told").direct(said))
    })
}

fn failed(why: &str) -> String {
    format!("That did not work: {} Please say it in other words.", phrase::plain(why))
}

/// The answer of a tool in words for the guest.
pub(super) fn words(tool: &str, answer: &str) -> String {
    let words = match tool {
        "find_hotels" => read(answer)
            .map(|found| phrase::offers(&found))
            .or_else(|| read(answer).map(|nothing| phrase::nothing_found(&nothing)))
            .or_else(|| read(answer).map(|captured| noted(&captured))),
        "compare_hotels" => read(answer).map(|compared| phrase::comparison(&compared)),
        "choose_hotel" => read(answer).map(|proposal| phrase::proposal(&proposal)),
        "hotel_details" => Some(answer.to_owned()),
        _ => None,
    };
    words.unwrap_or_else(|| phrase::plain(answer))
}

fn read<T: DeserializeOwned>(text: &str) -> Option<T> {
    serde_json::from_str(text).ok()
}

/// What is known of a search, and what is asked next.
fn noted(Captured { criteria, missing, problems, .. }: &Captured) -> String {
    let mut parts: Vec<String> = problems.iter().map(|problem| phrase::plain(problem)).collect();
    let known = phrase::criteria(criteria);
    if !known.is_empty() {
        parts.push(format!("So far I have: {known}."));
    }
    parts.push(match missing.is_empty() {
        false => phrase::question(missing, &criteria.pending),
        true => "What would you like to change?".to_owned(),
    });
    parts.join(" ")
}
