//! Days for which the catalogue has prices.

use super::arguments;
use crate::hotel::calendar::{last_day, parse_day};
use crate::hotel::state::Hotel;
use crate::hotel::tools::args::{AvailabilityArgs, CriteriaArgs};
use crate::hotel::understand::understand;
use graph_nodes::gate::Verdict;
use graph_nodes::message::ToolCall;
use graph_nodes::model::Response;
use jiff::civil::Date;

/// The days of a search lie between today and the end of the season, unless the
/// guest named others: a model that mistakes the year is stopped here.
pub(super) fn inside_season(response: &Response, state: &Hotel) -> Verdict {
    let season = state.today..=last_day(state.today);
    let mut outside = response.calls.iter().flat_map(days).filter(|day| !season.contains(day)).peekable();
    if outside.peek().is_none() {
        return Verdict::Accept;
    }
    let said = understand(&state.last_said().unwrap_or_default(), state.today).slots;
    match outside.find(|day| ![said.check_in, said.check_out].contains(&Some(*day))) {
        None => Verdict::Accept,
        Some(day) => Verdict::retry(
            "outside_season",
            format!(
                "the guest did not say `{day}`, and it is outside the season from `{}` to `{}`: give the days that were said",
                season.start(),
                season.end(),
            ),
        ),
    }
}

/// The days that a call names.
fn days(call: &ToolCall) -> impl Iterator<Item = Date> {
    let (check_in, check_out) = match call.name.as_str() {
        "capture_criteria" | "change_criteria" => {
            arguments(call).map(|args: CriteriaArgs| (args.check_in, args.check_out)).unwrap_or_default()
        }
        "check_availability" => {
            arguments(call).map(|args: AvailabilityArgs| (args.check_in, args.check_out)).unwrap_or_default()
        }
        _ => (None, None),
    };
    // What is no day of the calendar is named by the tool.
    [check_in, check_out].into_iter().flatten().filter_map(|day| parse_day(&day).ok())
}
