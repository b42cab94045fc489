//! What nodes and stores fail with. The errors of compiling and running are in files of their own, because they name
//! what stands above this floor.

mod node;
mod store;

pub use node::{BoxError, FaultKind, NodeError};
pub use store::StoreError;
