//! Details and a comparison, wanted at once.

use super::args::{ChooseArgs, CompareArgs};
use super::comparison::{compared, to_compare};
use super::details::describe;
use super::{Desk, Stage};
use crate::hotel::catalogue::{Comparison, choose};
use crate::hotel::state::Hotel;
use graph_nodes::tool::{FnGroup, GroupReply, group};

/// The tools that are answered together when a response calls exactly these.
pub(super) const BOTH: [&str; 2] = ["hotel_details", "compare_hotels"];

/// One question to the catalogue, where the single tools would ask one for the
/// records and one for the table. A wrong name refuses all calls.
pub(super) fn details_and_comparison() -> FnGroup<Hotel> {
    group(|calls| async move {
        let state: &Hotel = calls.state();
        let (mut told, mut tables, mut names) = (Vec::new(), Vec::new(), Vec::new());
        for call in calls.iter() {
            if call.name() == "hotel_details" {
                let offer = choose(&call.arguments_as::<ChooseArgs>()?.hotel, &state.offers)?;
                names.push(offer.hotel.name.clone());
                told.push((call.id().to_owned(), offer));
            } else {
                let args: CompareArgs = call.arguments_as()?;
                let resolved = to_compare(&args, state)?;
                names.extend(resolved.found.iter().cloned());
                tables.push((call.id().to_owned(), args.by, resolved));
            }
        }
        let found = calls.resource::<Desk>()?.ask(|catalogue| catalogue.by_names(&names))?;
        let known = |name: &str| found.iter().flatten().find(|hotel| hotel.name == *name).cloned();
        let mut reply = GroupReply::text("It is not in the catalogue any more.");
        for (id, offer) in told {
            if let Some(hotel) = known(&offer.hotel.name) {
                reply = reply.answer(id, describe(&hotel, offer));
            }
        }
        for (id, by, resolved) in tables {
            let hotels = resolved.found.iter().map(|name| (name.as_str(), known(name)));
            let compared = compared(Comparison::of(hotels, by, &state.criteria)?, resolved);
            reply = reply.update(Hotel::update().compared(compared.hotels.clone())).answer_json(id, compared);
        }
        Ok(if state.is_in(Stage::Compare) { reply } else { reply.go(Stage::Compare.name()) })
    })
    .needs::<Desk>()
}
