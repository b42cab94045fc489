//! Models behind an OpenAI-compatible server, for graph-nodes.
//!
//! | you want to | take |
//! | --- | --- |
//! | talk to a server | [`OpenAi`], which builds an [`OpenAiModel`] |
//! | keep a key where nobody sees it | [`ApiKey`] |
//! | say how long a call may take | [`Timeouts`] |
//! | call tools where a server or a model can't | [`ToolMode::Schema`] |
//! | stay inside of an allowance | [`Limits`] |
//! | make vectors of texts for a long-term store | [`OpenAiEmbedder`] |
//! | count tokens before they are sent | [`OpenAi::context`], `Tiktoken` (feature `tiktoken`) |
//! | read the bytes of an answer without a network | [`StreamReader`], [`read_answer`], [`read_error`] |
//!
//! TLS is a choice of the user: the features `rustls` and `native-tls`; without them only `http` is spoken.

mod build_error;
mod chunks;
mod embedder;
mod excerpt;
mod http;
mod http_date;
mod key;
mod limits;
mod meter;
mod model;
mod openai;
mod pace;
mod read;
mod request;
mod retry_after;
mod schema;
mod secrets;
mod settings;
mod stream_reader;
#[cfg(feature = "testing")]
pub mod testing;
#[cfg(feature = "tiktoken")]
mod tiktoken;
mod timeouts;
mod tool_mode;
mod wire;

pub use build_error::BuildError;
pub use embedder::{EmbedError, OpenAiEmbedder};
pub use key::{ApiKey, KeyError};
pub use limits::Limits;
pub use model::OpenAiModel;
pub use openai::OpenAi;
pub use read::{read_answer, read_error};
/// The HTTP client, for one of your own: [`OpenAi::http_client`].
pub use reqwest;
pub use reqwest::header::HeaderMap;
pub use stream_reader::StreamReader;
#[cfg(feature = "tiktoken")]
pub use tiktoken::{Tiktoken, UnknownVocabulary};
pub use timeouts::Timeouts;
pub use tool_mode::ToolMode;
