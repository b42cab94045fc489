//! How a turn runs: super-steps, branches, joins, routes, reducers, limits.

mod concurrency;
mod deferred;
mod fan_out;
mod group_p;
mod joins;
mod limits;
mod limits_of_a_turn;
mod lone_tasks;
mod merge_order;
mod overwrite_and_reducers;
mod payloads;
mod proceed_and_abandon;
mod resources;
mod routing_moves;
mod seed_graph;
mod shuffled;
mod shuffled_shapes;
mod siblings;
mod state_copies;
mod stay_and_clusters;
mod step_failures;
mod turns_that_follow;
mod write_conflict;
