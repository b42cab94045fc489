//! Whether offers have a room on other days.

use super::args::AvailabilityArgs;
use super::{Desk, stay};
use crate::hotel::calendar::{Stay, StayError, add_days, parse_day};
use crate::hotel::catalogue::choose;
use crate::hotel::facts::Availability;
use crate::hotel::state::Hotel;
use graph_nodes::batch::BatchLookup;
use graph_nodes::tool::{FnTool, ToolReply, tool};

/// How many hotels one question to the catalogue names: more than a city has.
const CHUNK: usize = 25;

pub(super) fn check_availability() -> FnTool<Hotel> {
    let about = "Says of offers, all of them in one call, whether they have a room on other days and what it costs.";
    tool::<Hotel, AvailabilityArgs>("check_availability", about, |args: AvailabilityArgs, call| async move {
        let state = call.state();
        let days = match wanted(&args, state) {
            Ok(Some(days)) => days,
            Ok(None) => return Ok(stay("no days are known, ask the guest for them")),
            Err(wrong) => return Ok(stay(wrong)),
        };
        let (offers, criteria) = (state.offers.clone(), state.criteria.clone());
        let names: Vec<String> = match args.hotels.as_slice() {
            [] => offers.iter().map(|offer| offer.hotel.name.clone()).collect(),
            named => named.to_vec(),
        };
        let desk = call.resource::<Desk>()?;
        let offered = offers.clone();
        let lookup = BatchLookup::new(move |names| {
            let found = desk.ask(|catalogue| catalogue.vacancies(&names, &days, &criteria));
            async move { Ok(found?) }
        })
        .normalise(move |name| match choose(name, &offered) {
            Ok(offer) => offer.hotel.name.clone(),
            Err(_) => name.trim().to_owned(),
        })
        .validate(move |name| choose(name, &offers).map(drop).map_err(|error| error.to_string()))
        .chunk(CHUNK);
        Ok(ToolReply::json(Availability { stay: days, report: lookup.run(names).await? }))
    })
    .needs::<Desk>()
    .concurrent()
    .read_only()
}

/// The days as said; what is not said is as in the search.
fn wanted(args: &AvailabilityArgs, state: &Hotel) -> Result<Option<Stay>, StayError> {
    let day = |said: &Option<String>| said.as_deref().map(parse_day).transpose();
    let known = state.criteria.stay;
    let (check_in, check_out) = match (day(&args.check_in)?, day(&args.check_out)?, known) {
        (None, None, _) => return Ok(known),
        (Some(check_in), Some(check_out), _) => (check_in, check_out),
        (Some(check_in), None, Some(known)) => (check_in, add_days(check_in, known.nights())),
        (None, Some(check_out), Some(known)) => (known.check_in(), check_out),
        (_, _, None) => return Ok(None),
    };
    Stay::new(check_in, check_out, state.today).map(Some)
}
