//! Many callers who each want one key, and a backend that answers many keys at once.
//!
//! A [`Coalescer`] collects the keys of a short window and loads them by one call. Every tenant has windows of its own,
//! so that no key of one tenant ever stands in a call for another.
//!
//! | you want to | take |
//! | --- | --- |
//! | load one key, together with whoever asks at the same time | [`TenantCoalescer::get`] |
//! | load several keys that one caller has | [`TenantCoalescer::get_many`] |
//! | say how long to wait, how many keys, how long a load may take | [`CoalescerBuilder`] |
//! | see how well it works | [`Coalescer::metrics`] |
//! | stop without losing anybody | [`Coalescer::shutdown`], [`Coalescer::close`] |
//!
//! A list of ids that a model gives in one call needs no window: that is a
//! [`BatchLookup`](crate::batch::BatchLookup).
//!
//! # Who drives a load
//! Each batch is a task of its own on the tokio runtime of whoever opened it. No waiter leads: any of them may be
//! dropped at any time, and the others get their values. When the last one is gone, the load is cancelled. Whatever
//! ends the task (a panic, the end of its runtime), its waiters get an error and its keys can be asked for again.

mod batch;
mod builder;
mod coalescer;
mod error;
mod flight;
mod lanes;
mod metrics;
mod tenant;

pub use builder::CoalescerBuilder;
pub use coalescer::Coalescer;
pub use error::CoalesceError;
pub use metrics::CoalescerMetrics;
pub use tenant::TenantCoalescer;
