//! From what is known to the next answer.

use super::answer::Answer;
use super::view::{Round, View};
use super::{choose, explore, report};
use crate::hotel::phrase;
use crate::hotel::stage::Stage;
use graph_nodes::message::{CallStatus, Message, ToolCall};

/// The next answer.
pub(super) fn answer(view: &View<'_>) -> Answer {
    if view.rounds.last().is_some_and(|round| round.answers.iter().any(|answer| is_declined(answer))) {
        return Answer::say("All right, nothing is booked. Would you like to see the list again, or change something?");
    }
    // The newest round that a tool answered well decides; later ones failed.
    let good = view.rounds.iter().rposition(|round| round.answers.iter().any(|answer| is_ok(answer)));
    let next = match good.map(|at| &view.rounds[at]) {
        None => sentence(view),
        Some(round) => answered(view, round),
    };
    // What failed is not tried again: the guest is told instead.
    let failed = &view.rounds[good.map_or(0, |at| at + 1)..];
    let refused = failed.iter().rev().find_map(|round| refusal(round.calls, &round.answers, &next));
    match (refused, failed.len()) {
        (Some(why), _) => Answer::Say(phrase::plain(&why)),
        (None, 0..=2) => next,
        (None, _) => Answer::say("Sorry, that did not work. Please say it in other words."),
    }
}

/// What a round of calls came to: the details that were wanted, then the last
/// other answer that the model can read.
fn answered(view: &View<'_>, round: &Round<'_>) -> Answer {
    let good = || round.answers.iter().filter(|answer| is_ok(answer));
    let details: Vec<String> = good().filter(|answer| report::is_details(answer)).map(|answer| answer.text()).collect();
    let others = || good().rev().filter(|answer| !report::is_details(answer));
    let read = others().find_map(|answer| report::answer(view, answer));
    // What is no data is a sentence for the guest.
    let other = read.or_else(|| others().map(|answer| Answer::Say(phrase::plain(&answer.text()))).next());
    match (report::details(view, &details), other) {
        (Some(told), Some(Answer::Say(text))) => Answer::Say(format!("{told}\n\n{text}")),
        (Some(told), None) => Answer::Say(told),
        (_, Some(other)) => other,
        (None, None) => sentence(view),
    }
}

/// What the guest said, heard in the stage.
fn sentence(view: &View<'_>) -> Answer {
    let understood = view.understood();
    match view.stage {
        Stage::Explore => explore::answer(view, &understood),
        Stage::Present | Stage::Compare | Stage::Booking => choose::answer(view, &understood),
    }
}

/// Why the same calls were refused before.
fn refusal(calls: &[ToolCall], answers: &[&Message], next: &Answer) -> Option<String> {
    let Answer::Call(planned) = next else { return None };
    let same = planned.len() == calls.len()
        && planned.iter().zip(calls).all(|((tool, arguments), call)| {
            call.name == *tool && call.arguments.parsed().ok() == arguments.as_object()
        });
    if !same {
        return None;
    }
    answers.iter().map(|answer| answer.text()).find(|text| !text.is_empty())
}

fn is_ok(answer: &Message) -> bool {
    answer.status() == Some(CallStatus::Ok)
}

fn is_declined(answer: &Message) -> bool {
    answer.status() == Some(CallStatus::Declined)
}
