//! What a checkpoint says besides the fields: the frontier and everything else that decides what comes next.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use super::fields::decode_update;
use super::frontier::Slot;
use super::migrate::rename;
use super::outcome::TaskOutcome;
use super::wrote::WroteRow;
use super::{Ask, Machine, fail, rank_of};
use crate::checkpoint_id::CheckpointId;
use crate::graph::Inner;
use crate::name::Name;
use crate::reply::Reply;
use crate::run_error::RunError;
use crate::state::{CodecError, State};
use crate::store::{CheckpointKind, Commit, SavedResult, Stored};
use crate::task::{END, Extra, Goto, Hop, Journal, Outcome, Payload, Rare, Target};
use crate::task_id::TaskId;

/// The form of positions; a reader refuses any other.
const VERSION: u32 = 1;

#[derive(Serialize, Deserialize)]
struct Position<'a> {
    version: u32,
    /// The version of the state's schema.
    #[serde(default, skip_serializing_if = "is_default")]
    schema: u32,
    step: u64,
    began: u64,
    /// The checkpoint that made the frontier, when it isn't this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    origin: Option<CheckpointId>,
    next: Vec<SlotRow<'a>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    deferred: Vec<SlotRow<'a>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    joins: Vec<JoinRow<'a>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    stays: Vec<(Cow<'a, str>, u32)>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    replies: Vec<Reply>,
    #[serde(default, skip_serializing_if = "is_default")]
    completed: bool,
    /// The newest checkpoints of child graphs that keep their state over calls.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    children: BTreeMap<Name, CheckpointId>,
    /// Of a child graph: the call that it serves, what it has written in it, and where it went out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    call: Option<Name>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    written: Option<Box<RawValue>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    left: Vec<HopRow>,
    /// The thread stopped here at a breakpoint.
    #[serde(default, skip_serializing_if = "is_default")]
    broke: bool,
    /// Who finished in the last super-step, and in those before it that share this checkpoint.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    wrote: Vec<WroteRow<'a>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    earlier: Vec<WroteRow<'a>>,
}

/// The call that a stored checkpoint of a child graph served.
pub(crate) fn call_of(position: &[u8]) -> Option<Name> {
    #[derive(Deserialize)]
    struct Served {
        call: Option<Name>,
    }
    serde_json::from_slice::<Served>(position).ok()?.call
}

#[derive(Serialize, Deserialize)]
struct SlotRow<'a> {
    node: Cow<'a, str>,
    #[serde(default = "one", skip_serializing_if = "is_one")]
    attempt: u32,
    #[serde(default, skip_serializing_if = "is_default")]
    stays: u32,
    #[serde(default, skip_serializing_if = "is_default")]
    sent: bool,
    /// In a list of one, because a payload may itself be null.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    payload: Option<[Box<RawValue>; 1]>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    feedback: Vec<Value>,
    /// The task's own timeout.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    timeout: Option<Duration>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    done: Option<OutcomeRow>,
    /// It waits for an answer.
    #[serde(default, skip_serializing_if = "is_default")]
    paused: bool,
    /// What it asked, was answered and remembered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    journal: Option<Journal>,
}

#[derive(Serialize, Deserialize)]
struct JoinRow<'a> {
    to: Cow<'a, str>,
    /// All sources in their declared order, and whether each has arrived: two joins may lead to one node.
    sources: Vec<(Cow<'a, str>, bool)>,
}

/// The result of a finished task whose step is not finished.
#[derive(Serialize, Deserialize)]
struct OutcomeRow {
    update: Box<RawValue>,
    next: NextRow,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum NextRow {
    Declared,
    Many(Vec<HopRow>),
    Within(Duration, Vec<HopRow>),
    Rescue(HopRow),
    Stay(Option<Value>),
    Direct(Value),
    Finish(Value),
}

#[derive(Serialize, Deserialize)]
struct HopRow {
    to: Name,
    #[serde(default, skip_serializing_if = "is_default")]
    sent: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    payload: Option<[Box<RawValue>; 1]>,
}

impl Position<'_> {
    /// Counters that no thread reaches are not to be counted on from.
    fn check_counters(&self) -> Result<(), String> {
        const MANY: u32 = u32::MAX / 2;
        if self.began > self.step || self.step > u64::MAX / 2 {
            return Err(format!("it is of super-step {}, of a turn that began at {}", self.step, self.began));
        }
        let wild = |slot: &&SlotRow<'_>| slot.attempt == 0 || slot.attempt > MANY || slot.stays > MANY;
        if let Some(slot) = self.next.iter().chain(&self.deferred).find(wild) {
            return Err(format!("`{}` is at attempt {} after {} stays", slot.node, slot.attempt, slot.stays));
        }
        match self.stays.iter().find(|(_, stays)| *stays > MANY) {
            Some((cluster, stays)) => Err(format!("cluster `{cluster}` has stayed {stays} times")),
            None => Ok(()),
        }
    }

    /// Nodes have other names since it was written.
    fn rename_nodes(&mut self, nodes: &[(String, String)]) {
        for slot in self.next.iter_mut().chain(&mut self.deferred) {
            slot.node = rename(std::mem::take(&mut slot.node), nodes);
            if let Some(done) = &mut slot.done {
                done.next.rename_nodes(nodes);
            }
        }
        for join in &mut self.joins {
            join.to = rename(std::mem::take(&mut join.to), nodes);
            for (source, _) in &mut join.sources {
                *source = rename(std::mem::take(source), nodes);
            }
        }
    }
}

impl NextRow {
    fn rename_nodes(&mut self, nodes: &[(String, String)]) {
        let hops = match self {
            Self::Many(hops) | Self::Within(_, hops) => &mut hops[..],
            Self::Rescue(hop) => std::slice::from_mut(hop),
            Self::Declared | Self::Stay(_) | Self::Direct(_) | Self::Finish(_) => &mut [],
        };
        for hop in hops {
            if let Cow::Owned(name) = rename(Cow::Borrowed(&hop.to), nodes) {
                hop.to = name.into();
            }
        }
    }
}

fn one() -> u32 {
    1
}

fn is_one(n: &u32) -> bool {
    *n == 1
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

fn frontier_error(cause: serde_json::Error) -> CodecError {
    CodecError::Encode { field: "(frontier)".into(), cause }
}

fn payload_row(node: &str, payload: Option<&Payload>) -> Result<Option<[Box<RawValue>; 1]>, CodecError> {
    let json = payload.map(|payload| payload.to_raw().map(|json| [json])).transpose();
    json.map_err(|reason| CodecError::Payload { node: node.to_owned(), reason })
}

fn hop_row(hop: &Hop) -> Result<HopRow, CodecError> {
    let payload = payload_row(hop.to.name(), hop.send.as_ref().and_then(Option::as_ref))?;
    Ok(HopRow { to: hop.to.name().into(), sent: hop.send.is_some(), payload })
}

fn hop_of(row: HopRow) -> Hop {
    let payload = row.payload.map(|[json]| Payload::stored(json));
    Hop { to: Target::Named(row.to), send: row.sent.then_some(payload) }
}

impl OutcomeRow {
    fn of<S: State>(state: &S, outcome: &Outcome<S>) -> Result<Self, CodecError> {
        let mut update = Vec::new();
        state.encode_update(&outcome.update, &mut update)?;
        let hop = hop_row;
        let next = match &outcome.goto {
            Goto::Declared => NextRow::Declared,
            Goto::Go(to) => NextRow::Many(vec![HopRow { to: to.name.into(), sent: false, payload: None }]),
            Goto::Rare(rare) => match &**rare {
                Rare::Many(hops, timeout) => {
                    let hops = hops.iter().map(hop).collect::<Result<_, CodecError>>()?;
                    match timeout {
                        None => NextRow::Many(hops),
                        Some(timeout) => NextRow::Within(*timeout, hops),
                    }
                }
                Rare::Rescue(to) => NextRow::Rescue(hop(to)?),
                Rare::Stay(feedback) => NextRow::Stay(feedback.clone()),
                Rare::Direct(reply) => NextRow::Direct(reply.clone()),
                Rare::Finish(reply) => NextRow::Finish(reply.clone()),
                // Such an outcome became a failure when it was placed.
                Rare::Invalid(_) => NextRow::Declared,
            },
        };
        Ok(Self { update: serde_json::from_slice(&update).map_err(frontier_error)?, next })
    }

    fn into_outcome<S: State>(self, state: &S) -> Result<Outcome<S>, String> {
        let update = state.decode_update(self.update.get().as_bytes()).map_err(|e| e.to_string())?;
        Ok(self.with(update))
    }

    /// The same, for what may be older than the program: see [`decode_update`].
    fn restore<S: State>(self, state: &S, warnings: &mut Vec<String>) -> Result<Outcome<S>, String> {
        let update = decode_update(state, &self.update, warnings).map_err(|e| e.to_string())?;
        Ok(self.with(update))
    }

    fn with<S: State>(self, update: S::Update) -> Outcome<S> {
        let hop = hop_of;
        let goto = match self.next {
            NextRow::Declared => Goto::Declared,
            NextRow::Many(hops) => Goto::rare(Rare::Many(hops.into_iter().map(hop).collect(), None)),
            NextRow::Within(timeout, hops) => {
                Goto::rare(Rare::Many(hops.into_iter().map(hop).collect(), Some(timeout)))
            }
            NextRow::Rescue(row) => Goto::rare(Rare::Rescue(hop(row))),
            NextRow::Stay(feedback) => Goto::rare(Rare::Stay(feedback)),
            NextRow::Direct(reply) => Goto::rare(Rare::Direct(reply)),
            NextRow::Finish(reply) => Goto::rare(Rare::Finish(reply)),
        };
        Outcome { update, goto }
    }
}

/// Before the call of a child graph, in the keys of what is saved of a task. No other key begins so.
pub(crate) const CHILD: &str = "child/";

/// The result of one finished task as a store keeps it.
pub(crate) fn encode_outcome<S: State>(state: &S, outcome: &Outcome<S>) -> Result<Vec<u8>, CodecError> {
    serde_json::to_vec(&OutcomeRow::of(state, outcome)?).map_err(frontier_error)
}

/// The reverse of [`encode_outcome`].
pub(crate) fn decode_outcome<S: State>(state: &S, bytes: &[u8]) -> Result<Outcome<S>, String> {
    let row: OutcomeRow = serde_json::from_slice(bytes).map_err(|e| e.to_string())?;
    row.into_outcome(state)
}

impl<S: State> Machine<S> {
    /// Asks for a commit of the changed fields and the position, or goes on when nothing is durable.
    pub(super) fn commit(&mut self, kind: CheckpointKind) -> Ask<S> {
        if !self.options.durable {
            return self.advance();
        }
        // A branch begins with its first commit.
        if self.hold && !self.fork && matches!(kind, CheckpointKind::Input | CheckpointKind::Step) {
            self.unsaved = true;
            // Tasks descend from this input, although it will be stored with something later.
            if std::mem::take(&mut self.fresh) {
                self.origin = self.prefix.id(self.head, self.step);
            }
            return self.advance();
        }
        self.unsaved = false;
        let mut commit = self.commit.take().unwrap_or_default();
        commit.kind = kind;
        match self.encode(&mut commit) {
            Ok(()) => match self.too_large() {
                None => Ask::Commit(commit),
                Some(error) => fail(error),
            },
            Err(cause) => fail(RunError::Encode { thread: self.thread(), step: self.step, cause }),
        }
    }

    fn encode(&mut self, commit: &mut Commit) -> Result<(), CodecError> {
        commit.parent = self.head;
        commit.id = self.prefix.id(self.head, self.step);
        commit.step = self.step;
        commit.fork = std::mem::take(&mut self.fork);
        if commit.fork {
            commit.kind = CheckpointKind::Fork;
        }
        commit.due_ms = self.due_ms();
        if commit.turn != self.shared.turn.turn {
            commit.turn = self.shared.turn.turn.clone();
            commit.tags = self.tags.clone();
        }
        self.encode_fields(commit)?;
        self.encode_position(&mut commit.bytes)?;
        self.wrote.stored();
        Ok(())
    }

    /// The frequent case (plain waiting tasks and nothing else) goes straight into the buffer.
    fn encode_position(&self, out: &mut Vec<u8>) -> Result<(), CodecError> {
        let frontier = &self.frontier;
        let quiet = frontier.deferred.is_empty()
            && frontier.replies.is_empty()
            && !frontier.completed
            && self.fresh
            && self.embedded.is_none()
            && self.shared.turn.has_no_kept_children()
            && !self.breaks.here
            && frontier.joins.is_quiet()
            && frontier.stays.iter().all(|stays| *stays == 0)
            && frontier.slots.iter().all(|slot| slot.is_bare() && slot.attempt == 1);
        if !quiet {
            return serde_json::to_writer(out, &self.position()?).map_err(frontier_error);
        }
        let number = |out: &mut Vec<u8>, n: u64| serde_json::to_writer(&mut *out, &n).map_err(frontier_error);
        out.extend_from_slice(b"{\"version\":");
        number(out, VERSION.into())?;
        let schema = self.graph.inner().version.number;
        if schema > 0 {
            out.extend_from_slice(b",\"schema\":");
            number(out, schema.into())?;
        }
        out.extend_from_slice(b",\"step\":");
        number(out, self.step)?;
        out.extend_from_slice(b",\"began\":");
        number(out, self.began)?;
        out.extend_from_slice(b",\"next\":[");
        for (at, slot) in frontier.slots.iter().enumerate() {
            out.extend_from_slice(if at == 0 { b"{\"node\":" } else { b",{\"node\":" });
            let name = self.graph.inner().name_of(slot.node).as_str();
            serde_json::to_writer(&mut *out, name).map_err(frontier_error)?;
            out.push(b'}');
        }
        out.push(b']');
        let wrote = self.wrote.encode(self.graph.inner(), self.shared.state.fields(), out);
        wrote.map_err(frontier_error)?;
        out.push(b'}');
        Ok(())
    }

    fn position(&self) -> Result<Position<'_>, CodecError> {
        let (graph, frontier) = (self.graph.inner(), &self.frontier);
        let rows = |slots: &'_ [Slot<S>]| {
            slots.iter().map(|slot| slot_row(graph, &self.shared.state, slot)).collect::<Result<Vec<_>, CodecError>>()
        };
        let mut next = rows(&frontier.slots)?;
        let journals = &self.shared.turn.journals;
        if journals.any() {
            // Of finished tasks too: if their results can't be merged they run again.
            for (rank, row) in next.iter_mut().enumerate() {
                row.journal = journals.stored(TaskId { step: self.step, rank: rank_of(rank) });
            }
        }
        let joins = frontier.joins.seen().map(|(join, arrived)| {
            let join = &graph.joins[join];
            let names = join.sources.iter().map(|source| Cow::Borrowed(graph.name_of(*source).as_str()));
            let sources = names.zip(arrived.iter().copied()).collect();
            JoinRow { to: Cow::Borrowed(graph.name_of(join.to)), sources }
        });
        let [wrote, earlier] = self.wrote.rows(graph, self.shared.state.fields());
        let stays = frontier.stays.iter().zip(&graph.clusters).filter(|(stays, _)| **stays > 0);
        Ok(Position {
            version: VERSION,
            schema: graph.version.number,
            step: self.step,
            began: self.began,
            origin: (!self.fresh).then_some(self.origin),
            next,
            deferred: rows(&frontier.deferred)?,
            joins: joins.collect(),
            stays: stays.map(|(stays, cluster)| (Cow::Borrowed(cluster.name.as_str()), *stays)).collect(),
            replies: frontier.replies.clone(),
            completed: frontier.completed,
            children: self.shared.turn.kept_children.lock().unwrap_or_else(PoisonError::into_inner).clone(),
            call: self.embedded.as_ref().map(|embedded| embedded.call.clone()),
            written: self.written_row()?,
            left: frontier.left.iter().map(hop_row).collect::<Result<_, _>>()?,
            broke: self.breaks.here,
            wrote,
            earlier,
        })
    }

    /// Brings a new machine to where a checkpoint left the thread, with results that were saved since.
    pub(crate) fn restore(&mut self, stored: Stored) -> Result<(), RunError> {
        let (thread, checkpoint) = (self.thread(), stored.info.id);
        self.load(stored).map_err(|why| RunError::Restore { thread, checkpoint, why })
    }

    fn load(&mut self, mut stored: Stored) -> Result<(), String> {
        let id = stored.info.id;
        let mut position: Position<'_> =
            serde_json::from_slice(&stored.position).map_err(|e| format!("its position: {e}"))?;
        if position.version != VERSION {
            return Err(format!("it has format {}, this version reads {VERSION}", position.version));
        }
        position.check_counters()?;
        let renamed = self.migrate(position.schema, &mut stored.fields)?;
        position.rename_nodes(&renamed);
        self.load_fields(&stored.fields)?;
        self.take_position(position)?;
        self.head = Some(id);
        if self.origin == CheckpointId::default() {
            self.origin = id;
        }
        self.fresh = false;
        for SavedResult { task, key, bytes } in stored.saved.iter().filter(|saved| saved.task.step == self.step) {
            if let Some(call) = key.strip_prefix(CHILD) {
                let row = serde_json::from_slice(bytes).map_err(|e| format!("a child graph of task {task}: {e}"))?;
                self.shared.turn.journals.set_child(*task, call, row);
                continue;
            }
            if !key.is_empty() {
                let json = serde_json::from_slice::<Box<RawValue>>(bytes)
                    .map_err(|e| format!("a result within task {task}: {e}"))?;
                self.shared.turn.journals.remember(*task, key, json);
                continue;
            }
            let row: Result<OutcomeRow, String> = serde_json::from_slice(bytes).map_err(|e| e.to_string());
            let row = row.map(|mut row| {
                row.next.rename_nodes(&renamed);
                row
            });
            let outcome = row.and_then(|row| row.restore(&self.shared.state, &mut self.report.warnings));
            let outcome = outcome.map_err(|e| format!("the saved result of task {task}: {e}"))?;
            if self.accepts(*task, &outcome) {
                self.frontier.slots[task.rank as usize].done.get_or_insert(TaskOutcome::Done(outcome));
            }
        }
        Ok(())
    }

    fn take_position(&mut self, position: Position<'_>) -> Result<(), String> {
        let graph = self.graph.clone();
        let graph = graph.inner();
        (self.step, self.began) = (position.step, position.began);
        self.origin = position.origin.unwrap_or_default();
        self.frontier.replies = position.replies;
        self.frontier.completed = position.completed;
        self.frontier.left = position.left.into_iter().map(hop_of).collect();
        *self.shared.turn.kept_children.lock().unwrap_or_else(PoisonError::into_inner) = position.children;
        if let (Some(embedded), Some(written)) = (&mut self.embedded, position.written) {
            let written = decode_update(&self.shared.state, &written, &mut self.report.warnings);
            embedded.written = written.map_err(|e| format!("what it has written: {e}"))?;
        }
        self.breaks.here = position.broke;
        self.wrote.restore(graph, self.shared.state.fields(), &position.wrote);
        for (rows, deferred) in [(position.next, false), (position.deferred, true)] {
            for (rank, mut row) in rows.into_iter().enumerate() {
                if let Some(journal) = row.journal.take().filter(|_| !deferred) {
                    self.shared.turn.journals.restore(TaskId { step: self.step, rank: rank_of(rank) }, journal);
                }
                let slot = slot_of(graph, &self.shared.state, row, &mut self.report.warnings)?;
                if deferred { self.frontier.deferred.push(slot) } else { self.frontier.slots.push(slot) }
            }
        }
        for row in position.joins {
            let known = graph.joins.iter().enumerate().find(|(_, join)| {
                let sources = join.sources.iter().map(|source| graph.name_of(*source).as_str());
                *graph.name_of(join.to) == *row.to && sources.eq(row.sources.iter().map(|(name, _)| &**name))
            });
            let Some((at, _)) = known else {
                self.report
                    .warnings
                    .push(format!("the graph has no join to `{}` any more; its arrivals are ignored", row.to));
                continue;
            };
            for (bit, _) in row.sources.iter().enumerate().filter(|(_, (_, arrived))| *arrived) {
                self.frontier.joins.arrive(at, bit);
            }
        }
        for (name, stays) in position.stays {
            if let Some(cluster) = graph.clusters.iter().position(|cluster| *cluster.name == *name) {
                self.frontier.stays[cluster] = stays;
            }
        }
        Ok(())
    }
}

fn slot_row<'a, S: State>(graph: &'a Inner<S>, state: &S, slot: &Slot<S>) -> Result<SlotRow<'a>, CodecError> {
    let done = match &slot.done {
        Some(TaskOutcome::Done(outcome) | TaskOutcome::Cached(outcome)) => Some(OutcomeRow::of(state, outcome)?),
        // What failed or was cancelled runs again.
        Some(TaskOutcome::Failed(_) | TaskOutcome::Cancelled { .. } | TaskOutcome::Paused) | None => None,
    };
    Ok(SlotRow {
        node: Cow::Borrowed(graph.name_of(slot.node)),
        attempt: slot.attempt,
        stays: slot.stays,
        sent: slot.sent,
        payload: payload_row(graph.name_of(slot.node), slot.payload.as_ref())?,
        feedback: slot.extra.as_ref().map_or_else(Vec::new, |extra| extra.feedback.clone()),
        timeout: slot.extra.as_ref().and_then(|extra| extra.timeout),
        done,
        paused: matches!(slot.done, Some(TaskOutcome::Paused)),
        journal: None,
    })
}

fn slot_of<S: State>(
    graph: &Inner<S>,
    state: &S,
    row: SlotRow<'_>,
    warnings: &mut Vec<String>,
) -> Result<Slot<S>, String> {
    let node = graph.target(&row.node).flatten().filter(|_| row.node != END);
    let node =
        node.ok_or_else(|| format!("node `{}` would run next, but the graph has none of that name", row.node))?;
    let bare = row.feedback.is_empty() && row.timeout.is_none();
    let extra = (!bare).then(|| Arc::new(Extra { feedback: row.feedback, timeout: row.timeout }));
    let done = row.done.map(|done| done.restore(state, warnings)).transpose();
    let done = done.map_err(|why| format!("the result of `{}`: {why}", row.node))?;
    Ok(Slot {
        attempt: row.attempt,
        stays: row.stays,
        sent: row.sent,
        payload: row.payload.map(|[json]| Payload::stored(json)),
        extra,
        done: done.map(TaskOutcome::Done).or(row.paused.then_some(TaskOutcome::Paused)),
        ..Slot::plain(node)
    })
}
