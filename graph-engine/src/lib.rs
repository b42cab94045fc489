//! A typed state-graph engine for agents.

extern crate self as graph_engine;

mod name;
mod state;

#[doc(inline)]
pub use graph_engine_macros::State;
pub use name::Name;
pub use state::{
    Added, Append, CodecError, Encoding, Field, FieldSet, FieldSpec, Fields, Log, LogIter, Merge, Persist,
    PersistAppend, ReduceError, Reduced, State,
};

#[doc(hidden)]
pub mod __private {
    pub use crate::state::{decode_field, encode_field};
    pub use serde_json;
}
