//! An answer needs evidence.

use std::fmt;

use graph_engine::{Name, State};

use super::Seat;
use crate::gate::{Code, Validator, Verdict};
use crate::model::Response;

/// Refuses a final answer while tools that it must rest on have no productive success in this turn: a validator for
/// the gate of a stage.
///
/// The model is reminded at most twice a turn, then the round ends as fatal with the code
/// [`evidence`](Self::CODE). A response with calls passes. A success is productive unless its reply is marked as
/// [unproductive](crate::tool::ToolReply::unproductive).
///
/// ```
/// # use graph_engine::{Log, State};
/// # use graph_nodes::message::Message;
/// # use graph_nodes::stage::{Draft, GateBook, Seat};
/// # #[derive(State, Clone, Default)]
/// # struct Trip { #[state(append)] history: Log<Message>, draft: Option<Draft>, book: GateBook }
/// # let seat = Seat { history: Trip::HISTORY, draft: Trip::DRAFT, book: Trip::BOOK };
/// use graph_nodes::gate::{Validator, Validators, Verdict};
/// use graph_nodes::model::Response;
/// use graph_nodes::stage::RequireEvidence;
///
/// let evidence = RequireEvidence::new("explore", seat).all_of(["search"]).any_of(["price", "quote"]);
/// let verdict = evidence.validate(&Response::from_text("120 a night"), &Trip::default());
/// assert_eq!(
///     verdict,
///     Verdict::retry("evidence", "answer only after `search` and one of `price`, `quote` gave a result; call them first"),
/// );
/// let validators = Validators::new().with(evidence);
/// # let _ = validators;
/// ```
pub struct RequireEvidence<S: State> {
    stage: Name,
    seat: Seat<S>,
    sets: Vec<Vec<String>>,
    reminders: u32,
}

impl<S: State> RequireEvidence<S> {
    /// The code of its rejections.
    pub const CODE: Code = Code::new("evidence");

    /// Nothing is required yet, of the tools of this stage.
    pub fn new(stage: impl Into<Name>, seat: Seat<S>) -> Self {
        Self { stage: stage.into(), seat, sets: Vec::new(), reminders: 2 }
    }

    /// Requires a result of each of these tools.
    #[must_use]
    pub fn all_of<N: Into<String>>(mut self, tools: impl IntoIterator<Item = N>) -> Self {
        self.sets.extend(tools.into_iter().map(|tool| vec![tool.into()]));
        self
    }

    /// Requires a result of at least one of these tools, beside what is required already. No tool at all requires
    /// nothing.
    #[must_use]
    pub fn any_of<N: Into<String>>(mut self, tools: impl IntoIterator<Item = N>) -> Self {
        let set: Vec<String> = tools.into_iter().map(Into::into).collect();
        self.sets.extend((!set.is_empty()).then_some(set));
        self
    }

    /// How often the model is reminded in one turn (default 2).
    #[must_use]
    pub fn reminders(mut self, most: u32) -> Self {
        self.reminders = most;
        self
    }

    /// What is missing, for the model.
    fn missing(&self, state: &S) -> Option<String> {
        let ledger = self.seat.book.get(state).tools.get(&self.stage);
        let has = |tool: &String| ledger.is_some_and(|ledger| ledger.tally(tool).productive > 0);
        let missing = self.sets.iter().filter(|set| !set.iter().any(has));
        let told: Vec<String> = missing.map(|set| told(set)).collect();
        let them = if told.len() == 1 && !told[0].starts_with("one of") { "it" } else { "them" };
        (!told.is_empty()).then(|| format!("answer only after {} gave a result; call {them} first", told.join(" and ")))
    }

    /// Reminders of this turn so far: of ended rounds and of the open one.
    fn reminded(&self, state: &S) -> u32 {
        let book = self.seat.book.get(state);
        let ended = book.tools.get(&self.stage).map_or(0, |ledger| ledger.reminders);
        ended.saturating_add(book.ledger(&self.stage).map_or(0, |ledger| ledger.count(&Self::CODE)))
    }
}

fn told(set: &[String]) -> String {
    let names = set.iter().map(|tool| format!("`{tool}`")).collect::<Vec<_>>().join(", ");
    if set.len() == 1 { names } else { format!("one of {names}") }
}

impl<S: State> Validator<S> for RequireEvidence<S> {
    fn name(&self) -> &str {
        "require_evidence"
    }

    fn validate(&self, response: &Response, state: &S) -> Verdict {
        if !response.calls.is_empty() {
            return Verdict::Accept;
        }
        match self.missing(state) {
            None => Verdict::Accept,
            Some(missing) if self.reminded(state) < self.reminders => Verdict::retry(Self::CODE, missing),
            Some(missing) => Verdict::fatal(Self::CODE, missing),
        }
    }
}

impl<S: State> fmt::Debug for RequireEvidence<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RequireEvidence").field("stage", &self.stage).field("sets", &self.sets).finish_non_exhaustive()
    }
}
