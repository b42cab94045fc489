//! More about one hotel.

use super::args::ChooseArgs;
use super::{Desk, stay};
use crate::hotel::catalogue::{self, Offer, choose};
use crate::hotel::phrase;
use crate::hotel::state::Hotel;
use crate::hotel::table::distance;
use graph_nodes::tool::{FnTool, ToolReply, tool};

/// Several calls of one response run together, so that their records are one
/// question to the catalogue.
pub(crate) fn hotel_details() -> FnTool<Hotel> {
    let about = "Everything about one of the offers: place, rooms, amenities, price of a night.";
    tool::<Hotel, ChooseArgs>("hotel_details", about, |args: ChooseArgs, call| async move {
        let offer = match choose(&args.hotel, &call.state().offers) {
            Ok(offer) => offer,
            Err(not_offered) => return Ok(stay(not_offered)),
        };
        let desk = call.resource::<Desk>()?;
        match desk.record(call.ctx().thread(), &offer.hotel.name).await? {
            Some(hotel) => Ok(ToolReply::text(describe(&hotel, offer))),
            None => Ok(stay(format!("`{}` is not in the catalogue any more, search again", offer.hotel.name))),
        }
    })
    .needs::<Desk>()
    .concurrent()
    .read_only()
}

/// A hotel's record, and what it costs as offered.
pub(super) fn describe(hotel: &catalogue::Hotel, offer: &Offer) -> String {
    let Offer { room, quote, .. } = offer;
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
