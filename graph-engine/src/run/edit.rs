//! Writes from outside into a thread that no turn runs on.

use std::fmt;
use std::future::{Future, IntoFuture};
use std::pin::Pin;
use std::time::UNIX_EPOCH;

use super::thread::{Thread, ThreadState};
use crate::checkpoint_id::CheckpointId;
use crate::machine::{EDIT, EditBy, Machine, Writings};
use crate::name::Name;
use crate::run_error::RunError;
use crate::state::State;
use crate::store::{Commit, Stored, Tags};
use crate::task::{END, START, TurnContext};

/// In whose place a write stands.
enum Writer {
    /// The node that finished last.
    Last,
    Node(Name),
    InPlace,
}

/// One write from outside: it makes one checkpoint. Given to [`Thread::edit_all`].
///
/// ```
/// use graph_engine::{Edit, Graph, MemoryStore, START, State};
///
/// #[derive(State, Clone, Default)]
/// struct Trip {
///     city: String,
/// }
///
/// async fn choose() {}
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let graph = Graph::<Trip>::builder("trip").node("choose", choose).edge(START, "choose").compile().unwrap();
/// let thread = graph.runner().store(MemoryStore::new()).thread("guest-7");
/// let input = Edit::new(Trip::update()).as_node(START);
/// let chosen = Edit::new(Trip::update().city("Oslo")).as_node("choose");
/// let state = thread.edit_all([input, chosen]).await.unwrap();
/// assert_eq!((state.state.city.as_str(), state.next.len()), ("Oslo", 0));
/// # });
/// ```
#[must_use = "an edit does nothing until a thread takes it"]
pub struct Edit<S: State>(Vec<(Writer, S::Update)>);

impl<S: State> Edit<S> {
    /// A write as the node that finished last.
    pub fn new(update: S::Update) -> Self {
        Self(vec![(Writer::Last, update)])
    }

    /// Writes as this node, as if it had just finished by its declared edges: its edges, joins or router decide what
    /// comes next. [`START`] writes as the input of a turn, [`END`] leaves nothing to come next.
    pub fn as_node(self, node: impl Into<Name>) -> Self {
        self.by(Writer::Node(node.into()))
    }

    /// Leaves as it is what comes next.
    pub fn in_place(self) -> Self {
        self.by(Writer::InPlace)
    }

    /// A write beside this one in the same super-step. Both must name their node.
    pub fn beside(mut self, other: Self) -> Self {
        self.0.extend(other.0);
        self
    }

    fn by(mut self, writer: Writer) -> Self {
        if let Some(last) = self.0.last_mut() {
            last.0 = writer;
        }
        self
    }
}

impl<S: State> fmt::Debug for Edit<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Edit").field("writes", &self.0.len()).finish_non_exhaustive()
    }
}

/// Writes from outside that have not been made: `.await` them to get where the thread stands afterwards.
///
/// ```
/// use graph_engine::{Filter, Graph, MemoryStore, START, State};
///
/// #[derive(State, Clone, Default)]
/// struct Trip {
///     city: String,
/// }
///
/// async fn choose() {}
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let graph = Graph::<Trip>::builder("trip").node("choose", choose).edge(START, "choose").compile().unwrap();
/// let thread = graph.runner().store(MemoryStore::new()).thread("guest-7");
/// thread.run(Trip::update()).await.unwrap();
/// let edits = thread.edit(Trip::update().city("Oslo")).in_place().tag("by", "support");
/// assert_eq!(edits.await.unwrap().state.city, "Oslo");
/// assert_eq!(thread.history(&Filter::default().tag("by", "support")).await.unwrap().len(), 1);
/// # });
/// ```
#[must_use = "an edit does nothing until it is awaited"]
pub struct Edits<S: State> {
    thread: Thread<S>,
    at: Option<CheckpointId>,
    edits: Vec<Edit<S>>,
    tags: Tags,
}

impl<S: State> Thread<S> {
    /// A write from outside: `.await` it. It passes through the same merge rules as every update and runs no node.
    ///
    /// It counts as written by the node that finished last, unless it says otherwise: [`as_node`](Edits::as_node)
    /// decides anew what comes next, by the edges, joins or router of that node; [`in_place`](Edits::in_place) leaves
    /// it. What other tasks of an unfinished super-step have finished is merged too, what they have not is dropped;
    /// arrivals at joins and deferred tasks stay.
    ///
    /// # Errors
    /// When it is awaited, and then nothing was changed: [`RunError::AmbiguousEdit`] if several nodes finished last,
    /// [`RunError::UnknownNode`], [`RunError::Edit`] and [`RunError::Input`] if the update is refused,
    /// [`RunError::Busy`] while a turn runs, [`RunError::NoStore`] without a store, [`RunError::Completed`] after a
    /// `finish`, the errors of routing, and what the store says.
    ///
    /// ```
    /// use graph_engine::{Graph, MemoryStore, NodeError, START, State};
    ///
    /// #[derive(State, Clone, Default)]
    /// struct Trip {
    ///     city: String,
    ///     booked: bool,
    /// }
    ///
    /// async fn choose() -> Result<TripUpdate, NodeError> {
    ///     Err(NodeError::fatal("no map"))
    /// }
    ///
    /// async fn book() -> TripUpdate {
    ///     Trip::update().booked(true)
    /// }
    ///
    /// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
    /// let graph = Graph::<Trip>::builder("trip")
    ///     .node("choose", choose)
    ///     .node("book", book)
    ///     .edge(START, "choose")
    ///     .edge("choose", "book")
    ///     .compile()
    ///     .unwrap();
    /// let thread = graph.runner().store(MemoryStore::new()).thread("guest-7");
    /// thread.run(Trip::update()).await.unwrap_err();
    /// let state = thread.edit(Trip::update().city("Oslo")).as_node("choose").await.unwrap();
    /// assert_eq!(state.next, ["book"]);
    /// assert!(thread.proceed().await.unwrap().state.booked);
    /// # });
    /// ```
    pub fn edit(&self, update: S::Update) -> Edits<S> {
        self.edit_all([Edit::new(update)])
    }

    /// Several writes one after the other, each with a checkpoint of its own: all of them are accepted, or none is
    /// made.
    pub fn edit_all(&self, edits: impl IntoIterator<Item = Edit<S>>) -> Edits<S> {
        Edits::new(self.clone(), None, edits)
    }
}

impl<S: State> Edits<S> {
    pub(super) fn new(thread: Thread<S>, at: Option<CheckpointId>, edits: impl IntoIterator<Item = Edit<S>>) -> Self {
        Self { thread, at, edits: edits.into_iter().collect(), tags: Tags::new() }
    }

    /// The last write is as this node; see [`Edit::as_node`].
    pub fn as_node(self, node: impl Into<Name>) -> Self {
        self.change(|edit| edit.as_node(node))
    }

    /// The last write leaves as it is what comes next.
    pub fn in_place(self) -> Self {
        self.change(Edit::in_place)
    }

    /// Marks the checkpoints, so that [`Thread::history`] finds them.
    pub fn tag(mut self, key: impl Into<String>, value: impl Into<String>) -> Self {
        self.tags.insert(key.into(), value.into());
        self
    }

    fn change(mut self, change: impl FnOnce(Edit<S>) -> Edit<S>) -> Self {
        let last = self.edits.pop();
        self.edits.extend(last.map(change));
        self
    }

    async fn make(self) -> Result<ThreadState<S>, RunError> {
        let Self { thread, at, edits, tags } = self;
        let Some(store) = thread.runner.checkpoints().cloned() else {
            return Err(RunError::NoStore { thread: thread.id, operation: "edit" });
        };
        let _lease = thread.runner.take(&thread.id, None).await?;
        let work = async {
            let place = thread.place();
            let stored = store.load(&place, at).await.map_err(|cause| thread.store_error(cause))?;
            let mut last = match &stored {
                Some(stored) => thread.last_writers(stored).await?,
                None => vec![START.into()],
            };
            let mut machine = thread.machine(tags);
            match (stored, at) {
                (Some(stored), None) => machine.restore(stored)?,
                (Some(stored), Some(_)) => {
                    machine.restore(Stored { saved: Vec::new(), ..stored })?;
                    machine.branch();
                }
                (None, Some(id)) => return Err(RunError::UnknownCheckpoint { thread: thread.id.clone(), id }),
                (None, None) => {}
            }
            let mut commits: Vec<Commit> = Vec::with_capacity(edits.len());
            for edit in edits {
                let writes = thread.resolve(edit, &mut last)?;
                let mut commit = machine.edit(writes)?;
                let now = thread.runner.seams_ref().0.clock.now().duration_since(UNIX_EPOCH).unwrap_or_default();
                commit.time_ms = u64::try_from(now.as_millis()).unwrap_or(u64::MAX);
                machine.edited(commit.id);
                commits.push(*commit);
            }
            // Only now, when all of them are accepted.
            for commit in &commits {
                store.commit(&place, commit).await.map_err(|cause| thread.store_error(cause))?;
            }
            Ok(thread.view(&machine))
        };
        thread.guarded(work).await
    }
}

impl<S: State> Thread<S> {
    /// A machine that belongs to no running turn.
    pub(super) fn machine(&self, tags: Tags) -> Machine<S> {
        let graph = self.runner.graph().clone();
        let turn = self.runner.seams_ref().turn_id().name().clone();
        let context = TurnContext::new(self.id.clone(), turn, graph.inner().names.clone());
        Machine::new(graph, self.runner.options(), context.into(), Some(tags.into()))
    }

    /// Says of each write in whose place it stands, and keeps who wrote last.
    fn resolve(&self, edit: Edit<S>, last: &mut Vec<Name>) -> Result<Vec<(EditBy, S::Update)>, RunError> {
        let mut writes = Vec::with_capacity(edit.0.len());
        let mut nodes = Vec::new();
        for (writer, update) in edit.0 {
            let node = match writer {
                Writer::InPlace => {
                    writes.push((EditBy::InPlace, update));
                    continue;
                }
                Writer::Node(node) => node,
                Writer::Last => match &last[..] {
                    [node] => node.clone(),
                    _ => {
                        let (thread, candidates) = (self.id.clone(), std::mem::take(last));
                        return Err(RunError::AmbiguousEdit { thread, candidates });
                    }
                },
            };
            let by = match node.as_str() {
                START => EditBy::Start,
                END => EditBy::End,
                _ => EditBy::Node(node.clone()),
            };
            if !matches!(by, EditBy::End) {
                nodes.push(node);
            }
            writes.push((by, update));
        }
        if !nodes.is_empty() {
            *last = nodes;
        }
        Ok(writes)
    }

    /// Who finished in the last super-step before a checkpoint. Checkpoints that only say that it goes on, or that
    /// somebody wrote from outside, are passed over.
    async fn last_writers(&self, stored: &Stored) -> Result<Vec<Name>, RunError> {
        let store = self.runner.checkpoints();
        let (mut position, mut parent) = (stored.position.clone(), stored.info.parent);
        loop {
            let wrote = Writings::of(&position).map_err(|why| RunError::Restore {
                thread: self.id.clone(),
                checkpoint: stored.info.id,
                why: format!("its position: {why}"),
            })?;
            let names = wrote.wrote.iter().filter_map(|row| row.first()).filter(|name| **name != EDIT);
            let names: Vec<Name> = names.map(|name| Name::from(&**name)).collect();
            let (Some(store), Some(before), true) = (store, parent, names.is_empty()) else { return Ok(names) };
            match store.row(&self.place(), before).await.map_err(|cause| self.store_error(cause))? {
                Some(row) => (position, parent) = (row.position().to_vec(), row.parent),
                // The parent was pruned.
                None => return Ok(names),
            }
        }
    }
}

impl<S: State> IntoFuture for Edits<S> {
    type Output = Result<ThreadState<S>, RunError>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.make())
    }
}

impl<S: State> fmt::Debug for Edits<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Edits")
            .field("thread", &self.thread.id)
            .field("edits", &self.edits.len())
            .finish_non_exhaustive()
    }
}
