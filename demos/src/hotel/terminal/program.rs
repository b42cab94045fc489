//! The program: what the command line asks for, then the conversation.

use super::interrupt::Interrupts;
use super::{Chat, Line, Lines, Next, Options, Setup, Style};
use crate::hotel::catalogue::{Catalogue, CatalogueError};
use crate::hotel::clean::clean_line;
use crate::hotel::graph::{GraphError, graph};
use graph_engine::{DiagramFormat, ExportError};
use jiff::civil::Date;
use std::io::{self, Write};
use std::path::PathBuf;
use tokio::io::AsyncBufRead;

/// What is said at the beginning.
const WELCOME: &str = "\
Hotel concierge. I am a rule-based program and offline: no language model, no network, invented hotels.
Tell me what you need, such as: a double room in Lisbon 3-6 July for 2 under 200 with wifi
";

/// Why the program ends early.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Failure {
    /// The catalogue cannot be opened.
    #[error(transparent)]
    Catalogue(#[from] CatalogueError),
    /// The graph is not consistent.
    #[error(transparent)]
    Graph(#[from] GraphError),
    /// The graph cannot be drawn, or a drawing of it is stale.
    #[error(transparent)]
    Drawing(#[from] ExportError),
    /// The script cannot be read.
    #[error("`{path}` cannot be read, check the file that `--script` names", path = path.display())]
    Script {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The input or the output broke.
    #[error("the terminal cannot be read or written")]
    Terminal(#[from] io::Error),
}

/// Runs the program on this input and output, and hands back the chat, if there
/// was one.
///
/// # Errors
///
/// [`Failure`] if the catalogue, the script or the terminal cannot be used.
pub async fn run(
    options: &Options,
    input: impl AsyncBufRead + Unpin,
    output: &mut (impl Write + ?Sized),
    is_interactive: bool,
    style: Style,
) -> Result<Option<Chat>, Failure> {
    if draw(options, output)? {
        return Ok(None);
    }
    let catalogue = match &options.db {
        Some(path) => Catalogue::open(path)?,
        None => Catalogue::in_memory()?,
    };
    let chat = Chat::new(Setup { catalogue, faults: options.faults, trace: options.trace, style })?;
    output.write_all(WELCOME.as_bytes())?;
    let mut session = Session { chat, today: options.today, is_interactive, style };
    match &options.script {
        Some(path) => {
            let unread = |source| Failure::Script { path: path.clone(), source };
            let script = std::fs::read(path).map_err(unread)?;
            session.is_interactive = false;
            session.talk(Lines::new(script.as_slice()), output).await?;
        }
        None => session.talk(Lines::new(input), output).await?,
    }
    if options.faults {
        session.chat.ledger(output).await?;
    }
    Ok(Some(session.chat))
}

/// Whether drawings are all that is asked for.
fn draw(options: &Options, mut output: &mut (impl Write + ?Sized)) -> Result<bool, Failure> {
    let drawings = [
        (DiagramFormat::Dot, &options.dot),
        (DiagramFormat::Mermaid, &options.mermaid),
        (DiagramFormat::Json, &options.json),
        (DiagramFormat::Svg, &options.svg),
        (DiagramFormat::Text, &options.text),
    ];
    let asked = drawings.into_iter().find_map(|(format, file)| Some((format, file.as_ref()?)));
    if asked.is_none() && options.check.is_empty() {
        return Ok(false);
    }
    let graph = graph()?;
    if let Some((format, file)) = asked {
        // A reader that has seen enough is no failure of the drawing.
        graph.topology().save(format, file, &mut output).map_err(|error| match error {
            ExportError::Print(error) => Failure::Terminal(error),
            error => Failure::Drawing(error),
        })?;
    }
    graph.topology().check("hotel", options.check.iter().map(PathBuf::as_path))?;
    Ok(true)
}

struct Session {
    chat: Chat,
    today: Option<Date>,
    is_interactive: bool,
    style: Style,
}

impl Session {
    async fn talk(
        &mut self,
        mut lines: Lines<impl AsyncBufRead + Unpin>,
        out: &mut (impl Write + ?Sized),
    ) -> io::Result<()> {
        // Ctrl-C ends a turn; at the prompt the second one in a row leaves.
        let mut interrupts = Interrupts::listen()?;
        let mut interrupted = false;
        loop {
            if self.is_interactive {
                write!(out, "{}", self.style.bold("> "))?;
            }
            out.flush()?;
            let line = tokio::select! {
                line = lines.next() => line?,
                () = interrupts.next() => {
                    writeln!(out)?;
                    if interrupted {
                        return Ok(());
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
                return Ok(());
            };
            let next = match line {
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
            if next == Next::Leave {
                return Ok(());
            }
        }
    }
}
