//! Why a turn failed: with the thread, the super-step and the node, and what to do next.

mod failure;
mod turn_error;

pub use failure::{TaskFailure, TaskRef};
pub use turn_error::TurnError;

use std::fmt;
use std::time::Duration;

use crate::checkpoint_id::CheckpointId;
use crate::error::{BoxError, StoreError};
use crate::name::{Name, quoted};
use crate::state::CodecError;
use crate::task::{BadAnswer, InterruptId};

fn listed<T: fmt::Display>(items: &[T], separator: &str) -> String {
    items.iter().map(ToString::to_string).collect::<Vec<_>>().join(separator)
}

fn names(names: &[Name]) -> String {
    quoted(names.iter().map(Name::as_str))
}

/// Why a turn failed.
///
/// What is stored of the thread is always the last good checkpoint: [`Thread::proceed`](crate::Thread::proceed) goes
/// on from there, [`Thread::abandon`](crate::Thread::abandon) drops what is unfinished.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// Two tasks wrote one single-writer field; nothing of the step was applied.
    #[error(
        "thread `{thread}`, super-step {step}: field `{field}` was written by {}; nothing of the step was applied; \
         let one node write it, or give the field a merge rule such as `#[state(append)]`",
        listed(.tasks, " and ")
    )]
    WriteConflict {
        /// The thread.
        thread: Name,
        /// The super-step.
        step: u64,
        /// The field.
        field: String,
        /// All tasks that wrote it, in task order.
        tasks: Vec<TaskRef>,
    },
    /// Tasks failed for good; what their siblings finished is kept.
    #[error(
        "thread `{thread}`, super-step {step}: {}",
        listed(.failures, ", and ")
    )]
    Step {
        /// The thread.
        thread: Name,
        /// The super-step.
        step: u64,
        /// Every failure of the step, in task order.
        failures: Vec<TaskFailure>,
    },
    /// A router failed; the step's updates are kept and `proceed` only routes again.
    #[error("thread `{thread}`, super-step {step}: the router of `{node}` failed: {cause}")]
    Router {
        /// The thread.
        thread: Name,
        /// The super-step.
        step: u64,
        /// The node whose router it is.
        node: Name,
        /// What the router said.
        cause: BoxError,
    },
    /// A reducer refused an item or panicked; nothing of the step was applied.
    #[error("thread `{thread}`, super-step {step}: merging failed: {cause}; nothing of the step was applied")]
    Merge {
        /// The thread.
        thread: Name,
        /// The super-step.
        step: u64,
        /// What the reducer said.
        cause: BoxError,
    },
    /// The input of a turn was refused by a reducer.
    #[error("thread `{thread}`: the input was refused: {cause}; nothing of it was kept, correct it and send it again")]
    Input {
        /// The thread.
        thread: Name,
        /// What the reducer said.
        cause: BoxError,
    },
    /// The router of START failed.
    #[error(
        "thread `{thread}`: the router of START failed: {cause}; nothing of the input was kept, send it again once \
         the router can decide"
    )]
    Entry {
        /// The thread.
        thread: Name,
        /// What the router said.
        cause: BoxError,
    },
    /// The turn made as many super-steps as it may.
    #[error(
        "thread `{thread}`, super-step {step}: the turn has not ended after {limit} super-steps; next would be {}; \
         raise the limit with `Runner::step_limit`",
        names(.pending)
    )]
    StepLimit {
        /// The thread.
        thread: Name,
        /// The limit.
        limit: u64,
        /// Super-steps since the thread began.
        step: u64,
        /// The nodes that would run next.
        pending: Vec<Name>,
    },
    /// A call of a child graph made as many super-steps as it may by itself.
    #[error(
        "thread `{thread}`, child graph `{namespace}`, super-step {step}: it has not ended after {limit} super-steps; next \
         would be {}; raise its own limit with `step_limit` where it is called",
        names(.pending)
    )]
    ChildStepLimit {
        /// The thread.
        thread: Name,
        /// The namespace of the child graph.
        namespace: Name,
        /// The limit.
        limit: u64,
        /// Super-steps of the child graph since it began.
        step: u64,
        /// Its nodes that would run next.
        pending: Vec<Name>,
    },
    /// A cluster (or a node in none) stayed as often as it may since it was entered.
    #[error(
        "thread `{thread}`, super-step {step}: `{node}` stayed more than {limit} times since {} was entered; raise \
         the limit with `Runner::stay_limit`",
        .cluster.as_ref().map_or_else(|| "it".to_owned(), |c| format!("cluster `{c}`"))
    )]
    StayLimit {
        /// The thread.
        thread: Name,
        /// The super-step.
        step: u64,
        /// The node that asked to stay.
        node: Name,
        /// The cluster around it.
        cluster: Option<Name>,
        /// The limit.
        limit: u32,
    },
    /// More tasks would be sent in one super-step than may be; the step's updates are kept.
    #[error(
        "thread `{thread}`, super-step {step}: {sent} tasks would be sent at once, but at most {limit} may be; raise the \
         limit with `Runner::fan_out_limit`"
    )]
    FanOutLimit {
        /// The thread.
        thread: Name,
        /// The super-step.
        step: u64,
        /// How many there would be.
        sent: usize,
        /// The limit.
        limit: usize,
        /// START would send them, so nothing of the input was kept.
        entering: bool,
    },
    /// The state would be larger than it may be; it was not stored.
    #[error(
        "thread `{thread}`, super-step {step}: the stored state would have {bytes} bytes, but may have at most {limit}; \
         the largest field is `{field}`; the last checkpoint is intact; store less, or raise the limit with \
         `Runner::state_limit`"
    )]
    StateLimit {
        /// The thread.
        thread: Name,
        /// The super-step.
        step: u64,
        /// How large it would be.
        bytes: u64,
        /// The limit.
        limit: u64,
        /// The largest field.
        field: String,
    },
    /// The turn took longer than it may.
    #[error(
        "thread `{thread}`, super-step {step}: the turn has not ended within {limit:?}; unfinished: {}; raise the \
         limit with `Runner::deadline` or `Turn::deadline`",
        names(.pending)
    )]
    Deadline {
        /// The thread.
        thread: Name,
        /// The super-step.
        step: u64,
        /// How long it might take.
        limit: Duration,
        /// The nodes that are unfinished.
        pending: Vec<Name>,
    },
    /// New input came while tasks are unfinished.
    #[error(
        "thread `{thread}` has unfinished tasks: {}; {}, `abandon` drops them, then send the input again",
        names(.pending),
        match &.open[..] {
            [] => "`proceed` runs them".to_owned(),
            open => format!("`resume` answers what they ask ({})", listed(open, ", ")),
        }
    )]
    Unfinished {
        /// The thread.
        thread: Name,
        /// Their nodes.
        pending: Vec<Name>,
        /// The questions that are open.
        open: Vec<InterruptId>,
    },
    /// Everything that is unfinished waits for answers.
    #[error(
        "thread `{thread}` waits for answers to {}; `resume` answers them, `abandon` drops them",
        listed(.open, ", ")
    )]
    Waiting {
        /// The thread.
        thread: Name,
        /// The questions that are open.
        open: Vec<InterruptId>,
    },
    /// There is no open question.
    #[error(
        "thread `{thread}` has no open question; `run` sends it new input, `proceed` goes on with what is unfinished"
    )]
    NothingToAnswer {
        /// The thread.
        thread: Name,
    },
    /// Several questions are open, and it isn't said which of them is answered. Nothing was changed.
    #[error(
        "thread `{thread}` has open questions {}; say which of them is answered, with `resume_by_id`",
        listed(.open, ", ")
    )]
    WhichAnswer {
        /// The thread.
        thread: Name,
        /// The questions that are open.
        open: Vec<InterruptId>,
    },
    /// An answer is for a question that isn't open. None of the answers was taken.
    #[error(
        "thread `{thread}` has no open question {id}; open are {}; none of the answers was taken",
        listed(.open, ", ")
    )]
    UnknownInterrupt {
        /// The thread.
        thread: Name,
        /// The id that was given.
        id: InterruptId,
        /// The questions that are open.
        open: Vec<InterruptId>,
    },
    /// An answer can't be written as JSON. Nothing was changed.
    #[error("thread `{thread}`: the answer can't be written as JSON: {why}")]
    AnswerNotJson {
        /// The thread.
        thread: Name,
        /// What serde said.
        why: String,
    },
    /// Answers are not of the type that their nodes ask for. Their questions are open again; what others were answered
    /// has been used.
    #[error("thread `{thread}`: {}; the question is open again, answer it with the right type", listed(.bad, ", and "))]
    BadAnswer {
        /// The thread.
        thread: Name,
        /// Each of them, in task order.
        bad: Vec<BadAnswer>,
    },
    /// The thread was completed by a `finish`.
    #[error("thread `{thread}` is completed; begin a new thread")]
    Completed {
        /// The thread.
        thread: Name,
    },
    /// Another turn of this thread is running in this process.
    #[error("thread `{thread}` is busy with another turn; await that one first")]
    Busy {
        /// The thread.
        thread: Name,
    },
    /// There is nothing to go on with.
    #[error("thread `{thread}` has nothing to proceed with; send it input with `run`")]
    NothingToProceed {
        /// The thread.
        thread: Name,
    },
    /// The call needs a store and the runner has none.
    #[error("thread `{thread}`: `{operation}` needs a checkpoint store; give the runner one with `Runner::store`")]
    NoStore {
        /// The thread.
        thread: Name,
        /// What was asked for.
        operation: &'static str,
    },
    /// A node asks for a resource that nobody provides; nothing was run.
    #[error(
        "thread `{thread}`: node `{node}` asks for a resource of type `{resource}`, which nobody provides; call \
         `Runner::provide` or `Turn::with`"
    )]
    MissingResource {
        /// The thread.
        thread: Name,
        /// The node.
        node: Name,
        /// The type's name.
        resource: &'static str,
    },
    /// The state can't be written as a checkpoint.
    #[error("thread `{thread}`, super-step {step}: {cause}; the last checkpoint is intact")]
    Encode {
        /// The thread.
        thread: Name,
        /// The super-step.
        step: u64,
        /// Which field and why.
        cause: CodecError,
    },
    /// A checkpoint can't be read into this graph or state.
    #[error(
        "thread `{thread}`: checkpoint {checkpoint} can't be read into this graph: {why}; use the graph and state that \
         made it, read an older one with `state_at`, or `delete` the thread"
    )]
    Restore {
        /// The thread.
        thread: Name,
        /// The checkpoint.
        checkpoint: CheckpointId,
        /// What doesn't fit.
        why: String,
    },
    /// The thread has no checkpoint of that id.
    #[error("thread `{thread}` has no checkpoint {id}; `history` lists those that it has")]
    UnknownCheckpoint {
        /// The thread.
        thread: Name,
        /// The id that was asked for.
        id: CheckpointId,
    },
    /// A write from outside was refused; nothing was changed.
    #[error("thread `{thread}`: the edit was refused: {why}; nothing was changed")]
    Edit {
        /// The thread.
        thread: Name,
        /// Why.
        why: String,
    },
    /// An edit doesn't say as which node it writes, and no single node wrote last; nothing was changed.
    #[error(
        "thread `{thread}`: as which node the edit writes is not clear; say it with `as_node`: {}; nothing was changed",
        if .candidates.is_empty() { "no node has finished yet".into() } else { format!("the last to finish were {}", names(.candidates)) }
    )]
    AmbiguousEdit {
        /// The thread.
        thread: Name,
        /// The nodes that finished last.
        candidates: Vec<Name>,
    },
    /// The graph has no node of that name; nothing was run or changed.
    #[error("thread `{thread}`: the graph has no node `{node}`; its nodes are {}", names(.known))]
    UnknownNode {
        /// The thread.
        thread: Name,
        /// The name.
        node: Name,
        /// The graph's nodes.
        known: Vec<Name>,
    },
    /// Nothing is stored under the thread's id.
    #[error("thread `{thread}` is not stored; run it first, or look for its id with `Runner::threads`")]
    UnknownThread {
        /// The thread.
        thread: Name,
    },
    /// The new thread exists already; nothing was changed.
    #[error("thread `{thread}` exists already; choose another id, or `delete` it first")]
    ThreadExists {
        /// The thread.
        thread: Name,
    },
    /// The store failed; the in-memory state was dropped and the last checkpoint stands.
    #[error("thread `{thread}`: {cause}")]
    Store {
        /// The thread.
        thread: Name,
        /// What the store said.
        cause: StoreError,
    },
    /// Something of the user's panicked outside of a node: a field's serialiser, a `Clone` or `Default` of the state, a
    /// store.
    #[error(
        "thread `{thread}`, super-step {step}: code of yours was called outside of a node, and it panicked: {what}"
    )]
    Panicked {
        /// The thread.
        thread: Name,
        /// The super-step.
        step: u64,
        /// What the panic said.
        what: String,
    },
    /// The engine itself is wrong. Please report it.
    #[error("thread `{thread}`: the engine broke its own rules: {what}; please report this")]
    Internal {
        /// The thread.
        thread: Name,
        /// What happened.
        what: String,
    },
}

impl RunError {
    /// The variant as a word, for labels and spans.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::WriteConflict { .. } => "write_conflict",
            Self::Step { .. } => "step",
            Self::Router { .. } => "router",
            Self::Merge { .. } => "merge",
            Self::Input { .. } => "input",
            Self::Entry { .. } => "entry",
            Self::StepLimit { .. } => "step_limit",
            Self::ChildStepLimit { .. } => "child_step_limit",
            Self::StayLimit { .. } => "stay_limit",
            Self::FanOutLimit { .. } => "fan_out_limit",
            Self::StateLimit { .. } => "state_limit",
            Self::Deadline { .. } => "deadline",
            Self::Unfinished { .. } => "unfinished",
            Self::Waiting { .. } => "waiting",
            Self::NothingToAnswer { .. } => "nothing_to_answer",
            Self::WhichAnswer { .. } => "which_answer",
            Self::UnknownInterrupt { .. } => "unknown_interrupt",
            Self::AnswerNotJson { .. } => "answer_not_json",
            Self::BadAnswer { .. } => "bad_answer",
            Self::Completed { .. } => "completed",
            Self::Busy { .. } => "busy",
            Self::NothingToProceed { .. } => "nothing_to_proceed",
            Self::NoStore { .. } => "no_store",
            Self::MissingResource { .. } => "missing_resource",
            Self::Encode { .. } => "encode",
            Self::Restore { .. } => "restore",
            Self::UnknownCheckpoint { .. } => "unknown_checkpoint",
            Self::Edit { .. } => "edit",
            Self::AmbiguousEdit { .. } => "ambiguous_edit",
            Self::UnknownNode { .. } => "unknown_node",
            Self::UnknownThread { .. } => "unknown_thread",
            Self::ThreadExists { .. } => "thread_exists",
            Self::Store { .. } => "store",
            Self::Panicked { .. } => "panicked",
            Self::Internal { .. } => "internal",
        }
    }

    /// What can be done next with the thread, when that depends on whether the runner has a store.
    #[must_use]
    pub fn next(&self, stored: bool) -> Option<&'static str> {
        let with_store = match self {
            Self::WriteConflict { .. } => "`proceed` runs exactly these tasks again",
            Self::Step { .. } => "`proceed` runs only what failed, `abandon` drops it",
            Self::Router { .. } => "the step's updates are kept, `proceed` only routes again",
            Self::Merge { .. } | Self::Panicked { .. } => "`proceed` runs the step again from the last checkpoint",
            Self::StepLimit { .. } | Self::ChildStepLimit { .. } | Self::StayLimit { .. } => {
                "`proceed` goes on with a new count"
            }
            Self::Deadline { .. } => "`proceed` goes on with a new deadline",
            Self::FanOutLimit { entering: true, .. } => return Some("nothing of the input was kept"),
            Self::FanOutLimit { .. } => "the step's updates are kept, `proceed` routes again",
            _ => return None,
        };
        Some(if stored { with_store } else { "the state of this turn is lost, because the runner has no store" })
    }
}
