//! What the model sees: the request, sorted.

use crate::hotel::briefing::Briefing;
use crate::hotel::criteria::Feature;
use crate::hotel::stage::Stage;
use crate::hotel::understand::{Asked, Context, HotelRef, Intent, Understood, understand_with};
use graph_nodes::message::{Message, Role, ToolCall};
use graph_nodes::model::Request;

/// A request, sorted.
pub(super) struct View<'a> {
    pub(super) briefing: Briefing,
    pub(super) stage: Stage,
    /// What the guest said last.
    pub(super) said: String,
    /// The rounds of tool calls since then, each with its answers.
    pub(super) rounds: Vec<Round<'a>>,
    /// What the concierge asked before that.
    asked: String,
}

/// Calls and their answers.
pub(super) struct Round<'a> {
    pub(super) calls: &'a [ToolCall],
    pub(super) answers: Vec<&'a Message>,
}

impl<'a> View<'a> {
    /// `None` without a system prompt of the concierge.
    pub(super) fn of(request: &'a Request) -> Option<Self> {
        let systems = request.messages.iter().filter(|message| message.role() == Role::System);
        let briefing = systems.map(Message::text).find_map(|text| Briefing::read(&text))?;
        let spoken: Vec<&Message> = request.messages.iter().filter(|message| message.role() != Role::System).collect();
        let last = spoken.iter().rposition(|message| message.role() == Role::User);
        let before = spoken.iter().take(last.unwrap_or(0)).rev();
        let asked = before.map(|message| message.text()).find(|text| !text.is_empty()).unwrap_or_default();
        let mut rounds: Vec<Round<'a>> = Vec::new();
        for message in spoken.iter().skip(last.map_or(0, |at| at + 1)) {
            match message.role() {
                Role::Assistant if !message.calls().is_empty() => {
                    rounds.push(Round { calls: message.calls(), answers: Vec::new() });
                }
                Role::Tool => rounds.iter_mut().next_back()?.answers.push(message),
                _ => {}
            }
        }
        let said = last.and_then(|at| spoken.get(at)).map(|message| message.text()).unwrap_or_default();
        Some(Self { briefing, stage: stage(request), said, rounds, asked })
    }

    /// What the guest means by the last sentence.
    pub(super) fn understood(&self) -> Understood {
        let context = Context { known_hotels: self.briefing.offers.clone(), asked: self.asked() };
        let mut understood = understand_with(&self.said, self.briefing.today, &context);
        // An answer to the list's own hint.
        let said = self.said.trim_end_matches(['.', '!']).to_lowercase();
        if understood.intent == Intent::Unknown && matches!(said.as_str(), "more" | "next" | "the rest" | "list") {
            understood.intent = Intent::Show;
        }
        if understood.intent == Intent::Unknown && !self.briefing.offers.is_empty() {
            let superlative = ["closest", "nearest", "most central"].iter().any(|word| said.contains(word));
            if superlative {
                (understood.intent, understood.slots.by) = (Intent::Compare, Some(Feature::Distance));
                understood.slots.hotels = self.briefing.offers.iter().cloned().map(HotelRef::Name).collect();
            }
        }
        // After a comparison, the word for a feature compares by it.
        let feature = Feature::ALL.iter().find(|feature| said.split_whitespace().any(|word| word == feature.as_str()));
        if understood.intent == Intent::Unknown && self.stage == Stage::Compare && feature.is_some() {
            (understood.intent, understood.slots.by) = (Intent::Compare, feature.copied());
        }
        understood
    }

    fn asked(&self) -> Option<Asked> {
        let ends = |question: &str| self.asked.to_lowercase().trim_end().ends_with(question);
        if ends("how many people are coming?") {
            Some(Asked::Guests)
        } else if ends("how many nights will you stay?") {
            Some(Asked::Nights)
        } else if ends("cost at most?") {
            Some(Asked::Budget)
        } else {
            None
        }
    }
}

/// The stage, recognised by the tools that only it is offered.
fn stage(request: &Request) -> Stage {
    let offers = |name: &str| request.tools.iter().any(|tool| tool.name == name);
    if offers("capture_criteria") {
        Stage::Explore
    } else if offers("confirm_booking") {
        Stage::Booking
    } else if request.messages.iter().any(|message| message.text().contains("Show the comparison")) {
        Stage::Compare
    } else {
        Stage::Present
    }
}
