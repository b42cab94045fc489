//! What a turn tells while it runs: events, readers, recorded paths.

mod events;
mod readers;
mod recorded_path;
mod streams;
