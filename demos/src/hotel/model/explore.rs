//! The first stage: finding out what the guest wants.

use super::answer::Answer;
use super::view::View;
use crate::hotel::criteria::{Amenity, City};
use crate::hotel::phrase;
use crate::hotel::tools::args::{CriteriaArgs, NoArgs};
use crate::hotel::understand::{Intent, SlotProblem, Understood};

pub(super) fn answer(view: &View<'_>, understood: &Understood) -> Answer {
    let slots = &understood.slots;
    if slots.has_criteria() || impossible_day(understood).is_some() {
        return Answer::call("capture_criteria", criteria_args(view, understood));
    }
    let other = money_problem(understood);
    if let Some(problem) = other {
        return Answer::Say(phrase::plain(&problem));
    }
    let complete = view.briefing.missing.is_empty();
    match understood.intent {
        Intent::Quit => Answer::call("close_conversation", NoArgs {}),
        Intent::Help => Answer::Say(format!("{}\n{}", help(), ask(view))),
        Intent::Greet => Answer::Say(format!("Hello! {}", ask(view))),
        Intent::Thanks => Answer::Say(format!("You are welcome. {}", ask(view))),
        Intent::Back if starts_over(&view.said) => {
            Answer::call("capture_criteria", CriteriaArgs { start_over: true, ..CriteriaArgs::default() })
        }
        Intent::Search if wants_cheaper(&view.said) => Answer::say(CHEAPER),
        Intent::Search | Intent::Show | Intent::Yes if complete => Answer::call("search", NoArgs {}),
        // The list is still good: back to it, and on with the wish.
        Intent::Compare | Intent::Book if complete && !view.briefing.offers.is_empty() => {
            Answer::call("search", NoArgs {})
        }
        Intent::Compare | Intent::Book | Intent::Show => {
            Answer::Say(format!("I have nothing to offer yet. {}", ask(view)))
        }
        Intent::Search | Intent::Yes | Intent::Back => Answer::Say(ask(view)),
        Intent::No => Answer::Say(format!("All right. {}", ask(view))),
        Intent::Unknown => Answer::Say(format!("Sorry, I did not understand that. {}", ask(view))),
    }
}

/// The question about a lower price; a bare number then is the budget.
pub(super) const CHEAPER: &str = "What may a night cost at most?";

/// The arguments for what a sentence says, with days as said where the
/// calendar has no such day, so that the tool can name them.
pub(super) fn criteria_args(view: &View<'_>, understood: &Understood) -> CriteriaArgs {
    let mut args = CriteriaArgs::from(&understood.slots);
    args.start_over = understood.intent == Intent::Back && starts_over(&view.said);
    if let Some(said) = impossible_day(understood) {
        let place = if args.check_in.is_some() { &mut args.check_out } else { &mut args.check_in };
        *place = Some(said);
    }
    args
}

/// Asks for what is missing, or for a change when nothing is.
pub(super) fn ask(view: &View<'_>) -> String {
    let briefing = &view.briefing;
    if briefing.missing.is_empty() {
        return format!("What would you like to change? So far I have: {}.", phrase::criteria(&briefing.criteria));
    }
    phrase::question(&briefing.missing, &briefing.criteria.pending)
}

pub(super) fn help() -> String {
    format!(
        "I find hotels in {}, compare them, and book one of them. Tell me the city, the dates and how many people \
         are coming; if you like also a room type, what a night may cost, and what the hotel must have: {}.",
        phrase::list(City::ALL, "and"),
        phrase::list(Amenity::ALL, "or"),
    )
}

/// A problem of the sentence that no tool can name, because it is no criterion.
pub(super) fn money_problem(understood: &Understood) -> Option<String> {
    understood.problems.iter().find(|problem| !is_day(problem)).map(ToString::to_string)
}

pub(super) fn impossible_day(understood: &Understood) -> Option<String> {
    understood.problems.iter().find_map(|problem| match problem {
        SlotProblem::ImpossibleDate { said } => Some(said.clone()),
        _ => None,
    })
}

fn is_day(problem: &SlotProblem) -> bool {
    matches!(problem, SlotProblem::ImpossibleDate { .. })
}

pub(super) fn starts_over(said: &str) -> bool {
    let said = said.to_lowercase();
    [
        "over",
        "start",
        "scratch",
        "new search",
        "another search",
        "clear",
        "reset",
        "forget everything",
        "beginning",
        "fresh",
    ]
    .iter()
    .any(|word| said.contains(word))
}

pub(super) fn wants_cheaper(said: &str) -> bool {
    let said = said.to_lowercase();
    ["cheaper", "less expensive", "too expensive", "lower price"].iter().any(|word| said.contains(word))
}
