//! The hotel with a language model behind a server, which here plays what it is told.

mod failing;
mod free;
mod guided;
mod killed;
mod played;
#[cfg(unix)]
mod script;
