//! What the model says about the answer of a tool.

use super::answer::Answer;
use super::choose;
use super::explore::money_problem;
use super::vacancies;
use super::view::View;
use crate::hotel::facts::{Captured, Offered};
use crate::hotel::phrase;
use crate::hotel::stage::Stage;
use crate::hotel::tools::args::NoArgs;
use graph_nodes::message::Message;
use serde::de::DeserializeOwned;

/// The answer to a tool's message; `None` if the model cannot read it.
pub(super) fn answer(view: &View<'_>, message: &Message) -> Option<Answer> {
    let text = message.text();
    let said = match message.tool_name()? {
        "capture_criteria" | "change_criteria" => return Some(captured(view, message, &read(&text)?)),
        "search" => match read::<Offered>(&text) {
            Some(offered) => return Some(found(view, &offered)),
            None => phrase::nothing_found(&read(&text)?),
        },
        "show_offers" => phrase::offers(&read(&text)?),
        "compare_hotels" => phrase::comparison(&read(&text)?),
        "choose_hotel" => phrase::proposal(&read(&text)?),
        "check_availability" => vacancies::say(view, &read(&text)?),
        _ => return None,
    };
    Some(Answer::Say(said))
}

/// Whether a message is the details of a hotel, which are a text for the guest.
pub(super) fn is_details(message: &Message) -> bool {
    message.tool_name() == Some("hotel_details") && !message.text().is_empty()
}

/// The details of one or several hotels; none if there are none.
pub(super) fn details(view: &View<'_>, details: &[String]) -> Option<String> {
    let mut told = details.join("\n\n");
    // A yes that follows must not be taken for another hotel.
    if let (Stage::Booking, Some(chosen)) = (view.stage, &view.briefing.chosen) {
        told.push_str(&format!("\nShall I book {chosen}?"));
    }
    (!details.is_empty()).then_some(told)
}

fn read<T: DeserializeOwned>(text: &str) -> Option<T> {
    serde_json::from_str(text).ok()
}

/// The list, or at once what the guest wanted to do with it.
fn found(view: &View<'_>, offered: &Offered) -> Answer {
    let understood = view.understood();
    let named = !understood.slots.hotels.is_empty();
    let wish = if named { choose::wish(view, &understood) } else { None };
    wish.unwrap_or_else(|| Answer::Say(phrase::offers(offered)))
}

fn captured(view: &View<'_>, message: &Message, captured: &Captured) -> Answer {
    let known = phrase::criteria(&captured.criteria);
    let mut problems = captured.problems.clone();
    problems.extend(money_problem(&view.understood()));
    let question = phrase::question(&captured.missing, &captured.criteria.pending);
    if !problems.is_empty() {
        let sentences: Vec<String> = problems.iter().map(|problem| phrase::plain(problem)).collect();
        let noted = if known.is_empty() { String::new() } else { format!(" So far I have: {known}.") };
        let contradicts = !captured.criteria.problems(view.briefing.today).is_empty();
        let next = match captured.missing.is_empty() {
            false => question,
            true if contradicts => "What would you like to change?".to_owned(),
            true => "Shall I search with that?".to_owned(),
        };
        return Answer::Say(format!("{}{noted} {next}", sentences.join(" ")));
    }
    let asked_to_change = message.tool_name() == Some("change_criteria") && !captured.changed;
    if captured.missing.is_empty() && !asked_to_change {
        return Answer::call("search", NoArgs {});
    }
    Answer::Say(match (captured.missing.is_empty(), known.is_empty()) {
        (true, _) => format!("What would you like to change? So far I have: {known}."),
        (false, true) => format!("We start afresh. {question}"),
        (false, false) => format!("Noted: {known}. {question}"),
    })
}
