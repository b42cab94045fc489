//! Policies of a node as data: everything that a policy adds to a spec is in this file.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::MistakeKind;
use super::model::is_default;
use super::registry::Registry;
use super::walk::{Object, Problems};
use crate::error::NodeError;
use crate::name::Name;
use crate::node::{Cache, Policy, Retry};
use crate::state::State;
use crate::state::dynamic::{DynState, Schema};
use crate::task::{Payload, Task};

/// The policies of one node, or of all nodes that don't say otherwise. What is left out of a node's stays as the node's
/// constructor says.
///
/// ```
/// use graph_engine::{PolicyEntry, RetryEntry};
///
/// let mut policy = PolicyEntry::default();
/// policy.retry = vec![RetryEntry::new(3, 200)];
/// policy.timeout_ms = Some(5_000);
/// let text = r#"{"retry":[{"attempts":3,"base_ms":200}],"timeout_ms":5000}"#;
/// assert_eq!(serde_json::to_string(&policy)?, text);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct PolicyEntry {
    /// Where results are kept for later tasks with the same key; nodes only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache: Option<CacheEntry>,
    /// How many tasks of the node run at once in a turn; at least 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
    /// When to try again: the first that accepts a failure decides.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub retry: Vec<RetryEntry>,
    /// How long one attempt may run, in milliseconds; at least 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
    /// How long one attempt may be silent, in milliseconds; at least 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idle_timeout_ms: Option<u64>,
    /// The node that takes over when a task has failed for good.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_error: Option<Name>,
}

/// What a cached result depends on.
///
/// ```
/// use graph_engine::CacheEntry;
///
/// let cache = CacheEntry::by(["city"]);
/// assert!(!cache.payload);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct CacheEntry {
    /// The fields whose values are part of the key.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fields: Vec<Name>,
    /// The task's payload is part of the key.
    #[serde(default, skip_serializing_if = "is_default")]
    pub payload: bool,
    /// How long a result is good, in milliseconds; left out: until it is displaced by others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ttl_ms: Option<u64>,
    /// The key is made by code: only in the spec of a graph that was described by code.
    #[serde(default, skip_serializing_if = "is_default")]
    pub by_code: bool,
}

impl CacheEntry {
    /// The key is made of these fields.
    pub fn by<N: Into<Name>>(fields: impl IntoIterator<Item = N>) -> Self {
        Self { fields: fields.into_iter().map(Into::into).collect(), ..Self::default() }
    }
}

/// A retry policy: the wait before attempt `n + 1` is `base_ms * factor^(n - 1)`, at most `max_wait_ms`, plus jitter.
///
/// ```
/// use graph_engine::RetryEntry;
///
/// let retry = RetryEntry::new(3, 200);
/// assert_eq!((retry.factor, retry.max_wait_ms, retry.jitter), (2.0, 60_000, 0.0));
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct RetryEntry {
    /// All tries, the first included; at least 1.
    pub attempts: u32,
    /// The first wait in milliseconds.
    pub base_ms: u64,
    /// What each wait is multiplied by; at least 0.
    #[serde(default = "twice", skip_serializing_if = "is_twice")]
    pub factor: f64,
    /// The longest wait in milliseconds, before jitter.
    #[serde(default = "a_minute", skip_serializing_if = "is_a_minute")]
    pub max_wait_ms: u64,
    /// Up to this part of the wait is added, from 0 to 1.
    #[serde(default, skip_serializing_if = "is_default")]
    pub jitter: f64,
    /// The registered predicate that says which failures are tried again; left out: all that may be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub when: Option<Name>,
}

const fn twice() -> f64 {
    2.0
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
fn is_twice(factor: &f64) -> bool {
    *factor == twice()
}

const fn a_minute() -> u64 {
    60_000
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
fn is_a_minute(wait: &u64) -> bool {
    *wait == a_minute()
}

impl RetryEntry {
    /// Waits twice as long after each failure, at most a minute.
    #[must_use]
    pub fn new(attempts: u32, base_ms: u64) -> Self {
        Self { attempts, base_ms, factor: twice(), max_wait_ms: a_minute(), jitter: 0.0, when: None }
    }
}

// From a file.

const POLICY: &[&str] = &["cache", "limit", "retry", "timeout_ms", "idle_timeout_ms", "on_error"];
const CACHE: &[&str] = &["fields", "payload", "ttl_ms", "by_code"];
const RETRY: &[&str] = &["attempts", "base_ms", "factor", "max_wait_ms", "jitter", "when"];

impl PolicyEntry {
    pub(super) fn read(object: &mut Object<'_, '_>, key: &'static str) -> Self {
        let read = object.child(key, POLICY, |policy| Self {
            cache: policy.child("cache", CACHE, CacheEntry::read),
            limit: policy.optional("limit"),
            retry: policy.objects("retry", RETRY, |o| o.map_or_else(|| RetryEntry::new(1, 0), RetryEntry::read)),
            timeout_ms: policy.optional("timeout_ms"),
            idle_timeout_ms: policy.optional("idle_timeout_ms"),
            on_error: policy.optional("on_error"),
        });
        read.unwrap_or_default()
    }
}

impl CacheEntry {
    fn read(cache: &mut Object<'_, '_>) -> Self {
        Self {
            fields: cache.names("fields"),
            payload: cache.optional("payload").unwrap_or_default(),
            ttl_ms: cache.optional("ttl_ms"),
            by_code: cache.optional("by_code").unwrap_or_default(),
        }
    }
}

impl RetryEntry {
    fn read(retry: &mut Object<'_, '_>) -> Self {
        let (attempts, base_ms) = (retry.required("attempts"), retry.required("base_ms"));
        Self {
            attempts: attempts.unwrap_or(1),
            base_ms: base_ms.unwrap_or(0),
            factor: retry.optional("factor").unwrap_or(twice()),
            max_wait_ms: retry.optional("max_wait_ms").unwrap_or(a_minute()),
            jitter: retry.optional("jitter").unwrap_or(0.0),
            when: retry.optional("when"),
        }
    }
}

// To the engine.

/// What policies are checked against, and where mistakes in them go.
pub(crate) struct PolicyContext<'a> {
    pub(crate) registry: &'a Registry,
    pub(crate) schema: &'a Arc<Schema>,
    pub(crate) problems: &'a mut Problems,
    /// The pointer of the policies.
    pub(crate) at: String,
}

impl PolicyContext<'_> {
    fn add(&mut self, member: &str, kind: MistakeKind) {
        self.problems.add(format!("{}/{member}", self.at), kind);
    }

    fn expect(&mut self, member: &str, is_fine: bool, expected: &'static str, found: impl ToString) {
        if !is_fine {
            self.add(member, MistakeKind::OutOfRange { expected, found: found.to_string() });
        }
    }

    fn duration(&mut self, member: &str, time_ms: u64) -> Duration {
        self.expect(member, time_ms > 0, "at least 1", time_ms);
        Duration::from_millis(time_ms)
    }
}

impl PolicyEntry {
    /// Puts these policies in place of the node's own, and reports what can't be.
    pub(crate) fn apply(&self, policy: &mut Policy<DynState>, mut context: PolicyContext<'_>) {
        let context = &mut context;
        if let Some(cache) = &self.cache {
            policy.cache = Some(cache.to_policy(context));
        }
        if let Some(limit) = self.limit {
            context.expect("limit", limit > 0, "at least 1", limit);
            policy.limit = usize::try_from(limit).ok().and_then(NonZeroUsize::new);
        }
        let retries = self.retry.iter().enumerate().map(|(index, retry)| retry.to_policy(index, context));
        if let Some(retry) = retries.reduce(Retry::or) {
            policy.retry = Some(retry);
        }
        if let Some(time) = self.timeout_ms {
            policy.timeout = Some(context.duration("timeout_ms", time));
        }
        if let Some(time) = self.idle_timeout_ms {
            policy.idle_timeout = Some(context.duration("idle_timeout_ms", time));
        }
        if self.on_error.is_some() {
            policy.on_error.clone_from(&self.on_error);
        }
    }

    /// The policies as data. A predicate is shown as `retry:` and the node's name.
    pub(crate) fn of<S: State>(policy: &Policy<S>, node: &Name) -> Self {
        let retries = std::iter::successors(policy.retry.as_ref(), |retry| retry.next());
        Self {
            cache: policy.cache.as_ref().map(CacheEntry::of),
            limit: policy.limit.map(|limit| u32::try_from(limit.get()).unwrap_or(u32::MAX)),
            retry: retries.map(|retry| RetryEntry::of(retry, node)).collect(),
            timeout_ms: policy.timeout.map(millis),
            idle_timeout_ms: policy.idle_timeout.map(millis),
            on_error: policy.on_error.clone(),
        }
    }
}

impl CacheEntry {
    fn to_policy(&self, context: &mut PolicyContext<'_>) -> Cache<DynState> {
        let mut positions = Vec::new();
        for (index, name) in self.fields.iter().enumerate() {
            match context.schema.position(name) {
                Ok(position) => positions.push(position),
                Err(_) => {
                    let at = format!("{}/cache/fields/{index}", context.at);
                    context.problems.add_unknown_field(at, name, context.schema);
                }
            }
        }
        if self.by_code {
            context.add("cache/by_code", MistakeKind::ByCode);
        } else if self.fields.is_empty() && !self.payload {
            context.add("cache", MistakeKind::NoCacheKey);
        }
        let payload = self.payload;
        let cache = Cache::of_task(move |task: &Task<DynState>| {
            let fields: Vec<&Value> = positions.iter().map(|at| task.state().at(*at)).collect();
            let sent = task.payload().filter(|_| payload).map(Payload::to_raw).transpose().map_err(NodeError::fatal)?;
            Ok(serde_json::to_string(&(fields, sent))?)
        });
        match self.ttl_ms {
            Some(time) => cache.ttl(Duration::from_millis(time)),
            None => cache,
        }
    }

    /// How the key is made is known to the code alone.
    fn of<S: State>(cache: &Cache<S>) -> Self {
        Self { by_code: true, ttl_ms: cache.time_to_live().map(millis), ..Self::default() }
    }
}

impl RetryEntry {
    fn to_policy(&self, index: usize, context: &mut PolicyContext<'_>) -> Retry {
        let at = |member: &str| format!("retry/{index}/{member}");
        context.expect(&at("attempts"), self.attempts > 0, "at least 1", self.attempts);
        let grows = self.factor.is_finite() && self.factor >= 0.0;
        context.expect(&at("factor"), grows, "a number from 0 on", self.factor);
        context.expect(&at("jitter"), (0.0..=1.0).contains(&self.jitter), "a number from 0 to 1", self.jitter);
        let base = Duration::from_millis(self.base_ms);
        let retry = Retry::growing(self.attempts, base, self.factor)
            .max_wait(Duration::from_millis(self.max_wait_ms))
            .jitter(self.jitter);
        let Some(name) = &self.when else { return retry };
        match context.registry.find_predicate(name) {
            Ok(accept) => retry.when(move |error| accept(error)),
            Err(known) => {
                context.add(&at("when"), MistakeKind::unknown("retry predicate", name, known));
                retry
            }
        }
    }

    fn of(retry: &Retry, node: &Name) -> Self {
        Self {
            attempts: retry.attempts(),
            base_ms: millis(retry.base()),
            factor: retry.factor(),
            max_wait_ms: millis(retry.longest_wait()),
            jitter: retry.spread(),
            when: retry.has_predicate().then(|| format!("retry:{node}").into()),
        }
    }
}

/// Whole milliseconds, rounded up so that a short time does not become none.
fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_nanos().div_ceil(1_000_000)).unwrap_or(u64::MAX)
}
