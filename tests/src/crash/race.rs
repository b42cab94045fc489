//! Two processes that run turns of one thread against each other.

use std::sync::Arc;

use graph_engine::{CheckpointStore, Graph, RunError, START, State, StoreError};

/// What both write.
#[derive(State, Clone, Debug, Default, PartialEq)]
pub struct Raced {
    /// The input of each turn.
    #[state(append)]
    pub inputs: Vec<u64>,
    /// What the node made of it.
    #[state(append)]
    pub seen: Vec<u64>,
}

/// Inputs at which the race is over.
pub const RACES: usize = 500;

fn graph() -> Graph<Raced> {
    let node = |state: graph_engine::Snap<Raced>| {
        let last = state.inputs.last().copied();
        std::future::ready(Raced::update().seen(last))
    };
    let graph = Graph::<Raced>::builder("raced").node("see", node).edge(START, "see").compile();
    graph.unwrap_or_else(|error| panic!("{error}"))
}

/// Sends inputs of its own, or goes on with what the other one left, until enough have come.
///
/// # Errors
/// Whatever is no defeat.
pub async fn race(store: Arc<dyn CheckpointStore>, number: u64) -> Result<(), String> {
    let thread = graph().runner().store_arc(store).thread("raced");
    for round in 0.. {
        let state = thread.state().await.map_err(|error| error.to_string())?;
        if state.state.inputs.len() >= RACES && state.next.is_empty() {
            return Ok(());
        }
        let turn = if state.next.is_empty() {
            thread.run(Raced::update().inputs([number * 1_000_000 + round]))
        } else {
            thread.proceed()
        };
        match turn.await.map(drop).map_err(|failed| *failed.error) {
            Ok(())
            // The other one was faster, at some point between the look and the commit.
            | Err(RunError::Store { cause: StoreError::Conflict { .. }, .. }
                | RunError::Unfinished { .. }
                | RunError::NothingToProceed { .. }) => {}
            Err(error) => return Err(error.to_string()),
        }
    }
    Ok(())
}

/// What must be true of the thread once both are over.
///
/// # Errors
/// What isn't.
pub async fn verify_race(store: Arc<dyn CheckpointStore>) -> Result<(), String> {
    let thread = graph().runner().store_arc(store).thread("raced");
    let state = thread.state().await.map_err(|error| error.to_string())?;
    if state.state.inputs != state.state.seen {
        return Err(format!("{} inputs, {} seen", state.state.inputs.len(), state.state.seen.len()));
    }
    let mut inputs = state.state.inputs.clone();
    inputs.sort_unstable();
    inputs.dedup();
    if inputs.len() != state.state.inputs.len() {
        return Err("an input is there twice".into());
    }
    let by_one = inputs.iter().filter(|input| **input < 2_000_000).count();
    if by_one == 0 || by_one == inputs.len() {
        return Err("only one of the two ever won".into());
    }
    Ok(())
}
