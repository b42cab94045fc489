//! How a run of a workflow ended.

use std::fmt;

use serde::de::DeserializeOwned;

use super::OUTPUT;
use crate::name::Name;
use crate::run::{Status, TurnEnd};
use crate::run_error::{RunError, TurnError};
use crate::state::dynamic::DynState;
use crate::task::Interrupt;

/// How a run of a workflow ended that did not fail.
///
/// ```
/// use graph_engine::{Entrypoint, Status, Workflow};
///
/// let echo = Entrypoint::new("echo", |_: Workflow<u32>, n: u32| async move { Ok(n) });
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let end = echo.runner().unwrap().thread("t").run(&3).await.unwrap();
/// assert_eq!((end.status(), end.output), (Status::Done, Some(3)));
/// # });
/// ```
#[non_exhaustive]
pub struct WorkflowEnd<O> {
    /// What the function returned, if it came to its end.
    pub output: Option<O>,
    /// The turn of the graph behind it.
    pub turn: TurnEnd<DynState>,
}

/// Why a run of a workflow gives no end.
///
/// ```
/// use graph_engine::{Entrypoint, NodeError, Workflow, WorkflowError};
///
/// let full = Entrypoint::new("full", |_: Workflow<()>, (): ()| async { Err(NodeError::fatal("no room")) });
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let Err(WorkflowError::Turn(failed)) = full.runner().unwrap().thread("t").run(&()).await else { panic!("no room") };
/// assert_eq!(failed.failures()[0].source.to_string(), "no room");
/// # });
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WorkflowError {
    /// The turn failed.
    #[error(transparent)]
    Turn(#[from] TurnError),
    /// The thread could not be read.
    #[error(transparent)]
    Thread(Box<RunError>),
    /// The input is no JSON.
    #[error("thread `{thread}`: the input of the workflow can't be written as JSON: {why}; nothing ran")]
    Input {
        /// The thread.
        thread: Name,
        /// What is wrong with it.
        why: String,
    },
    /// What is stored is of another type.
    #[error(
        "thread `{thread}`: the {what} that is stored is no `{wanted}`: {why}; read it as the type that was written"
    )]
    Stored {
        /// The thread.
        thread: Name,
        /// Output or saved value.
        what: &'static str,
        /// The type that was asked for.
        wanted: &'static str,
        /// What is wrong with it.
        why: String,
    },
}

impl<O: DeserializeOwned> WorkflowEnd<O> {
    /// Reads the output of a turn of this thread.
    ///
    /// # Errors
    /// [`WorkflowError::Stored`] if it is no `O`.
    pub fn of(thread: &Name, turn: TurnEnd<DynState>) -> Result<Self, WorkflowError> {
        let output = match turn.status {
            Status::Done => Some(stored(thread, OUTPUT, &turn.state)?),
            // What is there is the output of an earlier run.
            _ => None,
        };
        Ok(Self { output, turn })
    }
}

impl<O> WorkflowEnd<O> {
    /// How it ended.
    #[must_use]
    pub fn status(&self) -> Status {
        self.turn.status
    }

    /// The open questions.
    #[must_use]
    pub fn interrupts(&self) -> &[Interrupt] {
        self.turn.interrupts()
    }
}

/// A field of the state as a type.
pub(super) fn stored<T: DeserializeOwned>(
    thread: &Name,
    what: &'static str,
    state: &DynState,
) -> Result<T, WorkflowError> {
    state.read(what).map_err(|error| WorkflowError::Stored {
        thread: thread.clone(),
        what,
        wanted: std::any::type_name::<T>(),
        why: error.to_string(),
    })
}

impl<O: fmt::Debug> fmt::Debug for WorkflowEnd<O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WorkflowEnd").field("output", &self.output).field("turn", &self.turn).finish()
    }
}
