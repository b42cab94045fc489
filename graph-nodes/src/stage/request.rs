//! What the model is sent.

use graph_engine::{Log, Name};

use super::correction::{Correction, Told};
use super::{Draft, Held};
use crate::gate::retry_request;
use crate::message::Message;
use crate::model::{Request, ToolChoice, ToolSpec};

/// The request of a round's first attempt: the prompt, the examples, the history, the tools. It is made of the state alone, so that
/// a later attempt finds the same one.
pub(super) fn base(
    prompt: Option<String>,
    examples: Vec<Message>,
    history: &Log<Message>,
    tools: Vec<ToolSpec>,
    choice: ToolChoice,
) -> Request {
    let messages = prompt.map(Message::system).into_iter().chain(examples).chain(history.iter().cloned());
    Request::new(messages).with_tools(tools).with_tool_choice(choice)
}

/// The request of this attempt.
pub(super) fn next(base: Request, told: &Told, stage: &Name, draft: Option<&Draft>) -> Request {
    let rejected = match draft {
        Some(Draft { stage: of, held: Held::Rejected(response) }) if of == stage => Some(&**response),
        _ => None,
    };
    let mut request = match &told.correction {
        Some(Correction { mode, feedback, .. }) => retry_request(*mode, &base, rejected, feedback.as_deref()),
        None => base,
    };
    request.messages.extend(told.notes.iter().map(Message::system));
    request
}
