//! Each call its own tool: neighbours that are safe together, the others alone.

use std::collections::BTreeMap;

use futures_util::{StreamExt, stream};
use graph_engine::{NodeError, State};

use super::super::signature::signature;
use super::super::{RouteOf, StageError, ToolLedger};
use super::Dispatch;
use super::answered::{Answered, Counts, Failure};
use super::judge::{Judged, reads};
use super::permit::Permit;
use crate::message::{CallStatus, ToolCall};
use crate::tool::{Entry, ToolError, ToolReply, ToolRoute};

/// What is done with one call of a batch.
enum Job<'a, S: State> {
    Run {
        entry: &'a Entry<S>,
        /// The call with other arguments.
        edited: Option<ToolCall>,
        note: Option<String>,
        /// A person was asked.
        asked: bool,
    },
    /// A person said no.
    Declined(ToolError),
    /// It waits for an answer, or for another call that does.
    Waits,
    /// The same call stands at this place of the batch.
    Same(usize),
}

/// What is known of a call before it is its turn.
struct Known<S: State> {
    kept: Option<Answered<S>>,
    permit: Option<Permit>,
}

/// What became of a batch.
struct Ended {
    /// The place of a call that finished the thread.
    finished: Option<usize>,
    /// A call waits.
    waits: bool,
}

/// What a handler said; `None` if it waits.
type Said<S> = Option<Result<ToolReply<S>, Failure>>;

impl<'a, S: State> Dispatch<'a, S> {
    pub(super) async fn run_each(
        &self,
        calls: &[ToolCall],
        ledger: &mut ToolLedger,
        all: &mut Vec<Answered<S>>,
    ) -> Result<(), NodeError> {
        let mut known = Vec::with_capacity(calls.len());
        for call in calls {
            known.push(Known { kept: self.kept(call).await?, permit: None });
        }
        let mut at = 0;
        let mut finished: Option<&str> = None;
        // A call that can't run beside others waits, so those like it wait too: their order is kept.
        let mut held = false;
        while let Some(call) = calls.get(at) {
            at += 1;
            if let Some(answered) = known[at - 1].kept.take() {
                self.count(call, &answered, ledger);
                if finished.is_none() && finishes(&answered) {
                    finished = Some(&call.name);
                }
                all.push(answered);
                continue;
            }
            if let Some(tool) = finished {
                all.push(self.refuse(call, format!("not executed: `{tool}` ended the conversation")).await?);
                continue;
            }
            let answered = match self.judge(call, at - 1, 0, ledger) {
                Judged::Faulty(why) => {
                    let counts = if self.tools.find(&call.name).is_ok() { Counts::Faulty } else { Counts::Not };
                    self.refuse(call, why).await?.counted(counts)
                }
                Judged::Kept(why) => self.refuse(call, why).await?,
                Judged::Repeated(text) => self.repeat(call, text).await?.counted(Counts::Repeated),
                Judged::Run(entry) => {
                    let is_safe = self.is_safe(call);
                    let jobs = self.batch(entry, &calls[at - 1..], &mut known[at - 1..], at - 1, ledger, held)?;
                    let batch = &calls[at - 1..at - 1 + jobs.len()];
                    at += jobs.len() - 1;
                    let ended = self.run_batch(batch, &jobs, ledger, all).await?;
                    finished = ended.finished.map(|place| batch[place].name.as_str());
                    held |= ended.waits && !is_safe;
                    continue;
                }
            };
            self.count(call, &answered, ledger);
            all.push(answered);
        }
        Ok(())
    }

    /// The first call, whose tool is `first`, and the neighbours that run beside it.
    fn batch(
        &self,
        first: &'a Entry<S>,
        calls: &[ToolCall],
        known: &mut [Known<S>],
        offset: usize,
        ledger: &ToolLedger,
        held: bool,
    ) -> Result<Vec<Job<'a, S>>, NodeError> {
        let is_alone = self.plan(&calls[0], first, &mut known[0])?;
        let mut jobs = vec![self.job(first, &mut known[0], held && is_alone)];
        if self.node.sequential || is_alone {
            return Ok(jobs);
        }
        let mut planned = 1;
        let mut places: BTreeMap<String, usize> = BTreeMap::new();
        let signature_of = |call| self.node.guards.repeats_intercepted.then(|| signature(call)).flatten();
        places.extend(signature_of(&calls[0]).map(|signature| (signature, 0)));
        for (call, known) in calls.iter().zip(known).skip(1) {
            if known.kept.is_some() || !self.is_safe(call) {
                break;
            }
            let Judged::Run(entry) = self.judge(call, offset + jobs.len(), planned, ledger) else { break };
            let signature = signature_of(call);
            if let Some(place) = signature.as_ref().and_then(|signature| places.get(signature)) {
                jobs.push(Job::Same(*place));
                continue;
            }
            if self.plan(call, entry, known)? {
                break;
            }
            places.extend(signature.map(|signature| (signature, jobs.len())));
            jobs.push(self.job(entry, known, false));
            planned += 1;
        }
        Ok(jobs)
    }

    /// Asks about a call, once; says whether it can't run beside others.
    fn plan(&self, call: &ToolCall, entry: &Entry<S>, known: &mut Known<S>) -> Result<bool, NodeError> {
        let permit = match known.permit.take() {
            Some(permit) => permit,
            None => self.permit(call, entry)?,
        };
        let is_alone = !self.is_safe(permit.call(call));
        known.permit = Some(permit);
        Ok(is_alone)
    }

    fn job(&self, entry: &'a Entry<S>, known: &mut Known<S>, held: bool) -> Job<'a, S> {
        match known.permit.take() {
            Some(Permit::Declined(error)) => Job::Declined(error),
            Some(Permit::Run { edited, note, asked }) if !held => Job::Run { entry, edited, note, asked },
            _ => Job::Waits,
        }
    }

    /// Runs a batch and answers it in request order.
    async fn run_batch(
        &self,
        batch: &[ToolCall],
        jobs: &[Job<'a, S>],
        ledger: &mut ToolLedger,
        all: &mut Vec<Answered<S>>,
    ) -> Result<Ended, NodeError> {
        let began = all.len();
        let mut results = self.run_jobs(batch, jobs).await?;
        // What was read beside a write may be older than it.
        let wrote = jobs.iter().zip(&results).any(|job| match job {
            (Job::Run { entry, .. }, Some(Some(Ok(_)))) => !reads(entry),
            _ => false,
        });
        let mut ended = Ended { finished: None, waits: false };
        for (place, (call, job)) in batch.iter().zip(jobs).enumerate() {
            let mut answered = match (job, results[place].take().flatten()) {
                (Job::Run { entry, note, .. }, Some(result)) => {
                    let stale = wrote && reads(entry);
                    self.settle(call, result, note.as_deref()).await?.counted(Counts::Ran { stale })
                }
                (Job::Declined(error), _) => self.fail(call, error).await?.counted(Counts::Ran { stale: false }),
                (Job::Same(other), _) => self.same(call, &batch[*other], &all[began + other]).await?,
                (Job::Run { .. } | Job::Waits, _) => Answered::waiting(call),
            };
            if answered.waits() {
                ended.waits = true;
                // It will be executed, so it takes its place among those that may.
                ledger.calls = ledger.calls.saturating_add(1);
            }
            self.count(call, &answered, ledger);
            if let Some(route) = &answered.route {
                self.node.check_route(&route.tool, &route.route).map_err(StageError::fatal)?;
            }
            if ended.finished.is_none() && finishes(&answered) {
                ended.finished = Some(place);
            }
            if matches!(job, Job::Run { asked: true, .. }) {
                // What a person agreed to is not done again after a crash either.
                self.keep(call, &mut answered).await?;
            }
            all.push(answered);
        }
        Ok(ended)
    }

    /// The results by place, in whatever order they come.
    async fn run_jobs(&self, batch: &[ToolCall], jobs: &[Job<'a, S>]) -> Result<Vec<Option<Said<S>>>, NodeError> {
        let mut results = Vec::with_capacity(jobs.len());
        results.resize_with(jobs.len(), || None);
        if let ([call], [Job::Run { entry, edited, .. }]) = (batch, jobs) {
            results[0] = Some(self.handle(edited.as_ref().unwrap_or(call), &entry.tool).await?);
            return Ok(results);
        }
        let mut work = Vec::with_capacity(jobs.len());
        for (place, (call, job)) in batch.iter().zip(jobs).enumerate() {
            if let Job::Run { entry, edited, .. } = job {
                let call = edited.as_ref().unwrap_or(call);
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
        result: Result<ToolReply<S>, Failure>,
        note: Option<&str>,
    ) -> Result<Answered<S>, NodeError> {
        match result {
            Ok(reply) => {
                let reply = note.into_iter().fold(reply, ToolReply::noted);
                let text = reply.model_text().unwrap_or_default();
                self.reply(call, text, reply, &call.name).await
            }
            Err(failure) => {
                self.failed(&call.name, &call.id, &failure).await?;
                match note {
                    None => self.fail(call, &failure.error).await,
                    Some(note) => self.fail(call, &failure.error.noted(note)).await,
                }
            }
        }
    }

    /// Counts an answer, once for each run of the vertex, of which only one is committed.
    fn count(&self, call: &ToolCall, answered: &Answered<S>, ledger: &mut ToolLedger) {
        match answered.counts {
            Counts::Not => {}
            Counts::Faulty => ledger.failed(&call.name),
            Counts::Repeated => ledger.repeated(&call.name),
            Counts::Ran { stale } => match answered.message.status() {
                Some(CallStatus::Declined) => ledger.declined(&call.name),
                Some(CallStatus::Error) => {
                    ledger.calls = ledger.calls.saturating_add(1);
                    ledger.failed(&call.name);
                }
                Some(CallStatus::Ok) | None => {
                    ledger.calls = ledger.calls.saturating_add(1);
                    ledger.succeeded(&call.name, !answered.extras.unproductive);
                    if !self.tools.find(&call.name).is_ok_and(reads) {
                        ledger.forget_results();
                    }
                    let stays = matches!(answered.route, None | Some(RouteOf { route: ToolRoute::Stay, .. }));
                    if stays && !stale {
                        self.remember(call, &answered.message.text(), ledger);
                    }
                }
            },
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
    async fn same(&self, call: &ToolCall, other: &ToolCall, answered: &Answered<S>) -> Result<Answered<S>, NodeError> {
        if answered.waits() {
            return Ok(Answered::waiting(call));
        }
        let text: String = answered.message.text().chars().take(ToolLedger::QUOTED).collect();
        let repeated = match answered.message.status() {
            Some(CallStatus::Error) => {
                let why = format!("not executed: the call `{}` beside it is the same and failed: {text}", other.id);
                self.refuse(call, why).await?
            }
            Some(CallStatus::Declined) => self.fail(call, &ToolError::declined(text)).await?,
            _ => {
                let text =
                    format!("not executed again: the call `{}` beside it is the same and answered: {text}", other.id);
                self.repeat(call, text).await?
            }
        };
        Ok(repeated.counted(Counts::Repeated))
    }
}

fn finishes<S: State>(answered: &Answered<S>) -> bool {
    matches!(answered.route, Some(RouteOf { route: ToolRoute::Finish(_), .. }))
}
