//! Hotels side by side.

use super::args::CompareArgs;
use super::{Desk, enter, stay};
use crate::hotel::catalogue::{CompareError, resolve};
use crate::hotel::facts::Compared;
use crate::hotel::stage::Stage;
use crate::hotel::state::Hotel;
use crate::hotel::table;
use graph_nodes::tool::{FnTool, ToolReply, tool};

/// How many offers are compared when none is named.
const FEW: usize = 3;

pub(super) fn compare_hotels() -> FnTool<Hotel> {
    let about = "Compares offers by name, or the first ones of the list when none is named.";
    tool::<Hotel, CompareArgs>("compare_hotels", about, |args: CompareArgs, call| async move {
        let state = call.state();
        let offered = || state.offers.iter().map(|offer| offer.hotel.name.clone());
        let wanted = if args.hotels.is_empty() { offered().take(FEW).collect() } else { args.hotels };
        let resolved = resolve(&wanted, &state.offers);
        if resolved.found.is_empty() {
            return Ok(stay(CompareError::NotOffered { names: resolved.unknown, offers: offered().collect() }));
        }
        let compared =
            call.resource::<Desk>()?.ask(|catalogue| catalogue.compare(&resolved.found, args.by, &state.criteria));
        let mut comparison = compared?;
        comparison.unknown = resolved.unknown;
        let hotels: Vec<String> = comparison.rows.iter().map(|row| row.hotel.name.clone()).collect();
        let update = Hotel::update().compared(hotels.clone());
        let compared = Compared { table: table::render(&comparison), hotels };
        if state.is_in(Stage::Compare) {
            let table = compared.table.trim_end().to_owned();
            return Ok(ToolReply::json(&compared).update(update).direct(table));
        }
        Ok(enter(Stage::Compare, compared, update))
    })
    .needs::<Desk>()
}
