//! Questions about offers: what they are like, and whether they are free.

use super::view::View;
use crate::hotel::criteria::Amenity;
use crate::hotel::understand::{Context, HotelRef, Understood, understand_with};

/// A question for details.
pub(super) struct About {
    /// By name or place.
    pub(super) hotels: Vec<HotelRef>,
    /// All that are spoken of, if none is named; otherwise the one that is.
    pub(super) all: bool,
    /// Whether the guest also wants them side by side.
    pub(super) compared: bool,
}

/// A question whether hotels have a room.
pub(super) struct Free {
    /// By name or place.
    pub(super) hotels: Vec<HotelRef>,
    /// All that are spoken of, if none is named.
    pub(super) all: bool,
    /// On other days, which the sentence does not say.
    pub(super) other_days: bool,
}

impl View<'_> {
    /// The hotels that a question for details is about; `None` if the sentence is
    /// no such question.
    pub(super) fn details(&self, understood: &Understood) -> Option<About> {
        const QUESTIONS: &[&str] =
            &["more about", "tell me about", "details", "describe", "what is it like", "how much", "per night?"];
        let said = self.said.to_lowercase();
        if !QUESTIONS.iter().any(|question| said.contains(question)) {
            return None;
        }
        let compared = said.contains("compare") || said.contains("side by side");
        let is_all = |word: &str| matches!(word, "them" | "these" | "those" | "all" | "both");
        let all = said.split(|c: char| !c.is_alphanumeric()).any(is_all);
        let about = ["about ", "of ", "describe ", "is ", "for "].iter().find_map(|word| said.split_once(word));
        let rest = about.map_or(said.as_str(), |(_, rest)| rest);
        let comparing = ["compare", "side by side"].iter().find_map(|word| rest.split_once(word));
        let rest = comparing.map_or(rest, |(hotels, _)| hotels);
        let context = Context { known_hotels: self.briefing.offers.clone(), asked: None };
        // As a thing to book, a name or place is recognised best.
        let mut hotels = understand_with(&format!("book {rest}"), self.briefing.today, &context).slots.hotels;
        if compared && hotels.is_empty() {
            // "Compare the first two and tell me more about them."
            hotels.clone_from(&understood.slots.hotels);
        }
        Some(About { hotels, all, compared })
    }

    /// What a question for free rooms is about; `None` if the sentence is no such
    /// question.
    pub(super) fn free(&self, understood: &Understood) -> Option<Free> {
        let said: Vec<&str> =
            self.said.split(|c: char| !c.is_alphanumeric() && c != '\'').filter(|word| !word.is_empty()).collect();
        let words: Vec<String> = said.iter().map(|word| word.to_lowercase()).collect();
        let is_free = |word: &String| matches!(word.as_str(), "free" | "available" | "availability" | "vacancies");
        let at = words.iter().position(is_free)?;
        // "With free wifi" and "free of charge" speak of something else.
        let next = words.get(at + 1).map_or("", String::as_str);
        let charged = matches!(next, "of" | "cancellation") || Amenity::ALL.iter().any(|word| word.as_str() == next);
        let asks = |word: &String| matches!(word.as_str(), "is" | "are" | "do" | "does" | "which" | "check");
        if charged || !words.iter().take(at).any(asks) {
            return None;
        }
        let mut hotels = understood.slots.hotels.clone();
        if hotels.is_empty() {
            // "Is the first free": as a thing to book, a name or place is recognised best.
            let about = said.get(1..at).unwrap_or_default().join(" ");
            let context = Context { known_hotels: self.briefing.offers.clone(), asked: None };
            hotels = understand_with(&format!("book {about}"), self.briefing.today, &context).slots.hotels;
        }
        let offered = |name: &str| self.briefing.offers.iter().any(|offer| offer.to_lowercase() == name.to_lowercase());
        let is_name = |name: &str| offered(name) || name.starts_with(char::is_uppercase);
        hotels.retain(|hotel| !matches!(hotel, HotelRef::Name(name) if !is_name(name)));
        let has = |list: &[&str]| words.iter().any(|word| list.contains(&word.as_str()));
        let all = has(&["they", "them", "these", "those", "all", "which"]);
        if hotels.is_empty() && !all && !has(&["it"]) {
            return None;
        }
        let slots = &understood.slots;
        let dated = slots.check_in.is_some() || slots.check_out.is_some() || !understood.problems.is_empty();
        let other_days = !dated && has(&["later", "earlier", "before", "other", "another", "different", "instead"]);
        Some(Free { hotels, all, other_days })
    }
}
