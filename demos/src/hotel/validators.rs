//! What each stage's gate checks before a response has any effect.

use crate::hotel::clean::clean;
use crate::hotel::phrase::euros;
use crate::hotel::price::Cents;
use crate::hotel::stage::Stage;
use crate::hotel::state::Hotel;
use crate::hotel::understand::{Context, Intent, understand_with};
use graph_nodes::gate::{AllowedTools, ArgumentsParse, CleanFinish, Validators, Verdict};
use graph_nodes::model::Response;

/// The longest answer, in letters.
const LONGEST: usize = 4000;

/// The checks of one stage.
///
/// A tool that no stage has is rejected here. A tool of another stage passes
/// and is answered by the tool vertex, which says what is offered instead.
#[must_use]
pub fn validators(stage: Stage) -> Validators<Hotel> {
    let known = Stage::ALL.into_iter().flat_map(Stage::offered).copied();
    let common = Validators::new()
        .with(CleanFinish)
        .with(ArgumentsParse)
        .with(AllowedTools::new(known))
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

/// Every amount of money in the text is one that the state knows: no price is
/// made up.
fn known_prices(response: &Response, state: &Hotel) -> Verdict {
    let known = amounts(state);
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
    let all: Vec<Cents> = budget.chain(quotes).chain(booked).collect();
    all.iter().flat_map(|amount| [amount.to_string(), euros(*amount)]).collect()
}

/// The amounts written with a euro sign.
fn said_amounts(text: &str) -> impl Iterator<Item = String> {
    text.split('€').skip(1).map(|rest| {
        let digits: String = rest.chars().take_while(|c| c.is_ascii_digit() || *c == '.').collect();
        format!("€{}", digits.trim_end_matches('.'))
    })
}

/// A booking is confirmed only after the guest's own word: a model that books
/// by itself is stopped here.
fn guest_agreed(response: &Response, state: &Hotel) -> Verdict {
    if !response.calls.iter().any(|call| call.name == "confirm_booking") {
        return Verdict::Accept;
    }
    let said = state.last_said().unwrap_or_default();
    let context = Context { known_hotels: state.chosen.iter().cloned().collect(), asked: None };
    match understand_with(&said, state.today, &context).intent {
        Intent::Yes | Intent::Book => Verdict::Accept,
        _ => Verdict::retry("not_agreed", "the guest did not agree to the booking: ask first"),
    }
}
