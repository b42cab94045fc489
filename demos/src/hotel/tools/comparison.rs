//! Hotels side by side.

use super::args::CompareArgs;
use super::{Desk, enter, stay};
use crate::hotel::catalogue::{CompareError, Comparison, Resolved, resolve};
use crate::hotel::facts::Compared;
use crate::hotel::stage::Stage;
use crate::hotel::state::Hotel;
use crate::hotel::table;
use graph_nodes::tool::{FnTool, ToolReply, tool};

/// How many offers are compared when none is named.
const FEW: usize = 3;

pub(crate) fn compare_hotels() -> FnTool<Hotel> {
    let about = "Compares offers by name, or the first ones of the list when none is named.";
    tool::<Hotel, CompareArgs>("compare_hotels", about, |args: CompareArgs, call| async move {
        let state = call.state();
        let resolved = match to_compare(&args, state) {
            Ok(resolved) => resolved,
            Err(not_offered) => return Ok(stay(not_offered)),
        };
        let desk = call.resource::<Desk>()?;
        let comparison = desk.ask(|catalogue| catalogue.compare(&resolved.found, args.by, &state.criteria))?;
        let compared = compared(comparison, resolved);
        let update = Hotel::update().compared(compared.hotels.clone());
        if state.is_in(Stage::Compare) {
            let table = compared.table.trim_end().to_owned();
            return Ok(ToolReply::json(&compared).update(update).direct(table));
        }
        Ok(enter(Stage::Compare, compared, update))
    })
    .needs::<Desk>()
}

/// The offers that a call wants compared, and the names that are none.
pub(super) fn to_compare(args: &CompareArgs, state: &Hotel) -> Result<Resolved, CompareError> {
    let offered = || state.offers.iter().map(|offer| offer.hotel.name.clone());
    let wanted = if args.hotels.is_empty() { offered().take(FEW).collect() } else { args.hotels.clone() };
    let resolved = resolve(&wanted, &state.offers);
    if resolved.found.is_empty() {
        return Err(CompareError::NotOffered { names: resolved.unknown, offers: offered().collect() });
    }
    Ok(resolved)
}

/// A comparison as it is told.
pub(super) fn compared(mut comparison: Comparison, resolved: Resolved) -> Compared {
    comparison.unknown = resolved.unknown;
    let hotels = comparison.rows.iter().map(|row| row.hotel.name.clone()).collect();
    Compared { table: table::render(&comparison), hotels }
}
