//! One conversation: a line in, an answer out.

use super::Failure;
use super::standing::{GO_ON_OR_DROP, complete, is_elsewhere};
use super::style::Style;
use super::threads::{GUEST, Kept, numbered};
use super::trace;
use crate::hotel::catalogue::Catalogue;
use crate::hotel::clean::{clean, clean_line};
use crate::hotel::graph::{GraphError, graph};
use crate::hotel::guided;
use crate::hotel::model::{Concierge, Faulty};
use crate::hotel::state::Hotel;
use crate::hotel::tools::Desk;
use crate::hotel::understand::{Intent, understand};
use futures_util::StreamExt as _;
use graph_engine::{
    EventKind, EventStream, Interrupt, Mode, Name, RunError, Runner, Status, StreamOptions, Thread, ThreadState, Turn,
    TurnError,
};
use graph_nodes::model::ChatModel;
use graph_nodes::stage::StageEvent;
use graph_nodes::tool::ConfirmQuestion;
use jiff::civil::Date;
use serde_json::Value;
use std::collections::HashSet;
use std::io::{self, Write};
use std::sync::Arc;
use tokio::sync::Mutex;

/// The most letters of a line that the concierge listens to.
const LONGEST_SENTENCE: usize = 2000;

/// What may be said to a question.
const YES_OR_NO: &str = "Please say yes or no.";

/// How a chat is set up.
#[derive(Debug)]
pub struct Setup {
    /// The hotels.
    pub catalogue: Catalogue,
    /// Let the model err now and then.
    pub faults: bool,
    /// Show every super-step.
    pub trace: bool,
    /// The model is a small one, which is guided.
    pub guided: bool,
    /// Colours.
    pub style: Style,
}

/// Whether the conversation goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// The guest may say more.
    GoOn,
    /// The guest has left.
    Leave,
    /// The store failed, or another program goes on with the conversation: what was said may not have been heard.
    Look,
}

/// A chat. Unless it is told to keep them elsewhere, its conversations are in memory, for as long as it lives.
#[derive(Debug)]
pub struct Chat {
    pub(super) runner: Runner<Hotel>,
    desk: Arc<Desk>,
    kept: Kept,
    pub(super) thread: Thread<Hotel>,
    /// The thread has no name of its own yet, but the next one of this family: it gets it when something is said.
    pub(super) unnamed: Option<String>,
    /// The conversations of this chat, in order.
    pub(super) visited: Vec<Name>,
    pub(super) completed: bool,
    /// The program has asked for a yes or no.
    pub(super) asked: bool,
    /// The last turn was not finished, and the guest was asked what to do.
    pub(super) unfinished: bool,
    faults: bool,
    trace: bool,
    pub(super) style: Style,
}

impl Chat {
    /// Begins a chat with the offline model.
    ///
    /// # Errors
    ///
    /// [`GraphError`] if the graph is not consistent.
    pub fn new(setup: Setup) -> Result<Self, GraphError> {
        let model: Arc<dyn ChatModel> =
            if setup.faults { Arc::new(Faulty::new(Concierge)) } else { Arc::new(Concierge) };
        Self::with_model(setup, model)
    }

    /// Begins a chat with another model.
    ///
    /// # Errors
    ///
    /// As [`Chat::new`].
    pub fn with_model(setup: Setup, model: Arc<dyn ChatModel>) -> Result<Self, GraphError> {
        let Setup { catalogue, faults, trace, guided, style } = setup;
        let desk = Arc::new(Desk::new(catalogue));
        let kept = Kept::nowhere();
        let graph = if guided { guided::graph()? } else { graph()? };
        let runner = graph.runner().store_arc(kept.store.clone());
        let runner = runner.provide_arc(desk.clone()).provide_arc::<dyn ChatModel>(model);
        let thread = runner.thread(format!("{GUEST}-1"));
        Ok(Self {
            runner,
            desk,
            kept,
            thread,
            unnamed: Some(GUEST.to_owned()),
            visited: Vec::new(),
            completed: false,
            asked: false,
            unfinished: false,
            faults,
            trace,
            style,
        })
    }

    /// Keeps the conversations there. For the time before the first one.
    pub(super) fn kept_in(mut self, kept: Kept) -> Self {
        self.runner = self.runner.store_arc(kept.store.clone());
        self.thread = self.runner.thread(self.thread.id().clone());
        self.kept = kept;
        self
    }

    /// Takes one line of the guest and writes the answer. When `stop` is ready
    /// before the answer, the turn is cancelled.
    ///
    /// # Errors
    ///
    /// Only if the answer cannot be written; what goes wrong in a turn is told
    /// to the guest.
    pub async fn turn(
        &mut self,
        line: &str,
        today: Date,
        out: &mut (impl Write + ?Sized),
        stop: impl Future<Output = ()> + Send + 'static,
    ) -> io::Result<Next> {
        let line = clean_line(line);
        let line = line.trim();
        if line.is_empty() {
            return Ok(Next::GoOn);
        }
        if line.chars().count() > LONGEST_SENTENCE {
            return self.too_long(out);
        }
        if self.completed {
            match (line.to_lowercase().as_str(), understand(line, today).intent) {
                ("new", _) => return self.begin_again(out).await,
                (_, Intent::Quit) => {
                    writeln!(out, "Goodbye!")?;
                    return Ok(Next::Leave);
                }
                _ => {}
            }
        }
        if self.unfinished {
            return match (line.to_lowercase().as_str(), understand(line, today).intent) {
                ("go on" | "continue" | "resume", _) | (_, Intent::Yes) => self.finish(out, stop).await,
                ("drop" | "forget it", _) | (_, Intent::No) => {
                    self.unfinished = false;
                    self.abandon(out).await
                }
                (_, Intent::Quit) => Ok(Next::Leave),
                _ => {
                    writeln!(out, "{GO_ON_OR_DROP}")?;
                    Ok(Next::GoOn)
                }
            };
        }
        if self.asked {
            let answer = match understand(line, today).intent {
                Intent::Yes => self.is_in_time(today, out).await?,
                Intent::No => false,
                Intent::Quit => {
                    writeln!(out, "Nothing is booked. Goodbye!")?;
                    return Ok(Next::Leave);
                }
                _ => {
                    writeln!(out, "{YES_OR_NO}")?;
                    return Ok(Next::GoOn);
                }
            };
            self.asked = false;
            return match self.play(self.thread.resume(answer), out, stop).await? {
                Ok(next) => Ok(next),
                Err(failed) => self.failed(failed, out).await,
            };
        }
        let stop = Arc::new(Mutex::new(Some(Box::pin(stop))));
        loop {
            if let Err(failure) = self.take_name().await {
                writeln!(out, "{}", self.style.alarm(format!("error: {:#}", anyhow::Error::new(failure))))?;
                return Ok(Next::Look);
            }
            match self.play(self.thread.run(Hotel::said(line, today)), out, again(stop.clone())).await? {
                // Another program began a conversation under this name a moment ago; there are more names.
                Err(failed) if self.unnamed.is_some() && is_elsewhere(&failed) => {}
                played => {
                    self.unnamed = None;
                    self.visited.push(self.thread.id().clone());
                    return match played {
                        Ok(next) => Ok(next),
                        Err(failed) => self.failed(failed, out).await,
                    };
                }
            }
        }
    }

    /// Runs a turn and writes what it says.
    pub(super) async fn play(
        &mut self,
        turn: Turn<Hotel>,
        out: &mut (impl Write + ?Sized),
        stop: impl Future<Output = ()> + Send + 'static,
    ) -> io::Result<Result<Next, TurnError>> {
        let modes =
            if self.trace { vec![Mode::Tokens, Mode::Custom, Mode::Nodes] } else { vec![Mode::Tokens, Mode::Custom] };
        let turn = turn.cancel_on(stop);
        let questions = self.desk.questions();
        let mut events = turn.stream_with(StreamOptions::default().modes(modes));
        let said = self.follow(&mut events, out).await?;
        self.tell_questions(self.desk.questions() - questions, out)?;
        let end = match events.end().await {
            Ok(end) => end,
            Err(failed) => return Ok(Err(failed)),
        };
        for reply in end.replies.iter().map(|reply| text(&reply.value)) {
            if said.last() != Some(&reply) {
                writeln!(out, "{}", clean(&reply))?;
            }
        }
        self.ask(end.interrupts(), out)?;
        self.ended(end.status, end.state.booking.is_some(), out).await.map(Ok)
    }

    /// Gives a conversation that has no name the next one.
    async fn take_name(&mut self) -> Result<(), Failure> {
        if let Some(family) = &self.unnamed {
            self.thread = self.runner.thread(self.kept.next_of(family).await?);
        }
        Ok(())
    }

    /// The name under which somebody can go on later with this conversation, if it is not over.
    pub(super) fn to_go_on(&self) -> Option<&Name> {
        let begun = self.unnamed.is_none() && !self.completed && self.kept.is_file();
        begun.then(|| self.thread.id())
    }

    /// Answers a line that is too long to be listened to.
    ///
    /// # Errors
    ///
    /// If the answer cannot be written.
    pub fn too_long(&self, out: &mut (impl Write + ?Sized)) -> io::Result<Next> {
        writeln!(out, "That is too long for me. Please say it in at most {LONGEST_SENTENCE} letters.")?;
        Ok(Next::GoOn)
    }

    /// Writes every attempt and what the gates counted.
    ///
    /// # Errors
    ///
    /// If it cannot be written.
    pub async fn ledger(&self, out: &mut (impl Write + ?Sized)) -> io::Result<()> {
        match self.thread.state().await {
            Ok(found) => {
                let book = &found.state.book;
                let (attempts, stages) = (book.to_attempts_table(), book.to_table());
                write!(out, "\nEvery attempt:\n{attempts}\nWhat the gates counted:\n{stages}")
            }
            Err(error) => writeln!(out, "error: {}", clean_line(&error.to_string())),
        }
    }

    /// The id of the current conversation's thread.
    #[must_use]
    pub fn thread_id(&self) -> &Name {
        self.thread.id()
    }

    /// Where every conversation of the chat stands, in order.
    ///
    /// # Errors
    ///
    /// If the store fails.
    pub async fn conversations(&self) -> Result<Vec<ThreadState<Hotel>>, RunError> {
        let mut all = Vec::new();
        let mut seen = HashSet::new();
        for thread in self.visited.iter().filter(|thread| seen.insert(*thread)) {
            all.push(self.runner.thread(thread.clone()).state().await?);
        }
        Ok(all)
    }

    /// Writes what the turn emits, and returns the texts among it.
    async fn follow(
        &self,
        events: &mut EventStream<Hotel>,
        out: &mut (impl Write + ?Sized),
    ) -> io::Result<Vec<String>> {
        let mut said = Vec::new();
        while let Some(event) = events.next().await {
            let line = if self.trace { trace::line(&event) } else { None };
            if let Some(line) = line {
                writeln!(out, "{}", self.style.dim(line))?;
            }
            match event.kind {
                EventKind::Token(text) => {
                    writeln!(out, "{}", clean(&text))?;
                    out.flush()?;
                    said.push(text);
                }
                EventKind::Custom(value) if self.faults || self.trace => {
                    let trouble = serde_json::from_value::<StageEvent>(value).ok();
                    if let Some(line) = trouble.as_ref().and_then(trace::trouble) {
                        writeln!(out, "{}", self.style.dim(format!("[{line}]")))?;
                    }
                }
                _ => {}
            }
        }
        Ok(said)
    }

    /// Writes how often the catalogue was asked in a turn.
    fn tell_questions(&self, count: usize, out: &mut (impl Write + ?Sized)) -> io::Result<()> {
        if !self.trace || count == 0 {
            return Ok(());
        }
        let times = if count == 1 { "once".to_owned() } else { format!("{count} times") };
        writeln!(out, "{}", self.style.dim(format!("    the catalogue was asked {times}")))
    }

    /// Writes what the guest is asked, if the turn waits for a yes or no.
    pub(super) fn ask(&mut self, questions: &[Interrupt], out: &mut (impl Write + ?Sized)) -> io::Result<()> {
        for interrupt in questions {
            self.asked = true;
            let text = match serde_json::from_value::<ConfirmQuestion>(interrupt.question.clone()) {
                Ok(question) => question.text,
                Err(_) => text(&interrupt.question),
            };
            writeln!(out, "{}\n{YES_OR_NO}", self.style.bold(clean(&text)))?;
        }
        Ok(())
    }

    async fn ended(&mut self, status: Status, booked: bool, out: &mut (impl Write + ?Sized)) -> io::Result<Next> {
        match status {
            Status::Completed if booked => {
                self.completed = true;
                Ok(Next::GoOn)
            }
            Status::Completed => Ok(Next::Leave),
            Status::Cancelled => {
                writeln!(out, "Stopped.")?;
                self.abandon(out).await
            }
            _ => Ok(Next::GoOn),
        }
    }

    pub(super) async fn failed(&mut self, failed: TurnError, out: &mut (impl Write + ?Sized)) -> io::Result<Next> {
        if matches!(*failed, RunError::Completed { .. }) {
            self.completed = true;
            let booked = self.thread.state().await.is_ok_and(|found| found.state.booking.is_some());
            writeln!(out, "{}", complete(booked))?;
            return Ok(Next::GoOn);
        }
        if is_elsewhere(&failed) {
            let text = format!("error: another program goes on with `{}` too, and was faster", self.thread.id());
            writeln!(out, "{}", self.style.alarm(text))?;
            return Ok(Next::Look);
        }
        let is_of_store = matches!(*failed, RunError::Store { .. });
        writeln!(
            out,
            "{}",
            self.style.alarm(format!("error: {}", clean_line(&format!("{:#}", anyhow::Error::new(failed)))))
        )?;
        if is_of_store {
            // What is kept is whole; nobody knows here how far it went.
            return Ok(Next::Look);
        }
        self.abandon(out).await
    }

    /// Drops what a stopped or failed turn left, so that the next one begins afresh.
    async fn abandon(&self, out: &mut (impl Write + ?Sized)) -> io::Result<Next> {
        match self.thread.abandon().await {
            Ok(()) => writeln!(out, "What was not finished is dropped. Please go on.")?,
            Err(error) => writeln!(out, "error: {}", clean_line(&error.to_string()))?,
        }
        Ok(Next::GoOn)
    }

    async fn begin_again(&mut self, out: &mut (impl Write + ?Sized)) -> io::Result<Next> {
        self.unnamed = Some(numbered(self.thread.id()).0.to_owned());
        if let Err(failure) = self.take_name().await {
            writeln!(out, "{}", self.style.alarm(format!("error: {:#}", anyhow::Error::new(failure))))?;
            return Ok(Next::GoOn);
        }
        (self.completed, self.asked, self.unfinished) = (false, false, false);
        writeln!(out, "A new conversation. Where would you like to go?")?;
        Ok(Next::GoOn)
    }
}

/// The same signal for one turn after the other.
async fn again<F: Future<Output = ()> + Unpin>(signal: Arc<Mutex<Option<F>>>) {
    let mut signal = signal.lock().await;
    if let Some(waiting) = &mut *signal {
        waiting.await;
        *signal = None;
    }
}

/// A reply as text.
pub(super) fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
