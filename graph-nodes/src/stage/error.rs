//! Why a vertex of a stage fails its turn.

use std::time::Duration;

use graph_engine::{Name, NodeError};

use crate::gate::{Code, GateError, GateFailure, GateLedger};
use crate::message::HistoryError;
use crate::tool::ToolBoxError;

/// Why a vertex of a stage fails its turn. Always fatal: what can be tried again is tried by the gate. It is the
/// source of the failure that the turn ends with.
///
/// The state stays as it was before the vertex ran, draft and open round included. `proceed` judges the same response
/// again, without a model call; `abandon` and new input begin a new round.
///
/// ```
/// use graph_nodes::stage::StageError;
///
/// let error = StageError::Cancelled { stage: "explore".into() };
/// assert_eq!(error.to_string(), "stage `explore`: the model call was cancelled; abandon the turn or ask again");
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StageError {
    /// No response was accepted, and exhaustion leads nowhere.
    #[error("stage `{stage}`: {failure}; tokens: {} rejected, {} for judges", .ledger.rejected.total(), .ledger.judge.total())]
    Exhausted {
        /// The stage.
        stage: Name,
        /// The limit and every attempt.
        failure: GateFailure,
        /// What it cost.
        ledger: Box<GateLedger>,
    },
    /// Trying again is pointless.
    #[error("stage `{stage}`: the response was rejected for good, `{code}`: {reason}; {} attempts, tokens: {}", .ledger.started(), .ledger.tokens())]
    Fatal {
        /// The stage.
        stage: Name,
        /// Why.
        code: Code,
        /// Why, for people.
        reason: String,
        /// What it cost.
        ledger: Box<GateLedger>,
    },
    /// The gate can't do its work.
    #[error("stage `{stage}`: {source}")]
    Gate {
        /// The stage.
        stage: Name,
        /// Why.
        source: GateError,
    },
    /// The model says that its call was cancelled.
    #[error("stage `{stage}`: the model call was cancelled; abandon the turn or ask again")]
    Cancelled {
        /// The stage.
        stage: Name,
    },
    /// The gate chose an edge that leads nowhere.
    #[error(
        "stage `{stage}`: the gate chose the edge `{edge}` (`{code}`: {reason}), which leads nowhere; the edges are {}; add it with `GateNode::escalate`",
        listed(known)
    )]
    UnknownEdge {
        /// The stage.
        stage: Name,
        /// The edge.
        edge: String,
        /// Why it was chosen.
        code: Code,
        /// Why, for people.
        reason: String,
        /// The edges there are.
        known: Vec<String>,
    },
    /// A tool goes to a node that is not declared.
    #[error(
        "stage `{stage}`: the tool `{tool}` goes to `{target}`, which is not declared; the targets are {}; add it with `ToolsNode::targets`",
        listed(known)
    )]
    UnknownTarget {
        /// The stage.
        stage: Name,
        /// The tool.
        tool: String,
        /// Where it wants to go.
        target: Name,
        /// The declared targets.
        known: Vec<String>,
    },
    /// A response with calls was accepted in shadow mode, and there is nobody to run them.
    #[error(
        "stage `{stage}`: a response with tool calls was accepted, but no node runs them; name one with `GateNode::calls`"
    )]
    NobodyRunsCalls {
        /// The stage.
        stage: Name,
    },
    /// The vertex found no draft of its own stage.
    #[error(
        "stage `{stage}`: the {vertex} found {found}; put agent, gate and tools into one cluster whose entry is the agent, go to the agent first, and don't make the draft transient"
    )]
    NoDraft {
        /// The stage.
        stage: Name,
        /// Which vertex.
        vertex: &'static str,
        /// What it found instead.
        found: String,
    },
    /// The gate has a deadline and the agent doesn't know of it, so that it can't cut a call.
    #[error("stage `{stage}`: the gate has a deadline of {deadline:?}, but the agent knows {}; give both the same policy with `AgentNode::policy`", .agent.map_or_else(|| "of none".to_owned(), |agent| format!("one of {agent:?}")))]
    DeadlineDiffers {
        /// The stage.
        stage: Name,
        /// The gate's.
        deadline: Duration,
        /// The agent's.
        agent: Option<Duration>,
    },
    /// The history breaks its rules, so that no provider would take it.
    #[error("stage `{stage}`: {source}")]
    History {
        /// The stage.
        stage: Name,
        /// What is wrong.
        source: HistoryError,
    },
    /// The stage offers a tool that there is not.
    #[error("stage `{stage}`: {source}")]
    Tools {
        /// The stage.
        stage: Name,
        /// Which one.
        source: ToolBoxError,
    },
    /// The gate asks a fallback model, and the agent has none.
    #[error(
        "stage `{stage}`: the gate asks a fallback model when a limit is reached, but the agent has none; give it one with `AgentNode::fallback_model`"
    )]
    NoFallback {
        /// The stage.
        stage: Name,
    },
    /// The agent was given more than one fallback model.
    #[error(
        "stage `{stage}`: the agent was given several fallback models ({}), but one is asked, once; give it one only",
        listed(models)
    )]
    SecondFallback {
        /// The stage.
        stage: Name,
        /// The models, or the types of those that are resources.
        models: Vec<String>,
    },
    /// Nobody provides the model.
    #[error("stage `{stage}`: nobody provides a `{model}`; call `Runner::provide_arc` or `AgentNode::with_model`")]
    NoModel {
        /// The stage.
        stage: Name,
        /// The type.
        model: &'static str,
    },
}

fn listed(names: &[String]) -> String {
    match names {
        [] => "none".to_owned(),
        names => names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", "),
    }
}

impl StageError {
    pub(super) fn fatal(self) -> NodeError {
        NodeError::fatal(self)
    }
}
