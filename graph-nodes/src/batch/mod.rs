//! A list of ids, or of writes, as one call with one report.
//!
//! A model that needs twelve records should make one call with twelve ids, not twelve calls. What it gives is a model's
//! list: with blanks, doubles, wrong ids and sometimes far too many. A [`BatchLookup`] makes few backend requests of it
//! and answers every id.
//!
//! | you want to | take |
//! | --- | --- |
//! | look up a list of ids | [`BatchLookup`] |
//! | write to a list of ids, each at most once | [`BatchWrite`] |
//! | have either as a tool | [`BatchLookup::into_tool`], [`BatchWrite::into_tool`] |
//! | read what became of it | [`BatchReport`] |
//! | remember writes beyond the process | an implementation of [`WriteStore`] |
//! | collect single look-ups of several callers | a [`Coalescer`](crate::coalesce::Coalescer) |
//!
//! # What happens to a list
//! 1. every id is normalised; blank ones are dropped;
//! 2. the first of equal ids stays, in its place;
//! 3. every id is validated; one that is invalid is answered so, and never sent;
//! 4. of the others as many as the cap allows are taken, the rest is deferred and named;
//! 5. what was taken is sent in chunks, some at a time, each with its timeout; what fails, fails for its chunk alone;
//! 6. the report has the summary first, then the ids in the order in which the model gave them.

mod error;
mod ids;
mod lookup;
mod report;
mod tools;
mod write;
mod write_item;
mod write_store;

pub use error::BatchError;
pub use ids::RawId;
pub use lookup::BatchLookup;
pub use report::{BatchReport, BatchStatus, BatchSummary, ItemOutcome, ItemResult};
pub use tools::{LookupTool, WriteTool};
pub use write::BatchWrite;
pub use write_item::{PendingWrites, Write, WriteItem};
pub use write_store::{MemoryWrites, WriteStore, Written};
