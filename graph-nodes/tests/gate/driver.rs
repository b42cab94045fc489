//! The smallest loop that asks a model until its gate is content.

use std::num::NonZeroU32;
use std::time::Duration;

use graph_nodes::gate::{
    AttemptInfo, Decision, ExhaustedBy, GateError, GateLedger, GatePolicy, ModelOutcome, ModelResult, Validators,
    Verdict, decide, retry_request,
};
use graph_nodes::message::Message;
use graph_nodes::model::{ChatModel, Request, Response, ScriptedModel, Turn};
use tokio::time::{Instant, sleep, timeout};

/// What a vertex would keep in the state, and what a test wants to see.
pub(crate) struct Run {
    model: ScriptedModel,
    pub(crate) fallback: ScriptedModel,
    first: Request,
    next: Request,
    decision: Option<Decision>,
    pub(crate) ledger: GateLedger,
    pub(crate) requests: Vec<Request>,
    pub(crate) history: Vec<Message>,
    pub(crate) dispatched: usize,
    pub(crate) infos: Vec<AttemptInfo>,
    pub(crate) promised: Vec<AttemptInfo>,
}

impl Run {
    pub(crate) fn new(model: ScriptedModel, ledger: GateLedger) -> Self {
        let first = Request::new([ask()]);
        Self {
            model,
            fallback: ScriptedModel::new([]).with_name("fallback"),
            next: first.clone(),
            first,
            decision: None,
            ledger,
            requests: Vec::new(),
            history: vec![ask()],
            dispatched: 0,
            infos: Vec::new(),
            promised: Vec::new(),
        }
    }

    pub(crate) fn decision(&self) -> &Decision {
        self.decision.as_ref().expect("a step was made")
    }

    /// Asks as long as the gate says so.
    pub(crate) async fn finish(&mut self, policy: &GatePolicy, validators: &Validators<()>) {
        loop {
            self.step(policy, validators).await.expect("the gate can do its work");
            match self.decision() {
                Decision::Retry { backoff, .. } => sleep(*backoff).await,
                Decision::Fallback { .. } => {}
                _ => break,
            }
        }
        self.requests = self.model.requests();
    }

    /// One model call and what the gate says of it; the wait isn't part of it.
    pub(crate) async fn step(&mut self, policy: &GatePolicy, validators: &Validators<()>) -> Result<(), GateError> {
        self.infos.push(policy.next_attempt(&self.ledger));
        let start = Instant::now();
        let limit = policy.remaining(&self.ledger).unwrap_or(Duration::MAX);
        let model = match &self.decision {
            Some(Decision::Fallback { .. }) => &self.fallback,
            _ => &self.model,
        };
        let outcome = match timeout(limit, model.complete(self.next.clone())).await {
            Ok(result) => ModelOutcome::new(model.name(), start.elapsed(), result),
            Err(_) => ModelOutcome::deadline(model.name(), start.elapsed()),
        };
        let response = match &outcome.result {
            ModelResult::Response(response) => Some(Response::clone(response)),
            _ => None,
        };
        let decision = decide(policy, validators, &mut self.ledger, outcome, &()).await?;
        match &decision {
            Decision::Accept { response, .. } => {
                self.dispatched += response.executable_calls().map_or(0, <[_]>::len);
                self.history.push(response.to_message());
            }
            Decision::Retry { feedback, attempt, max, is_last, .. } => {
                self.promised.push(AttemptInfo { attempt: *attempt, max: *max, is_last: *is_last });
                self.next = retry_request(policy.feedback, &self.first, response.as_ref(), feedback.as_deref());
            }
            Decision::Fallback { feedback, attempt, max, .. } => {
                self.promised.push(AttemptInfo { attempt: *attempt, max: *max, is_last: true });
                self.next = retry_request(policy.feedback, &self.first, response.as_ref(), feedback.as_deref());
            }
            _ => {}
        }
        self.decision = Some(decision);
        Ok(())
    }
}

pub(crate) async fn run(
    policy: &GatePolicy,
    validators: &Validators<()>,
    turns: impl IntoIterator<Item = Turn>,
) -> Run {
    run_with(policy, validators, turns, GateLedger::default(), |request| request).await
}

pub(crate) async fn run_with(
    policy: &GatePolicy,
    validators: &Validators<()>,
    turns: impl IntoIterator<Item = Turn>,
    ledger: GateLedger,
    request: impl Fn(Request) -> Request,
) -> Run {
    let mut run = Run::new(ScriptedModel::new(turns), ledger);
    run.first = request(run.first);
    run.next = run.first.clone();
    run.finish(policy, validators).await;
    run
}

/// With a fallback model.
pub(crate) async fn run_fallback(
    policy: &GatePolicy,
    validators: &Validators<()>,
    turns: impl IntoIterator<Item = Turn>,
    fallback: impl IntoIterator<Item = Turn>,
) -> Run {
    let mut run = Run::new(ScriptedModel::new(turns), GateLedger::default());
    run.fallback = ScriptedModel::new(fallback).with_name("fallback");
    run.finish(policy, validators).await;
    run
}

pub(crate) fn ask() -> Message {
    Message::user("hi")
}

/// Turns of different texts, so that rejecting them isn't a lack of progress.
pub(crate) fn poem(lines: usize) -> impl Iterator<Item = Turn> {
    (1..=lines).map(|line| Turn::text(format!("line {line}")))
}

pub(crate) fn reject_all() -> Validators<()> {
    Validators::new().with_fn("reject_all", |response, ()| Verdict::retry("no", response.text.clone()))
}

pub(crate) fn counters(run: &Run) -> Vec<(&str, u32)> {
    run.ledger.counters.iter().map(|(code, count)| (code.as_str(), *count)).collect()
}

pub(crate) fn attempts(n: u32) -> GatePolicy {
    GatePolicy::new().with_max_attempts(NonZeroU32::new(n).unwrap())
}

pub(crate) fn exhausted_by(run: &Run) -> &ExhaustedBy {
    match run.decision() {
        Decision::Exhausted(failure) => &failure.by,
        other => panic!("expected exhaustion, got {other:?}"),
    }
}

pub(crate) fn accepted(run: &Run) -> &str {
    match run.decision() {
        Decision::Accept { response, .. } => &response.text,
        other => panic!("expected acceptance, got {other:?}"),
    }
}

/// Rejects every text but `good`.
pub(crate) fn only_good() -> Validators<()> {
    Validators::new().with_fn("only_good", |response, ()| match response.text.as_str() {
        "good" => Verdict::Accept,
        text => Verdict::retry("not_good", format!("`{text}` is not good")),
    })
}
