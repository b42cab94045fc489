//! Understanding what a guest types, by rules: which parts of a search the
//! sentence says, and what the guest wants.
//!
//! The sentence is cut into tokens once. Each reader then looks for its part,
//! marks the tokens it used, and so keeps them from the readers after it; the
//! order therefore goes from the most certain part to the least. Every reader
//! looks only a few tokens ahead, so the work grows with the length of the
//! text and never with its square.

mod amenity;
mod change;
mod city;
mod dates;
mod guests;
mod hotels;
mod intent;
mod money;
mod normalise;
mod numbers;
mod room;
mod slots;
mod words;

pub use slots::{HotelRef, Intent, SlotProblem, Slots, Understood};

use jiff::civil::Date;
use normalise::Text;

/// What the conversation so far lends to a sentence.
#[derive(Clone, Debug, Default)]
pub struct Context {
    /// Names that are recognised wherever they stand, whatever words they are
    /// made of: those of the last offers, or of the whole catalogue.
    pub known_hotels: Vec<String>,
    /// What was asked last, so that a bare number is an answer.
    pub asked: Option<Asked>,
}

/// A question that a bare number answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked {
    /// How many people are coming.
    Guests,
    /// How many nights they stay.
    Nights,
    /// What a night may cost.
    Budget,
}

/// Understands a sentence by itself. `today` is the day relative dates count
/// from.
#[must_use]
pub fn understand(text: &str, today: Date) -> Understood {
    understand_with(text, today, &Context::default())
}

/// Understands a sentence in its context.
#[must_use]
pub fn understand_with(text: &str, today: Date, context: &Context) -> Understood {
    let plain = Text::new(text);
    let mut text = plain.clone();
    let mut slots = Slots::default();
    if answer(&plain, context.asked, &mut slots) {
        return Understood { slots, intent: Intent::Search, problems: Vec::new() };
    }
    let mut named = hotels::known(&mut text, &context.known_hotels);
    let wish = hotels::wish(&text);
    let mut problems = dates::read(&mut text, today, &mut slots);
    let nights = match (slots.check_in, slots.check_out) {
        (Some(check_in), Some(check_out)) => u32::try_from((check_out - check_in).get_days()).ok(),
        _ => slots.nights,
    };
    problems.extend(money::read(&mut text, &mut slots, nights));
    named.extend(hotels::places(&mut text, wish));
    if wish.compare || wish.book {
        named.extend(guess(&mut text, wish, !named.is_empty()));
    }
    named.sort_by_key(|(at, _)| *at);
    for (_, hotel) in named {
        if !slots.hotels.contains(&hotel) {
            slots.hotels.push(hotel);
        }
    }
    slots.guests = guests::read(&mut text);
    slots.room = room::read(&mut text);
    if wish.compare || slots.hotels.len() > 1 {
        slots.by = hotels::feature(&text);
    }
    amenity::read(&mut text, &mut slots);
    city::read(&mut text, &mut slots);
    let intent = match problems.is_empty() {
        false if !slots.has_criteria() && slots.hotels.is_empty() => Intent::Search,
        _ => intent::read(&text, &plain, &slots, wish),
    };
    Understood { slots, intent, problems }
}

/// Names that no list knows are guessed only where the sentence surely speaks
/// of hotels: where it compares, or books something written like a name.
fn guess(text: &mut Text, wish: hotels::Wish, named: bool) -> Vec<(usize, HotelRef)> {
    if named && !wish.compare {
        return Vec::new();
    }
    hotels::guessed(text, wish)
}

/// Takes a bare number as the answer to the last question.
fn answer(text: &Text, asked: Option<Asked>, slots: &mut Slots) -> bool {
    let numbers: Vec<u32> = (0..text.len()).filter_map(|at| text.number(at)).collect();
    let words = (0..text.len()).filter(|at| text.number(*at).is_none() && !text.is_mark(*at, "."));
    let polite = words.clone().all(|at| text.any(at, &["please", "just", "only", "about", ",", "!"]));
    let (Some(asked), &[number], true) = (asked, numbers.as_slice(), polite) else {
        return false;
    };
    match asked {
        Asked::Guests => slots.guests = Some(number),
        Asked::Nights => slots.nights = Some(number),
        Asked::Budget => slots.budget_max = Some(crate::hotel::price::Cents::euros(number.into())),
    }
    true
}
