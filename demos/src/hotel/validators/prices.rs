//! No price is made up.

use crate::hotel::phrase::euros;
use crate::hotel::price::Cents;
use crate::hotel::state::Hotel;
use graph_nodes::gate::Verdict;
use graph_nodes::message::Role;
use graph_nodes::model::Response;

/// Every amount of money in the text is one that the state knows or a tool said.
pub(super) fn known_prices(response: &Response, state: &Hotel) -> Verdict {
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
