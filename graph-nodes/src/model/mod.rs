//! Models: one trait, what goes in, what streams out, and models for tests.
//!
//! | what you need | take |
//! | --- | --- |
//! | talk to a provider | an adapter crate's [`ChatModel`], such as that of `graph-nodes-openai` |
//! | know what sort of failure it was, and what to do | [`ModelError::kind`] |
//! | a model in a test, answer by answer | [`ScriptedModel`] |
//! | a model made of a rule, offline | [`FnModel`] |
//! | what a provider answered once, again | [`RecordedModel`], made by a [`Cassette`] |
//! | bytes of a provider's event stream as texts | [`SseDecoder`] |
//! | how long a request is, before it is sent | [`TokenEstimate`] |
//! | chunks of a stream as one response | [`Collector`], or [`ChatModel::complete`] |

mod canonical;
mod chat_model;
mod chunk;
mod collect;
mod error;
mod error_kind;
mod function;
mod recorded;
mod request;
mod response;
mod script;
mod scripted;
mod sse;
mod tokens;
mod tool_spec;

pub(crate) use canonical::canonical;
pub use chat_model::{ChatModel, ChunkStream};
pub use chunk::Chunk;
pub use collect::{Collector, collect};
pub use error::ModelError;
pub use error_kind::ModelErrorKind;
pub use function::{FnModel, IntoChunks};
pub use recorded::{Cassette, CassetteError, RecordedModel};
pub use request::Request;
pub use response::{CutOff, Response};
pub use script::Turn;
pub use scripted::{ScriptError, ScriptedModel};
pub use sse::{SseDecoder, SseError};
pub use tokens::{BytesPerToken, TokenEstimate};
pub use tool_spec::{ToolChoice, ToolSpec};
