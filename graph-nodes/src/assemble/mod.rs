//! Streamed tool-call fragments become complete calls.
//!
//! Providers send a tool call in pieces, and hardly two of them number, name
//! and repeat the pieces alike. The [`Assembler`] is fed one [`CallDelta`] at a
//! time and decides which call it belongs to; every deviation from the plain
//! form (index, id and name once, then text) is an [`AssemblyWarning`], so that
//! a provider's defects can be counted.
//!
//! How a delta finds its call, after blank ids and names are taken as absent:
//!
//! | delta | call |
//! | --- | --- |
//! | index without a call | the un-indexed call with this id; or, with neither id nor name, the first open un-indexed call; else a new call |
//! | index with a call, id of a call at this index | that call |
//! | index with a call, other id | a new call if the delta has a name or the call is complete; else the same call, first id kept |
//! | index with a call, no id | the same call |
//! | no index, known id | that call |
//! | no index, new id, with a name | a new call; but the last call if this has neither id nor name and is open |
//! | no index, new id, no name | the last call if it is open or has no id yet; else a new call |
//! | no index, no id, with a name | the last unnamed call, else the last open call of this name, else a new call |
//! | no index, no id, no name | the last open call, else the last call, else a new call; blank text is dropped when no call is open |
//!
//! Whatever the id says, a delta with a name and text that starts a JSON
//! container opens a new call when its call is complete already. A call is
//! complete when its one top-level JSON container is closed.
//!
//! Arguments are never repaired.

mod assembler;
mod delta;
mod finish;
mod locate;
#[cfg(feature = "testing")]
mod random;
mod scan;
mod slot;
mod warning;

pub use assembler::{Assembler, AssemblyEvent, AssemblyPolicy};
pub use delta::{ArgumentsDelta, CallDelta};
pub use finish::{Assembly, AssemblyError};
#[cfg(feature = "testing")]
pub use random::{CallStream, Random, Shape, StreamedCall};
pub use warning::{AssemblyWarning, WarningKind, count_warnings};
