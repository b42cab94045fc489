//! The calls of a graph that is offered: each is a turn of a thread.

use async_trait::async_trait;
use futures_util::StreamExt;
use graph_engine::{
    EventKind, Interrupt, InterruptId, Mode, Slow, State, Status, StreamOptions, Thread, Turn, TurnEnd,
};
use rmcp::RoleServer;
use rmcp::model::{CallToolResult, ContentBlock, ProgressNotificationParam, Tool, ToolAnnotations};
use rmcp::service::RequestContext;
use serde_json::{Map, Value, json};

use crate::offer::{THREAD, ToolOffer};
use crate::serve_error::OfferError;

/// What the tool is called that answers questions and goes on after failures.
const RESUME: &str = "_resume";

/// The longest name of a conversation, in bytes.
const LONGEST_THREAD: usize = 200;

/// A tool of a server, whatever the state of its graph.
#[async_trait]
pub(crate) trait Offered: Send + Sync {
    /// The tools that it is: one for new input, and one that goes on.
    fn tools(&self) -> Result<Vec<Tool>, OfferError>;

    /// Runs a call of one of them.
    async fn call(
        &self,
        tool: &str,
        arguments: Map<String, Value>,
        names: &Names,
        context: &RequestContext<RoleServer>,
    ) -> CallToolResult;
}

/// How threads are named.
pub(crate) struct Names {
    pub(crate) prefix: String,
    pub(crate) fresh: Box<dyn Fn() -> String + Send + Sync>,
}

/// What was asked for with arguments that can't be carried out.
fn error(text: impl Into<String>) -> CallToolResult {
    CallToolResult::error(vec![ContentBlock::text(text)])
}

#[async_trait]
impl<S: State> Offered for ToolOffer<S> {
    fn tools(&self) -> Result<Vec<Tool>, OfferError> {
        let fits = |letter: u8| letter.is_ascii_alphanumeric() || letter == b'_' || letter == b'-';
        if self.name.is_empty() || self.name.len() > 64 - RESUME.len() || !self.name.bytes().all(fits) {
            return Err(OfferError::BadName { tool: self.name.clone() });
        }
        let hints = ToolAnnotations::new().read_only(self.read_only).destructive(self.destructive);
        let first = Tool::new(self.name.clone(), self.description.clone(), self.whole_schema()?);
        let about = format!(
            "Goes on with a conversation of `{}`: answers its open question, or tries again what failed. \
             Call it only for a conversation that an answer of `{}` said to wait.",
            self.name, self.name
        );
        let schema = json!({
            "type": "object",
            "properties": {
                "thread": {"type": "string", "description": "The conversation."},
                "answer": {"description": "The answer, if one question is open."},
                "answers": {"type": "object", "description": "The answers by the ids of their questions, if several are."},
                "abandon": {"type": "boolean", "description": "Drops what is open, so that the conversation takes new input."},
            },
            "required": ["thread"],
            "additionalProperties": false,
        });
        let Value::Object(schema) = schema else { return Ok(vec![first.with_annotations(hints)]) };
        let second = Tool::new(format!("{}{RESUME}", self.name), about, schema);
        Ok(vec![first.with_annotations(hints.clone()), second.with_annotations(hints)])
    }

    async fn call(
        &self,
        tool: &str,
        mut arguments: Map<String, Value>,
        names: &Names,
        context: &RequestContext<RoleServer>,
    ) -> CallToolResult {
        let named = match arguments.remove(THREAD) {
            None | Some(Value::Null) => None,
            Some(Value::String(name)) if !name.is_empty() && name.len() <= LONGEST_THREAD => Some(name),
            Some(_) => {
                return error(format!("`thread` is a text of 1 to {LONGEST_THREAD} bytes; correct it and call again"));
            }
        };
        let resumes = tool != self.name;
        if resumes && named.is_none() {
            return error("`thread` is missing; name the conversation that waits");
        }
        let name = named.unwrap_or_else(|| (names.fresh)());
        let thread = self.runner.thread(format!("{}{name}", names.prefix));
        let turn = if resumes { self.resume(&thread, &mut arguments).await } else { self.begin(&thread, arguments) };
        match turn {
            Err(said) => said,
            Ok(turn) => self.run(&name, &thread, turn, context).await,
        }
    }
}

impl<S: State> ToolOffer<S> {
    fn begin(&self, thread: &Thread<S>, arguments: Map<String, Value>) -> Result<Turn<S>, CallToolResult> {
        match (self.input)(Value::Object(arguments)) {
            Ok(update) => Ok(thread.run(update)),
            Err(why) => Err(error(format!(
                "the arguments of `{}` can't be read ({why}); correct them and call again",
                self.name
            ))),
        }
    }

    async fn resume(&self, thread: &Thread<S>, arguments: &mut Map<String, Value>) -> Result<Turn<S>, CallToolResult> {
        if arguments.remove("abandon") == Some(Value::Bool(true)) {
            return Err(match thread.abandon().await {
                Ok(()) => CallToolResult::success(vec![ContentBlock::text("What was open is dropped.")]),
                Err(why) => error(why.to_string()),
            });
        }
        match (arguments.remove("answer"), arguments.remove("answers")) {
            (Some(_), Some(_)) => Err(error("give `answer` or `answers`, not both")),
            (Some(answer), None) => Ok(thread.resume(answer)),
            (None, Some(Value::Object(answers))) => {
                let parsed = answers.into_iter().map(|(id, answer)| Ok((id.parse::<InterruptId>()?, answer)));
                let parsed: Result<Vec<_>, String> = parsed.collect();
                parsed.map(|answers| thread.resume_by_id(answers)).map_err(error)
            }
            (None, Some(_)) => Err(error("`answers` is an object of answers by the ids of their questions")),
            (None, None) => Ok(thread.proceed()),
        }
    }

    async fn run(
        &self,
        name: &str,
        thread: &Thread<S>,
        turn: Turn<S>,
        context: &RequestContext<RoleServer>,
    ) -> CallToolResult {
        let mut turn = turn.tag("mcp", &self.name).cancel_on(context.ct.clone().cancelled_owned());
        let end = match context.meta.get_progress_token() {
            None => turn.await,
            Some(token) => {
                // A client that doesn't read its progress is told no more of it, and nothing waits for it.
                let options = StreamOptions::default().modes([Mode::Nodes]).slow(Slow::Disconnect);
                let mut events = turn.reader(options);
                let tell = async {
                    let mut progress = 0.0;
                    while let Some(event) = events.next().await {
                        let (EventKind::NodeStarted, Some(node)) = (event.kind, event.node) else { continue };
                        progress += 1.0;
                        let message = format!("super-step {}: {node}", event.step);
                        let params = ProgressNotificationParam::new(token.clone(), progress).with_message(message);
                        if context.peer.notify_progress(params).await.is_err() {
                            break;
                        }
                    }
                };
                futures_util::future::join(turn.into_future(), tell).await.0
            }
        };
        match end {
            Ok(end) => self.ended(name, thread, &end).await,
            Err(why) => error(format!(
                "{why}\nThis was the conversation `{name}`. `{}{RESUME}` with this `thread` tries again, with `abandon` it drops what is open.",
                self.name
            )),
        }
    }

    async fn ended(&self, name: &str, thread: &Thread<S>, end: &TurnEnd<S>) -> CallToolResult {
        let mut facts = json!({"thread": name, "status": end.status.as_str()});
        let text = match end.status {
            Status::Paused => self.paused(name, end.interrupts(), &mut facts),
            Status::Cancelled | Status::Drained => {
                // Nobody reads this answer, and the next call begins with what was committed.
                if let Err(why) = thread.abandon().await {
                    tracing::warn!(thread = name, %why, "a cancelled call left its thread as it was");
                }
                return error(format!("the call was cancelled; the conversation `{name}` is as its last step left it"));
            }
            _ => {
                let text = (self.reply)(end);
                facts["reply"] = Value::String(text.clone());
                text
            }
        };
        let mut result = CallToolResult::structured(facts.clone());
        facts.as_object_mut().map(|facts| facts.remove("reply"));
        result.content = vec![ContentBlock::text(text), ContentBlock::text(facts.to_string())];
        result
    }

    /// What is told of a conversation that asks a person.
    fn paused(&self, name: &str, open: &[Interrupt], facts: &mut Value) -> String {
        let questions: Vec<Value> =
            open.iter().map(|open| json!({"id": open.id.to_string(), "question": open.question})).collect();
        facts["questions"] = Value::Array(questions);
        let how = match open.len() {
            0 => "Nothing is asked; go on".to_owned(),
            1 => "Ask the person, then answer".to_owned(),
            many => format!("{many} questions are open. Ask the person, then answer by their ids"),
        };
        format!(
            "The conversation `{name}` waits and has done nothing yet of what it asks about. {how} with the tool `{}{RESUME}`.",
            self.name
        )
    }
}
