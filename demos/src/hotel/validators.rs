//! What each stage's gate checks before a response has any effect.

use crate::hotel::clean::clean;
use crate::hotel::phrase::euros;
use crate::hotel::price::Cents;
use crate::hotel::stage::Stage;
use crate::hotel::state::Hotel;
use crate::hotel::understand::{Context, HotelRef, Intent, understand_with};
use graph_nodes::gate::{AllowedTools, ArgumentsParse, CleanFinish, Validators, Verdict};
use graph_nodes::message::Role;
use graph_nodes::model::Response;
use graph_nodes::tool::ToolBox;

/// The longest answer, in letters.
const LONGEST: usize = 4000;

/// The checks of one stage of a graph with these tools.
///
/// A tool that no stage has is rejected here. A tool of another stage passes
/// and is answered by the tool vertex, which says what is offered instead.
#[must_use]
pub fn validators(stage: Stage, tools: &ToolBox<Hotel>) -> Validators<Hotel> {
    let common = Validators::new()
        .with(CleanFinish)
        .with(ArgumentsParse)
        .with(AllowedTools::new(tools.names()))
        .with_fn("readable_text", |response, _| readable(response))
        .with_fn("known_prices", known_prices);
    match stage {
        Stage::Booking => common.with_fn("guest_agreed", guest_agreed),
        Stage::Explore | Stage::Present | Stage::Compare => common,
    }
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

/// Every amount of money in the text is one that the state knows or a tool said:
/// no price is made up.
fn known_prices(response: &Response, state: &Hotel) -> Verdict {
    if !response.text.contains('€') {
        return Verdict::Accept;
    }
    let mut known = amounts(state);
    for answer in state.history.iter().filter(|message| message.role() == Role::Tool) {
        known.extend(said_amounts(&answer.text()));
    }
    let invented = said_amounts(&response.text).find(|said| !known.contains(said));
    match invented {
        None => Verdict::Accept,
        Some(said) => Verdict::retry("invented_price", format!("no offer costs {said}: say only prices of the tools")),
    }
}

fn amounts(state: &Hotel) -> Vec<String> {
    let budget = [state.criteria.budget.min, state.criteria.budget.max].into_iter().flatten();
    let quotes = state.offers.iter().flat_map(|offer| {
        let nights = offer.quote.nights.iter().map(|night| night.price);
        std::iter::once(offer.quote.total).chain(nights)
    });
    let booked = state.booking.iter().map(|booking| booking.total);
    let all = budget.chain(quotes).chain(booked);
    all.flat_map(|amount: Cents| [amount.to_string(), euros(amount)]).collect()
}

/// The amounts written with a euro sign.
fn said_amounts(text: &str) -> impl Iterator<Item = String> {
    text.split('€').skip(1).map(|rest| {
        let digits: String = rest.chars().take_while(|c| c.is_ascii_digit() || *c == '.').collect();
        format!("€{}", digits.trim_end_matches('.'))
    })
}

/// A booking is confirmed only after the guest's own word on the proposal, which
/// must have been made in an earlier turn: a model that books by itself is
/// stopped here.
fn guest_agreed(response: &Response, state: &Hotel) -> Verdict {
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
