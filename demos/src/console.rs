//! The least of a terminal: a line in, the replies out. The small demos share it; [`hotel`](crate::hotel) has more.

use crate::hotel::clean::{clean, clean_line};
use crate::hotel::terminal::{Line, Lines};
use graph_engine::{State, Thread};
use std::fmt;
use std::io::{self, Write};
use tokio::io::AsyncBufRead;

/// What leaves the program.
const LEAVING: [&str; 4] = ["quit", "exit", "bye", "goodbye"];

/// Makes the input of a turn from a line.
pub type Said<S> = dyn Fn(&str) -> <S as State>::Update + Send;

/// A conversation in a terminal.
pub struct Console<S: State> {
    /// What is said at the beginning.
    pub welcome: &'static str,
    /// The conversation.
    pub thread: Thread<S>,
    /// The input of a turn.
    pub said: Box<Said<S>>,
    /// What to show beside the conversation after a turn, if there is anything.
    pub beside: Box<dyn FnMut() -> Option<String> + Send>,
}

impl<S: State> Console<S> {
    /// Talks until the input ends or somebody leaves. Without a person at it, what is read is written too.
    ///
    /// # Errors
    /// If the input can't be read or the output not written.
    pub async fn talk(
        &mut self,
        input: impl AsyncBufRead + Unpin,
        out: &mut (impl Write + ?Sized),
        is_interactive: bool,
    ) -> io::Result<()> {
        let mut lines = Lines::new(input);
        writeln!(out, "{}", self.welcome)?;
        loop {
            if is_interactive {
                write!(out, "> ")?;
            }
            out.flush()?;
            let Some(line) = lines.next().await? else { return Ok(()) };
            let Line::Text(text) = line else {
                writeln!(out, "That is too long for me.")?;
                continue;
            };
            let text = clean_line(&text);
            let text = text.trim();
            if !is_interactive {
                writeln!(out, "{}", format!("> {text}").trim_end())?;
            }
            if LEAVING.contains(&&*text.to_lowercase()) {
                writeln!(out, "Goodbye!")?;
                return Ok(());
            }
            if !text.is_empty() {
                self.turn(text, out).await?;
            }
        }
    }

    async fn turn(&mut self, text: &str, out: &mut (impl Write + ?Sized)) -> io::Result<()> {
        match self.thread.run((self.said)(text)).await {
            Ok(end) => {
                for reply in &end.replies {
                    let reply = reply.value.as_str().map_or_else(|| reply.value.to_string(), str::to_owned);
                    writeln!(out, "{}", clean(&reply))?;
                }
            }
            Err(failed) => {
                writeln!(out, "error: {}", clean_line(&failed.to_string()))?;
                if let Err(error) = self.thread.abandon().await {
                    writeln!(out, "error: {}", clean_line(&error.to_string()))?;
                }
            }
        }
        match (self.beside)() {
            Some(line) => writeln!(out, "[{}]", clean_line(&line)),
            None => Ok(()),
        }
    }
}

impl<S: State> fmt::Debug for Console<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Console").field("welcome", &self.welcome).finish_non_exhaustive()
    }
}

/// The program of a demo: its console on the terminal. Returns the exit code.
#[must_use]
pub fn program<S: State>(name: &str, console: anyhow::Result<Console<S>>) -> std::process::ExitCode {
    let talked = console.and_then(|mut console| {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let is_interactive = io::IsTerminal::is_terminal(&io::stdin());
        let input = tokio::io::BufReader::new(tokio::io::stdin());
        let talked = runtime.block_on(console.talk(input, &mut io::stdout().lock(), is_interactive));
        // A read of the terminal that is under way cannot be ended and must not be waited for.
        runtime.shutdown_background();
        match talked {
            // Whoever read the output has seen enough, such as `head`.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            talked => Ok(talked?),
        }
    });
    match talked {
        Ok(()) => std::process::ExitCode::SUCCESS,
        Err(error) => {
            // Where nothing can be written, nothing can be said.
            let _ = writeln!(io::stderr(), "{name}: {error:#}");
            std::process::ExitCode::FAILURE
        }
    }
}
