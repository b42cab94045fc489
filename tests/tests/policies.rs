//! What surrounds a task: retries, timeouts, caches, error routes, cancelling, panics.

mod blocking_nodes;
mod cache;
mod cache_faults;
mod cancellation;
mod drain_and_deadline;
mod error_route_checks;
mod error_routes;
mod layers_views_inputs;
mod metrics;
mod panics;
mod retries;
mod run_errors;
mod timeouts;
mod timeouts_idle;
