//! What a turn needs and leaves, for turns to come.

use std::sync::{Arc, Mutex};

use crate::driver::Bench;
use crate::machine::Machine;
use crate::state::State;

/// Turns that end at the same time and whose parts are kept.
const MOST: usize = 8;

/// What a turn needs beside what is its own.
pub(super) struct Parts<S: State> {
    pub(super) bench: Arc<Bench<S>>,
    pub(super) machine: Option<Box<Machine<S>>>,
}

/// Parts of turns that are over: nothing of a turn is in them but the room of lists. Nobody waits for them: whoever finds
/// them in use makes some of its own, or drops them.
pub(super) struct Spare<S: State>(Mutex<Vec<Parts<S>>>);

impl<S: State> Default for Spare<S> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<S: State> Spare<S> {
    pub(super) fn take(&self) -> Option<Parts<S>> {
        self.0.try_lock().ok()?.pop()
    }

    /// Keeps what nobody uses any more.
    pub(super) fn give(&self, mut bench: Arc<Bench<S>>, mut machine: Box<Machine<S>>) {
        let machine = machine.rest().then_some(machine);
        if Bench::rest(&mut bench)
            && let Ok(mut spare) = self.0.try_lock()
            && spare.len() < MOST
        {
            spare.push(Parts { bench, machine });
        }
    }
}
