//! From the first line to the last.

use super::interrupt::Interrupts;
use super::{Chat, Failure, Line, Lines, Next, Style};
use crate::hotel::clean::clean_line;
use graph_engine::Name;
use jiff::civil::Date;
use std::io::Write;
use tokio::io::AsyncBufRead;

/// Where a chat begins.
#[derive(Debug)]
pub(super) enum Begin {
    /// With a new conversation.
    Anew,
    /// With one that is kept.
    GoOn {
        thread: Name,
        /// Finishes what is unfinished without asking.
        at_once: bool,
        /// What to say before.
        told: Option<String>,
    },
}

/// A chat and who sits at it.
#[derive(Debug)]
pub(super) struct Session {
    pub(super) chat: Chat,
    pub(super) begin: Begin,
    pub(super) today: Option<Date>,
    pub(super) is_interactive: bool,
    pub(super) style: Style,
}

impl Session {
    pub(super) async fn talk(
        &mut self,
        mut lines: Lines<impl AsyncBufRead + Unpin>,
        out: &mut (impl Write + ?Sized),
    ) -> Result<(), Failure> {
        // Ctrl-C ends a turn; at the prompt the second one in a row leaves.
        let mut interrupts = Interrupts::listen()?;
        let mut interrupted = false;
        let mut next = self.begin(&interrupts, out).await?;
        loop {
            match next {
                Next::GoOn => {}
                Next::Leave => return Ok(()),
                Next::Look if self.is_interactive => self.chat.look(out).await?,
                Next::Look => return Err(Failure::Lost { thread: self.chat.thread_id().clone() }),
            }
            if self.is_interactive {
                write!(out, "{}", self.style.bold("> "))?;
            }
            out.flush()?;
            let line = tokio::select! {
                line = lines.next() => line?,
                () = interrupts.next() => {
                    writeln!(out)?;
                    if interrupted {
                        return self.leave(out);
                    }
                    interrupted = true;
                    writeln!(out, "Press Ctrl-C again to leave.")?;
                    continue;
                }
            };
            let Some(line) = line else {
                if self.is_interactive {
                    writeln!(out)?;
                }
                return self.leave(out);
            };
            next = match line {
                Line::TooLong => self.chat.too_long(out)?,
                Line::Text(text) => {
                    if !self.is_interactive {
                        writeln!(out, "{}", self.style.bold(format!("> {}", clean_line(&text)).trim_end()))?;
                    }
                    let today = self.today.unwrap_or_else(|| jiff::ZonedDateTime::now().date());
                    self.chat.turn(&text, today, out, interrupts.later()).await?
                }
            };
            interrupted = interrupts.heard();
        }
    }

    async fn begin(&mut self, interrupts: &Interrupts, out: &mut (impl Write + ?Sized)) -> Result<Next, Failure> {
        match std::mem::replace(&mut self.begin, Begin::Anew) {
            Begin::Anew => Ok(Next::GoOn),
            Begin::GoOn { thread, at_once, told } => {
                if let Some(told) = told {
                    writeln!(out, "{told}")?;
                }
                self.chat.go_on(thread, at_once, out, interrupts.later()).await
            }
        }
    }

    /// Says how to go on later; a script has its own ways.
    fn leave(&self, out: &mut (impl Write + ?Sized)) -> Result<(), Failure> {
        if let (true, Some(thread)) = (self.is_interactive, self.chat.to_go_on()) {
            writeln!(out, "This conversation is kept as `{thread}`: start again with `--thread {thread}` to go on.")?;
        }
        Ok(())
    }
}
