//! One number for a whole state, so that states can be compared without being kept.

use std::fmt;

use serde_json::Value;

use super::thread::ThreadState;
use crate::checkpoint_id::Fnv;
use crate::state::{CodecError, State};

/// A hash of a state's stored fields: equal states have equal hashes on every machine and in every version of the
/// engine. Fields that iterate in no fixed order, such as a `HashSet`, must serialise in one; keys of maps are sorted.
///
/// ```
/// use graph_engine::{Graph, MemoryStore, START, State};
///
/// #[derive(State, Clone, Default)]
/// struct Trip {
///     city: String,
/// }
///
/// async fn explore() {}
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let graph = Graph::<Trip>::builder("trip").node("explore", explore).edge(START, "explore").compile().unwrap();
/// let runner = graph.runner().store(MemoryStore::new());
/// for (thread, city) in [("a", "Oslo"), ("b", "Oslo"), ("c", "Bergen")] {
///     runner.thread(thread).run(Trip::update().city(city)).await.unwrap();
/// }
/// let hash = async |thread| runner.thread(thread).state().await.unwrap().hash().unwrap();
/// assert_eq!(hash("a").await, hash("b").await);
/// assert_ne!(hash("a").await, hash("c").await);
/// # });
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StateHash(u128);

impl fmt::Display for StateHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

impl<S: State> ThreadState<S> {
    /// A hash of the state.
    ///
    /// # Errors
    /// If a value can't be stored.
    pub fn hash(&self) -> Result<StateHash, CodecError> {
        hash_of(&*self.state)
    }
}

pub(super) fn hash_of<S: State>(state: &S) -> Result<StateHash, CodecError> {
    let (mut hash, mut bytes) = (Fnv::default(), Vec::new());
    for (index, field) in state.fields().iter().enumerate().filter(|(_, field)| !field.transient) {
        canonical(state, index, &mut bytes)?;
        hash = hash.text(field.name.as_bytes()).text(&bytes);
    }
    Ok(StateHash(hash.folded()))
}

/// A field as JSON in one form only.
pub(super) fn canonical<S: State>(state: &S, index: usize, bytes: &mut Vec<u8>) -> Result<(), CodecError> {
    bytes.clear();
    state.encode(index, None, bytes)?;
    // Only maps have several forms: the order of their keys. A `Value` sorts them.
    if bytes.contains(&b'{') {
        let encoded = serde_json::from_slice::<Value>(bytes).and_then(|value| serde_json::to_vec(&value));
        let field = || state.fields()[index].name.to_string();
        *bytes = encoded.map_err(|cause| CodecError::Encode { field: field(), cause })?;
    }
    Ok(())
}
