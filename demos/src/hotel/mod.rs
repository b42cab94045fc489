//! The hotel concierge: a domain, an agent on the engine, and a terminal.
//!
//! | floor | modules | knows |
//! | --- | --- | --- |
//! | domain | [`calendar`], [`catalogue`], [`choice`], [`clean`], [`criteria`], [`merge`], [`price`], [`table`], [`understand`] | what a guest may want, what hotels cost, how a sentence is understood |
//! | words | [`stage`], [`facts`], [`briefing`], [`phrase`] | what tools, prompts and models say to each other and to the guest |
//! | agent | [`state`], [`tools`], [`validators`], [`graph`], [`guided`], [`model`] | the engine, and the offline model |
//! | program | [`terminal`] | the command line, the signals, the clock |
//!
//! A floor uses only the floors above it in this table. "Today" is always a
//! parameter: only [`terminal`] asks the system for it, so that every answer is
//! the same for the same question.

pub mod briefing;
pub mod calendar;
pub mod catalogue;
pub mod choice;
pub mod clean;
pub mod criteria;
pub mod facts;
pub mod graph;
pub mod guided;
pub mod merge;
pub mod model;
pub mod phrase;
pub mod price;
pub mod stage;
pub mod state;
pub mod table;
pub mod terminal;
pub mod tools;
pub mod understand;
pub mod validators;
