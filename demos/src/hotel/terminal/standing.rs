//! Going on with a conversation that is kept: where it stands, what is unfinished, and who else is at it.

use super::chat::text;
use super::{Chat, Failure, Next};
use crate::hotel::clean::{clean, clean_line};
use graph_engine::{Name, RunError, StoreError};
use jiff::civil::Date;
use std::io::{self, Write};

/// What may be said to a turn that was not finished.
pub(super) const GO_ON_OR_DROP: &str = "Please say \"go on\" or \"drop\".";

impl Chat {
    /// Goes on with this conversation: writes where it stands, and what is unfinished. `at_once` finishes that without
    /// asking.
    pub(super) async fn go_on(
        &mut self,
        thread: Name,
        at_once: bool,
        out: &mut (impl Write + ?Sized),
        stop: impl Future<Output = ()> + Send + 'static,
    ) -> Result<Next, Failure> {
        self.thread = self.runner.thread(thread);
        self.unnamed = None;
        self.visited.push(self.thread.id().clone());
        self.stand(out).await?;
        if self.unfinished && at_once {
            return Ok(self.finish(out, stop).await?);
        }
        self.offer(out)?;
        Ok(Next::GoOn)
    }

    /// Writes where the conversation stands after another program went on with it or the store failed.
    pub(super) async fn look(&mut self, out: &mut (impl Write + ?Sized)) -> Result<(), Failure> {
        self.stand(out).await?;
        Ok(self.offer(out)?)
    }

    /// Writes what was said last, and what the guest is asked.
    async fn stand(&mut self, out: &mut (impl Write + ?Sized)) -> Result<(), Failure> {
        let found = self.thread.state().await?;
        self.completed = found.completed;
        self.asked = false;
        self.unfinished = !found.next.is_empty() && found.interrupts.is_empty();
        if found.checkpoint.is_none() {
            return Ok(());
        }
        writeln!(out, "Going on with `{}`.", self.thread.id())?;
        if let Some(said) = found.state.last_said() {
            writeln!(out, "{}", self.style.bold(format!("> {}", clean_line(&said))))?;
        }
        for reply in &found.replies {
            writeln!(out, "{}", clean(&text(&reply.value)))?;
        }
        if found.completed {
            writeln!(out, "{}", complete(found.state.booking.is_some()))?;
        }
        Ok(self.ask(&found.interrupts, out)?)
    }

    /// Asks what to do with a turn that was not finished.
    fn offer(&self, out: &mut (impl Write + ?Sized)) -> io::Result<()> {
        if self.unfinished {
            writeln!(
                out,
                "This was not answered to the end, unless another program still works on it. {GO_ON_OR_DROP}"
            )?;
        }
        Ok(())
    }

    /// Finishes a turn that was not finished.
    pub(super) async fn finish(
        &mut self,
        out: &mut (impl Write + ?Sized),
        stop: impl Future<Output = ()> + Send + 'static,
    ) -> io::Result<Next> {
        self.unfinished = false;
        match self.play(self.thread.proceed(), out, stop).await? {
            Ok(next) => Ok(next),
            Err(failed) => self.failed(failed, out).await,
        }
    }

    /// Whether a yes still counts: the question may have been asked days ago.
    pub(super) async fn is_in_time(&self, today: Date, out: &mut (impl Write + ?Sized)) -> io::Result<bool> {
        let stay = match self.thread.state().await {
            Ok(found) => found.state.criteria.stay,
            // The turn that follows meets the same error and tells it.
            Err(_) => return Ok(true),
        };
        match stay.map(|stay| stay.check_today(today)) {
            Some(Err(too_late)) => {
                writeln!(out, "This is too late: {too_late}.")?;
                Ok(false)
            }
            _ => Ok(true),
        }
    }
}

/// Whether another program went on with the thread in the meantime.
pub(super) fn is_elsewhere(error: &RunError) -> bool {
    matches!(
        error,
        RunError::Store { cause: StoreError::Conflict { .. }, .. }
            | RunError::Unfinished { .. }
            | RunError::Waiting { .. }
            | RunError::NothingToAnswer { .. }
            | RunError::NothingToProceed { .. }
    )
}

/// What is said in a conversation that is over.
pub(super) fn complete(booked: bool) -> String {
    let booking = if booked { "Your booking is made and this" } else { "This" };
    format!("{booking} conversation is complete. Say \"new\" for another one, or \"quit\" to leave.")
}
