//! A graph as data: what a file says, what `Graph::spec` gives back, and every mistake of a file with its place.

mod mistake;
mod model;
mod places;
mod policy;
mod read;
mod registry;
mod walk;

pub use mistake::{Mistake, MistakeKind, SpecError, TextPlace};
pub use model::{ClusterEntry, EdgeEntry, FieldEntry, GraphSpec, JoinEntry, Moves, NodeEntry, RouterEntry};
pub(crate) use policy::PolicyContext;
pub use policy::{CacheEntry, PolicyEntry, RetryEntry};
pub(crate) use read::read;
pub use registry::Registry;
pub(crate) use registry::{Refused, RouterChoice};
pub(crate) use walk::Problems;
