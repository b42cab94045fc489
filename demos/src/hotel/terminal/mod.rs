//! The concierge in a terminal: options, input, the chat itself, and how it
//! looks. The only part of the demo that writes text for people.

mod chat;
mod failure;
mod history;
mod input;
mod interrupt;
mod local;
mod model;
mod options;
mod program;
mod session;
mod standing;
mod style;
mod threads;
mod trace;

pub use chat::{Chat, Next, Setup};
pub use failure::Failure;
pub use input::{LONGEST_LINE, Line, Lines};
pub use local::LocalError;
pub use options::{Mode, Options};
pub use program::run;
pub use style::Style;
pub use threads::DEFAULT_STORE;
