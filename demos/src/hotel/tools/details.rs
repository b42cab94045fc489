//! More about one hotel.

use super::args::ChooseArgs;
use super::stay;
use crate::hotel::catalogue::{Offer, choose};
use crate::hotel::phrase;
use crate::hotel::stage::Stage;
use crate::hotel::state::Hotel;
use crate::hotel::table::distance;
use graph_nodes::tool::{FnTool, ToolReply, tool};

pub(super) fn hotel_details() -> FnTool<Hotel> {
    let about = "Tells the guest everything about one of the offers: place, rooms, amenities, price of a night.";
    tool::<Hotel, ChooseArgs>("hotel_details", about, |args: ChooseArgs, call| async move {
        let state = call.state();
        let offer = match choose(&args.hotel, &state.offers) {
            Ok(offer) => offer,
            Err(not_offered) => return Ok(stay(not_offered)),
        };
        let mut told = describe(offer);
        // A yes that follows must not be taken for another hotel.
        if let Some(chosen) = state.chosen.as_ref().filter(|_| state.is_in(Stage::Booking)) {
            told.push_str(&format!("\nShall I book {chosen}?"));
        }
        Ok(ToolReply::text("The guest was told.").direct(told))
    })
}

fn describe(offer: &Offer) -> String {
    let Offer { hotel, room, quote } = offer;
    let (lowest, highest) = (quote.lowest(), quote.highest());
    let price = if lowest == highest { lowest.to_string() } else { format!("{lowest} to {highest}") };
    format!(
        "{}, {}, {}: {} stars, {} to the centre. {}\nRooms: {}. It has {}.\nA {} costs {price} a night, {} in total.",
        hotel.name,
        hotel.street,
        hotel.area,
        hotel.stars,
        distance(hotel.distance_m),
        hotel.description,
        phrase::list(&hotel.rooms, "and"),
        phrase::list(&hotel.amenities, "and"),
        phrase::room(*room),
        quote.total,
    )
}
