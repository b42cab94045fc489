//! A state whose fields are only known at run time: a schema, values as JSON, and updates by field name.

mod error;
mod kind;
mod schema;
mod state;
mod update;

pub use error::{FieldError, SchemaError};
pub use kind::JsonType;
pub(crate) use schema::ReducerFn;
pub use schema::{Schema, SchemaField};
pub use state::DynState;
pub use update::{DynStaged, DynUpdate};
