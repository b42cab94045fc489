//! The checks, by what they are about.

pub mod batches;
pub mod filters;
pub mod items;
pub mod listings;
pub mod meanings;
pub mod pages;
pub mod texts;
pub mod times;
