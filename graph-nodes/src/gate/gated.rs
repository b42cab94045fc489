//! A gate around one model call, without an engine.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use futures_core::future::BoxFuture;

use super::gated_round::GatedRound;
use super::{
    BestOf, Exhaustion, GateError, GateLedger, GatePolicy, GateSink, GatedError, GatedFailure, Modification, Streaming,
    Validators,
};
use crate::model::{ChatModel, Request, Response};

/// A gate around one model call: asks, judges, waits and asks again, until a response is accepted or a limit is
/// reached. The same rules and the same accounting as the vertices of a stage, in a plain async function.
///
/// Dropping the future cancels everything; to keep the ledger then, use [`GatedRound::until`].
///
/// ```
/// use graph_nodes::gate::{Gated, GatedEvent, GatePolicy, Validators, Verdict, shown};
/// use graph_nodes::message::Message;
/// use graph_nodes::model::{Request, ScriptedModel, Turn};
///
/// # let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
/// # runtime.block_on(async {
/// let model = ScriptedModel::new([Turn::text("Nice."), Turn::text("Bern is nice.")]);
/// let validators = Validators::<str>::new().with_fn("names_city", |response, city| {
///     match response.text.contains(city) {
///         true => Verdict::Accept,
///         false => Verdict::retry("no_city", format!("name the city {city}")),
///     }
/// });
/// let gated = Gated::new(model, GatePolicy::new(), validators);
///
/// let mut events = Vec::new();
/// let request = Request::new([Message::user("How is Bern?")]);
/// let answer = gated.run(request, "Bern", |event| events.push(event)).await?;
/// assert_eq!(answer.response.text, "Bern is nice.");
/// assert_eq!((answer.ledger.started(), answer.ledger.tokens()), (2, 220));
/// assert_eq!(shown(&events), "Bern is nice.");
/// # Ok::<(), graph_nodes::gate::GatedFailure>(())
/// # }).unwrap();
/// ```
pub struct Gated<S: ?Sized> {
    pub(super) model: Arc<dyn ChatModel>,
    pub(super) fallback: Option<Arc<dyn ChatModel>>,
    pub(super) policy: GatePolicy,
    pub(super) validators: Validators<S>,
    pub(super) streaming: Streaming,
    pub(super) name: String,
    rounds: AtomicU32,
}

/// A response that was accepted, and what it cost.
///
/// Its calls may be executed; see [`Response::executable_calls`].
///
/// ```
/// use graph_nodes::gate::{Gated, GatePolicy, Validators};
/// use graph_nodes::model::{Request, ScriptedModel, Turn};
///
/// # let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
/// # runtime.block_on(async {
/// let gated = Gated::new(ScriptedModel::new([Turn::text("hi")]), GatePolicy::new(), Validators::<()>::new());
/// let answer = gated.run(Request::default(), &(), ()).await.unwrap();
/// assert_eq!((answer.response.text.as_str(), answer.modified, answer.best), ("hi", None, None));
/// assert!(answer.ledger.to_table().starts_with("n  outcome"));
/// # });
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct GatedAnswer {
    /// The response, with what validators changed.
    pub response: Response,
    /// How it was changed.
    pub modified: Option<Modification>,
    /// Set if it was rejected at first, and was the best one when a limit was reached.
    pub best: Option<BestOf>,
    /// Every attempt and token.
    pub ledger: GateLedger,
}

impl<S: ?Sized + Sync + 'static> Gated<S> {
    /// A gate around this model that holds a response back until it is accepted.
    pub fn new(model: impl ChatModel, policy: GatePolicy, validators: Validators<S>) -> Self {
        Self {
            model: Arc::new(model),
            fallback: None,
            policy,
            validators,
            streaming: Streaming::default(),
            name: "gated".to_owned(),
            rounds: AtomicU32::new(0),
        }
    }

    /// Sets the model that is asked once when a limit is reached, under [`Exhaustion::FallbackModel`].
    #[must_use]
    pub fn with_fallback(mut self, model: impl ChatModel) -> Self {
        self.fallback = Some(Arc::new(model));
        self
    }

    /// Sets when the text is shown.
    ///
    /// ```
    /// use graph_nodes::gate::{ForbiddenPatterns, Gated, GatedEvent, GatePolicy, Streaming, Validators};
    /// use graph_nodes::message::Message;
    /// use graph_nodes::model::{Request, ScriptedModel, Turn};
    ///
    /// # let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    /// # runtime.block_on(async {
    /// let validators = Validators::<()>::new().with(ForbiddenPatterns::new([("a price", r"\d+ francs")])?);
    /// let model = ScriptedModel::new([Turn::text("A room is free. It is quiet.")]);
    /// let gated = Gated::new(model, GatePolicy::new(), validators).with_streaming(Streaming::every_sentence());
    /// let mut pieces = Vec::new();
    /// gated.run(Request::new([Message::user("Is there a room?")]), &(), |event| pieces.push(event)).await?;
    /// assert_eq!(pieces, [GatedEvent::Text("A room is free. ".into()), GatedEvent::Text("It is quiet.".into())]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    #[must_use]
    pub fn with_streaming(mut self, streaming: Streaming) -> Self {
        self.streaming = streaming;
        self
    }

    /// Sets the name that `tracing` shows as the stage.
    #[must_use]
    pub fn with_name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// Finds what would fail the first call: a policy that wants a fallback model or a score that there is not.
    ///
    /// # Errors
    /// [`GatedError::NoFallback`], [`GatedError::Gate`] with [`GateError::NoScore`].
    pub fn check(&self) -> Result<(), GatedError> {
        match self.policy.exhaustion {
            Exhaustion::FallbackModel if self.fallback.is_none() => Err(GatedError::NoFallback),
            Exhaustion::AcceptBest if !self.validators.has_score() => Err(GatedError::Gate(GateError::NoScore)),
            _ => Ok(()),
        }
    }

    /// Asks until a response is accepted. A policy in [shadow mode](GatePolicy::in_shadow_every) counts the runs of
    /// this value as its rounds.
    ///
    /// # Errors
    /// [`GatedFailure`], with the ledger and the latest response.
    pub fn run<'a>(
        &'a self,
        request: Request,
        state: &'a S,
        sink: impl GateSink + 'a,
    ) -> BoxFuture<'a, Result<GatedAnswer, GatedFailure>> {
        Box::pin(self.round(request, state).run(sink))
    }

    /// The same with more to say: a ledger to go on with, a signal to stop.
    pub fn round<'a>(&'a self, request: Request, state: &'a S) -> GatedRound<'a, S> {
        let ledger = GateLedger::of_round(self.rounds.fetch_add(1, Ordering::Relaxed));
        GatedRound::new(self, request, state, ledger)
    }
}

impl<S: ?Sized + Sync + 'static> fmt::Debug for Gated<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Gated")
            .field("model", &self.model.name())
            .field("policy", &self.policy)
            .field("validators", &self.validators)
            .field("streaming", &self.streaming)
            .finish_non_exhaustive()
    }
}
