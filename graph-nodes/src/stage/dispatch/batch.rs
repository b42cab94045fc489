//! Each call its own tool: neighbours that are safe together, the others alone.

use std::collections::BTreeMap;

use futures_util::{StreamExt, stream};
use graph_engine::{NodeError, State};

use super::super::signature::signature;
use super::super::{StageError, ToolLedger};
use super::Dispatch;
use super::answered::{Answered, Failure};
use super::judge::{Judged, reads};
use crate::message::{CallStatus, ToolCall};
use crate::tool::{Entry, ToolReply, ToolRoute};

/// What is done with one call of a batch.
enum Job<'a, S: State> {
    Run(&'a Entry<S>),
    /// The same call stands at this place of the batch.
    Same(usize),
}

impl<'a, S: State> Dispatch<'a, S> {
    pub(super) async fn run_each(
        &self,
        calls: &[ToolCall],
        ledger: &mut ToolLedger,
        all: &mut Vec<Answered<S>>,
    ) -> Result<(), NodeError> {
        let mut at = 0;
        let mut finished: Option<&str> = None;
        while let Some(call) = calls.get(at) {
            at += 1;
            if let Some(tool) = finished {
                all.push(self.refuse(call, format!("not executed: `{tool}` ended the conversation")).await?);
                continue;
            }
            match self.judge(call, at - 1, 0, ledger) {
                Judged::Faulty(why) => {
                    if self.tools.find(&call.name).is_ok() {
                        ledger.failed(&call.name);
                    }
                    all.push(self.refuse(call, why).await?);
                }
                Judged::Kept(why) => all.push(self.refuse(call, why).await?),
                Judged::Repeated(text) => {
                    ledger.repeated(&call.name);
                    all.push(self.repeat(call, text).await?);
                }
                Judged::Run(entry) => {
                    let jobs = self.batch(entry, &calls[at - 1..], at - 1, ledger);
                    let batch = &calls[at - 1..at - 1 + jobs.len()];
                    at += jobs.len() - 1;
                    let ends = self.run_batch(batch, &jobs, ledger, all).await?;
                    finished = ends.map(|place| batch[place].name.as_str());
                }
            }
        }
        Ok(())
    }

    /// The first call, whose tool is `first`, and the neighbours that run beside it.
    fn batch(&self, first: &'a Entry<S>, calls: &[ToolCall], offset: usize, ledger: &ToolLedger) -> Vec<Job<'a, S>> {
        let mut jobs = vec![Job::Run(first)];
        if self.node.sequential || !self.is_safe(&calls[0]) {
            return jobs;
        }
        let mut planned = 1;
        let mut places: BTreeMap<String, usize> = BTreeMap::new();
        let signature_of = |call| self.node.guards.repeats_intercepted.then(|| signature(call)).flatten();
        places.extend(signature_of(&calls[0]).map(|signature| (signature, 0)));
        for call in calls.iter().skip(1).take_while(|call| self.is_safe(call)) {
            let Judged::Run(entry) = self.judge(call, offset + jobs.len(), planned, ledger) else { break };
            let signature = signature_of(call);
            if let Some(place) = signature.as_ref().and_then(|signature| places.get(signature)) {
                jobs.push(Job::Same(*place));
                continue;
            }
            places.extend(signature.map(|signature| (signature, jobs.len())));
            jobs.push(Job::Run(entry));
            planned += 1;
        }
        jobs
    }

    /// Runs a batch and answers it in request order; the place of a call that finished the thread.
    async fn run_batch(
        &self,
        batch: &[ToolCall],
        jobs: &[Job<'a, S>],
        ledger: &mut ToolLedger,
        all: &mut Vec<Answered<S>>,
    ) -> Result<Option<usize>, NodeError> {
        let began = all.len();
        let mut results = self.run_jobs(batch, jobs).await?;
        // What was read beside a write may be older than it.
        let wrote = jobs.iter().zip(&results).any(|job| match job {
            (Job::Run(entry), Some(Ok(_))) => !reads(entry),
            _ => false,
        });
        let mut ends = None;
        for (place, (call, job)) in batch.iter().zip(jobs).enumerate() {
            let answered = match (job, results[place].take()) {
                (Job::Run(entry), Some(result)) => self.settle(call, entry, result, wrote, ledger).await?,
                // Every job that runs has its result.
                (Job::Run(_), None) => continue,
                (Job::Same(other), _) => self.same(call, &batch[*other], &all[began + other], ledger).await?,
            };
            if let Some(route) = &answered.route {
                self.node.check_route(&route.tool, &route.route).map_err(StageError::fatal)?;
                if ends.is_none() && matches!(route.route, ToolRoute::Finish(_)) {
                    ends = Some(place);
                }
            }
            all.push(answered);
        }
        Ok(ends)
    }

    /// The results by place, in whatever order they come.
    async fn run_jobs(
        &self,
        batch: &[ToolCall],
        jobs: &[Job<'a, S>],
    ) -> Result<Vec<Option<Result<ToolReply<S>, Failure>>>, NodeError> {
        let mut results = Vec::with_capacity(jobs.len());
        results.resize_with(jobs.len(), || None);
        if let ([call], [Job::Run(entry)]) = (batch, jobs) {
            results[0] = Some(self.handle(call, &entry.tool).await?);
            return Ok(results);
        }
        let mut work = Vec::with_capacity(jobs.len());
        for (place, (call, job)) in batch.iter().zip(jobs).enumerate() {
            if let Job::Run(entry) = job {
                work.push(async move { (place, self.handle(call, &entry.tool).await) });
            }
        }
        let mut running = stream::iter(work).buffer_unordered(self.node.concurrency);
        while let Some((place, result)) = running.next().await {
            results[place] = Some(result?);
        }
        Ok(results)
    }

    async fn settle(
        &self,
        call: &ToolCall,
        entry: &Entry<S>,
        result: Result<ToolReply<S>, Failure>,
        wrote: bool,
        ledger: &mut ToolLedger,
    ) -> Result<Answered<S>, NodeError> {
        ledger.calls = ledger.calls.saturating_add(1);
        match result {
            Ok(reply) => {
                let text = reply.model_text().unwrap_or_default();
                ledger.succeeded(&call.name, !reply.extras.unproductive);
                let reads = reads(entry);
                if !reads {
                    ledger.forget_results();
                }
                if !(reads && wrote) && reply.stays() {
                    self.remember(call, &text, ledger);
                }
                self.reply(call, text, reply, &call.name).await
            }
            Err(failure) => {
                ledger.failed(&call.name);
                self.failed(&call.name, &call.id, &failure).await?;
                self.refuse(call, failure.error.to_string()).await
            }
        }
    }

    pub(super) fn remember(&self, call: &ToolCall, text: &str, ledger: &mut ToolLedger) {
        if self.node.guards.repeats_intercepted
            && let Some(signature) = signature(call)
        {
            ledger.keep_result(signature, text);
        }
    }

    /// Answers a call with what became of the same call beside it.
    async fn same(
        &self,
        call: &ToolCall,
        other: &ToolCall,
        answered: &Answered<S>,
        ledger: &mut ToolLedger,
    ) -> Result<Answered<S>, NodeError> {
        ledger.repeated(&call.name);
        let text: String = answered.message.text().chars().take(ToolLedger::QUOTED).collect();
        match answered.message.status() {
            Some(CallStatus::Error) => {
                let why = format!("not executed: the call `{}` beside it is the same and failed: {text}", other.id);
                self.refuse(call, why).await
            }
            _ => {
                let text =
                    format!("not executed again: the call `{}` beside it is the same and answered: {text}", other.id);
                self.repeat(call, text).await
            }
        }
    }
}
