//! A visit with a scripted model.

use demos::hotel::catalogue::Catalogue;
use demos::hotel::graph::graph;
use demos::hotel::state::Hotel;
use demos::hotel::tools::Desk;
use graph_engine::{MemoryStore, Name, Runner, Status, Thread, TurnEnd};
use graph_nodes::message::{CallStatus, Message, Role, ToolCall, check_history};
use graph_nodes::model::{ChatModel, ScriptedModel, Turn};
use jiff::civil::{Date, date};
use serde_json::{Value, json};
use std::sync::Arc;

pub(crate) const TODAY: Date = date(2026, 6, 10);

pub(crate) struct Visit {
    pub(crate) thread: Thread<Hotel>,
    pub(crate) model: ScriptedModel,
    pub(crate) desk: Arc<Desk>,
}

impl Visit {
    pub(crate) fn new(turns: impl IntoIterator<Item = Turn>) -> Self {
        let model = ScriptedModel::new(turns);
        let desk = Arc::new(Desk::new(Catalogue::in_memory().unwrap()));
        let thread = runner(Arc::new(model.clone()), desk.clone()).thread("guest");
        Self { thread, model, desk }
    }

    /// A visit whose first turn has led to the list of offers.
    pub(crate) async fn with_offers(turns: impl IntoIterator<Item = Turn>) -> Self {
        let wish = json!({"city": "Lisbon", "check_in": "2026-07-03", "check_out": "2026-07-06", "guests": 2});
        let begin = [call("capture_criteria", wish), call("search", json!({})), Turn::text("Here they are.")];
        let visit = Self::new(begin.into_iter().chain(turns));
        let end = visit.say("Lisbon, 3-6 July, for two").await;
        assert_eq!((stage(&end), end.state.offers.len()), ("present", 11));
        visit
    }

    pub(crate) async fn say(&self, text: &str) -> TurnEnd<Hotel> {
        let end = self.thread.run(Hotel::said(text, TODAY)).await.unwrap();
        assert_eq!(check_history(end.state.history.iter()), Ok(()));
        // While a call waits for the guest, its response is still a draft.
        assert_eq!(end.state.draft.is_some(), end.status == Status::Paused);
        end
    }

    /// Says something that makes the model book, and says yes to the question.
    pub(crate) async fn agree(&self, text: &str) -> TurnEnd<Hotel> {
        assert_eq!(self.say(text).await.status, Status::Paused);
        self.thread.resume(true).await.unwrap()
    }

    /// How many requests the model got.
    pub(crate) fn asked(&self) -> usize {
        self.model.requests().len()
    }
}

pub(crate) fn runner(model: Arc<dyn ChatModel>, desk: Arc<Desk>) -> Runner<Hotel> {
    graph().unwrap().runner().store(MemoryStore::new()).provide_arc(desk).provide_arc(model)
}

pub(crate) fn call(tool: &str, arguments: Value) -> Turn {
    Turn::calls([ToolCall::new("call", tool, &arguments)])
}

pub(crate) fn stage(end: &TurnEnd<Hotel>) -> &str {
    end.state.cursor.stage().map_or("", Name::as_str)
}

/// The last tool message: its status and text.
pub(crate) fn answer(end: &TurnEnd<Hotel>) -> (CallStatus, String) {
    let message = end.state.history.iter().rfind(|message| message.role() == Role::Tool).unwrap();
    (message.status().unwrap(), message.text())
}

/// All tool messages of the last round, in order.
pub(crate) fn answers(end: &TurnEnd<Hotel>) -> Vec<String> {
    let mut answers: Vec<String> = end
        .state
        .history
        .iter()
        .rev()
        .skip_while(|message| message.role() != Role::Tool)
        .take_while(|message| message.role() == Role::Tool)
        .map(Message::text)
        .collect();
    answers.reverse();
    answers
}
