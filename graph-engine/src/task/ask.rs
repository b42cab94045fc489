//! How a node asks a person, and keeps what must not be done twice.

use std::fmt;
use std::future::Future;
use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_json::value::RawValue;

use super::Ctx;
use super::interrupt::{BadAnswer, Interrupt, InterruptId};
use super::journal::{Asked, Known, Recall, Reply};
use crate::error::{FaultKind, NodeError};
use crate::name::Name;
use crate::state::{json_of, to_json};

/// A question before it is asked. Made by [`Ctx::ask`].
///
/// ```
/// use std::time::Duration;
///
/// use graph_engine::{Ctx, NodeError};
///
/// async fn book(ctx: Ctx) -> Result<(), NodeError> {
///     // Nobody answers for a day: no.
///     let sure = ctx.ask("Book the Palace?").expires(Duration::from_secs(86_400), false).answer::<bool>()?;
///     println!("{sure}");
///     Ok(())
/// }
/// # let _ = book;
/// ```
#[must_use = "a question is asked by `answer`"]
#[derive(Debug)]
pub struct Ask<'a> {
    ctx: &'a Ctx,
    question: Result<Value, String>,
    expires: Option<(Duration, Result<Value, String>)>,
}

impl Ctx {
    /// Asks a person or another system, and gives the answer.
    ///
    /// The first time there is none: the error pauses the turn, whatever the node does with it, and the node runs again
    /// from its first line once there is an answer. Then its n-th question gets the n-th answer, so what was asked must
    /// not depend on chance; questions that are asked concurrently number themselves apart by [`scope`](Self::scope).
    /// What must not be done twice before a question stands in [`memo`](Self::memo).
    ///
    /// # Errors
    /// The one that pauses. A fatal one if the runner has no store, the question is not JSON, or the attempt is over. An answer that is no `T`
    /// is refused to whoever gave it, and the question stays open.
    pub fn interrupt<T: DeserializeOwned>(&self, question: impl Serialize) -> Result<T, NodeError> {
        self.ask(question).answer()
    }

    /// A question with a deadline, such as [`interrupt`](Self::interrupt) asks without one.
    pub fn ask(&self, question: impl Serialize) -> Ask<'_> {
        Ask { ctx: self, question: to_json(question), expires: None }
    }

    /// The same context for one of several parts of the node's work that run at once: its questions and memos are counted
    /// apart. Scopes may be nested.
    #[must_use]
    pub fn scope(&self, key: impl AsRef<str>) -> Self {
        let key = key.as_ref();
        let outer = self.scope.as_deref().unwrap_or_default();
        // The length keeps `a/b` in no scope apart from `b` in scope `a`.
        self.within(format!("{outer}{}:{key}/", key.len()).into())
    }

    /// Runs the work once for this task: its result is stored before it is given back, and every later attempt (a retry, a
    /// resume, a restart after a crash) gets the stored one. Errors are not stored. Keys are told apart within their
    /// [`scope`](Self::scope).
    ///
    /// Work that was under way when the process died runs again; [`idempotency_key`](Self::idempotency_key) tells the
    /// other side that it is the same.
    ///
    /// # Errors
    /// What the work says. A fatal error if the runner has no store, the attempt is over, the key is used twice in it, or
    /// the result is not JSON; a retryable one if the store can't keep it.
    ///
    /// ```
    /// use graph_engine::{Ctx, Graph, MemoryStore, NodeError, START, State};
    ///
    /// #[derive(State, Clone, Default)]
    /// struct Trip {
    ///     price: u32,
    /// }
    ///
    /// async fn book(ctx: Ctx) -> Result<TripUpdate, NodeError> {
    ///     let price = ctx.memo("quote", async { Ok::<_, NodeError>(120_u32) }).await?;
    ///     ctx.interrupt::<bool>(format!("{price}?"))?;
    ///     Ok(Trip::update().price(price))
    /// }
    ///
    /// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
    /// let graph = Graph::<Trip>::builder("trip").node("book", book).edge(START, "book").compile().unwrap();
    /// let thread = graph.runner().store(MemoryStore::new()).thread("guest-7");
    /// thread.run(Trip::update()).await.unwrap();
    /// assert_eq!(thread.resume(true).await.unwrap().state.price, 120);
    /// # });
    /// ```
    pub async fn memo<T, E>(
        &self,
        key: impl AsRef<str> + Send,
        work: impl Future<Output = Result<T, E>> + Send,
    ) -> Result<T, NodeError>
    where
        T: Serialize + DeserializeOwned + Send,
        E: Into<NodeError>,
    {
        self.needs_store("memo")?;
        let name = key.as_ref();
        let key = format!("{}{}:{name}", self.scope.as_deref().unwrap_or_default(), name.len());
        let journals = &self.turn.journals;
        let known = |json: &RawValue| {
            serde_json::from_str(json.get()).map_err(|e| {
                let wanted = std::any::type_name::<T>();
                NodeError::fatal(format!(
                    "what is stored under the memo key `{name}` is no `{wanted}`: {e}; its type changed since, use \
                     another key or `abandon` the thread's unfinished work"
                ))
            })
        };
        match journals.recall(self.id, self.attempt, &key) {
            Recall::Known(json) => return known(&json),
            Recall::Over => return Err(self.is_over()),
            Recall::Twice => {
                return Err(NodeError::fatal(format!(
                    "the memo key `{name}` is used twice in one attempt; use one key for each piece of work, or a `scope`"
                )));
            }
            Recall::New => {}
        }
        // Whoever is dropped while it works, or fails, may try again under the same key.
        let mut free = FreeKey { ctx: self, key: Some(&key) };
        let result = work.await.map_err(Into::into)?;
        let json = json_of(&result).map_err(|why| {
            NodeError::fatal(format!("the result under the memo key `{name}` can't be written as JSON: {why}"))
        })?;
        self.keep(&key, &json).await.map_err(|why| {
            NodeError::retryable(format!("the result under the memo key `{name}` could not be stored: {why}"))
        })?;
        let first = journals.remember(self.id, &key, json);
        free.key = None;
        // What an earlier attempt left behind was faster with the same piece of work.
        first.map_or(Ok(result), |first| known(&first))
    }

    async fn keep(&self, key: &str, json: &RawValue) -> Result<(), String> {
        let Some(keeper) = self.turn.keeper.get() else { return Ok(()) };
        let keeper = keeper.upgrade().ok_or("the turn is over")?;
        keeper.keep(self.id, key.into(), json.get().as_bytes().to_vec()).await.map_err(|error| error.to_string())
    }

    #[cfg(feature = "testing")]
    pub(crate) fn open_questions(&self) -> Vec<Interrupt> {
        self.turn.journals.open(self.id)
    }

    /// Whether the runner has a checkpoint store, so that questions can be asked and results remembered.
    #[must_use]
    pub fn is_durable(&self) -> bool {
        self.turn.durable
    }

    /// Whether something was asked in this attempt, within this scope or one inside of it, that nobody has answered yet:
    /// the turn pauses then, whatever becomes of the rest.
    ///
    /// ```
    /// use graph_engine::Ctx;
    ///
    /// let ctx = Ctx::test().build();
    /// let (room, table) = (ctx.scope("room"), ctx.scope("table"));
    /// assert!(room.interrupt::<bool>("Book the room?").is_err());
    /// assert_eq!((ctx.is_waiting(), room.is_waiting(), table.is_waiting()), (true, true, false));
    /// ```
    #[must_use]
    pub fn is_waiting(&self) -> bool {
        let journals = &self.turn.journals;
        journals.any() && journals.waits(self.id, self.scope.as_deref().unwrap_or_default())
    }

    /// Whether this is the first super-step of its turn: the turn began, was resumed or proceeds here.
    #[must_use]
    pub fn is_first_step(&self) -> bool {
        self.first_step
    }

    /// What can't be had without a store fails the attempt, even if the node goes on.
    fn needs_store(&self, what: &str) -> Result<(), NodeError> {
        if self.turn.durable {
            return Ok(());
        }
        let why = format!("`{what}` needs a checkpoint store; give the runner one with `Runner::store`");
        self.turn.journals.refuse(self.id, self.attempt, &why);
        Err(NodeError::fatal(why))
    }

    fn is_over(&self) -> NodeError {
        NodeError::fatal(format!(
            "attempt {} of `{}` is over, so nothing can be asked or remembered for it any more; do that in work that the \
             node awaits",
            self.attempt,
            self.node()
        ))
    }
}

struct FreeKey<'a> {
    ctx: &'a Ctx,
    key: Option<&'a str>,
}

impl Drop for FreeKey<'_> {
    fn drop(&mut self) {
        if let Some(key) = self.key {
            self.ctx.turn.journals.forget(self.ctx.id, self.ctx.attempt, key);
        }
    }
}

impl Ask<'_> {
    /// Answers the question by a default when nobody has within so long of its first being asked. The turn is then
    /// resumed by [`Runner::expire`](crate::Runner::expire), or when somebody next resumes or proceeds.
    pub fn expires(mut self, within: Duration, default: impl Serialize) -> Self {
        self.expires = Some((within, to_json(default)));
        self
    }

    /// Asks, and gives the answer.
    ///
    /// # Errors
    /// As [`Ctx::interrupt`].
    pub fn answer<T: DeserializeOwned>(self) -> Result<T, NodeError> {
        self.answer_if(|answer| {
            let wanted = std::any::type_name::<T>();
            serde_json::from_value(answer).map_err(|e| format!("{e}; expected a value of type `{wanted}`"))
        })
    }

    /// Asks, and gives what `read` makes of the answer. If `read` says why it can't be taken, whoever answered is told so,
    /// and the question stays open.
    ///
    /// ```
    /// use graph_engine::{Ctx, NodeError};
    ///
    /// async fn guests(ctx: Ctx) -> Result<u64, NodeError> {
    ///     ctx.ask("How many guests?").answer_if(|answer| match answer.as_u64() {
    ///         Some(guests @ 1..=8) => Ok(guests),
    ///         _ => Err("a room has 1 to 8 guests".to_owned()),
    ///     })
    /// }
    /// # let _ = guests;
    /// ```
    ///
    /// # Errors
    /// As [`Ctx::interrupt`].
    pub fn answer_if<T>(self, read: impl FnOnce(Value) -> Result<T, String>) -> Result<T, NodeError> {
        let Self { ctx, question, expires } = self;
        ctx.needs_store("interrupt")?;
        let no_json = |what: &str, why: String| NodeError::fatal(format!("the {what} can't be written as JSON: {why}"));
        let question = question.map_err(|why| no_json("question", why))?;
        let (within, default) = match expires {
            None => (None, None),
            Some((within, default)) => {
                (Some(within), Some(default.map_err(|why| no_json("default answer of a question", why))?))
            }
        };
        let asked = |nth| Asked {
            interrupt: Interrupt {
                id: ctx.with_origin(|origin| {
                    InterruptId::derive(origin, ctx.id, ctx.scope.as_deref().unwrap_or_default(), nth)
                }),
                namespace: ctx.turn.namespace.clone(),
                node: ctx.node().clone(),
                task: ctx.id,
                question,
                expires_ms: None,
            },
            within,
            default,
        };
        let Known { id, answer } = match ctx.turn.journals.ask(ctx.id, ctx.attempt, ctx.scope.as_ref(), asked) {
            Reply::Known(known) => known,
            Reply::Open => return Err(paused()),
            Reply::Over => return Err(ctx.is_over()),
        };
        read(answer).map_err(|why| {
            let node: Name = ctx.node().clone();
            ctx.turn.journals.refuse_answer(ctx.id, ctx.attempt, BadAnswer { id, node, why });
            paused()
        })
    }
}

/// Allocates nothing, because every question that is not answered yet makes one.
#[derive(Debug)]
struct Waits;

impl fmt::Display for Waits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("it waits for an answer")
    }
}

impl std::error::Error for Waits {}

pub(crate) fn paused() -> NodeError {
    NodeError::new(FaultKind::Interrupted, Box::new(Waits))
}
