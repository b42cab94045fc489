//! How often, how long, for how many tokens, and what then.

use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{Backoff, Code, GateLedger};

/// How often, how long and for how many tokens a gate lets a model try, and
/// what happens then.
///
/// ```
/// use std::num::NonZeroU32;
/// use std::time::Duration;
///
/// use graph_nodes::gate::{Exhaustion, GatePolicy};
///
/// let policy = GatePolicy::new()
///     .with_max_attempts(NonZeroU32::new(5).unwrap())
///     .with_code_cap("parse", 1)
///     .with_deadline(Duration::from_secs(30))
///     .with_exhaustion(Exhaustion::Escalate("human".into()));
/// assert_eq!(policy.max_attempts.get(), 5);
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct GatePolicy {
    /// Attempts in total, the first one included. Default: 3.
    pub max_attempts: NonZeroU32,
    /// How often a code may lead to a retry; one more ends it.
    pub code_caps: BTreeMap<Code, u32>,
    /// Tokens of all attempts and judges; checked after each rejected attempt.
    pub token_budget: Option<u64>,
    /// Tokens of judges alone; checked after each rejected attempt.
    pub judge_token_budget: Option<u64>,
    /// Time of all calls, judges and waits.
    pub deadline: Option<Duration>,
    /// The wait before the next attempt. Default: 500 ms.
    pub backoff: Backoff,
    /// What the model is told on the next attempt. Default: the reason.
    pub feedback: FeedbackMode,
    /// What happens when a limit is reached. Default: fail.
    pub exhaustion: Exhaustion,
    /// The edge for refusals and content filters. Default: `blocked`.
    pub blocked_edge: String,
    /// Record what the validators say and accept nevertheless. What the gate
    /// itself rejects (empty, cut off with calls, refused, no JSON) stays rejected.
    pub shadow: bool,
    /// In shadow mode, ask the validators only in each so-manyth round. Default: in each.
    pub shadow_every: NonZeroU32,
    /// Stop when the same response is rejected for the same codes twice in a
    /// row: asking again won't help. Default: true.
    pub stop_without_progress: bool,
    /// What a validator that panics, or can't do its work, counts as. Default: a rejection.
    pub on_validator_panic: PanicPolicy,
}

/// What the model is told on the next attempt.
///
/// ```
/// use graph_nodes::gate::FeedbackMode;
///
/// assert_eq!(FeedbackMode::default(), FeedbackMode::Reason);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum FeedbackMode {
    /// Nothing: the same request again.
    Blind,
    /// The latest reason, in one message that isn't kept.
    #[default]
    Reason,
    /// The rejected output and the reason.
    Transcript,
}

/// What happens when a limit of the policy is reached.
///
/// ```
/// use graph_nodes::gate::Exhaustion;
///
/// assert_eq!(Exhaustion::default(), Exhaustion::Fail);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Exhaustion {
    /// The gate fails, with every attempt listed.
    #[default]
    Fail,
    /// Go along this edge.
    Escalate(String),
    /// Accept the rejected response with the highest [score](super::Validators::with_score), with its calls if it has
    /// some; of equals the earliest. Only what validators rejected with a retry can be accepted: never a response that
    /// was refused, cut off with calls, empty or no JSON, nor one with a faulty call. Without such a response the gate
    /// fails, as with [`Fail`](Self::Fail).
    AcceptBest,
    /// Ask another model once, at once, whatever the limit was; only without time left it is not asked. The same gate
    /// judges what it says, and a rejection of it is final: the gate fails, as with [`Fail`](Self::Fail). Its tokens
    /// may be beyond a token budget.
    FallbackModel,
}

/// What a validator that panics, or can't do its work ([`Judgement::failed`](super::Judgement::failed)), counts as.
///
/// ```
/// use graph_nodes::gate::PanicPolicy;
///
/// assert_eq!(PanicPolicy::default(), PanicPolicy::Reject);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum PanicPolicy {
    /// A rejection with the code `validator_failed`.
    #[default]
    Reject,
    /// A fatal error with the code `validator_failed`.
    Fatal,
    /// Nothing; it is counted as `validator_failed`.
    Accept,
}

impl GatePolicy {
    /// Three attempts, half a second apart, with the reason told to the model.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets how many attempts there are, the first one included.
    #[must_use]
    pub fn with_max_attempts(mut self, attempts: NonZeroU32) -> Self {
        self.max_attempts = attempts;
        self
    }

    /// Sets how often a code may lead to a retry.
    #[must_use]
    pub fn with_code_cap(mut self, code: impl Into<Code>, retries: u32) -> Self {
        self.code_caps.insert(code.into(), retries);
        self
    }

    /// Sets the tokens for all attempts and judges.
    #[must_use]
    pub fn with_token_budget(mut self, tokens: u64) -> Self {
        self.token_budget = Some(tokens);
        self
    }

    /// Sets the tokens for judges.
    #[must_use]
    pub fn with_judge_token_budget(mut self, tokens: u64) -> Self {
        self.judge_token_budget = Some(tokens);
        self
    }

    /// Sets the time for everything.
    #[must_use]
    pub fn with_deadline(mut self, deadline: Duration) -> Self {
        self.deadline = Some(deadline);
        self
    }

    /// Sets the wait before the next attempt.
    #[must_use]
    pub fn with_backoff(mut self, backoff: Backoff) -> Self {
        self.backoff = backoff;
        self
    }

    /// Sets what the model is told on the next attempt.
    #[must_use]
    pub fn with_feedback(mut self, mode: FeedbackMode) -> Self {
        self.feedback = mode;
        self
    }

    /// Sets what happens when a limit is reached.
    #[must_use]
    pub fn with_exhaustion(mut self, exhaustion: Exhaustion) -> Self {
        self.exhaustion = exhaustion;
        self
    }

    /// Sets the edge for refusals and content filters.
    #[must_use]
    pub fn with_blocked_edge(mut self, edge: impl Into<String>) -> Self {
        self.blocked_edge = edge.into();
        self
    }

    /// Only records what the validators say.
    #[must_use]
    pub fn in_shadow(mut self) -> Self {
        self.shadow = true;
        self
    }

    /// Only records what the validators say, and asks them only in the first of each `every` rounds: judges cost tokens.
    /// Which round it is, is counted in the state, so the same rounds are looked at whenever a turn runs again. What the
    /// gate itself rejects is rejected in every round.
    ///
    /// ```
    /// use std::num::NonZeroU32;
    ///
    /// use graph_nodes::gate::{GateLedger, GatePolicy};
    ///
    /// let policy = GatePolicy::new().in_shadow_every(NonZeroU32::new(10).unwrap());
    /// let looked_at = |round| policy.looks_at(&GateLedger::of_round(round));
    /// assert_eq!([0, 1, 9, 10].map(looked_at), [true, false, false, true]);
    /// ```
    #[must_use]
    pub fn in_shadow_every(mut self, every: NonZeroU32) -> Self {
        self.shadow_every = every;
        self.in_shadow()
    }

    /// Whether the validators are asked in this round.
    pub fn looks_at(&self, ledger: &GateLedger) -> bool {
        !self.shadow || ledger.round.is_multiple_of(self.shadow_every.get())
    }

    /// Goes on even if a rejected response comes again.
    #[must_use]
    pub fn despite_no_progress(mut self) -> Self {
        self.stop_without_progress = false;
        self
    }

    /// Sets what a validator that panics, or can't do its work, counts as.
    #[must_use]
    pub fn with_validator_panic(mut self, policy: PanicPolicy) -> Self {
        self.on_validator_panic = policy;
        self
    }
}

impl Default for GatePolicy {
    fn default() -> Self {
        // A constant: were it zero, this wouldn't compile.
        const THREE: NonZeroU32 = NonZeroU32::new(3).unwrap();
        Self {
            max_attempts: THREE,
            code_caps: BTreeMap::new(),
            token_budget: None,
            judge_token_budget: None,
            deadline: None,
            backoff: Backoff::default(),
            feedback: FeedbackMode::default(),
            exhaustion: Exhaustion::default(),
            blocked_edge: "blocked".to_owned(),
            shadow: false,
            shadow_every: NonZeroU32::MIN,
            stop_without_progress: true,
            on_validator_panic: PanicPolicy::default(),
        }
    }
}
