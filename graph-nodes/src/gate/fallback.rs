//! The one attempt with another model.

use serde::{Deserialize, Serialize};

use super::ExhaustedBy;

/// The one attempt with another model, under [`Exhaustion::FallbackModel`](super::Exhaustion::FallbackModel). It is
/// judged like every other one; what is said of it is final.
///
/// ```
/// use graph_nodes::gate::{ExhaustedBy, FallbackUse};
///
/// let used = FallbackUse { by: ExhaustedBy::Attempts, attempt: None };
/// assert_eq!(serde_json::to_string(&used).unwrap(), r#"{"by":"attempts","attempt":null}"#);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FallbackUse {
    /// The limit that led to it.
    pub by: ExhaustedBy,
    /// The number of its attempt; none until its outcome is in the ledger.
    pub attempt: Option<u32>,
}
