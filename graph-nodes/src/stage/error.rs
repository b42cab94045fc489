//! Why a vertex of a stage fails its turn.

use std::time::Duration;

use graph_engine::{BoxError, Name, NodeError};

use crate::gate::{CheckError, Code, GateError, GateFailure, GateLedger, attempts};
use crate::message::HistoryError;
use crate::model::{Response, ToolChoice};
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
/// assert_eq!(error.to_string(), "stage `explore`: the model call was cancelled; abandon the turn and ask again");
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StageError {
    /// No response was accepted, and exhaustion leads nowhere.
    #[error(
        "stage `{stage}`: {failure}; tokens: {} rejected, {} for judges; abandon the turn and ask again, or give the gate a way out with `GateNode::exhausted`",
        .ledger.rejected.total(),
        .ledger.judge.total()
    )]
    Exhausted {
        /// The stage.
        stage: Name,
        /// The limit and every attempt.
        failure: GateFailure,
        /// What it cost.
        ledger: Box<GateLedger>,
        /// What the model said last, if it gave a response: it was rejected.
        last: Option<Box<Response>>,
    },
    /// Trying again is pointless.
    #[error(
        "stage `{stage}`: trying again is pointless: {}; {}, {} tokens; remove the cause, abandon the turn and ask again",
        cause(code, reason, ledger),
        attempts(.ledger.attempts.len()),
        .ledger.tokens()
    )]
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
    #[error("stage `{stage}`: {reason}")]
    Gate {
        /// The stage.
        stage: Name,
        /// Why.
        reason: GateError,
    },
    /// The model says that its call was cancelled.
    #[error("stage `{stage}`: the model call was cancelled; abandon the turn and ask again")]
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
    /// Every tool of the stage failed too often, so that nothing can be called any more.
    #[error(
        "stage `{stage}`: every tool failed too often in a row in this turn ({}); remove the cause and proceed, or give the stage a way out with `ToolsNode::all_broken`",
        listed(tools)
    )]
    AllToolsBroken {
        /// The stage.
        stage: Name,
        /// The tools.
        tools: Vec<String>,
    },
    /// The model was asked as often as one turn may.
    #[error(
        "stage `{stage}`: the model was called {limit} times in this turn, which is the limit; proceed to go on, or give the stage a way out with `AgentNode::out_of_calls`"
    )]
    ModelCallLimit {
        /// The stage.
        stage: Name,
        /// The limit.
        limit: u32,
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
    #[error("stage `{stage}`: {reason}")]
    History {
        /// The stage.
        stage: Name,
        /// What is wrong.
        reason: HistoryError,
    },
    /// The stage offers a tool that there is not.
    #[error("stage `{stage}`: {reason}")]
    Tools {
        /// The stage.
        stage: Name,
        /// Which one.
        reason: ToolBoxError,
    },
    /// The model must call a tool that it isn't offered.
    #[error(
        "stage `{stage}`: {}, but the tools that are offered are {}; offer it with `AgentNode::tools`, or choose otherwise with `AgentNode::tool_choice`",
        chosen(choice),
        listed(offered)
    )]
    ToolChoice {
        /// The stage.
        stage: Name,
        /// What the model must do.
        choice: ToolChoice,
        /// The tools.
        offered: Vec<String>,
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
    /// The prompt can't be made.
    #[error("stage `{stage}`: the prompt can't be made: {reason}")]
    Prompt {
        /// The stage.
        stage: Name,
        /// Why.
        #[source]
        reason: BoxError,
    },
    /// Agent and gate of one stage are not of the same one, or write into different fields.
    #[error(
        "the gate of stage `{stage}` is put together with an agent of stage `{agent}`; give both the same stage and the same seat"
    )]
    StagesDiffer {
        /// The gate's stage.
        stage: Name,
        /// The agent's.
        agent: Name,
    },
    /// A gate that is a vertex of its own can't take back what was streamed.
    #[error(
        "stage `{stage}`: a gate that is a vertex of its own holds all output back; to stream before the verdict, ask and judge in one vertex, a `GatedNode`"
    )]
    Streaming {
        /// The stage.
        stage: Name,
    },
    /// A check of the gate can't be built.
    #[error("stage `{stage}`: {reason}")]
    Check {
        /// The stage.
        stage: Name,
        /// Why.
        reason: CheckError,
    },
    /// The accepted structured output can't be read, although its check could.
    #[error(
        "stage `{stage}`: the accepted structured output is no `{wanted}`: {message}; make the type's `Deserialize` depend on its input alone"
    )]
    Output {
        /// The stage.
        stage: Name,
        /// The type.
        wanted: &'static str,
        /// What is wrong.
        message: String,
    },
    /// Nobody provides the model.
    #[error(
        "stage `{stage}`: nobody provides a `{model}`; call `Runner::provide_arc`, or give the agent the model itself"
    )]
    NoModel {
        /// The stage.
        stage: Name,
        /// The type, for `dyn ChatModel` without its path.
        model: &'static str,
    },
}

/// The code, the validator where one said it, and why.
fn cause(code: &Code, reason: &str, ledger: &GateLedger) -> String {
    let said = ledger.attempts.last().and_then(|attempt| attempt.reasons.iter().find(|said| said.code == *code));
    said.map_or_else(|| format!("`{code}` ({reason})"), ToString::to_string)
}

fn chosen(choice: &ToolChoice) -> String {
    match choice {
        ToolChoice::Named(tool) => format!("the model must call `{tool}`"),
        _ => "the model must call a tool".to_owned(),
    }
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
