//! What a small model is asked: the last sentence, and no more tools than make sense.

use crate::hotel::state::Hotel;
use graph_nodes::message::{Message, Role};
use graph_nodes::model::Request;

/// The tool that says to the guest what another one found.
pub(super) const TELL: &str = "tell_guest";

/// The most tokens of an answer: a call has fewer, and a model that babbles is stopped early.
const MOST_TOKENS: u32 = 80;

/// Whether a tool has answered in this turn, so that nothing is left but to tell the guest.
pub(super) fn speaks(visit: &Hotel) -> bool {
    visit.history.iter().next_back().is_some_and(|message| message.role() == Role::Tool)
}

/// Leaves out what was said before the last sentence, what the tools answered, and the tools that make no sense now. The
/// beginning of a stage's request is always the same then, and servers that remember beginnings are fast.
pub(super) fn shorter(visit: &Hotel, mut request: Request) -> Request {
    let speaks = speaks(visit);
    request.tools.retain(|tool| (tool.name == TELL) == speaks);
    let earlier = visit.history.iter().rposition(|message| message.role() == Role::User).unwrap_or(0);
    let begin = request.messages.len() - visit.history.len();
    request.messages.drain(begin..begin + earlier);
    for message in &mut request.messages[begin..] {
        if let (Role::Tool, Some(id)) = (message.role(), message.call_id()) {
            *message = Message::tool(id, "done").with_tool_name(message.tool_name().unwrap_or_default());
        }
    }
    request.with_parameter("temperature", 0).with_parameter("seed", 7).with_parameter("max_tokens", MOST_TOKENS)
}
