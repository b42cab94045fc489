//! Runs a stored stretch of a thread again beside it, and compares the states step by step.

use std::collections::BTreeMap;
use std::fmt;
use std::future::IntoFuture;

use super::diff::FieldChange;
use super::end::Status;
use super::hash::{StateHash, hash_of};
use super::thread::{Thread, ThreadState};
use crate::checkpoint_id::CheckpointId;
use crate::machine::Start;
use crate::name::Name;
use crate::run_error::RunError;
use crate::state::State;
use crate::store::{CheckpointInfo, CheckpointKind, CheckpointStore, Commit, FieldRow, Filter, MemoryStore, Stored};

/// A turn that is run again: under its own id, so that keys of tasks are those of the first time.
pub(super) struct Again {
    pub(super) turn: Name,
    /// It stops before the super-step of this number.
    pub(super) until: u64,
}

/// What running a stretch again has shown: made by [`Thread::replay`].
///
/// ```
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// use graph_engine::{Filter, Graph, MemoryStore, START, State};
///
/// #[derive(State, Clone, Default)]
/// struct Trip {
///     city: String,
/// }
///
/// async fn choose() -> TripUpdate {
///     Trip::update().city("Oslo")
/// }
///
/// let graph = Graph::<Trip>::builder("trip").node("choose", choose).edge(START, "choose").compile().unwrap();
/// let thread = graph.runner().store(MemoryStore::new()).thread("guest-7");
/// thread.run(Trip::update()).await.unwrap();
/// let history = thread.history(&Filter::default()).await.unwrap();
/// let replay = thread.replay(history[1].id, history[0].id).await.unwrap();
/// assert_eq!(replay.to_string(), "1 of 1 super-steps are equal");
/// # });
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Replay {
    /// The super-steps that were compared, the first that deviates included.
    pub steps: Vec<ReplayedStep>,
    /// How the first one that differs does so; `None` if all are equal.
    pub deviation: Option<Deviation>,
}

/// One super-step that was run again: an entry of [`Replay::steps`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReplayedStep {
    /// Super-steps since the thread began, this one included.
    pub step: u64,
    /// The checkpoint that was stored after it.
    pub checkpoint: CheckpointId,
    /// The hash of the stored state.
    pub recorded: StateHash,
    /// The hash of the state now; `None` if the step didn't end this time.
    pub replayed: Option<StateHash>,
}

/// How a super-step that was run again differs from the stored one.
///
/// ```
/// use graph_engine::{Deviation, Status};
///
/// assert_eq!(Deviation::Ended(Status::Done).to_string(), "the turn ended before it (done)");
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Deviation {
    /// Fields have other values: `before` is what was stored, `after` what it is now.
    Fields(Vec<FieldChange>),
    /// The turn ended before this step.
    Ended(Status),
    /// The turn failed before this step was merged.
    Failed(String),
}

/// Checkpoints that super-steps of one turn made one after the other, and the one before them.
struct Stretch<'i> {
    start: &'i CheckpointInfo,
    steps: &'i [CheckpointInfo],
}

/// The lineage from its oldest checkpoint on, cut where something else than a super-step made a checkpoint: an input, an
/// answer, an edit, a turn that went on. What that did is taken from the record. A super-step that is stored together
/// with the beginning of its turn can't be told from it.
fn stretches(lineage: &[CheckpointInfo]) -> Vec<Stretch<'_>> {
    let mut stretches = Vec::new();
    let mut at = 0;
    while at < lineage.len() {
        let mut steps = 0;
        for pair in lineage[at..].windows(2) {
            let kind = pair[1].kind;
            let stepped = pair[1].turn == pair[0].turn && pair[1].step > pair[0].step;
            if !stepped || !matches!(kind, CheckpointKind::Step | CheckpointKind::Pending) {
                break;
            }
            steps += 1;
            // The next step had begun before it was stored.
            if kind == CheckpointKind::Pending {
                break;
            }
        }
        if steps > 0 {
            stretches.push(Stretch { start: &lineage[at], steps: &lineage[at + 1..=at + steps] });
        }
        at += steps + 1;
    }
    stretches
}

impl<S: State> Thread<S> {
    /// Runs the super-steps between two checkpoints again, the second of which follows the first, and compares the state
    /// after each with what is stored. It stops at the first that differs. The nodes run, so give the runner recorded
    /// models; nothing of the thread changes, and a turn of it may run at the same time.
    ///
    /// Covered is what super-steps did. What came from outside is taken from the record: inputs, answers, edits and
    /// abandoned work, and also results of tasks that an unfinished super-step had stored. So a stretch may reach over
    /// many turns. Super-steps that have no checkpoint of their own are compared at the next one that is stored. Within
    /// a step the tasks have the same idempotency keys as the first time. Resources of single turns must be the runner's,
    /// and transient fields that an input wrote are empty.
    ///
    /// # Errors
    /// [`RunError::UnknownCheckpoint`], also if the second doesn't follow the first, [`RunError::NoStore`] without a
    /// store, and what the store says. A turn that fails is a [`Deviation`].
    ///
    /// ```
    /// use graph_engine::{Filter, Graph, MemoryStore, START, Snap, State};
    ///
    /// #[derive(State, Clone, Default)]
    /// struct Trip {
    ///     nights: u32,
    /// }
    ///
    /// async fn add(trip: Snap<Trip>) -> TripUpdate {
    ///     Trip::update().nights(trip.nights + 1)
    /// }
    ///
    /// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
    /// let graph = Graph::<Trip>::builder("trip").node("add", add).edge(START, "add").compile().unwrap();
    /// let thread = graph.runner().store(MemoryStore::new()).thread("guest-7");
    /// thread.run(Trip::update().nights(2_u32)).await.unwrap();
    /// let history = thread.history(&Filter::default()).await.unwrap();
    /// let replay = thread.replay(history[1].id, history[0].id).await.unwrap();
    /// assert_eq!((replay.steps.len(), replay.deviation), (1, None));
    /// # });
    /// ```
    pub async fn replay(&self, from: CheckpointId, to: CheckpointId) -> Result<Replay, RunError> {
        let Some(store) = self.runner.checkpoints().map(|store| &**store) else {
            return Err(RunError::NoStore { thread: self.id.clone(), operation: "replay" });
        };
        let mut lineage = self.guarded(self.lineage(store, to, Some(from))).await?;
        lineage.reverse();
        if lineage.first().is_none_or(|info| info.id != from) {
            return Err(RunError::UnknownCheckpoint { thread: self.id.clone(), id: from });
        }
        let mut replay = Replay { steps: Vec::new(), deviation: None };
        for stretch in stretches(&lineage) {
            self.replay_stretch(store, &stretch, &mut replay).await?;
            if replay.deviation.is_some() {
                break;
            }
        }
        Ok(replay)
    }

    async fn replay_stretch(
        &self,
        store: &dyn CheckpointStore,
        stretch: &Stretch<'_>,
        replay: &mut Replay,
    ) -> Result<(), RunError> {
        let (Some(first), Some(last)) = (stretch.steps.first(), stretch.steps.last()) else { return Ok(()) };
        let place = self.place();
        let stored = store.load(&place, Some(stretch.start.id)).await.map_err(|cause| self.store_error(cause))?;
        let unknown = || RunError::UnknownCheckpoint { thread: self.id.clone(), id: stretch.start.id };
        let scratch = MemoryStore::new();
        let begin = whole(stored.ok_or_else(unknown)?);
        scratch.commit(&place, &begin).await.map_err(|cause| self.store_error(cause))?;
        let beside = self.runner.apart(scratch.clone()).thread(&self.id);
        let mut turn = beside.turn(Start::Recover);
        turn.rare().again = Some(Again { turn: first.turn.clone(), until: last.step });
        let ended = turn.into_future().await;

        let made = beside.history(&Filter::default()).await?;
        let made: BTreeMap<u64, CheckpointId> =
            made.iter().filter(|info| info.kind == CheckpointKind::Step).map(|info| (info.step, info.id)).collect();
        for info in stretch.steps {
            let recorded = self.state_at(Some(info.id)).await?;
            let mut compared = ReplayedStep {
                step: info.step,
                checkpoint: info.id,
                recorded: self.hashed(&recorded)?,
                replayed: None,
            };
            let Some(id) = made.get(&info.step) else {
                replay.steps.push(compared);
                replay.deviation = Some(match &ended {
                    Ok(end) => Deviation::Ended(end.status),
                    Err(failed) => Deviation::Failed(failed.error.to_string()),
                });
                return Ok(());
            };
            let now = beside.state_at(Some(*id)).await?;
            let hash = self.hashed(&now)?;
            compared.replayed = Some(hash);
            let equal = compared.recorded == hash;
            replay.steps.push(compared);
            if !equal {
                let fields = self.changes(&*recorded.state, &*now.state, info.step)?;
                replay.deviation = Some(Deviation::Fields(fields));
                return Ok(());
            }
        }
        Ok(())
    }

    fn hashed(&self, state: &ThreadState<S>) -> Result<StateHash, RunError> {
        hash_of(&*state.state).map_err(|cause| RunError::Encode { thread: self.id.clone(), step: state.step, cause })
    }
}

/// A checkpoint that follows nothing.
fn whole(stored: Stored) -> Commit {
    let mut commit = Commit {
        id: stored.info.id,
        kind: stored.info.kind,
        turn: stored.info.turn,
        step: stored.info.step,
        time_ms: stored.info.time_ms,
        ..Commit::default()
    };
    for segment in stored.fields.iter() {
        let start = commit.bytes.len();
        commit.bytes.extend_from_slice(segment.bytes);
        let bytes = start..commit.bytes.len();
        commit.fields.push(FieldRow::new(segment.name.to_owned(), segment.encoding, segment.items, bytes));
    }
    commit.bytes.extend_from_slice(&stored.position);
    commit
}

impl fmt::Display for Replay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.deviation, self.steps.last()) {
            (Some(deviation), Some(step)) => {
                let equal = self.steps.len() - 1;
                write!(f, "{equal} super-steps are equal, super-step {} is not: {deviation}", step.step)
            }
            _ => write!(f, "{0} of {0} super-steps are equal", self.steps.len()),
        }
    }
}

impl fmt::Display for Deviation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fields(changes) => {
                let changes: Vec<String> = changes.iter().map(ToString::to_string).collect();
                f.write_str(&changes.join(", "))
            }
            Self::Ended(status) => write!(f, "the turn ended before it ({})", status.as_str()),
            Self::Failed(error) => write!(f, "the turn failed: {error}"),
        }
    }
}
