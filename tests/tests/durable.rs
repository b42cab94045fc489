//! Threads that outlive a turn: stores, interrupts, recovery, time travel.

mod breakpoints;
mod busy_threads;
mod deltas_together;
mod diffs;
mod durability;
mod durable_reviewed;
mod edits;
mod expiry;
mod forks;
mod functional;
mod hostile_rows;
mod interrupts;
mod kept_states;
mod longterm_memory;
mod longterm_reported;
mod memo;
mod recovery;
mod reload_anywhere;
mod replay;
mod schema_evolution;
mod store_contract;
mod stored_form;
mod stored_writes;
mod stores_reported;
mod threads_and_store;
mod time_travel;
