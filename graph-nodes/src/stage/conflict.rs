//! Several tools of one response wanted to go to different places.

use graph_engine::Name;
use serde::{Deserialize, Serialize};

use crate::tool::ToolRoute;

/// Several tools of one response wanted to go to different places: which one was followed, and which were not. The
/// updates and answers of all of them count nevertheless.
///
/// ```
/// use graph_nodes::stage::{RouteConflict, RouteOf};
/// use graph_nodes::tool::ToolRoute;
///
/// let route = |call: &str, to: &str| RouteOf {
///     call_id: call.into(),
///     tool: "show".into(),
///     route: ToolRoute::Go(to.into()),
/// };
/// let conflict = RouteConflict { stage: "explore".into(), taken: route("c1", "b"), dropped: vec![route("c2", "c")] };
/// assert_eq!(conflict.dropped[0].call_id, "c2");
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RouteConflict {
    /// The stage.
    pub stage: Name,
    /// The route that was followed.
    pub taken: RouteOf,
    /// The others, in request order; one that leads to the same place is no conflict.
    pub dropped: Vec<RouteOf>,
}

/// The route that one call asked for.
///
/// ```
/// use graph_nodes::stage::RouteOf;
/// use graph_nodes::tool::ToolRoute;
///
/// let route = RouteOf { call_id: "c1".into(), tool: "end".into(), route: ToolRoute::Finish("bye".into()) };
/// assert_eq!(route.tool, "end");
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RouteOf {
    /// The call; the first one of a group.
    pub call_id: String,
    /// Its tool; of a group all of them, sorted, with commas between.
    pub tool: String,
    /// Where it wanted to go.
    pub route: ToolRoute,
}

/// Finish beats all, then the first go or direct in request order, then stay.
pub(super) fn choose(stage: &Name, mut routes: Vec<RouteOf>) -> (Option<RouteOf>, Option<RouteConflict>) {
    let strength = |route: &RouteOf| match route.route {
        ToolRoute::Finish(_) => 2,
        ToolRoute::Go(_) | ToolRoute::Direct(_) => 1,
        ToolRoute::Stay => 0,
    };
    // The first of the strongest: `max_by_key` would give the last one.
    let Some(strongest) = routes.iter().map(strength).max() else { return (None, None) };
    let Some(at) = routes.iter().position(|route| strength(route) == strongest) else { return (None, None) };
    let taken = routes.remove(at);
    routes.retain(|route| route.route != taken.route);
    let conflict = RouteConflict { stage: stage.clone(), taken: taken.clone(), dropped: routes };
    (Some(taken), Some(conflict).filter(|conflict| !conflict.dropped.is_empty()))
}
