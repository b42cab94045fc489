//! Searching, and showing what was found.

use super::args::{NoArgs, ShowArgs};
use super::{Desk, enter, stay, stay_with};
use crate::hotel::catalogue::{Catalogue, CatalogueError};
use crate::hotel::criteria::{Budget, Criteria};
use crate::hotel::facts::{NothingFound, Offered, Without};
use crate::hotel::phrase;
use crate::hotel::stage::Stage;
use crate::hotel::state::{Hotel, HotelUpdate};
use graph_nodes::tool::{FnTool, ToolError, ToolReply, tool};

pub(super) fn search() -> FnTool<Hotel> {
    let about = "Searches the catalogue with the recorded criteria. City, dates and guests must be known.";
    tool::<Hotel, NoArgs>("search", about, |_, call| async move {
        let criteria = &call.state().criteria;
        let missing = criteria.missing();
        if !missing.is_empty() {
            return Ok(stay(phrase::question(&missing, &criteria.pending)));
        }
        if let Some(problem) = criteria.problems(call.state().today).first() {
            return Ok(stay(problem));
        }
        let desk = call.resource::<Desk>()?;
        search_with(&desk, criteria, Hotel::update())
    })
    .needs::<Desk>()
}

/// Searches, and enters the stage that shows what was found. What is found replaces what an earlier search found.
pub(crate) fn search_with(
    desk: &Desk,
    criteria: &Criteria,
    update: HotelUpdate,
) -> Result<ToolReply<Hotel>, ToolError> {
    let offers = desk.ask(|catalogue| catalogue.search(criteria))?;
    if offers.is_empty() {
        let without = desk.ask(|catalogue| helpful(catalogue, criteria))?;
        let nothing = NothingFound { criteria: criteria.clone(), without };
        let update = update.offers(offers).shown(0).compared(Vec::new()).chosen(None);
        return Ok(stay_with(&nothing, update)?);
    }
    let page = Offered::page(&offers, 1, criteria);
    let update = update.shown(page.offers.len()).offers(offers).compared(Vec::new()).chosen(None);
    Ok(enter(Stage::Present, page, update))
}

pub(super) fn show_offers() -> FnTool<Hotel> {
    let about = "Shows the offers from the beginning, or those that were not shown yet.";
    tool::<Hotel, ShowArgs>("show_offers", about, |args: ShowArgs, call| async move {
        let state = call.state();
        let from = if args.more { state.shown + 1 } else { 1 };
        if from > state.offers.len() {
            let all = format!("That was the whole list of {}.", phrase::hotels(state.offers.len()));
            return Ok(stay(all));
        }
        let page = Offered::page(&state.offers, from, &state.criteria);
        let update = Hotel::update().shown(from - 1 + page.offers.len());
        if state.is_in(Stage::Present) {
            return Ok(ToolReply::json(&page).update(update).direct(phrase::offers(&page)));
        }
        Ok(enter(Stage::Present, page, update))
    })
}

/// Which single part of the criteria keeps all hotels away.
fn helpful(catalogue: &Catalogue, criteria: &Criteria) -> Result<Vec<Without>, CatalogueError> {
    let mut ways: Vec<(String, Criteria)> = Vec::new();
    if criteria.budget != Budget::default() {
        ways.push(("the price limit".into(), Criteria { budget: Budget::default(), ..criteria.clone() }));
    }
    for amenity in &criteria.amenities {
        let amenities = criteria.amenities.iter().filter(|other| *other != amenity).copied().collect();
        ways.push((phrase::amenity(*amenity), Criteria { amenities, ..criteria.clone() }));
    }
    if !criteria.rooms.is_empty() {
        let rooms: Vec<String> = criteria.rooms.iter().copied().map(phrase::room).collect();
        ways.push((
            format!("the wish for a {}", phrase::list(&rooms, "or")),
            Criteria { rooms: Vec::new(), ..criteria.clone() },
        ));
    }
    let mut helpful = Vec::new();
    for (part, wider) in ways {
        let found = catalogue.search(&wider)?.len();
        if found > 0 {
            helpful.push(Without { part, found });
        }
    }
    Ok(helpful)
}
