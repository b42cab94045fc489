//! What the vertices tell a stream.

use graph_engine::Name;
use serde::{Deserialize, Serialize};

use super::RouteConflict;
use crate::assemble::AssemblyWarning;
use crate::gate::{BestOf, Code, ExhaustedBy, Modification, Retracted};
use crate::message::CallStatus;

/// What the vertices tell a stream, as custom events. Nothing in here holds text of a rejected response.
///
/// ```
/// use graph_nodes::gate::Code;
/// use graph_nodes::stage::StageEvent;
///
/// let event = StageEvent::Rejected { stage: "explore".into(), codes: vec![Code::EMPTY], attempt: 2, max: 3 };
/// let json = r#"{"rejected":{"stage":"explore","codes":["empty"],"attempt":2,"max":3}}"#;
/// assert_eq!(serde_json::to_string(&event).unwrap(), json);
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum StageEvent {
    /// The gate rejected a response and will ask again.
    Rejected {
        /// The stage.
        stage: Name,
        /// Why.
        codes: Vec<Code>,
        /// The attempt that comes next, from 1.
        attempt: u32,
        /// How many there can be.
        max: u32,
    },
    /// What was shown of an attempt doesn't count: its response was rejected, or accepted with a change that begins in
    /// what was shown. Only a [`GatedNode`](super::GatedNode) that streams before it has judged says so.
    Retracted {
        /// The stage.
        stage: Name,
        /// The attempt, how much was shown, and why.
        retracted: Retracted,
    },
    /// A limit was reached, and the fallback model is asked.
    Fallback {
        /// The stage.
        stage: Name,
        /// The limit.
        by: ExhaustedBy,
    },
    /// A limit was reached, and the best of the rejected responses was accepted.
    AcceptedBest {
        /// The stage.
        stage: Name,
        /// Which one.
        best: BestOf,
    },
    /// A validator changed the accepted response.
    Modified {
        /// The stage.
        stage: Name,
        /// The marks before and after, and why.
        modification: Modification,
    },
    /// The stream of the accepted response was odd.
    Warnings {
        /// The stage.
        stage: Name,
        /// What was odd.
        warnings: Vec<AssemblyWarning>,
    },
    /// Calls got new ids, because the history holds theirs already.
    Renamed {
        /// The stage.
        stage: Name,
        /// Pairs of old and new id.
        ids: Vec<(String, String)>,
    },
    /// A handler begins.
    ToolStarted {
        /// The stage.
        stage: Name,
        /// The tool.
        tool: String,
        /// The call.
        call_id: String,
    },
    /// A call is answered, whether a handler ran or not.
    ToolAnswered {
        /// The stage.
        stage: Name,
        /// The tool.
        tool: String,
        /// The call.
        call_id: String,
        /// How it ended.
        status: CallStatus,
    },
    /// A handler failed, or took too long. The answers of its calls follow.
    ToolFailed {
        /// The stage.
        stage: Name,
        /// The tool; of a group all of them, sorted, with commas between.
        tool: String,
        /// The call; the first one of a group.
        call_id: String,
        /// Whether the same call may succeed later.
        retryable: bool,
    },
    /// A handler panicked. The model is not told with which message.
    ToolPanicked {
        /// The stage.
        stage: Name,
        /// The tool.
        tool: String,
        /// The call.
        call_id: String,
        /// What the panic said.
        message: String,
    },
    /// Several tools of one response wanted to go to different places.
    RouteConflict(RouteConflict),
}
