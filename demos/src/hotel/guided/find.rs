//! Recording what the guest said, and searching with it, in one call.

use crate::hotel::state::Hotel;
use crate::hotel::tools::args::CriteriaArgs;
use crate::hotel::tools::{Desk, capture, search_with};
use crate::hotel::understand::understand;
use graph_nodes::tool::{FnTool, ToolReply, tool};
use jiff::civil::Date;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a guest says of a search, in the guest's own words. Nothing is described: a small model reads every word.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct FindArgs {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) city: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) dates: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) guests: Option<u32>,
}

pub(super) fn find_hotels() -> FnTool<Hotel> {
    let about = "Finds hotels. Leave out what the guest does not say.";
    tool::<Hotel, FindArgs>("find_hotels", about, |args: FindArgs, call| async move {
        let state = call.state();
        let (captured, update) = capture(&criteria(args, state.today), state);
        if !captured.problems.is_empty() || !captured.missing.is_empty() {
            return Ok(ToolReply::json(captured).update(update));
        }
        let desk = call.resource::<Desk>()?;
        search_with(&desk, &captured.criteria, update)
    })
    .needs::<Desk>()
}

/// The same for the tool that takes days of the calendar.
fn criteria(FindArgs { city, dates, guests }: FindArgs, today: Date) -> CriteriaArgs {
    let said = dates.map(|dates| understand(&dates, today).slots).unwrap_or_default();
    let days = CriteriaArgs::from(&said);
    CriteriaArgs {
        city,
        guests,
        check_in: days.check_in,
        check_out: days.check_out,
        nights: days.nights,
        ..CriteriaArgs::default()
    }
}
