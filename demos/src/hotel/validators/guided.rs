//! What only a small model gets wrong.

use super::arguments;
use crate::hotel::guided::FindArgs;
use crate::hotel::state::Hotel;
use crate::hotel::understand::{Intent, understand};
use graph_nodes::gate::{Replacement, Verdict};
use graph_nodes::message::ToolCall;
use graph_nodes::model::Response;
use jiff::civil::Date;
use serde_json::json;

/// A text where a call is asked for: a small model tells stories then.
pub(super) fn calls_a_tool(response: &Response) -> Verdict {
    match response.calls.is_empty() {
        true => Verdict::retry("no_call", "answer with a function call and nothing else"),
        false => Verdict::Accept,
    }
}

/// A conversation that is closed is over, so the guest must have said so.
pub(super) fn guest_leaves(response: &Response, state: &Hotel) -> Verdict {
    let closes = response.calls.iter().any(|call| call.name == "close_conversation");
    let said = state.last_said().unwrap_or_default();
    if !closes || understand(&said, state.today).intent == Intent::Quit {
        return Verdict::Accept;
    }
    Verdict::retry("not_leaving", "the guest does not leave, call another function")
}

/// Criteria that the guest did not say are taken out of the call: a small model fills every place of a form, and would
/// do it again. What remains is what was said, or nothing, and the tool asks for the rest.
pub(super) fn only_what_was_said(response: &Response, state: &Hotel) -> Verdict {
    let said = state.last_said().unwrap_or_default();
    let mut changed = response.clone();
    let mut invented = Vec::new();
    for call in &mut changed.calls {
        let Some(args) = find_args(call) else { continue };
        let kept = kept(&args, &said, state.today);
        for (name, is_gone) in [
            ("city", args.city != kept.city),
            ("dates", args.dates != kept.dates),
            ("guests", args.guests != kept.guests),
        ] {
            if is_gone {
                invented.push(name);
            }
        }
        if args != kept {
            *call = ToolCall::new(&call.id, &call.name, &json!(kept));
        }
    }
    if invented.is_empty() {
        return Verdict::Accept;
    }
    let note = format!("the guest did not say: {}", invented.join(", "));
    Verdict::AcceptWith { replacement: Replacement::from(changed), note }
}

fn find_args(call: &ToolCall) -> Option<FindArgs> {
    if call.name == "find_hotels" { arguments(call) } else { None }
}

fn kept(args: &FindArgs, said: &str, today: Date) -> FindArgs {
    let heard = words(said);
    let is_said = |text: &str| {
        let words = words(text);
        !words.is_empty() && words.iter().all(|word| heard.contains(word))
    };
    let is_stay = |text: &str| {
        let slots = understand(text, today).slots;
        slots.check_in.is_some() || slots.check_out.is_some() || slots.nights.is_some()
    };
    let counted = understand(said, today).slots.guests;
    FindArgs {
        city: args.city.clone().filter(|city| is_said(city)),
        dates: args.dates.clone().filter(|dates| is_said(dates) && is_stay(dates)),
        guests: args.guests.filter(|guests| counted == Some(*guests) || said_alone(said) == Some(*guests)),
    }
}

/// The number that a sentence consists of, which answers the question how many people are coming.
fn said_alone(said: &str) -> Option<u32> {
    said.trim().trim_end_matches(['.', '!']).parse().ok()
}

fn words(text: &str) -> Vec<String> {
    let words = text.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect()
}
