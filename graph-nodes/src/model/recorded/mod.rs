//! A model whose answers were recorded once and are replayed from a file.
//!
//! A cassette is a file of JSON lines, one answer each: the hash of the request, the request, and what streamed back,
//! chunk by chunk, or the error. Secrets are replaced before anything is hashed or written.

mod answer;
mod cassette;
mod difference;
mod error;
mod file;
mod recording;
mod redact;
mod secrets;

pub use cassette::{Cassette, RecordedModel};
pub use error::CassetteError;
