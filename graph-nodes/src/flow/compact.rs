//! The vertex that makes a stage's memory shorter.

use std::fmt;

use graph_engine::{
    Field, FieldSet, Log, Name, Node, NodeError, NodeInfo, NodeKind, Outcome, State, Task, async_trait,
};
use tokio::time::timeout;

use super::{Compaction, FlowEvent};
use crate::message::{Message, Usage};
use crate::panics::guarded_async;
use crate::stage::GateBook;

/// The vertex that makes a stage's memory shorter, as its [`Compaction`] says.
///
/// ```
/// use graph_engine::testing::node_once;
/// use graph_engine::{Log, State};
/// use graph_nodes::flow::{CompactNode, Compaction};
/// use graph_nodes::message::Message;
/// use graph_nodes::model::{ScriptedModel, Turn};
///
/// #[derive(State, Clone, Default)]
/// struct Trip {
///     #[state(append)]
///     history: Log<Message>,
/// }
///
/// # let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
/// # runtime.block_on(async {
/// let said = ["To Oslo.", "In May.", "By train.", "Two people."].map(Message::user);
/// let model = ScriptedModel::new([Turn::text("Oslo in May by train.")]);
/// let node = CompactNode::new("explore", Trip::HISTORY, Compaction::new(model).minimum(4).recent(1));
/// let mut trip = Trip { history: Log::from(said) };
/// let outcome = node_once(node).state(trip.clone()).run().await.unwrap();
/// trip.apply(outcome.update);
/// let texts: Vec<String> = trip.history.iter().map(Message::text).collect();
/// assert_eq!(texts, ["Summary of the conversation so far: Oslo in May by train.", "Two people."]);
/// # });
/// ```
#[must_use = "a vertex does nothing until it is a node"]
pub struct CompactNode<S: State> {
    stage: Name,
    memory: Field<S, Log<Message>>,
    book: Option<Field<S, GateBook>>,
    compaction: Compaction,
}

impl<S: State> CompactNode<S> {
    /// Keeps the memory of a stage short.
    pub fn new(stage: impl Into<Name>, memory: Field<S, Log<Message>>, compaction: Compaction) -> Self {
        Self { stage: stage.into(), memory, book: None, compaction }
    }

    /// Counts summaries and their tokens in this book, in the [totals](crate::stage::StageTotals) of the stage.
    pub fn book(mut self, book: Field<S, GateBook>) -> Self {
        self.book = Some(book);
        self
    }

    /// The summary and what it cost, or why there is none.
    async fn summarise(&self, old: &[Message]) -> (Result<String, String>, Option<Usage>) {
        let Compaction { model, deadline, .. } = &self.compaction;
        // The call itself is inside: it may panic before its first await.
        let asking = guarded_async(async { model.complete(self.compaction.request(old)).await });
        match timeout(*deadline, asking).await {
            Err(_) => (Err(format!("the model took longer than {deadline:?}")), None),
            Ok(Err(panic)) => (Err(format!("the model panicked: {panic}")), None),
            Ok(Ok(Err(error))) => (Err(error.to_string()), None),
            Ok(Ok(Ok(response))) => {
                let text = match response.text.trim() {
                    "" => Err("the model wrote no summary".to_owned()),
                    _ if response.cut_off().is_some() => Err("the summary was cut off".to_owned()),
                    text => Ok(text.to_owned()),
                };
                (text, response.usage)
            }
        }
    }
}

#[async_trait]
impl<S: State> Node<S> for CompactNode<S> {
    async fn run(&self, task: &Task<S>) -> Result<Outcome<S>, NodeError> {
        let history = self.memory.get(task.state());
        // The messages are copied only when there is something to do.
        if history.len() < self.compaction.minimum {
            return Ok(Outcome::default());
        }
        let messages: Vec<Message> = history.iter().cloned().collect();
        let Some(cut) = self.compaction.cut(&messages) else { return Ok(Outcome::default()) };
        let (summary, usage) = self.summarise(&messages[..cut]).await;
        let (ctx, stage) = (task.ctx(), self.stage.clone());
        let mut update = S::Update::default();
        if let Some(field) = &self.book {
            let mut book = field.get(task.state()).clone();
            book.summarised(&self.stage, usage);
            field.put(&mut update, book);
        }
        let event = match summary {
            Ok(summary) => {
                let kept = messages.into_iter().skip(cut);
                let shorter: Log<Message> = [Compaction::message(&summary)].into_iter().chain(kept).collect();
                let event = FlowEvent::Compacted { stage, replaced: cut, kept: shorter.len() - 1, usage };
                self.memory.overwrite(&mut update, shorter);
                event
            }
            Err(reason) => {
                tracing::warn!(stage = %self.stage, thread = %ctx.thread(), reason, "the memory was not made shorter");
                FlowEvent::CompactionFailed { stage, reason, usage }
            }
        };
        if ctx.is_observed() {
            ctx.emit(event).await?;
        }
        Ok(Outcome::of(update))
    }

    fn describe(&self) -> NodeInfo {
        let mut info = NodeInfo::new(NodeKind::Plain);
        let book = self.book.map_or(FieldSet::EMPTY, |book| book.set());
        info.writes = Some(self.memory.set() | book);
        info.problems.extend(self.compaction.problem().map(|why| format!("stage `{}`, compaction: {why}", self.stage)));
        info
    }
}

impl<S: State> fmt::Debug for CompactNode<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CompactNode")
            .field("stage", &self.stage)
            .field("memory", &self.memory.name())
            .field("compaction", &self.compaction)
            .finish()
    }
}
