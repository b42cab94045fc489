//! What stops a turn, or the tasks of one super-step: flags that cost nothing to look at, beside the tokens that others can
//! wait for.

use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering, fence};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use tokio_util::sync::CancellationToken;

/// Why a turn is stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cause {
    /// Somebody asked for it, or nobody waits for it any more.
    Asked = 1,
    /// It took too long.
    Deadline = 2,
}

/// The cancellation of one turn. Clones cancel together. Because everything in a turn has it at hand, it also says
/// whether somebody reads what the turn tells.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cancel(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    /// The first cause, or 0. Looked at before every task; the token's own state is behind a lock.
    cause: AtomicU8,
    /// Somebody reads events, or has read some.
    read: AtomicBool,
    /// Some of them ask for all that child graphs tell.
    followed: AtomicBool,
    /// It is to stop at the next boundary of a super-step.
    drain: AtomicBool,
    /// Made when somebody first waits for it.
    turn: OnceLock<CancellationToken>,
    /// One more than the last super-step whose tasks were stopped.
    steps: AtomicU64,
    /// The token of the tasks at hand, made when somebody first waits for it.
    step: Mutex<Option<CancellationToken>>,
    /// The task around a child graph: what stops it stops the child.
    outer: Option<(Cancel, u64)>,
}

impl Cancel {
    /// The cancellation of a child graph that runs in a task of this super-step.
    pub(crate) fn within(&self, step: u64) -> Self {
        Self(Arc::new(Inner { outer: Some((self.clone(), step)), ..Inner::default() }))
    }

    /// The super-step of the task of the outermost graph, in a child graph.
    pub(crate) fn outermost_step(&self) -> Option<u64> {
        let (outer, step) = self.0.outer.as_ref()?;
        Some(outer.outermost_step().unwrap_or(*step))
    }

    pub(crate) fn cancel(&self) {
        self.stop(Cause::Asked);
    }

    /// Cancels the turn; the first cause stands.
    pub(crate) fn stop(&self, cause: Cause) {
        let _ = self.0.cause.compare_exchange(0, cause as u8, Ordering::AcqRel, Ordering::Acquire);
        // Either the one who makes the token sees the cause, or the token is seen here.
        fence(Ordering::SeqCst);
        if let Some(token) = self.0.turn.get() {
            token.cancel();
        }
    }

    /// Stops the turn at the next boundary of a super-step.
    pub(crate) fn drain(&self) {
        self.0.drain.store(true, Ordering::Release);
    }

    /// Whether it is to stop there.
    #[inline]
    pub(crate) fn drains(&self) -> bool {
        self.0.drain.load(Ordering::Acquire)
    }

    /// Stops the tasks of a super-step and of no later one.
    pub(crate) fn stop_step(&self, step: u64) {
        self.0.steps.store(step + 1, Ordering::Release);
        // Nothing can panic while it is held.
        if let Some(token) = self.0.step.lock().unwrap_or_else(PoisonError::into_inner).take() {
            token.cancel();
        }
    }

    #[inline]
    pub(crate) fn is_cancelled(&self) -> bool {
        self.0.cause.load(Ordering::Acquire) != 0
            || self.0.outer.as_ref().is_some_and(|(outer, step)| outer.stops(*step))
    }

    /// Whether the tasks of this super-step are to stop.
    #[inline]
    pub(crate) fn stops(&self, step: u64) -> bool {
        self.is_cancelled() || self.0.steps.load(Ordering::Acquire) > step
    }

    /// Somebody reads the turn's events, and perhaps all those of its child graphs.
    pub(crate) fn note_reader(&self, children: bool) {
        if children {
            self.0.followed.store(true, Ordering::Release);
        }
        self.0.read.store(true, Ordering::Release);
    }

    /// Whether somebody reads events of this turn, or of the one around it, or has read some.
    pub(crate) fn is_read(&self) -> bool {
        self.0.read.load(Ordering::Acquire) || self.0.outer.as_ref().is_some_and(|(outer, _)| outer.is_read())
    }

    /// Whether some of those who read or have read ask for all that child graphs tell.
    pub(crate) fn is_followed(&self) -> bool {
        self.0.followed.load(Ordering::Acquire) || self.0.outer.as_ref().is_some_and(|(outer, _)| outer.is_followed())
    }

    pub(crate) fn cause(&self) -> Option<Cause> {
        match self.0.cause.load(Ordering::Acquire) {
            0 => None,
            cause if cause == Cause::Deadline as u8 => Some(Cause::Deadline),
            _ => Some(Cause::Asked),
        }
    }

    /// The token of the turn.
    pub(crate) fn token(&self) -> &CancellationToken {
        let token = self.0.turn.get_or_init(|| match &self.0.outer {
            None => CancellationToken::new(),
            Some((outer, step)) => outer.step_token(*step).child_token(),
        });
        fence(Ordering::SeqCst);
        if self.0.cause.load(Ordering::Acquire) != 0 {
            token.cancel();
        }
        token
    }

    /// The token of the tasks of a super-step.
    pub(crate) fn step_token(&self, step: u64) -> CancellationToken {
        let mut token = self.0.step.lock().unwrap_or_else(PoisonError::into_inner);
        // Asked while the lock is held: whoever stops the step later finds the token.
        if self.0.steps.load(Ordering::Acquire) > step {
            let over = CancellationToken::new();
            over.cancel();
            return over;
        }
        token.get_or_insert_with(|| self.token().child_token()).clone()
    }

    /// Cancels when it is dropped.
    pub(crate) fn guard(&self) -> CancelOnDrop {
        CancelOnDrop(self.clone())
    }
}

/// Cancels a turn that nobody waits for any more.
#[derive(Debug, Default)]
pub(crate) struct CancelOnDrop(Cancel);

impl CancelOnDrop {
    pub(crate) fn cancel(&self) -> &Cancel {
        &self.0
    }
}

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.cancel();
    }
}
