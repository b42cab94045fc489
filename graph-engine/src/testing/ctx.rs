//! A `Ctx` for calling a node function by hand.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use crate::checkpoint_id::CheckpointId;
use crate::name::Name;
use crate::task::{
    Again, Cancel, Ctx, Emitted, EmittedKind, Extra, Held, Interrupt, NodeIx, Shared, Sink, Task, TurnContext,
};
use crate::task_id::TaskId;
use serde::Serialize;
use serde_json::Value;

/// Makes a [`Ctx`] without an engine.
///
/// ```
/// use graph_engine::{Ctx, NodeError};
///
/// async fn explore(ctx: Ctx) -> Result<String, NodeError> {
///     ctx.emit("looking").await?;
///     Ok(ctx.feedback::<String>()?.unwrap_or_default())
/// }
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let test = Ctx::test().feedback("name a city").attempt(2);
/// let events = test.events();
/// assert_eq!(explore(test.build()).await.unwrap(), "name a city");
/// assert_eq!(events.custom(), ["looking"]);
/// # });
/// ```
#[derive(Debug)]
#[must_use = "call `build` to get the `Ctx`"]
pub struct TestCtx {
    node: Name,
    step: u64,
    attempt: u32,
    remaining_steps: u64,
    feedback: Vec<Value>,
    answers: Vec<Value>,
    cancel: Cancel,
    events: TestEvents,
}

/// What a node emitted through a [`TestCtx`].
///
/// ```
/// use graph_engine::Ctx;
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let test = Ctx::test();
/// let events = test.events();
/// test.build().token("Os").await;
/// assert_eq!(events.tokens(), ["Os"]);
/// # });
/// ```
#[derive(Clone, Debug, Default)]
pub struct TestEvents(Arc<Recorder>);

#[derive(Debug, Default)]
struct Recorder(Mutex<(Vec<Value>, Vec<String>)>);

impl Sink for Recorder {
    fn is_open(&self) -> bool {
        true
    }

    fn is_read(&self) -> bool {
        true
    }

    fn late_index(&self, _: TaskId, _: u32) -> u32 {
        0
    }

    fn emit(self: Arc<Self>, event: Emitted) -> Option<Pin<Box<dyn Future<Output = ()> + Send>>> {
        let mut both = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match event.kind {
            EmittedKind::Custom(value) => both.0.push(value),
            EmittedKind::Token(text) => both.1.push(text),
        }
        None
    }
}

impl TestEvents {
    /// Values that were emitted, in order.
    #[must_use]
    pub fn custom(&self) -> Vec<Value> {
        self.0.0.lock().unwrap_or_else(PoisonError::into_inner).0.clone()
    }

    /// Pieces of text that were emitted, in order.
    #[must_use]
    pub fn tokens(&self) -> Vec<String> {
        self.0.0.lock().unwrap_or_else(PoisonError::into_inner).1.clone()
    }
}

impl Ctx {
    /// The questions that nobody has answered, in the order in which they were asked.
    ///
    /// ```
    /// use graph_engine::Ctx;
    ///
    /// let ctx = Ctx::test().answer("Oslo").build();
    /// assert_eq!(ctx.interrupt::<String>("where?").unwrap(), "Oslo");
    /// assert!(ctx.interrupt::<String>("when?").is_err());
    /// assert_eq!(ctx.questions()[0].question, "when?");
    /// ```
    #[must_use]
    pub fn questions(&self) -> Vec<Interrupt> {
        self.open_questions()
    }

    /// Begins a `Ctx` for a test: first attempt of node `test` in super-step 0.
    pub fn test() -> TestCtx {
        TestCtx {
            node: "test".into(),
            step: 0,
            attempt: 1,
            remaining_steps: 99,
            feedback: Vec::new(),
            answers: Vec::new(),
            cancel: Cancel::default(),
            events: TestEvents::default(),
        }
    }
}

/// What a test gives, as the engine carries it.
///
/// # Panics
/// If the value is not JSON.
pub(super) fn test_json(what: &str, value: impl Serialize) -> Value {
    match serde_json::to_value(value) {
        Ok(value) => value,
        Err(error) => panic!("the {what} of a test is not JSON: {error}"),
    }
}

impl TestCtx {
    /// The node's name.
    pub fn node(mut self, name: impl Into<Name>) -> Self {
        self.node = name.into();
        self
    }

    /// The super-step.
    pub fn step(mut self, step: u64) -> Self {
        self.step = step;
        self
    }

    /// The attempt, from 1.
    pub fn attempt(mut self, attempt: u32) -> Self {
        self.attempt = attempt;
        self
    }

    /// The steps that the turn may still make.
    pub fn remaining_steps(mut self, steps: u64) -> Self {
        self.remaining_steps = steps;
        self
    }

    /// Adds the feedback of a stay.
    ///
    /// # Panics
    /// If the value is not JSON.
    pub fn feedback(mut self, value: impl Serialize) -> Self {
        self.feedback.push(test_json("feedback", value));
        self
    }

    /// Adds the answer to the next question that is asked outside of every scope.
    ///
    /// # Panics
    /// If the value is not JSON.
    pub fn answer(mut self, answer: impl Serialize) -> Self {
        self.answers.push(test_json("answer", answer));
        self
    }

    /// Cancels the `Ctx` when the returned function is called.
    pub fn canceller(&self) -> impl Fn() + Send + Sync + 'static {
        let cancel = self.cancel.clone();
        move || cancel.cancel()
    }

    /// What the node will have emitted.
    #[must_use]
    pub fn events(&self) -> TestEvents {
        self.events.clone()
    }

    /// The `Ctx`. Events are recorded as long as [`events`](Self::events) are held.
    #[must_use]
    pub fn build(self) -> Ctx {
        let sink: Arc<dyn Sink> = self.events.0.clone();
        let mut turn = TurnContext::new("test".into(), "test".into(), Arc::new([self.node]));
        turn.cancel = self.cancel;
        turn.cancel.note_reader(false);
        turn.durable = true;
        turn.journals.preset(TaskId { step: self.step, rank: 0 }, self.answers);
        turn.sink = Arc::downgrade(&sink).into();
        let extra = (!self.feedback.is_empty()).then(|| Arc::new(Extra { feedback: self.feedback, timeout: None }));
        let task = Task {
            shared: Held::new(Arc::new(Shared { state: (), turn: Arc::new(turn) })),
            id: TaskId { step: self.step, rank: 0 },
            node: NodeIx(0),
            attempt: self.attempt,
            origin: CheckpointId::default(),
            remaining_steps: self.remaining_steps,
            alone: true,
            again: Again::default(),
            first_step: true,
            wait: Duration::ZERO,
            payload: None,
            extra,
            emitted: Some(Arc::default()),
            pulse: None,
        };
        Ctx::of(&task)
    }
}
