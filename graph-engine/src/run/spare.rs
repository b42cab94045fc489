//! What a turn needs and leaves, for turns to come.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};

use crate::driver::Bench;
use crate::machine::Machine;
use crate::panic::let_go;
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
        // What it forgets may be the user's. A machine that stopped in the middle of that is not used again.
        let rested = catch_unwind(AssertUnwindSafe(|| machine.rest()));
        let machine = match rested {
            Ok(true) => Some(machine),
            Ok(false) | Err(_) => {
                let_go(machine);
                None
            }
        };
        if Bench::rest(&mut bench)
            && let Ok(mut spare) = self.0.try_lock()
            && spare.len() < MOST
        {
            spare.push(Parts { bench, machine });
        }
    }
}
