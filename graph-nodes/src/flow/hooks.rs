//! What a stage does when it is entered, left, or begun again.

use std::fmt;

use graph_engine::{IntoNode, Move, NodeError, NodeInfo, NodeSpec, Policy, State, Task};

/// What a stage does when it is entered, left, or begun again: nodes that run inside of another one's task.
pub(super) struct Hooks<S: State> {
    pub(super) enter: Option<Hook<S>>,
    pub(super) exit: Option<Hook<S>>,
    pub(super) restore: Option<Hook<S>>,
}

#[derive(Clone)]
pub(super) struct Hook<S: State> {
    name: &'static str,
    spec: NodeSpec<S>,
}

impl<S: State> Hook<S> {
    pub(super) fn new<M>(name: &'static str, node: impl IntoNode<S, M>) -> Self {
        Self { name, spec: node.into_node() }
    }

    /// Why this can't be a hook.
    pub(super) fn problem(&self) -> Option<String> {
        let info = self.spec.info();
        if info.has_moves() {
            return Some(format!("`{}` declares moves, but a hook only writes; return an update", self.name));
        }
        let Policy { cache, limit, retry, timeout, idle_timeout, on_error, .. } = self.spec.policy();
        let policies = [
            ("cache", cache.is_some()),
            ("limit", limit.is_some()),
            ("retry", retry.is_some()),
            ("timeout", timeout.is_some()),
            ("idle_timeout", idle_timeout.is_some()),
            ("on_error", on_error.is_some()),
        ];
        if let Some((policy, _)) = policies.iter().find(|(_, is_set)| *is_set) {
            return Some(format!(
                "`{}` has the policy `{policy}`, but a hook runs inside of another task; do it in the hook itself",
                self.name
            ));
        }
        info.payload.is_some().then(|| format!("`{}` asks for a payload, which a hook never gets", self.name))
    }

    /// What the hook writes.
    pub(super) async fn run(&self, task: &Task<S>) -> Result<S::Update, NodeError> {
        let outcome = self.spec.node().run(task).await?;
        match outcome.to_move() {
            Move::Declared => Ok(outcome.update),
            other => Err(NodeError::fatal(format!("`{}` moves ({other:?}), but a hook only writes", self.name))),
        }
    }
}

impl<S: State> Hooks<S> {
    pub(super) fn all(&self) -> impl Iterator<Item = &Hook<S>> {
        self.enter.iter().chain(&self.exit).chain(&self.restore)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.all().next().is_none()
    }
}

/// Adds what a hook asks for to what its vertex asks for.
pub(super) fn describe<S: State>(hook: &Hook<S>, info: &mut NodeInfo) {
    for need in &hook.spec.info().needs {
        if !info.needs.contains(need) {
            info.needs.push(*need);
        }
    }
}

impl<S: State> Default for Hooks<S> {
    fn default() -> Self {
        Self { enter: None, exit: None, restore: None }
    }
}

impl<S: State> Clone for Hooks<S> {
    fn clone(&self) -> Self {
        Self { enter: self.enter.clone(), exit: self.exit.clone(), restore: self.restore.clone() }
    }
}

impl<S: State> fmt::Debug for Hooks<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.all().map(|hook| hook.name)).finish()
    }
}
