//! Nothing is booked without the guest's own word.

use crate::hotel::state::Hotel;
use crate::hotel::understand::{Context, HotelRef, Intent, understand_with};
use graph_nodes::gate::Verdict;
use graph_nodes::message::Role;
use graph_nodes::model::Response;

/// A booking is confirmed only after the guest's own word on the proposal, which
/// must have been made in an earlier turn: a model that books by itself is
/// stopped here.
pub(super) fn guest_agreed(response: &Response, state: &Hotel) -> Verdict {
    if !response.calls.iter().any(|call| call.name == "confirm_booking") {
        return Verdict::Accept;
    }
    let said = state.last_said().unwrap_or_default();
    let context = Context { known_hotels: state.chosen.iter().cloned().collect(), asked: None };
    let understood = understand_with(&said, state.today, &context);
    let agrees = match understood.intent {
        Intent::Yes => true,
        Intent::Book => understood.slots.hotels.iter().all(|hotel| is_chosen(hotel, state)),
        _ => false,
    };
    if agrees && !proposed_since(state) {
        return Verdict::Accept;
    }
    Verdict::retry("not_agreed", "the guest did not agree to the booking: ask first")
}

fn is_chosen(hotel: &HotelRef, state: &Hotel) -> bool {
    matches!((hotel, &state.chosen), (HotelRef::Name(name), Some(chosen)) if name.to_lowercase() == chosen.to_lowercase())
}

/// Whether the proposal is newer than what the guest said last.
fn proposed_since(state: &Hotel) -> bool {
    let mut since = state.history.iter().rev().take_while(|message| message.role() != Role::User);
    since.any(|message| message.tool_name() == Some("choose_hotel"))
}
