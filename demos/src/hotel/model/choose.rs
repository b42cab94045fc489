//! The stages with offers: showing, comparing, proposing.

use super::answer::Answer;
use super::explore::{CHEAPER, criteria_args, help, impossible_day, money_problem, starts_over, wants_cheaper};
use super::questions::{About, Free};
use super::view::View;
use crate::hotel::calendar::add_days;
use crate::hotel::facts::PAGE;
use crate::hotel::phrase;
use crate::hotel::stage::Stage;
use crate::hotel::tools::args::{
    AvailabilityArgs, ChooseArgs, CompareArgs, ConfirmArgs, CriteriaArgs, NoArgs, ShowArgs,
};
use crate::hotel::understand::{HotelRef, Intent, Understood};

pub(super) fn answer(view: &View<'_>, understood: &Understood) -> Answer {
    let slots = &understood.slots;
    if let Some(free) = view.free(understood) {
        return availability(view, understood, free);
    }
    if !slots.has_criteria()
        && let Some(about) = view.details(understood)
    {
        return details(view, about);
    }
    let wish = wish(view, understood);
    // A wish for another search comes before what is to be done with its offers.
    let said = slots.has_criteria() || impossible_day(understood).is_some();
    if said && (wish.is_none() || changes_search(view, understood)) {
        return Answer::call("change_criteria", criteria_args(view, understood));
    }
    if let Some(wish) = wish {
        return wish;
    }
    if let Some(problem) = money_problem(understood) {
        return Answer::Say(phrase::plain(&problem));
    }
    match understood.intent {
        Intent::Quit => Answer::call("close_conversation", NoArgs {}),
        Intent::Help => Answer::Say(format!("{}\n{}", help(), ask(view))),
        Intent::Greet => Answer::Say(format!("Hello! {}", ask(view))),
        Intent::Thanks => Answer::Say(format!("You are welcome. {}", ask(view))),
        Intent::Yes => match (view.stage, &view.briefing.chosen) {
            (Stage::Booking, Some(hotel)) => {
                Answer::call("confirm_booking", ConfirmArgs { hotel: hotel.clone(), confirmed: true })
            }
            _ => book(view, understood),
        },
        Intent::No if view.stage == Stage::Booking => Answer::call("show_offers", ShowArgs { more: false }),
        Intent::No => Answer::say("All right. Tell me what to change, or say \"quit\" to leave."),
        Intent::Back if steps_back(view) => Answer::call("show_offers", ShowArgs { more: false }),
        Intent::Back => {
            let start_over = starts_over(&view.said);
            Answer::call("change_criteria", CriteriaArgs { start_over, ..CriteriaArgs::default() })
        }
        Intent::Search if wants_cheaper(&view.said) => Answer::say(CHEAPER),
        Intent::Search => Answer::call("change_criteria", CriteriaArgs::default()),
        Intent::Show => Answer::call("show_offers", ShowArgs { more: wants_more(&view.said) }),
        Intent::Compare | Intent::Book | Intent::Unknown => {
            Answer::Say(format!("Sorry, I did not understand that. {}", ask(view)))
        }
    }
}

/// What the guest wants to do with the offers of the list, if anything.
pub(super) fn wish(view: &View<'_>, understood: &Understood) -> Option<Answer> {
    match understood.intent {
        Intent::Compare => Some(compare(view, understood)),
        Intent::Book => Some(book(view, understood)),
        _ => None,
    }
}

/// Whether the sentence says anything about the search that was not known.
fn changes_search(view: &View<'_>, understood: &Understood) -> bool {
    let mut criteria = view.briefing.criteria.clone();
    let problems = criteria_args(view, understood).apply(&mut criteria, view.briefing.today);
    !problems.is_empty() || criteria != view.briefing.criteria
}

fn ask(view: &View<'_>) -> String {
    match (view.stage, &view.briefing.chosen) {
        (Stage::Booking, Some(hotel)) => format!("Shall I book {hotel}?"),
        (Stage::Compare, _) => "Which hotel shall I book, or would you like to see the list again?".into(),
        _ if view.briefing.offers.len() == 1 => "Shall I book it, or would you like to change something?".into(),
        _ => "Which ones shall I compare, or which one shall I book?".into(),
    }
}

fn details(view: &View<'_>, about: About) -> Answer {
    let briefing = &view.briefing;
    let spoken_of = spoken_of(view);
    // Words that are no offer, such as `per night`, name nothing.
    let is_noise = |hotel: &HotelRef| {
        spoken_of.is_some() && matches!(hotel, HotelRef::Name(name) if !briefing.offers.contains(name))
    };
    let named: Vec<HotelRef> = about.hotels.into_iter().filter(|hotel| !is_noise(hotel)).collect();
    let hotels = match (names(&named, listed(view)), spoken_of) {
        (Err(place), _) => return no_such_place(view, place),
        (Ok(hotels), Some(hotel)) if hotels.is_empty() => vec![hotel.clone()],
        // As many as a page of the list has.
        (Ok(hotels), None) if hotels.is_empty() && about.all => listed(view).iter().take(PAGE).cloned().collect(),
        (Ok(hotels), None) if hotels.is_empty() => {
            return Answer::say("About which hotel? Say its name or its place in the list.");
        }
        (Ok(hotels), _) => hotels,
    };
    let mut calls = Vec::new();
    for hotel in hotels.iter().cloned() {
        calls.push(Answer::one("hotel_details", ChooseArgs { hotel }));
    }
    if about.compared && hotels.len() > 1 {
        calls.push(Answer::one("compare_hotels", CompareArgs { hotels, by: None }));
    }
    Answer::Call(calls)
}

fn availability(view: &View<'_>, understood: &Understood, free: Free) -> Answer {
    if free.other_days {
        return Answer::say("On which days?");
    }
    let hotels = match names(&free.hotels, listed(view)) {
        Err(place) => return no_such_place(view, place),
        Ok(hotels) if !hotels.is_empty() => hotels,
        Ok(_) if free.all => listed(view).to_vec(),
        Ok(_) => match spoken_of(view) {
            Some(hotel) => vec![hotel.clone()],
            None => return Answer::say("Which hotel? Say its name or its place in the list."),
        },
    };
    let slots = &understood.slots;
    let check_in = slots.check_in.map(|day| day.to_string()).or_else(|| impossible_day(understood));
    let by_nights = slots.check_in.zip(slots.nights).map(|(day, nights)| add_days(day, nights));
    let check_out = slots.check_out.or(by_nights).map(|day| day.to_string());
    Answer::call("check_availability", AvailabilityArgs { hotels, check_in, check_out })
}

/// The list that places are counted in.
fn listed<'a>(view: &'a View<'_>) -> &'a [String] {
    if view.stage == Stage::Compare { &view.briefing.compared } else { &view.briefing.offers }
}

/// The proposed hotel, or the only one there is.
fn spoken_of<'a>(view: &'a View<'_>) -> Option<&'a String> {
    let only = listed(view).first().filter(|_| listed(view).len() == 1);
    view.briefing.chosen.as_ref().or(only)
}

fn compare(view: &View<'_>, understood: &Understood) -> Answer {
    let mut refs = understood.slots.hotels.clone();
    let wants_all = view.said.to_lowercase().split_whitespace().any(|word| word == "all");
    if refs.is_empty() && view.stage == Stage::Compare && !wants_all {
        // By another feature: the same hotels again.
        refs = view.briefing.compared.iter().cloned().map(HotelRef::Name).collect();
    }
    if refs.is_empty() && wants_all {
        refs = view.briefing.offers.iter().cloned().map(HotelRef::Name).collect();
    }
    match names(&refs, &view.briefing.offers) {
        Ok(hotels) => Answer::call("compare_hotels", CompareArgs { hotels, by: understood.slots.by }),
        Err(place) => no_such_place(view, place),
    }
}

fn book(view: &View<'_>, understood: &Understood) -> Answer {
    let (briefing, listed) = (&view.briefing, listed(view));
    let refs = &understood.slots.hotels;
    let hotel = match (refs.first(), &briefing.chosen) {
        (Some(named), _) => match names(std::slice::from_ref(named), listed) {
            Ok(mut names) => names.pop(),
            Err(place) => return no_such_place(view, place),
        },
        (None, Some(chosen)) if view.stage == Stage::Booking => Some(chosen.clone()),
        // The list of offers begins with the cheapest one.
        (None, _) if view.said.to_lowercase().contains("cheapest") => {
            briefing.offers.iter().find(|offer| listed.contains(offer)).cloned()
        }
        (None, _) if listed.len() == 1 => listed.first().cloned(),
        (None, _) => None,
    };
    match hotel {
        Some(hotel) if view.stage == Stage::Booking && briefing.chosen.as_ref() == Some(&hotel) => {
            Answer::call("confirm_booking", ConfirmArgs { hotel, confirmed: true })
        }
        Some(hotel) => Answer::call("choose_hotel", ChooseArgs { hotel }),
        None => Answer::say("Which one shall I book? Say its name or its place in the list."),
    }
}

/// The names behind names and places; the place that the list does not have as
/// the error.
fn names(refs: &[HotelRef], listed: &[String]) -> Result<Vec<String>, i32> {
    let count = i32::try_from(listed.len()).unwrap_or(i32::MAX);
    let name = |one: &HotelRef| match one {
        HotelRef::Name(name) => Ok(name.clone()),
        HotelRef::Ordinal(place) => {
            let index = if *place < 0 { count + place } else { place - 1 };
            usize::try_from(index).ok().and_then(|index| listed.get(index)).cloned().ok_or(*place)
        }
    };
    refs.iter().map(name).collect()
}

fn no_such_place(view: &View<'_>, place: i32) -> Answer {
    let found = phrase::hotels(view.briefing.offers.len());
    Answer::Say(format!("There is no number {place}: my list has {found}. {}", ask(view)))
}

fn wants_more(said: &str) -> bool {
    let said = said.to_lowercase();
    ["more", "other", "else", "rest", "next"].iter().any(|word| said.contains(word))
}

/// `back` alone leads to the list from where one came from it.
fn steps_back(view: &View<'_>) -> bool {
    let said = view.said.to_lowercase();
    let searches = ["search", "change", "criteria", "start", "mind"].iter().any(|word| said.contains(word));
    view.stage != Stage::Present && !searches && !starts_over(&said)
}
