//! The shared state of a graph: one struct, written through partial updates and merged once a super-step.

mod append;
mod codec;
mod deltas;
#[doc(hidden)]
pub mod derived;
pub(crate) mod dynamic;
mod field;
mod finite;
mod log;
mod stored_fields;
mod write;

pub use append::{Append, PersistAppend};
pub use codec::{CodecError, Encoding, Persist};
pub(crate) use codec::{json_of, read_json, to_json};
pub use deltas::Deltas;
pub use field::{Field, FieldSet, FieldSpec, Fields, Merge};
pub use log::{Iter as LogIter, Log};
pub use stored_fields::StoredFields;
pub use write::{Added, Reduced};

use std::error::Error;

/// A reducer refused an item.
///
/// ```
/// use graph_engine::ReduceError;
///
/// let error = ReduceError::new("total", "would be negative");
/// assert_eq!(error.to_string(), "the reducer of field `total` refused an item: would be negative");
/// ```
#[derive(Debug, thiserror::Error)]
#[error("the reducer of field `{field}` refused an item: {cause}")]
#[non_exhaustive]
pub struct ReduceError {
    /// The field whose reducer failed.
    pub field: String,
    /// What the reducer said.
    pub cause: Box<dyn Error + Send + Sync>,
}

impl ReduceError {
    /// The error of one field's reducer.
    pub fn new(field: impl Into<String>, cause: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self { field: field.into(), cause: cause.into() }
    }
}

/// A typed state that all nodes of a graph share. Derive it: `#[derive(State, Clone, Default)]`.
///
/// # Contract
/// The engine reads the state as an immutable snapshot and changes it once a super-step, in this order:
/// [`stage`](Self::stage) for every task's update in task order (reducers, into new values; the state is not
/// touched and any error leaves it as it was), then [`apply`](Self::apply) for every update, then
/// [`settle`](Self::settle). Neither of the last two may fail or panic.
///
/// A store is written from [`encode`](Self::encode) with a mark of the last commit, never from the old state, so
/// that the state can be changed in place.
///
/// # What a state costs
/// A super-step changes the state in place and copies nothing, as long as nobody keeps a snapshot. Whoever does costs
/// one clone of the struct a step: independent of its size for fields of type [`Log`], `Arc<T>` and persistent maps,
/// proportional to it for `Vec`, `String` and std's maps.
///
/// A checkpoint holds the changed fields only:
/// - of a `Log`, a `Vec` and a `String` with `#[state(append)]` what was added, and never anything twice;
/// - of other collections with `#[state(append)]`, and of fields with a reducer, what was written, until that is more than
///   the whole value was when it was last stored; then the whole value again. All of it together is at most twice what was
///   written, and once the value;
/// - of fields with one writer the whole value.
///
/// Reading such a checkpoint gives what was written to the reducer again. A reducer must therefore be a function of its
/// arguments alone: one that asks a clock or a random number gives another state after a restart. One that copies its
/// value costs a copy for each write that is read; with a `Log`, an `Arc` or a persistent map it doesn't.
///
/// ```
/// use graph_engine::{Log, State};
///
/// #[derive(State, Clone, Default)]
/// struct Trip {
///     city: Option<String>,
///     #[state(append)]
///     notes: Log<String>,
/// }
///
/// let update = Trip::update().city("Oslo").notes(["by train"]);
/// let mut trip = Trip::default();
/// trip.apply(update);
/// assert_eq!(trip.city.as_deref(), Some("Oslo"));
/// assert_eq!(trip.notes.len(), 1);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a graph state",
    label = "not a state",
    note = "add `#[derive(State, Clone, Default)]` to `{Self}`"
)]
pub trait State: Clone + Send + Sync + 'static {
    /// A partial write: what a node returns.
    type Update: Default + Send + Sync + 'static;
    /// Values that reducers made and that are not in the state yet.
    type Staged: Default + Send;

    /// The fields in the order of their indices. Fixed for the life of a state.
    fn fields(&self) -> &[FieldSpec];

    /// Which fields the update writes.
    fn written(&self, update: &Self::Update) -> FieldSet;

    /// Which `append` and `with` fields the update replaces past their rule.
    fn overwritten(&self, update: &Self::Update) -> FieldSet;

    /// Takes the items of `with` fields out of the update and folds them into `staged`.
    ///
    /// # Errors
    /// The first reducer that refuses an item.
    fn stage(&self, staged: &mut Self::Staged, update: &mut Self::Update) -> Result<(), ReduceError>;

    /// Moves everything else of the update into the state.
    fn apply(&mut self, update: Self::Update);

    /// Moves the reducers' values into the state.
    fn settle(&mut self, staged: Self::Staged);

    /// Sets every transient field to its `Default`.
    fn reset_transient(&mut self);

    /// `later` after `first`, as one update.
    fn compose(first: Self::Update, later: Self::Update) -> Self::Update;

    /// Where a field stands now, for a later [`encode`](Self::encode): a length for what can be stored as a delta,
    /// else 0.
    fn mark(&self, field: usize) -> u64;

    /// Appends the field as JSON to `out`: what came after the mark if the field can tell, else the whole value.
    ///
    /// # Errors
    /// [`CodecError`] if the value can't be stored, such as a float that is not finite.
    fn encode(&self, field: usize, since: Option<u64>, out: &mut Vec<u8>) -> Result<Encoding, CodecError>;

    /// The reverse: a base replaces the field, a delta is added to it.
    ///
    /// # Errors
    /// [`CodecError`] if the bytes are not a value of the field's type.
    fn decode(&mut self, field: usize, encoding: Encoding, bytes: &[u8]) -> Result<(), CodecError>;

    /// Adds several deltas, as so many calls of [`decode`](Self::decode) do. They may cost less together.
    ///
    /// # Errors
    /// That of the first one that can't be read. The state is of no use then.
    fn decode_deltas(&mut self, field: usize, deltas: Deltas<'_>) -> Result<(), CodecError> {
        deltas.iter().try_for_each(|bytes| self.decode(field, Encoding::Delta, bytes))
    }

    /// The fields of which a checkpoint holds the writes, because a mark can't tell what was added: `with` fields, and
    /// those of [`PersistAppend::MARKED`] `false`. Fixed for the life of a state. A field that is not among them is
    /// stored by [`encode`](Self::encode) alone.
    fn stored_by_writes(&self) -> FieldSet {
        FieldSet::EMPTY
    }

    /// Appends what an update writes to one of these fields as JSON to `out`, in the form that it has in
    /// [`encode_update`](Self::encode_update); nothing if it doesn't write the field.
    ///
    /// # Errors
    /// [`CodecError`] if the write can't be stored.
    fn encode_write(&self, field: usize, update: &Self::Update, out: &mut Vec<u8>) -> Result<(), CodecError> {
        let _ = (field, update, out);
        Ok(())
    }

    /// An update as JSON, for the saved result of a task whose super-step is not finished.
    ///
    /// # Errors
    /// [`CodecError`] if a value can't be stored.
    fn encode_update(&self, update: &Self::Update, out: &mut Vec<u8>) -> Result<(), CodecError>;

    /// The reverse of [`encode_update`](Self::encode_update).
    ///
    /// # Errors
    /// [`CodecError`] if the bytes are not an update of this state.
    fn decode_update(&self, bytes: &[u8]) -> Result<Self::Update, CodecError>;

    /// What is left of an update by way of [`encode_update`](Self::encode_update) and
    /// [`decode_update`](Self::decode_update), made without JSON: a copy of all that it writes to fields that are not
    /// transient. `None` if something that it writes can't be cloned.
    fn copy_update(&self, update: &Self::Update) -> Option<Self::Update> {
        let _ = update;
        None
    }
}
