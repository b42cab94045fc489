//! Whether a call reaches its handler.

use graph_engine::State;

use super::super::ToolLedger;
use super::super::signature::signature;
use super::Dispatch;
use crate::message::ToolCall;
use crate::panics::guarded;
use crate::tool::{Entry, offered};

/// Whether a call reaches its handler.
pub(super) enum Judged<'a, S: State> {
    /// It does.
    Run(&'a Entry<S>),
    /// Its name or its arguments are wrong.
    Faulty(String),
    /// A limit or a guard keeps it from running.
    Kept(String),
    /// The same call succeeded already.
    Repeated(String),
}

impl<'a, S: State> Dispatch<'a, S> {
    /// Looks at the call that stands at `at` of those that may run, while `planned` others are about to.
    pub(super) fn judge(&self, call: &ToolCall, at: usize, planned: u32, ledger: &ToolLedger) -> Judged<'a, S> {
        if at >= self.node.max_calls {
            return Judged::Kept(self.over_response("call it again in the next one"));
        }
        let entry = match self.check(call) {
            Ok(entry) => entry,
            Err(message) => return Judged::Faulty(message),
        };
        if let Some(text) = self.past(call, ledger) {
            return Judged::Repeated(text);
        }
        if ledger.is_open(&call.name, self.node.guards.breaker) {
            return Judged::Kept(broken(&call.name, ledger));
        }
        if self.left(ledger).is_some_and(|left| planned >= left) {
            return Judged::Kept(self.over_turn());
        }
        Judged::Run(entry)
    }

    /// The tool, if the call's name and arguments fit it.
    pub(super) fn check(&self, call: &ToolCall) -> Result<&'a Entry<S>, String> {
        if call.name.trim().is_empty() {
            return Err(format!("the call names no tool; {}", offered(self.tools.names())));
        }
        let entry = self.tools.find(&call.name)?;
        let arguments = call.arguments.parsed().map_err(ToString::to_string)?;
        entry.schema.check(&call.name, arguments)?;
        Ok(entry)
    }

    /// Whether the call may run beside others.
    pub(super) fn is_safe(&self, call: &ToolCall) -> bool {
        let (Ok(entry), Ok(arguments)) = (self.tools.find(&call.name), call.arguments.parsed()) else { return false };
        guarded(|| entry.tool.concurrency_safe(arguments)).unwrap_or_else(|message| {
            tracing::error!(
                tool = call.name,
                message,
                "a tool panicked when it was asked whether it may run beside others"
            );
            false
        })
    }

    /// What a call is told that succeeded already.
    pub(super) fn past(&self, call: &ToolCall, ledger: &ToolLedger) -> Option<String> {
        if !self.node.guards.repeats_intercepted {
            return None;
        }
        let text = ledger.result_of(&signature(call)?)?;
        Some(format!("not executed again: the same call succeeded in this turn and answered: {text}"))
    }

    /// How many more calls this turn may execute.
    pub(super) fn left(&self, ledger: &ToolLedger) -> Option<u32> {
        self.node.max_calls_per_turn.map(|limit| limit.saturating_sub(ledger.calls))
    }

    pub(super) fn over_response(&self, advice: &str) -> String {
        let (max, calls) = (self.node.max_calls, if self.node.max_calls == 1 { "call" } else { "calls" });
        format!("not executed: the limit is {max} {calls} in one response; {advice}")
    }

    pub(super) fn over_turn(&self) -> String {
        let max = self.node.max_calls_per_turn.unwrap_or_default();
        let calls = if max == 1 { "call" } else { "calls" };
        format!("not executed: the limit is {max} {calls} in one turn; go on with what you have")
    }
}

/// Whether a success of the tool leaves earlier results as they are.
pub(super) fn reads<S: State>(entry: &Entry<S>) -> bool {
    guarded(|| entry.tool.read_only()).unwrap_or_else(|message| {
        tracing::error!(tool = entry.spec.name, message, "a tool panicked when it was asked whether it only reads");
        false
    })
}

/// What a call of a broken tool is told.
pub(super) fn broken(tool: &str, ledger: &ToolLedger) -> String {
    let failures = ledger.tally(tool).failures_in_a_row;
    let times = if failures == 1 { "once" } else { &format!("{failures} times in a row") };
    format!("not executed: `{tool}` failed {times}, so it is not called again in this turn; go on without it")
}
