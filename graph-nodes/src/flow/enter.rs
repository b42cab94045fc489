//! The vertex that every stage begins with.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use graph_engine::{Field, IntoNode, Name, Node, NodeError, NodeInfo, NodeKind, Outcome, State, Task, async_trait};

use super::cursor::{Arrival, Cursor};
use super::hooks::{Hook, Hooks, describe};

/// The hooks of all stages of a flow.
pub(super) type AllHooks<S> = Arc<BTreeMap<Name, Hooks<S>>>;

/// The vertex that every stage of a [`Flow`](super::Flow) begins with: it moves the [`Cursor`], and runs the hooks.
///
/// | the task arrives | hooks, in this order |
/// | --- | --- |
/// | in a new thread | `on_enter` |
/// | from another stage | `on_exit` of that stage, `on_enter` |
/// | with a new turn, in the stage where the last one ended | `on_restore` |
/// | later in the turn, from the stage itself | none |
///
/// A stay leads to the entry of the cluster, which is the agent: no hook. All hooks see the state as it was merged
/// before this task; what they write is composed in their order and merged before the agent runs. A hook that fails
/// fails the task, and the cursor stays where it was.
///
/// Made by [`Flow`](super::Flow); public, because it is a vertex of the diagram and can be tested alone.
///
/// ```
/// use graph_engine::testing::node_once;
/// use graph_engine::{Snap, State};
/// use graph_nodes::flow::{Cursor, EnterNode};
///
/// #[derive(State, Clone, Default)]
/// struct Trip {
///     greeted: u32,
///     cursor: Cursor,
/// }
///
/// async fn greet(trip: Snap<Trip>) -> TripUpdate {
///     Trip::update().greeted(trip.greeted + 1)
/// }
///
/// # let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
/// # runtime.block_on(async {
/// let enter = EnterNode::new("explore", Trip::CURSOR).on_enter(greet);
/// let outcome = node_once(enter).run().await.unwrap();
/// assert_eq!(outcome.update.greeted, Some(1));
/// assert_eq!(outcome.update.cursor.as_ref().and_then(Cursor::stage).map(|stage| stage.as_str()), Some("explore"));
/// # });
/// ```
#[must_use = "a vertex does nothing until it is a node"]
pub struct EnterNode<S: State> {
    stage: Name,
    cursor: Field<S, Cursor>,
    hooks: AllHooks<S>,
}

impl<S: State> EnterNode<S> {
    /// The beginning of a stage without hooks.
    pub fn new(stage: impl Into<Name>, cursor: Field<S, Cursor>) -> Self {
        Self { stage: stage.into(), cursor, hooks: AllHooks::default() }
    }

    /// Runs this when the stage is entered.
    pub fn on_enter<M>(self, hook: impl IntoNode<S, M>) -> Self {
        let stage = self.stage.clone();
        let hooks = Hooks { enter: Some(Hook::new("on_enter", hook)), ..Hooks::default() };
        self.with_hooks([(stage, hooks)].into_iter().collect::<BTreeMap<_, _>>().into())
    }

    pub(super) fn with_hooks(mut self, hooks: AllHooks<S>) -> Self {
        self.hooks = hooks;
        self
    }
}

#[async_trait]
impl<S: State> Node<S> for EnterNode<S> {
    async fn run(&self, task: &Task<S>) -> Result<Outcome<S>, NodeError> {
        let (cursor, ctx) = (self.cursor.get(task.state()), task.ctx());
        let arrival = cursor.arrival(&self.stage, ctx.turn(), ctx.is_first_step());
        let own = self.hooks.get(&self.stage);
        let hooks = match arrival {
            Arrival::Enter => {
                let left = cursor.stage().and_then(|stage| self.hooks.get(stage));
                [left.and_then(|hooks| hooks.exit.as_ref()), own.and_then(|hooks| hooks.enter.as_ref())]
            }
            Arrival::Restore => [None, own.and_then(|hooks| hooks.restore.as_ref())],
            Arrival::Again => return Ok(Outcome::default()),
        };
        let mut update = S::Update::default();
        for hook in hooks.into_iter().flatten() {
            update = S::compose(update, hook.run(task).await?);
        }
        self.cursor.put(&mut update, cursor.clone().moved(&self.stage, ctx.turn(), arrival));
        Ok(Outcome::of(update))
    }

    fn describe(&self) -> NodeInfo {
        let mut info = NodeInfo::new(NodeKind::Plain);
        // Any stage may be left for this one.
        for hook in self.hooks.values().flat_map(|hooks| &hooks.exit) {
            describe(hook, &mut info);
        }
        let own = self.hooks.get(&self.stage);
        for hook in own.into_iter().flat_map(|hooks| hooks.enter.iter().chain(&hooks.restore)) {
            describe(hook, &mut info);
        }
        info
    }
}

impl<S: State> fmt::Debug for EnterNode<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EnterNode").field("stage", &self.stage).field("hooks", &self.hooks).finish_non_exhaustive()
    }
}
