//! What is believed of a tool: annotations of its server, and what the user says instead.

use std::time::Duration;

use rmcp::model::ToolAnnotations;

/// Whether the annotations of a server are believed. They are hints: nothing makes a server tell the truth.
///
/// ```
/// use graph_nodes_mcp::Trust;
///
/// assert_eq!(Trust::default(), Trust::Annotations);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Trust {
    /// They are: a tool that says that it only reads runs beside others and without a question.
    #[default]
    Annotations,
    /// None is: every tool counts as one that destroys, until a [`ToolPolicy`] says otherwise.
    Nothing,
}

/// What the user says of one tool, in place of its annotations.
///
/// ```
/// use std::time::Duration;
///
/// use graph_nodes_mcp::ToolPolicy;
///
/// let policy = ToolPolicy::new().idempotent(true).confirm(false).timeout(Duration::from_secs(5));
/// # let _ = policy;
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[must_use = "a policy does nothing until a server has it"]
pub struct ToolPolicy {
    pub(crate) read_only: Option<bool>,
    pub(crate) destructive: Option<bool>,
    pub(crate) idempotent: Option<bool>,
    pub(crate) confirm: Option<bool>,
    pub(crate) timeout: Option<Duration>,
}

impl ToolPolicy {
    /// Leaves everything to the annotations.
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether calls change nothing: then they run beside others, without a question, and are sent again after a crash of
    /// the server.
    pub fn read_only(mut self, yes: bool) -> Self {
        self.read_only = Some(yes);
        self
    }

    /// Whether calls may destroy something: then a person is asked before each. One that may doesn't count as one that
    /// only reads, unless [`read_only`](Self::read_only) says so.
    pub fn destructive(mut self, yes: bool) -> Self {
        self.destructive = Some(yes);
        self
    }

    /// Whether the same call may be sent twice: then it is sent again after a crash of the server.
    pub fn idempotent(mut self, yes: bool) -> Self {
        self.idempotent = Some(yes);
        self
    }

    /// Whether a person is asked before each call, whatever else is said of the tool.
    pub fn confirm(mut self, yes: bool) -> Self {
        self.confirm = Some(yes);
        self
    }

    /// How long a call may take, in place of the server's [`timeout`](crate::McpServerBuilder::timeout).
    pub fn timeout(mut self, limit: Duration) -> Self {
        self.timeout = Some(limit);
        self
    }
}

/// What counts for a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Traits {
    pub(crate) read_only: bool,
    pub(crate) destructive: bool,
    pub(crate) idempotent: bool,
    pub(crate) confirm: bool,
}

impl Traits {
    /// By the defaults of the protocol, a tool that says nothing changes things, may destroy some, and a second call has a
    /// second effect.
    pub(crate) fn of(annotations: Option<&ToolAnnotations>, trust: Trust, policy: &ToolPolicy) -> Self {
        let hints = annotations.filter(|_| trust == Trust::Annotations);
        let hint = |hint: fn(&ToolAnnotations) -> Option<bool>| hints.and_then(hint);
        // Whoever says that a tool may destroy something says that it doesn't only read, whatever its server says.
        let said = policy.read_only.or_else(|| (policy.destructive == Some(true)).then_some(false));
        let read_only = said.or_else(|| hint(|hints| hints.read_only_hint)).unwrap_or(false);
        let destructive =
            policy.destructive.or_else(|| hint(|hints| hints.destructive_hint)).unwrap_or(true) && !read_only;
        let idempotent = policy.idempotent.or_else(|| hint(|hints| hints.idempotent_hint)).unwrap_or(false);
        Self { read_only, destructive, idempotent, confirm: policy.confirm.unwrap_or(destructive) }
    }

    /// Whether a call whose fate is unknown may be sent once more.
    pub(crate) fn may_repeat(self) -> bool {
        self.read_only || self.idempotent
    }

    /// Whether a call that was allowed with these traits needs another look with the others.
    pub(crate) fn is_stricter_than(self, agreed: Self) -> bool {
        (self.confirm && !agreed.confirm)
            || (agreed.read_only && !self.read_only)
            || (agreed.idempotent && !self.idempotent)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(read_only: Option<bool>, destructive: Option<bool>, trust: Trust, policy: &ToolPolicy) -> (bool, bool, bool) {
        let hints = ToolAnnotations::from_raw(None, read_only, destructive, None, None);
        let traits = Traits::of(Some(&hints), trust, policy);
        (traits.read_only, traits.destructive, traits.confirm)
    }

    #[test]
    fn what_says_nothing_counts_as_destructive() {
        let nothing = ToolPolicy::new();
        assert_eq!(of(None, None, Trust::Annotations, &nothing), (false, true, true));
        assert_eq!(of(Some(true), None, Trust::Annotations, &nothing), (true, false, false));
        assert_eq!(of(Some(true), Some(true), Trust::Annotations, &nothing), (true, false, false));
        assert_eq!(of(Some(false), Some(false), Trust::Annotations, &nothing), (false, false, false));
    }

    #[test]
    fn without_trust_only_the_policy_counts() {
        assert_eq!(of(Some(true), Some(false), Trust::Nothing, &ToolPolicy::new()), (false, true, true));
        assert_eq!(of(None, None, Trust::Nothing, &ToolPolicy::new().read_only(true)), (true, false, false));
    }

    #[test]
    fn a_policy_beats_a_hint() {
        let policy = ToolPolicy::new().read_only(false).confirm(false);
        assert_eq!(of(Some(true), None, Trust::Annotations, &policy), (false, true, false));
        assert_eq!(of(Some(true), None, Trust::Annotations, &ToolPolicy::new().confirm(true)), (true, false, true));
        let destructive = ToolPolicy::new().destructive(true);
        assert_eq!(of(Some(true), Some(false), Trust::Annotations, &destructive), (false, true, true));
        assert_eq!(of(None, None, Trust::Annotations, &destructive.read_only(true)), (true, false, false));
    }
}
