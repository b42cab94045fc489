//! The concierge in a terminal: options, input, the chat itself, and how it
//! looks. The only part of the demo that writes text for people.

mod chat;
mod input;
mod interrupt;
mod options;
mod program;
mod style;
mod trace;

pub use chat::{Chat, Next, Setup};
pub use input::{LONGEST_LINE, Line, Lines};
pub use options::Options;
pub use program::{Failure, run};
pub use style::Style;
