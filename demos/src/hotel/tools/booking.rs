//! Proposing one offer and booking it.

use super::args::{ChooseArgs, ConfirmArgs};
use super::{GOODBYE, enter, stay};
use crate::hotel::catalogue::{Offer, choose};
use crate::hotel::facts::Proposal;
use crate::hotel::phrase;
use crate::hotel::stage::Stage;
use crate::hotel::state::{Booking, Hotel};
use graph_nodes::tool::{Confirm, FnTool, ToolError, ToolReply, tool};

pub(crate) fn choose_hotel() -> FnTool<Hotel> {
    let about = "Proposes one of the offers for booking. Nothing is booked yet.";
    tool::<Hotel, ChooseArgs>("choose_hotel", about, |args: ChooseArgs, call| async move {
        let state = call.state();
        let offer = match choose(&args.hotel, &state.offers) {
            Ok(offer) => offer,
            Err(not_offered) => return Ok(stay(not_offered)),
        };
        let proposal = propose(state, offer)?;
        let update = Hotel::update().chosen(offer.hotel.name.clone());
        if state.is_in(Stage::Booking) {
            return Ok(ToolReply::json(proposal).update(update));
        }
        Ok(enter(Stage::Booking, proposal, update))
    })
}

pub(crate) fn confirm_booking() -> FnTool<Hotel> {
    let about = "Books the proposed hotel. Only after the guest agreed to this proposal.";
    tool::<Hotel, ConfirmArgs>("confirm_booking", about, |args: ConfirmArgs, call| async move {
        let state = call.state();
        if !args.confirmed {
            return Ok(stay("nothing is booked without a yes, ask the guest again"));
        }
        let (Ok(offer), Some(chosen)) = (choose(&args.hotel, &state.offers), &state.chosen) else {
            return Ok(stay(format!("`{}` is not what was proposed, propose it first", args.hotel.trim())));
        };
        if offer.hotel.name != *chosen {
            return Ok(stay(format!("`{chosen}` was proposed, not `{}`, propose that first", offer.hotel.name)));
        }
        let proposal = propose(state, offer)?;
        if let Err(too_late) = proposal.stay.check_today(state.today) {
            return Ok(stay(too_late));
        }
        let booking = Booking {
            reference: reference(&proposal),
            hotel: proposal.hotel,
            street: offer.hotel.street.clone(),
            room: proposal.room,
            stay: proposal.stay,
            guests: proposal.guests,
            total: proposal.total,
        };
        // The model may have misheard, so the guest sees once more what is booked.
        call.confirm(Confirm::text(ask(&booking)).details(&booking))?;
        Ok(ToolReply::json(&booking).update(Hotel::update().booking(booking)).go(GOODBYE))
    })
}

fn propose(state: &Hotel, offer: &Offer) -> Result<Proposal, ToolError> {
    let (Some(stay), Some(guests)) = (state.criteria.stay, state.criteria.guests) else {
        return Err("the dates or the number of guests are missing, change the criteria".into());
    };
    Ok(Proposal {
        hotel: offer.hotel.name.clone(),
        area: offer.hotel.area.clone(),
        room: offer.room,
        stay,
        guests,
        total: offer.quote.total,
    })
}

/// What the guest must agree to.
fn ask(booking: &Booking) -> String {
    let Booking { hotel, room, stay, guests, total, .. } = booking;
    format!(
        "Book {hotel}, a {} for {}, {} ({}), for {total}?",
        phrase::room(*room),
        phrase::guests(*guests),
        phrase::stay(*stay),
        phrase::nights(stay.nights()),
    )
}

/// A reference that is the same for the same booking, so that a repeated call
/// cannot book twice. FNV-1a, because it is short and never changes.
fn reference(proposal: &Proposal) -> String {
    let Proposal { hotel, room, stay, guests, .. } = proposal;
    let text = format!("{hotel}|{room}|{}|{}|{guests}", stay.check_in(), stay.check_out());
    let hash = text.bytes().fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    format!("GX-{hash:08X}")
}
