//! How the concierge puts things: stays, people, criteria and offers in words.

use crate::hotel::calendar::Stay;
use crate::hotel::criteria::{Amenity, Budget, Criteria, Missing, RoomType};
use crate::hotel::facts::{Compared, NothingFound, OfferLine, Offered, Proposal};
use crate::hotel::merge::Pending;
use crate::hotel::price::Cents;
use jiff::civil::Date;

/// `3 nights`, `1 night`.
#[must_use]
pub fn nights(count: u32) -> String {
    counted(count.into(), "night", "nights")
}

/// `2 guests`, `1 guest`.
#[must_use]
pub fn guests(count: u32) -> String {
    counted(count.into(), "guest", "guests")
}

/// `7 hotels`, `1 hotel`.
#[must_use]
pub fn hotels(count: usize) -> String {
    counted(u64::try_from(count).unwrap_or(u64::MAX), "hotel", "hotels")
}

fn counted(count: u64, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

/// `a`, `a and b`, `a, b and c`, with `last` before the last one.
#[must_use]
pub fn list<T: ToString>(items: &[T], last: &str) -> String {
    let words: Vec<String> = items.iter().map(ToString::to_string).collect();
    match words.split_last() {
        None => String::new(),
        Some((only, [])) => only.clone(),
        Some((end, rest)) => format!("{} {last} {end}", rest.join(", ")),
    }
}

/// `3 July 2026`.
#[must_use]
pub fn day(date: Date) -> String {
    date.strftime("%-d %B %Y").to_string()
}

/// `3 to 6 July 2026`, `30 June to 2 July 2026`, `28 December 2026 to 2 January 2027`.
#[must_use]
pub fn stay(stay: Stay) -> String {
    let (from, to) = (stay.check_in(), stay.check_out());
    let start = if (from.year(), from.month()) == (to.year(), to.month()) {
        from.strftime("%-d").to_string()
    } else if from.year() == to.year() {
        from.strftime("%-d %B").to_string()
    } else {
        day(from)
    };
    format!("{start} to {}", day(to))
}

/// `€200` for whole euros, `€99.50` otherwise.
#[must_use]
pub fn euros(amount: Cents) -> String {
    let text = amount.to_string();
    text.strip_suffix(".00").map_or_else(|| text.clone(), str::to_owned)
}

/// Everything that is known of a search, in one line; empty if nothing is.
#[must_use]
pub fn criteria(criteria: &Criteria) -> String {
    let mut parts: Vec<String> = criteria.city.iter().map(ToString::to_string).collect();
    parts.extend(criteria.stay.map(|known| format!("{} ({})", stay(known), nights(known.nights()))));
    parts.extend(pending(&criteria.pending));
    parts.extend(criteria.guests.map(guests));
    if !criteria.rooms.is_empty() {
        let rooms: Vec<String> = criteria.rooms.iter().copied().map(room).collect();
        parts.push(list(&rooms, "or"));
    }
    if !criteria.amenities.is_empty() {
        let wanted: Vec<String> = criteria.amenities.iter().copied().map(amenity).collect();
        parts.push(format!("with {}", list(&wanted, "and")));
    }
    parts.extend(budget(&criteria.budget));
    parts.join(", ")
}

/// `double room`, `suite`.
#[must_use]
pub fn room(room: RoomType) -> String {
    match room {
        RoomType::Suite => room.to_string(),
        RoomType::Single | RoomType::Double | RoomType::Twin | RoomType::Family => format!("{room} room"),
    }
}

/// `wifi`, `a pool`, `an airport shuttle`: as it follows "with" or "without".
#[must_use]
pub fn amenity(amenity: Amenity) -> String {
    match amenity {
        Amenity::Pool | Amenity::Gym | Amenity::Spa | Amenity::Restaurant | Amenity::Bar | Amenity::Kitchen => {
            format!("a {amenity}")
        }
        Amenity::AirportShuttle => format!("an {amenity}"),
        Amenity::Wifi | Amenity::Breakfast | Amenity::Parking | Amenity::Pets | Amenity::AirConditioning => {
            amenity.to_string()
        }
    }
}

fn pending(pending: &Pending) -> Option<String> {
    match (pending.check_in, pending.check_out, pending.nights) {
        (Some(check_in), ..) => Some(format!("arriving {}", day(check_in))),
        (None, Some(check_out), _) => Some(format!("leaving {}", day(check_out))),
        (None, None, count) => count.map(nights),
    }
}

fn budget(budget: &Budget) -> Option<String> {
    match (budget.min, budget.max) {
        (Some(min), Some(max)) => Some(format!("{} to {} a night", euros(min), euros(max))),
        (None, Some(max)) => Some(format!("at most {} a night", euros(max))),
        (Some(min), None) => Some(format!("at least {} a night", euros(min))),
        (None, None) => None,
    }
}

/// The question that asks for what a search cannot do without.
#[must_use]
pub fn question(missing: &[Missing], pending: &Pending) -> String {
    let dates = match (pending.check_in, pending.check_out) {
        (Some(_), _) => "how many nights will you stay",
        (None, Some(_)) => "on which day do you arrive",
        (None, None) if pending.nights.is_some() => "on which day do you arrive",
        (None, None) => "on which days do you arrive and leave",
    };
    // A bare number must have one question that it answers.
    let counted = pending.check_in.is_some() && missing.contains(&Missing::Dates);
    let parts: Vec<&str> = missing
        .iter()
        .filter(|part| !(counted && **part == Missing::Guests))
        .map(|part| match part {
            Missing::City => "which city would you like to visit",
            Missing::Dates => dates,
            Missing::Guests => "how many people are coming",
        })
        .collect();
    match parts.split_last() {
        Some((last, rest)) if !rest.is_empty() => sentence(&format!("{}, and {last}", rest.join(", ")), '?'),
        _ => sentence(&parts.concat(), '?'),
    }
}

/// One page of offers with the words around it.
#[must_use]
pub fn offers(offered: &Offered) -> String {
    let mut text = match offered.from {
        1 => format!("I found {}: {}.\n", hotels(offered.found), criteria(&offered.criteria)),
        from => format!("Hotels {from} to {} of {}:\n", from + offered.offers.len() - 1, offered.found),
    };
    for offer in &offered.offers {
        text.push_str(&format!("{:>2}. {}\n", offer.place, line(offer)));
    }
    if offered.from + offered.offers.len() <= offered.found {
        text.push_str("Say \"more\" for the rest. ");
    }
    text.push_str(if offered.found == 1 {
        "Shall I book it, or would you like to change something?"
    } else {
        "Which ones shall I compare, or which one shall I book?"
    });
    text
}

fn line(offer: &OfferLine) -> String {
    let OfferLine { name, area, stars, distance, total, .. } = offer;
    let (room, nights) = (room(offer.room), nights(offer.nights));
    format!("{name}, {area}, {stars} stars, {distance} to the centre: {room}, {total} for {nights}")
}

/// A search that found nothing, and what would help.
#[must_use]
pub fn nothing_found(nothing: &NothingFound) -> String {
    let mut text = format!("I found no hotel: {}.", criteria(&nothing.criteria));
    let ways: Vec<String> =
        nothing.without.iter().map(|way| format!("{} without {}", hotels(way.found), way.part)).collect();
    if ways.is_empty() {
        text.push_str(" What would you like to change?");
    } else {
        text.push_str(&format!(" There would be {}. What would you like to change?", list(&ways, "or")));
    }
    text
}

/// Hotels side by side, and what to do with them.
#[must_use]
pub fn comparison(compared: &Compared) -> String {
    format!("{}Which one shall I book, or would you like to see the list again?", compared.table)
}

/// What would be booked.
#[must_use]
pub fn proposal(proposal: &Proposal) -> String {
    format!(
        "{} in {}: a {} for {}, {} ({}), {} in total. Shall I book it?",
        proposal.hotel,
        proposal.area,
        room(proposal.room),
        guests(proposal.guests),
        stay(proposal.stay),
        nights(proposal.stay.nights()),
        proposal.total,
    )
}

/// The text of an error as a sentence for a guest: days in words, words as said in quotes, numbers without.
#[must_use]
pub fn plain(error: &str) -> String {
    let parts = error.split('`').enumerate().map(|(at, part)| match part.parse::<Date>() {
        _ if at % 2 == 0 => part.to_owned(),
        Ok(date) => day(date),
        Err(_) if part.bytes().all(|byte| byte.is_ascii_digit()) => part.to_owned(),
        Err(_) => format!("“{part}”"),
    });
    sentence(parts.collect::<String>().trim(), '.')
}

/// With a capital and a mark at the end.
#[must_use]
pub fn sentence(text: &str, mark: char) -> String {
    let mut letters = text.chars();
    let first: String = letters.next().map(|first| first.to_uppercase().collect()).unwrap_or_default();
    let mut whole = first + letters.as_str();
    if !whole.is_empty() && !whole.ends_with(['.', '!', '?']) {
        whole.push(mark);
    }
    whole
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::civil::date;

    fn known(from: Date, to: Date) -> Stay {
        Stay::new(from, to, from).unwrap()
    }

    #[test]
    fn a_stay_names_month_and_year_once_where_it_can() {
        assert_eq!(stay(known(date(2026, 7, 3), date(2026, 7, 6))), "3 to 6 July 2026");
        assert_eq!(stay(known(date(2026, 6, 30), date(2026, 7, 2))), "30 June to 2 July 2026");
        assert_eq!(stay(known(date(2026, 12, 28), date(2027, 1, 2))), "28 December 2026 to 2 January 2027");
    }

    #[test]
    fn an_error_becomes_a_sentence() {
        assert_eq!(plain("check-in `2026-06-01` has `9` days"), "Check-in 1 June 2026 has 9 days.");
        assert_eq!(plain("unknown city `Paris`, choose one of: Oslo"), "Unknown city “Paris”, choose one of: Oslo.");
    }

    #[test]
    fn questions_ask_only_for_what_is_missing() {
        let pending = Pending { check_in: Some(date(2026, 7, 3)), ..Pending::default() };
        assert_eq!(question(&[Missing::Dates, Missing::Guests], &pending), "How many nights will you stay?");
        assert_eq!(question(&[Missing::City], &Pending::default()), "Which city would you like to visit?");
    }
}
