//! What the vertices of a flow tell a stream.

use graph_engine::Name;
use serde::{Deserialize, Serialize};

use crate::message::Usage;

/// What the vertices of a flow tell a stream, as custom events.
///
/// ```
/// use graph_nodes::flow::FlowEvent;
///
/// let event = FlowEvent::CompactionFailed { stage: "explore".into(), reason: "busy".into(), usage: None };
/// let json = r#"{"compaction_failed":{"stage":"explore","reason":"busy","usage":null}}"#;
/// assert_eq!(serde_json::to_string(&event).unwrap(), json);
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum FlowEvent {
    /// A summary took the place of older messages.
    Compacted {
        /// The stage.
        stage: Name,
        /// How many messages it replaced.
        replaced: usize,
        /// How many stayed.
        kept: usize,
        /// What the summary cost, where known.
        usage: Option<Usage>,
    },
    /// There is no summary; the messages stay as they are.
    CompactionFailed {
        /// The stage.
        stage: Name,
        /// Why.
        reason: String,
        /// What the attempt cost, where known.
        usage: Option<Usage>,
    },
}
