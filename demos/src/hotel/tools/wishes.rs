//! Recording and changing what the guest wants.

use super::args::CriteriaArgs;
use super::{enter, stay_with};
use crate::hotel::facts::Captured;
use crate::hotel::stage::Stage;
use crate::hotel::state::{Hotel, HotelUpdate};
use graph_nodes::tool::{FnTool, tool};

pub(super) fn capture_criteria() -> FnTool<Hotel> {
    let about = "Records what the guest wants. Give only what was said; the rest stays as it is.";
    tool::<Hotel, CriteriaArgs>("capture_criteria", about, |args: CriteriaArgs, call| async move {
        let (captured, update) = capture(&args, call.state());
        if captured.problems.is_empty() {
            return Ok(graph_nodes::tool::ToolReply::json(captured).update(update));
        }
        Ok(stay_with(&captured, update)?)
    })
}

pub(super) fn change_criteria() -> FnTool<Hotel> {
    let about = "Goes back to the search, with the changes that the guest said, or with none to ask for them.";
    tool::<Hotel, CriteriaArgs>("change_criteria", about, |args: CriteriaArgs, call| async move {
        let (captured, update) = capture(&args, call.state());
        Ok(enter(Stage::Explore, captured, update))
    })
}

/// Takes what a call says into the criteria.
pub(crate) fn capture(args: &CriteriaArgs, state: &Hotel) -> (Captured, HotelUpdate) {
    let mut criteria = state.criteria.clone();
    let problems = args.apply(&mut criteria, state.today);
    let mut update = Hotel::update().criteria(criteria.clone());
    if args.start_over {
        update = update.offers(Vec::new()).shown(0).compared(Vec::new()).chosen(None);
    }
    let missing = criteria.missing();
    (Captured { criteria, missing, problems, changed: *args != CriteriaArgs::default() }, update)
}
