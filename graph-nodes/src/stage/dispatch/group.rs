//! All calls at once, by the handler of exactly their tools.

use std::sync::Arc;

use graph_engine::{NodeError, State};

use super::super::{StageError, ToolLedger};
use super::Dispatch;
use super::answered::{Answered, Failure, no_json};
use super::judge::{broken, reads};
use super::permit::Permit;
use crate::message::ToolCall;
use crate::tool::{GroupHandler, GroupKey, GroupReply, ToolReply};

impl<S: State> Dispatch<'_, S> {
    /// The group has the last word: whatever happens, no call goes to its own tool.
    pub(super) async fn run_group(
        &self,
        key: &GroupKey,
        handler: &Arc<dyn GroupHandler<S>>,
        calls: &[ToolCall],
        ledger: &mut ToolLedger,
        all: &mut Vec<Answered<S>>,
    ) -> Result<(), NodeError> {
        if let Some(reasons) = self.kept_from_running(key, calls, ledger) {
            for (call, why) in calls.iter().zip(reasons) {
                all.push(self.refuse(call, why).await?);
            }
            return Ok(());
        }
        let past: Vec<Option<String>> = calls.iter().map(|call| self.past(call, ledger)).collect();
        if past.iter().all(Option::is_some) {
            for (call, text) in calls.iter().zip(past.into_iter().flatten()) {
                ledger.repeated(&call.name);
                all.push(self.repeat(call, text).await?);
            }
            return Ok(());
        }
        let note = match self.permit_group(calls, handler)? {
            Permit::Run { note, .. } => note,
            Permit::Declined(error) => return self.fail_group(key, calls, &error.into(), ledger, all).await,
            Permit::Waits => {
                all.extend(calls.iter().map(Answered::waiting));
                return Ok(());
            }
        };
        let Some(result) = self.handle_group(key, calls, handler).await? else {
            all.extend(calls.iter().map(Answered::waiting));
            return Ok(());
        };
        let result = result.and_then(|reply| self.texts(key, calls, reply));
        if let Err(failure) = &result
            && failure.error.is_declined()
        {
            return self.fail_group(key, calls, failure, ledger, all).await;
        }
        ledger.calls = ledger.calls.saturating_add(u32::try_from(calls.len()).unwrap_or(u32::MAX));
        match result {
            Ok((mut texts, reply)) => {
                // Whatever a person said, the first answer tells.
                if let (Some(note), Some(first)) = (note, texts.first_mut()) {
                    *first = format!("{first}\n{note}");
                }
                self.settle_group(key, calls, texts, reply, ledger, all).await
            }
            Err(failure) => self.fail_group(key, calls, &failure, ledger, all).await,
        }
    }

    async fn fail_group(
        &self,
        key: &GroupKey,
        calls: &[ToolCall],
        failure: &Failure,
        ledger: &mut ToolLedger,
        all: &mut Vec<Answered<S>>,
    ) -> Result<(), NodeError> {
        for tool in key.names() {
            if failure.error.is_declined() {
                ledger.declined(tool);
            } else {
                ledger.failed(tool);
            }
        }
        self.failed(&key.to_string(), &calls[0].id, failure).await?;
        for call in calls {
            all.push(self.fail(call, &failure.error).await?);
        }
        Ok(())
    }

    async fn settle_group(
        &self,
        key: &GroupKey,
        calls: &[ToolCall],
        texts: Vec<String>,
        reply: ToolReply<S>,
        ledger: &mut ToolLedger,
        all: &mut Vec<Answered<S>>,
    ) -> Result<(), NodeError> {
        let name = key.to_string();
        if let Some(route) = &reply.route {
            self.node.check_route(&name, route).map_err(StageError::fatal)?;
        }
        key.names().iter().for_each(|tool| ledger.succeeded(tool, !reply.extras.unproductive));
        let only_reads = |tool: &String| self.tools.find(tool).is_ok_and(reads);
        if !key.names().iter().all(only_reads) {
            ledger.forget_results();
        }
        let stays = reply.stays();
        let mut once = Some(reply);
        for (call, text) in calls.iter().zip(texts) {
            if stays {
                self.remember(call, &text, ledger);
            }
            let reply = once.take().unwrap_or_else(|| ToolReply::text(""));
            all.push(self.reply(call, text, reply, &name).await?);
        }
        Ok(())
    }

    /// Why nothing of the group runs, for each call.
    fn kept_from_running(&self, key: &GroupKey, calls: &[ToolCall], ledger: &mut ToolLedger) -> Option<Vec<String>> {
        let every = |text: String| Some(vec![text; calls.len()]);
        if calls.len() > self.node.max_calls {
            return every(self.over_response("these calls are handled together, so call fewer"));
        }
        let faults: Vec<Option<String>> = calls.iter().map(|call| self.check(call).err()).collect();
        if faults.iter().any(Option::is_some) {
            let explain = |(call, fault): (&ToolCall, Option<String>)| {
                if fault.is_some() {
                    ledger.failed(&call.name);
                }
                fault.unwrap_or_else(|| {
                    "not executed: it is handled together with another call, whose arguments are wrong; call all of them again".to_owned()
                })
            };
            return Some(calls.iter().zip(faults).map(explain).collect());
        }
        if let Some(open) = key.names().iter().find(|tool| ledger.is_open(tool, self.node.guards.breaker)) {
            let explain = |call: &ToolCall| match ledger.is_open(&call.name, self.node.guards.breaker) {
                true => broken(&call.name, ledger),
                false => format!(
                    "not executed: it is handled together with `{open}`, which is not called again in this turn; call it without `{open}`"
                ),
            };
            return Some(calls.iter().map(explain).collect());
        }
        let needed = u32::try_from(calls.len()).unwrap_or(u32::MAX);
        self.left(ledger).filter(|left| *left < needed).and_then(|_| every(self.over_turn()))
    }

    /// The text of every call, and what takes effect once.
    fn texts(
        &self,
        key: &GroupKey,
        calls: &[ToolCall],
        reply: GroupReply<S>,
    ) -> Result<(Vec<String>, ToolReply<S>), Failure> {
        let name = key.to_string();
        let text = |call: &ToolCall| reply.text_of(&call.id).map_err(|error| no_json(&name, error));
        let texts = calls.iter().map(text).collect::<Result<Vec<_>, _>>()?;
        // The shared text may be unused, but one that is no JSON is a defect all the same.
        Ok((texts, self.checked(&name, reply.shared)?))
    }
}
