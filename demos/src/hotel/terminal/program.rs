//! The program: what the command line asks for, then the conversation.

use super::history;
use super::model::Talks;
use super::session::{Begin, Session};
use super::threads::{Kept, numbered};
use super::{Chat, Failure, Lines, Options, Setup, Style};
use crate::hotel::catalogue::Catalogue;
use crate::hotel::graph::graph;
use crate::hotel::state::Hotel;
use graph_engine::{DiagramFormat, ExportError, Name, Runner};
use std::io::Write;
use std::path::PathBuf;
use tokio::io::AsyncBufRead;

/// Runs the program on this input and output, and hands back the chat, if there
/// was one.
///
/// # Errors
///
/// [`Failure`] if the catalogue, the store, the script or the terminal cannot be used, or if what was asked for is not
/// kept.
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
    let kept = Kept::open(options.store.as_deref())?;
    let runner = graph()?.runner().store_arc(kept.store.clone());
    if options.history {
        let name = named(options, &kept).await?;
        history::list(&runner.thread(name), &kept, output).await?;
        return Ok(None);
    }
    let is_interactive = is_interactive && options.script.is_none();
    let begin = begin(options, is_interactive, &kept, &runner).await?;
    // A server that belongs to the model ends when this does.
    let Talks { model, guided, welcome, server: _server } = Talks::chosen(options)?;
    let setup = Setup { catalogue, faults: options.faults, trace: options.trace, guided, style };
    let chat = Chat::with_model(setup, model)?.kept_in(kept);
    output.write_all(welcome.as_bytes())?;
    let mut session = Session { chat, begin, today: options.today, is_interactive, style };
    match &options.script {
        Some(path) => {
            let unread = |source| Failure::Script { path: path.clone(), source };
            let script = std::fs::read(path).map_err(unread)?;
            session.talk(Lines::new(script.as_slice()), output).await?;
        }
        None => session.talk(Lines::new(input), output).await?,
    }
    if options.faults || options.ledger {
        session.chat.ledger(output).await?;
    }
    Ok(Some(session.chat))
}

/// The conversation that is named, or else the newest one.
async fn named(options: &Options, kept: &Kept) -> Result<Name, Failure> {
    if let Some(thread) = &options.thread {
        return Ok(thread.as_str().into());
    }
    match kept.last_guest().await? {
        Some(thread) => Ok(thread),
        None => Err(kept.unknown(None).await),
    }
}

/// Where the chat begins.
async fn begin(options: &Options, is_interactive: bool, kept: &Kept, runner: &Runner<Hotel>) -> Result<Begin, Failure> {
    // Nobody can be asked what to do with a turn that was not finished.
    let at_once = options.resume || !is_interactive;
    if let Some(number) = options.fork {
        let from = runner.thread(named(options, kept).await?);
        let at = history::entry(&from, kept, number).await?;
        let name = match &options.fork_as {
            Some(name) => name.as_str().into(),
            None => kept.next_of(numbered(from.id()).0).await?,
        };
        from.at(at.id).fork(name.clone()).await?;
        let told = format!("Entry {number} of `{}` is now the new conversation `{name}`.", from.id());
        return Ok(Begin::GoOn { thread: name, at_once, told: Some(told) });
    }
    let thread = if options.resume || options.thread.is_some() {
        let name = named(options, kept).await?;
        if options.resume && runner.thread(name.clone()).state().await?.checkpoint.is_none() {
            return Err(kept.unknown(Some(&name)).await);
        }
        Some(name)
    } else if is_interactive {
        match kept.last_guest().await? {
            Some(name) if !runner.thread(name.clone()).state().await?.completed => Some(name),
            _ => None,
        }
    } else {
        None
    };
    Ok(thread.map_or(Begin::Anew, |thread| Begin::GoOn { thread, at_once, told: None }))
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
