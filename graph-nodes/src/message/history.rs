//! The rule that every tool call is answered exactly once, and in place.

use std::collections::BTreeMap;
use std::fmt;

use super::{Message, MessageKind};

/// Checks that a history can be sent to a strict provider.
///
/// Every call of an assistant message is answered by exactly one tool message;
/// the answers follow their assistant message directly, in the order of the
/// calls; no call id is blank or used twice in the whole history. All problems
/// are reported, in the order of the messages. Works in one pass over anything
/// that lends messages.
///
/// ```
/// use graph_nodes::message::{HistoryProblem, Message, ToolCall, check_history};
///
/// let history = vec![Message::assistant("").with_calls([ToolCall::from_text("c1", "f", "{}")])];
/// let error = check_history(&history).unwrap_err();
/// assert_eq!(
///     error.problems,
///     [HistoryProblem::Unanswered { message: 0, call_id: "c1".into(), tool: "f".into() }],
/// );
/// ```
///
/// # Errors
/// Lists every problem found.
pub fn check_history<'a>(messages: impl IntoIterator<Item = &'a Message>) -> Result<(), HistoryError> {
    let mut check = Check::default();
    for (at, message) in messages.into_iter().enumerate() {
        match &message.kind {
            MessageKind::Assistant { .. } => check.assistant(at, message),
            MessageKind::Tool { call_id, .. } => check.answer(at, call_id),
            MessageKind::System | MessageKind::User => check.open = None,
            MessageKind::Removal { .. } | MessageKind::RemovalOfAll => {
                check.problems.push(HistoryProblem::StrayRemoval { message: at });
            }
        }
    }
    check.finish()
}

/// All problems of a history.
///
/// ```
/// use graph_nodes::message::{Message, check_history};
///
/// let error = check_history(&[Message::tool("c9", "late")]).unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "the history can't be sent: message 0 answers the unknown call `c9`; remove it or restore its assistant message",
/// );
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the history can't be sent: {}", Joined(problems))]
pub struct HistoryError {
    /// The problems, in the order of the messages; never empty.
    pub problems: Vec<HistoryProblem>,
}

/// One problem of a history. Messages are numbered from 0.
///
/// ```
/// use graph_nodes::message::HistoryProblem;
///
/// let problem = HistoryProblem::DuplicateId { message: 3, call_id: "c1".into(), first: 1 };
/// assert_eq!(problem.message(), 3);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HistoryProblem {
    /// A call has no answer.
    #[error("the call `{call_id}` of `{tool}` in message {message} is not answered; add its tool message")]
    Unanswered {
        /// The assistant message.
        message: usize,
        /// The call.
        call_id: String,
        /// The tool it names.
        tool: String,
    },
    /// A tool message answers a call that no earlier message holds.
    #[error("message {message} answers the unknown call `{call_id}`; remove it or restore its assistant message")]
    Orphan {
        /// The tool message.
        message: usize,
        /// The id it answers.
        call_id: String,
    },
    /// A call id occurs twice.
    #[error("message {message} uses the call id `{call_id}` of message {first} again; give each call its own id")]
    DuplicateId {
        /// The assistant message of the second call.
        message: usize,
        /// The id.
        call_id: String,
        /// The assistant message of the first call.
        first: usize,
    },
    /// A call has a blank id.
    #[error("a call of `{tool}` in message {message} has a blank id; give each call an id")]
    BlankId {
        /// The assistant message.
        message: usize,
        /// The tool it names.
        tool: String,
    },
    /// A call is answered more than once.
    #[error("message {message} answers the call `{call_id}` again; keep one answer per call")]
    AnsweredTwice {
        /// The second tool message.
        message: usize,
        /// The call.
        call_id: String,
    },
    /// Another message stands between the call and its answer.
    #[error(
        "message {message} answers the call `{call_id}` of message {call}, but not directly after it; move it there"
    )]
    Displaced {
        /// The tool message.
        message: usize,
        /// The call.
        call_id: String,
        /// The assistant message.
        call: usize,
    },
    /// An order to remove messages stands in the history instead of having been carried out.
    #[error(
        "message {message} is a removal that nobody carried out; declare the history with `#[state(with = \
         graph_nodes::message::add_messages)]`"
    )]
    StrayRemoval {
        /// The removal.
        message: usize,
    },
    /// The answers of one assistant message are not in the order of its calls.
    #[error(
        "message {message} answers the call `{call_id}` after a later call was answered; answer in the order of the calls"
    )]
    OutOfOrder {
        /// The tool message.
        message: usize,
        /// The call.
        call_id: String,
    },
}

impl HistoryProblem {
    /// The number of the message that is wrong.
    pub fn message(&self) -> usize {
        match self {
            Self::Unanswered { message, .. }
            | Self::Orphan { message, .. }
            | Self::DuplicateId { message, .. }
            | Self::BlankId { message, .. }
            | Self::AnsweredTwice { message, .. }
            | Self::Displaced { message, .. }
            | Self::StrayRemoval { message }
            | Self::OutOfOrder { message, .. } => *message,
        }
    }
}

struct Joined<'a>(&'a [HistoryProblem]);

impl fmt::Display for Joined<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A semicolon is between a problem and what to do about it.
        for (n, problem) in self.0.iter().enumerate() {
            write!(f, "{}{problem}", if n == 0 { "" } else { ", and " })?;
        }
        Ok(())
    }
}

/// What is known of one id.
struct Known<'a> {
    tool: &'a str,
    message: usize,
    position: usize,
    calls: usize,
    answers: usize,
}

#[derive(Default)]
struct Check<'a> {
    known: BTreeMap<&'a str, Known<'a>>,
    /// The assistant message whose answers may come now, and the position of
    /// the latest call that was answered.
    open: Option<(usize, Option<usize>)>,
    problems: Vec<HistoryProblem>,
}

impl<'a> Check<'a> {
    fn assistant(&mut self, message: usize, assistant: &'a Message) {
        self.open = Some((message, None));
        for (position, call) in assistant.calls().iter().enumerate() {
            let (tool, call_id) = (call.name.as_str(), call.id.as_str());
            if call_id.trim().is_empty() {
                self.problems.push(HistoryProblem::BlankId { message, tool: tool.to_owned() });
                continue;
            }
            let known = self.known.entry(call_id).or_insert(Known { tool, message, position, calls: 0, answers: 0 });
            known.calls += 1;
            if known.calls > 1 {
                let (call_id, first) = (call_id.to_owned(), known.message);
                self.problems.push(HistoryProblem::DuplicateId { message, call_id, first });
                // A reused id is answered where it was used last.
                (known.tool, known.message, known.position) = (tool, message, position);
            }
        }
    }

    fn answer(&mut self, message: usize, id: &'a str) {
        let call_id = id.to_owned();
        let Some(known) = self.known.get_mut(id) else {
            self.problems.push(HistoryProblem::Orphan { message, call_id });
            return;
        };
        known.answers += 1;
        if known.answers > known.calls {
            self.problems.push(HistoryProblem::AnsweredTwice { message, call_id });
            return;
        }
        match &mut self.open {
            Some((call, latest)) if *call == known.message => {
                if latest.is_some_and(|latest| known.position < latest) {
                    self.problems.push(HistoryProblem::OutOfOrder { message, call_id });
                } else {
                    *latest = Some(known.position);
                }
            }
            _ => self.problems.push(HistoryProblem::Displaced { message, call_id, call: known.message }),
        }
    }

    fn finish(mut self) -> Result<(), HistoryError> {
        for (id, known) in &self.known {
            if known.answers < known.calls {
                let (call_id, tool) = ((*id).to_owned(), known.tool.to_owned());
                self.problems.push(HistoryProblem::Unanswered { message: known.message, call_id, tool });
            }
        }
        self.problems.sort_by_key(HistoryProblem::message);
        if self.problems.is_empty() { Ok(()) } else { Err(HistoryError { problems: self.problems }) }
    }
}
