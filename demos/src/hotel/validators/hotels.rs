//! No hotel is made up.

use super::arguments;
use crate::hotel::catalogue::{catalogue_names, choose};
use crate::hotel::state::Hotel;
use crate::hotel::tools::args::{AvailabilityArgs, ChooseArgs, CompareArgs, ConfirmArgs};
use graph_nodes::gate::Verdict;
use graph_nodes::message::{Role, ToolCall};
use graph_nodes::model::Response;

/// Every hotel that a call names is among the offers, unless the guest named it.
pub(super) fn offered_hotels(response: &Response, state: &Hotel) -> Verdict {
    let said = state.last_said().unwrap_or_default().to_lowercase();
    let invented = response.calls.iter().flat_map(named).find(|name| {
        let name = name.trim();
        !name.is_empty() && choose(name, &state.offers).is_err() && !said.contains(&name.to_lowercase())
    });
    match invented {
        None => Verdict::Accept,
        Some(name) => not_offered(name.trim(), state),
    }
}

/// Every hotel of the catalogue that the text names is among the offers, or was
/// named in this turn by the guest or a tool.
pub(super) fn known_hotels(response: &Response, state: &Hotel) -> Verdict {
    let text = response.text.to_lowercase();
    let mut elsewhere = catalogue_names()
        .filter(|name| text.contains(&name.to_lowercase()) && choose(name, &state.offers).is_err())
        .peekable();
    if elsewhere.peek().is_none() {
        return Verdict::Accept;
    }
    let heard = heard(state);
    match elsewhere.find(|name| !heard.contains(&name.to_lowercase())) {
        None => Verdict::Accept,
        Some(name) => not_offered(name, state),
    }
}

fn not_offered(name: &str, state: &Hotel) -> Verdict {
    let offers: Vec<&str> = state.offers.iter().map(|offer| offer.hotel.name.as_str()).collect();
    let instead =
        if offers.is_empty() { "search first".to_owned() } else { format!("name only {}", offers.join(", ")) };
    Verdict::retry("not_offered", format!("`{name}` is not among the offers: {instead}"))
}

/// The hotels that a call names.
fn named(call: &ToolCall) -> Vec<String> {
    match call.name.as_str() {
        "hotel_details" | "choose_hotel" => arguments(call).map(|args: ChooseArgs| vec![args.hotel]),
        "confirm_booking" => arguments(call).map(|args: ConfirmArgs| vec![args.hotel]),
        "compare_hotels" => arguments(call).map(|args: CompareArgs| args.hotels),
        "check_availability" => arguments(call).map(|args: AvailabilityArgs| args.hotels),
        _ => None,
    }
    .unwrap_or_default()
}

/// What the guest said last and the tools said since, in small letters.
fn heard(state: &Hotel) -> String {
    let mut heard = String::new();
    for message in state.history.iter().rev() {
        if matches!(message.role(), Role::User | Role::Tool) {
            heard.push_str(&message.text().to_lowercase());
            heard.push('\n');
        }
        if message.role() == Role::User {
            break;
        }
    }
    heard
}
