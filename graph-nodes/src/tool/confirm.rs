//! Asking a person before a call runs: the question, and what is answered.

use std::time::Duration;

use graph_engine::Ctx;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Value, json};

use super::ToolError;
use crate::message::ToolCall;

/// How a person is asked before a call runs: what is shown beside the call, and how long there is for an answer.
///
/// ```
/// use std::time::Duration;
///
/// use graph_nodes::tool::Confirm;
/// use serde_json::json;
///
/// let confirm = Confirm::text("Book the Palace?")
///     .details(json!({"price": 120}))
///     .expires(Duration::from_secs(86_400));
/// # let _ = confirm;
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[must_use = "nobody is asked by it alone"]
pub struct Confirm {
    text: Option<String>,
    details: Option<Result<Value, String>>,
    expires: Option<Duration>,
    choices: usize,
}

/// What a person is asked before calls run: the question of an [`Interrupt`](graph_engine::Interrupt).
///
/// ```
/// use graph_nodes::tool::ConfirmQuestion;
/// use serde_json::json;
///
/// let question: ConfirmQuestion = serde_json::from_value(json!({
///     "kind": "confirm_calls",
///     "text": "May `book` run?",
///     "calls": [{"id": "c1", "tool": "book", "description": "Books a room.", "arguments": {"hotel": "Inn"}}],
/// }))?;
/// assert_eq!(question.calls[0].arguments["hotel"], "Inn");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename = "confirm_calls")]
#[non_exhaustive]
pub struct ConfirmQuestion {
    /// The question in words.
    pub text: String,
    /// All calls that run if the answer is yes.
    pub calls: Vec<AskedCall>,
    /// What the tool shows beside them.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub details: Value,
    /// How many parts may be chosen from by [`Confirmation::only`]; zero if it is all or nothing.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub choices: usize,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// A call that waits for a yes.
///
/// ```
/// use graph_nodes::tool::AskedCall;
/// use serde_json::json;
///
/// let call: AskedCall = serde_json::from_value(json!({"id": "c1", "tool": "book", "arguments": {}})).unwrap();
/// assert_eq!((&*call.tool, &*call.description), ("book", ""));
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct AskedCall {
    /// The id of the call.
    pub id: String,
    /// The tool.
    pub tool: String,
    /// What the model was told of the tool; empty where a handler asks.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// The arguments, which fit the tool's schema.
    pub arguments: Value,
}

/// The answer to a [`ConfirmQuestion`]: `true`, `false`, or an object with more to say.
///
/// ```
/// use graph_nodes::tool::Confirmation;
/// use serde_json::json;
///
/// let plain: Confirmation = serde_json::from_value(json!(true))?;
/// assert_eq!(plain, Confirmation::yes());
/// let no = Confirmation::no().reason("too expensive");
/// assert_eq!(serde_json::to_value(&no)?, json!({"approve": false, "reason": "too expensive"}));
/// assert_eq!(
///     serde_json::from_value::<Confirmation>(json!("yes")).unwrap_err().to_string(),
///     "expected true, false or an object with `approve`, found \"yes\"",
/// );
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Confirmation {
    /// Whether it may run.
    pub approve: bool,
    /// Other arguments to run it with. They are checked against the tool's schema, and the model is told of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arguments: Option<Value>,
    /// Which parts of a list may run, by their places from 0 (default: all).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub only: Option<Vec<usize>>,
    /// Why, for the model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl Confirmation {
    /// It may run.
    #[must_use]
    pub fn yes() -> Self {
        Self { approve: true, ..Self::default() }
    }

    /// It may not.
    #[must_use]
    pub fn no() -> Self {
        Self::default()
    }

    /// With other arguments.
    #[must_use]
    pub fn arguments(mut self, arguments: impl Into<Value>) -> Self {
        self.arguments = Some(arguments.into());
        self
    }

    /// Only these parts of a list, by their places from 0.
    #[must_use]
    pub fn only(mut self, places: impl IntoIterator<Item = usize>) -> Self {
        self.only = Some(places.into_iter().collect());
        self
    }

    /// Why, for the model.
    #[must_use]
    pub fn reason(mut self, reason: impl Into<String>) -> Self {
        self.reason = Some(reason.into());
        self
    }

    /// What the model is told beside the result.
    pub(crate) fn note(&self) -> Option<String> {
        let changed = self.arguments.as_ref();
        let changed = changed.map(|arguments| format!("a person changed the arguments to {arguments}"));
        let said = self.reason.as_ref().map(|reason| format!("a person said: {reason}"));
        let notes: Vec<String> = changed.into_iter().chain(said).collect();
        (!notes.is_empty()).then(|| format!("({})", notes.join("; ")))
    }

    /// What the model is told instead of a result, unless it may run.
    pub(crate) fn refusal(&self) -> Option<ToolError> {
        if self.approve {
            return None;
        }
        let why = self.reason.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default();
        Some(ToolError::declined(format!(
            "not executed: a person was asked and declined{why}; don't call it again unless you are asked to"
        )))
    }
}

impl<'de> Deserialize<'de> for Confirmation {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Rich {
            approve: bool,
            #[serde(default)]
            arguments: Option<Value>,
            #[serde(default)]
            only: Option<Vec<usize>>,
            #[serde(default)]
            reason: Option<String>,
        }
        match Value::deserialize(deserializer)? {
            Value::Bool(approve) => Ok(Self { approve, ..Self::default() }),
            rich @ Value::Object(_) => {
                let Rich { approve, arguments, only, reason } = Rich::deserialize(rich).map_err(D::Error::custom)?;
                Ok(Self { approve, arguments, only, reason })
            }
            other => Err(D::Error::custom(format!("expected true, false or an object with `approve`, found {other}"))),
        }
    }
}

impl Confirm {
    /// Asks whether the call may run, in the words of the library.
    pub fn new() -> Self {
        Self::default()
    }

    /// Asks in these words.
    pub fn text(text: impl Into<String>) -> Self {
        Self { text: Some(text.into()), ..Self::default() }
    }

    /// Shows this beside the call.
    pub fn details(mut self, details: impl Serialize) -> Self {
        self.details = Some(serde_json::to_value(details).map_err(|error| error.to_string()));
        self
    }

    /// No answer within so long is a no.
    pub fn expires(mut self, within: Duration) -> Self {
        self.expires = Some(within);
        self
    }

    /// Lets a person agree to some of so many parts.
    pub fn choices(mut self, parts: usize) -> Self {
        self.choices = parts;
        self
    }

    /// One question instead of two.
    pub(crate) fn merge(self, other: Self) -> Self {
        let expires = self.expires.into_iter().chain(other.expires).min();
        Self { expires, ..Self::default() }
    }

    /// Asks about these calls; `fits` says what is wrong with other arguments.
    pub(crate) fn ask(
        self,
        ctx: &Ctx,
        calls: Vec<AskedCall>,
        fits: impl Fn(&Value) -> Result<(), String>,
    ) -> Result<Confirmation, ToolError> {
        let Self { text, details, expires, choices } = self;
        let text = text.unwrap_or_else(|| {
            let names: Vec<String> = calls.iter().map(|call| format!("`{}`", call.tool)).collect();
            format!("May {} run?", names.join(" and "))
        });
        let details = details
            .unwrap_or(Ok(Value::Null))
            .map_err(|why| format!("what is shown with a question is no JSON ({why})"))?;
        let mut ask = ctx.ask(ConfirmQuestion { text, calls, details, choices });
        if let Some(within) = expires {
            ask = ask.expires(within, json!({"approve": false, "reason": "nobody answered in time"}));
        }
        let read = |answer| {
            let answer: Confirmation = serde_json::from_value(answer).map_err(|error| error.to_string())?;
            match &answer.only {
                Some(_) if choices == 0 => return Err("there are no parts to choose from; leave `only` out".to_owned()),
                Some(only) if only.iter().any(|place| *place >= choices) => {
                    return Err(format!("`only` names parts from 0 to {}", choices.saturating_sub(1)));
                }
                _ => {}
            }
            answer.arguments.as_ref().map_or(Ok(()), &fits)?;
            Ok(answer)
        };
        ask.answer_if(read).map_err(|error| ToolError::halts(&error))
    }
}

impl From<&str> for Confirm {
    fn from(text: &str) -> Self {
        Self::text(text)
    }
}

impl From<String> for Confirm {
    fn from(text: String) -> Self {
        Self::text(text)
    }
}

impl AskedCall {
    pub(crate) fn of(call: &ToolCall, description: &str) -> Self {
        let arguments = call.arguments.parsed().cloned().unwrap_or_default();
        Self {
            id: call.id.clone(),
            tool: call.name.clone(),
            description: description.to_owned(),
            arguments: Value::Object(arguments),
        }
    }
}

/// The answer of a question that a handler asks, whose arguments are what they are.
pub(super) fn confirm(ctx: &Ctx, confirm: Confirm, calls: Vec<AskedCall>) -> Result<Confirmation, ToolError> {
    let fixed = |_: &Value| Err("the arguments can't be changed here; leave `arguments` out".to_owned());
    let answer = confirm.ask(ctx, calls, fixed)?;
    answer.refusal().map_or(Ok(answer), Err)
}
