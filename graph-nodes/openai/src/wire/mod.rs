//! What a server writes, read with patience: unknown fields, nulls, missing fields and odd types are no mistakes.

mod content;
mod event;
mod failure;
mod lenient;
mod usage;

pub(crate) use event::{CallStyle, Event};
pub(crate) use failure::Failure;
