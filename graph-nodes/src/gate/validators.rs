//! The checks of one gate.

use std::fmt;
use std::sync::Arc;

use serde::de::DeserializeOwned;

use super::async_check::AsyncFnValidator;
use super::call_check::CallCheck;
use super::{AllowedTools, AsyncValidator, CheckFn, Cost, Judgement, StructuredOutput, Validator, Verdict};
use crate::model::Response;
use crate::panics::{guarded, guarded_async};

/// The checks of one gate, in the order they run: first the cheap ones, then
/// the judges, each in the order they were added. A check that replaces the
/// response comes before those that should see the replacement.
///
/// ```
/// use graph_nodes::gate::{ArgumentsParse, Validators, Verdict};
///
/// let validators = Validators::<u32>::new().with(ArgumentsParse).with_fn("limit", |response, limit| {
///     match response.calls.len() <= *limit as usize {
///         true => Verdict::Accept,
///         false => Verdict::retry("too_many_calls", format!("call at most {limit} tools")),
///     }
/// });
/// assert_eq!(validators.names(), ["arguments_parse", "limit"]);
/// ```
pub struct Validators<S: ?Sized> {
    pub(super) cheap: Vec<Check<S>>,
    pub(super) judges: Vec<Check<S>>,
    pub(super) score: Option<Score<S>>,
    pub(super) structured: Option<StructuredOutput>,
}

/// How good a response is.
pub(super) type Score<S> = Arc<dyn Fn(&Response, &S) -> f64 + Send + Sync>;

pub(super) enum Check<S: ?Sized> {
    Sync(Arc<dyn Validator<S>>),
    Async(Arc<dyn AsyncValidator<S>>),
}

impl<S: ?Sized + Sync + 'static> Validators<S> {
    /// No checks: everything that is neither empty, cut off nor refused is accepted.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a check.
    #[must_use]
    pub fn with(self, validator: impl Validator<S>) -> Self {
        self.add(validator.cost(), Check::Sync(Arc::new(validator)))
    }

    fn add(mut self, cost: Cost, check: Check<S>) -> Self {
        match cost {
            Cost::Cheap => self.cheap.push(check),
            Cost::Judge => self.judges.push(check),
        }
        self
    }

    /// Adds a closure as a cheap check.
    #[must_use]
    pub fn with_fn(
        self,
        name: impl Into<String>,
        check: impl Fn(&Response, &S) -> Verdict + Send + Sync + 'static,
    ) -> Self {
        self.with(FnValidator { name: name.into(), check })
    }

    /// Adds an async function or closure as a check. Its time counts against the deadline.
    ///
    /// ```
    /// use graph_nodes::gate::{Cost, Validators, Verdict};
    /// use graph_nodes::model::Response;
    ///
    /// async fn in_stock(response: &Response, stock: &u32) -> Verdict {
    ///     tokio::task::yield_now().await;
    ///     match response.text.len() <= *stock as usize {
    ///         true => Verdict::Accept,
    ///         false => Verdict::retry("sold_out", "offer something else"),
    ///     }
    /// }
    ///
    /// let validators = Validators::<u32>::new()
    ///     .with_async_fn("in_stock", Cost::Cheap, in_stock)
    ///     .with_async_fn("later", Cost::Judge, async |_: &Response, _: &u32| Verdict::Accept);
    /// assert_eq!(validators.names(), ["in_stock", "later"]);
    /// ```
    #[must_use]
    pub fn with_async_fn<J: Into<Judgement> + 'static>(
        self,
        name: impl Into<String>,
        cost: Cost,
        check: impl for<'a> CheckFn<'a, S, Said = J>,
    ) -> Self {
        self.add(cost, Check::Async(Arc::new(AsyncFnValidator { name: name.into(), cost, check })))
    }

    /// Adds a check that has to wait.
    #[must_use]
    pub fn with_judge(self, judge: impl AsyncValidator<S>) -> Self {
        self.add(judge.cost(), Check::Async(Arc::new(judge)))
    }

    /// Adds a cheap check of every call of one tool: its arguments, read as a `T`, against the state. What it says is
    /// told to the model; code `arguments`. Arguments that are no `T` are rejected too.
    ///
    /// ```
    /// use graph_nodes::gate::Validators;
    ///
    /// #[derive(serde::Deserialize)]
    /// struct Book {
    ///     hotel: String,
    /// }
    ///
    /// let validators = Validators::<Vec<String>>::new().with_call_check("book", |book: Book, found: &Vec<String>| {
    ///     match found.contains(&book.hotel) {
    ///         true => Ok(()),
    ///         false => Err(format!("`{}` is not among the results; choose one of {found:?}", book.hotel)),
    ///     }
    /// });
    /// assert_eq!(validators.names(), ["arguments of `book`"]);
    /// ```
    #[must_use]
    pub fn with_call_check<T: DeserializeOwned + 'static>(
        self,
        tool: impl Into<String>,
        check: impl Fn(T, &S) -> Result<(), String> + Send + Sync + 'static,
    ) -> Self {
        self.with(CallCheck::new(tool.into(), check))
    }

    /// Says what the text of a response without calls has to be. The gate itself checks it, before the checks of this
    /// list: what is no JSON (code `parse`) or has another shape (code `schema`) is never accepted, not in shadow mode
    /// and not as the best one. Setting another one replaces it.
    ///
    /// ```
    /// use graph_nodes::gate::{StructuredOutput, Validators};
    ///
    /// #[derive(serde::Deserialize, schemars::JsonSchema)]
    /// struct Offer {
    ///     price: u32,
    /// }
    ///
    /// let validators = Validators::<()>::new().with_structured(StructuredOutput::of::<Offer>()?);
    /// assert!(validators.structured().is_some());
    /// # Ok::<(), graph_nodes::gate::CheckError>(())
    /// ```
    #[must_use]
    pub fn with_structured(mut self, structured: StructuredOutput) -> Self {
        self.structured = Some(structured);
        self
    }

    /// What the text has to be, if that was said.
    pub fn structured(&self) -> Option<&StructuredOutput> {
        self.structured.as_ref()
    }

    /// Says how good a rejected response is, higher is better: when a limit is reached, the gate accepts the best one
    /// under [`Exhaustion::AcceptBest`](super::Exhaustion::AcceptBest). Asked once for each response that a check
    /// rejected; one whose score is infinite or no number is never accepted. Setting another one replaces it.
    ///
    /// ```
    /// use graph_nodes::gate::{Validators, Verdict};
    ///
    /// let validators = Validators::<()>::new()
    ///     .with_fn("short", |response, ()| match response.text.len() {
    ///         ..=20 => Verdict::Accept,
    ///         _ => Verdict::retry("long", "answer in at most 20 bytes"),
    ///     })
    ///     .with_score(|response, ()| -(response.text.len() as f64));
    /// assert!(validators.has_score());
    /// ```
    #[must_use]
    pub fn with_score(mut self, score: impl Fn(&Response, &S) -> f64 + Send + Sync + 'static) -> Self {
        self.score = Some(Arc::new(score));
        self
    }

    /// Whether there is a score.
    pub fn has_score(&self) -> bool {
        self.score.is_some()
    }

    /// The same for a place that can't execute calls: a response with calls is rejected, and never the best one.
    pub(crate) fn without_calls(&self) -> Self {
        let mut validators = self.clone().with(AllowedTools::default());
        if let Some(score) = self.score.clone() {
            let of_text = move |response: &Response, state: &S| match response.calls.is_empty() {
                true => score(response, state),
                false => f64::NAN,
            };
            validators.score = Some(Arc::new(of_text));
        }
        validators
    }

    /// The names, in the order the checks run.
    pub fn names(&self) -> Vec<&str> {
        self.cheap.iter().chain(&self.judges).map(Check::name).collect()
    }
}

impl<S: ?Sized + Sync + 'static> Check<S> {
    pub(super) fn name(&self) -> &str {
        match self {
            Self::Sync(validator) => validator.name(),
            Self::Async(validator) => validator.name(),
        }
    }

    /// A panic is its message.
    pub(super) async fn run(&self, response: &Response, state: &S) -> Result<Judgement, String> {
        match self {
            Self::Sync(validator) => guarded(|| Judgement::from(validator.validate(response, state))),
            // The call itself is inside: it may panic before its first await.
            Self::Async(validator) => guarded_async(async { validator.validate(response, state).await }).await,
        }
    }
}

struct FnValidator<F> {
    name: String,
    check: F,
}

impl<S: ?Sized, F: Fn(&Response, &S) -> Verdict + Send + Sync + 'static> Validator<S> for FnValidator<F> {
    fn name(&self) -> &str {
        &self.name
    }

    fn validate(&self, response: &Response, state: &S) -> Verdict {
        (self.check)(response, state)
    }
}

impl<S: ?Sized> Default for Validators<S> {
    fn default() -> Self {
        Self { cheap: Vec::new(), judges: Vec::new(), score: None, structured: None }
    }
}

impl<S: ?Sized> Clone for Validators<S> {
    fn clone(&self) -> Self {
        Self {
            cheap: self.cheap.clone(),
            judges: self.judges.clone(),
            score: self.score.clone(),
            structured: self.structured.clone(),
        }
    }
}

impl<S: ?Sized> Clone for Check<S> {
    fn clone(&self) -> Self {
        match self {
            Self::Sync(validator) => Self::Sync(Arc::clone(validator)),
            Self::Async(validator) => Self::Async(Arc::clone(validator)),
        }
    }
}

impl<S: ?Sized + Sync + 'static> fmt::Debug for Validators<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Validators").field(&self.names()).finish()
    }
}
