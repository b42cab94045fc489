//! The domain of the hotel concierge: what a guest may want, what the hotels
//! cost, where they are kept, and how a guest's sentence is understood.
//!
//! Nothing here knows the engine, the terminal or the clock: "today" is always
//! a parameter, and every answer is the same for the same question.

pub mod briefing;
pub mod calendar;
pub mod catalogue;
pub mod choice;
pub mod clean;
pub mod criteria;
pub mod facts;
pub mod graph;
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
