//! What is counted instead of timed: allocations, commits, bytes, tasks.

mod budgets;
mod commits;
mod counters;
mod growth;
mod stored_bytes;
