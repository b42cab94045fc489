//! What a checkpoint says besides the fields: the frontier and everything else that decides what comes next.

mod plain;
mod rows;

pub(super) use plain::Tails;
pub(crate) use rows::call_of;

use std::borrow::Cow;

use serde_json::value::RawValue;

use self::plain::Plain;
use self::rows::{JoinRow, OutcomeRow, Position, VERSION, frontier_error, hop_of, hop_row, slot_of, slot_row};
use super::fields::{ReadFields, decode_update};
use super::frontier::Slot;
use super::outcome::TaskOutcome;
use super::{Ask, Machine, fail, rank_of};
use crate::checkpoint_id::CheckpointId;
use crate::run_error::RunError;
use crate::state::{CodecError, State, read_json};
use crate::store::{CheckpointKind, Commit, SavedResult, Stored, no_tags};
use crate::task::Outcome;
use crate::task_id::TaskId;

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

/// Where the fields of a checkpoint come from.
enum Source<'a, S> {
    /// From what is stored.
    Stored,
    /// The same, and others will go on from them.
    ToKeep,
    /// They were read already.
    Read(&'a ReadFields<S>),
}

/// What became of a checkpoint that was to be restored.
enum Loaded<S> {
    Whole(Option<ReadFields<S>>),
    OtherSchema,
}

impl<S: State> Machine<S> {
    /// Asks for a commit of the changed fields and the position, or goes on when nothing is durable.
    pub(super) fn commit(&mut self, kind: CheckpointKind) -> Ask<S> {
        if !self.options.durable || self.holds_back(kind) {
            return self.advance();
        }
        self.unsaved = false;
        let mut commit = self.commit.take().unwrap_or_else(|| {
            // Room for a small checkpoint, so that the first one of a turn doesn't grow byte by byte.
            Box::new(Commit { bytes: Vec::with_capacity(256), ..Commit::default() })
        });
        commit.kind = kind;
        match self.encode(&mut commit) {
            Ok(()) => match self.too_large() {
                None => Ask::Commit(commit),
                Some(error) => fail(error),
            },
            Err(cause) => fail(RunError::Encode { thread: self.thread(), step: self.step, cause }),
        }
    }

    /// Whether such a commit waits and goes out with something later.
    pub(super) fn holds_back(&mut self, kind: CheckpointKind) -> bool {
        // A branch begins with its first commit.
        if !self.hold || self.fork || !matches!(kind, CheckpointKind::Input | CheckpointKind::Step) {
            return false;
        }
        self.unsaved = true;
        // Tasks descend from this input, although it will be stored with something later.
        if std::mem::take(&mut self.fresh) {
            self.origin = self.prefix.id(self.head, self.step);
        }
        true
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
        if !commit.turn.is(self.shared.turn.turn_id()) {
            commit.turn = self.shared.turn.turn_id().clone();
            commit.tags = self.tags.clone().unwrap_or_else(no_tags);
        }
        self.encode_fields(commit)?;
        self.encode_position(&mut commit.bytes)?;
        self.wrote.stored();
        Ok(())
    }

    fn encode_position(&mut self, out: &mut Vec<u8>) -> Result<(), CodecError> {
        if !self.is_plain() {
            serde_json::to_writer(&mut *out, &self.position()?).map_err(frontier_error)?;
            return self.add_written(out);
        }
        let graph = self.graph.inner();
        let [nodes, fields] = graph.json_names();
        let [wrote, earlier] = self.wrote.writers();
        let (schema, step, began) = (graph.version.number, self.step, self.began);
        let plain = Plain { schema, step, began, wrote, earlier, nodes, fields };
        let next = self.frontier.slots.iter().map(|slot| slot.node);
        plain.encode(next, &mut self.tails, out).map_err(frontier_error)
    }

    /// Whether there are plain waiting tasks and nothing else.
    fn is_plain(&self) -> bool {
        let frontier = &self.frontier;
        frontier.deferred.is_empty()
            && frontier.replies.is_empty()
            && !frontier.completed
            && self.fresh
            && self.embedded.is_none()
            && self.shared.turn.kept_children.is_empty()
            && !self.breaks.here
            && frontier.joins.is_quiet()
            && frontier.left.is_empty()
            && frontier.stays.iter().all(|stays| *stays == 0)
            && frontier.slots.iter().all(|slot| slot.is_bare() && slot.attempt == 1)
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
            children: self.shared.turn.kept_children.all(),
            call: self.embedded.as_ref().map(|embedded| embedded.call.clone()),
            // It follows behind all this.
            written: None,
            left: frontier.left.iter().map(hop_row).collect::<Result<_, _>>()?,
            broke: self.breaks.here,
            wrote,
            earlier,
        })
    }

    /// Brings a new machine to where a checkpoint left the thread, with results that were saved since.
    pub(crate) fn restore(&mut self, stored: Stored) -> Result<(), RunError> {
        self.restore_by(stored, Source::Stored).map(drop)
    }

    /// The same, and gives what was read of the fields, if others can go on from it.
    pub(crate) fn restore_to_keep(&mut self, stored: Stored) -> Result<Option<ReadFields<S>>, RunError> {
        Ok(match self.restore_by(stored, Source::ToKeep)? {
            Loaded::Whole(read) => read,
            Loaded::OtherSchema => None,
        })
    }

    /// The same with fields that were read already. `false`, and nothing is done, if the checkpoint is of another version
    /// of the schema.
    pub(crate) fn restore_read(&mut self, stored: Stored, fields: &ReadFields<S>) -> Result<bool, RunError> {
        Ok(matches!(self.restore_by(stored, Source::Read(fields))?, Loaded::Whole(_)))
    }

    fn restore_by(&mut self, stored: Stored, source: Source<'_, S>) -> Result<Loaded<S>, RunError> {
        let (thread, checkpoint) = (self.thread(), stored.info.id);
        self.load(stored, source).map_err(|why| RunError::Restore { thread, checkpoint, why })
    }

    fn load(&mut self, mut stored: Stored, source: Source<'_, S>) -> Result<Loaded<S>, String> {
        let id = stored.info.id;
        let mut position: Position<'_> = read_json(&stored.position).map_err(|e| format!("its position: {e}"))?;
        if !(1..=VERSION).contains(&position.version) {
            let found = position.version;
            return Err(format!("it has format {found}, this version reads formats up to {VERSION}"));
        }
        position.check_counters()?;
        let migrates = self.graph.inner().version.migrates(position.schema);
        if migrates && matches!(source, Source::Read(_)) {
            return Ok(Loaded::OtherSchema);
        }
        let renamed = self.migrate(position.schema, &mut stored.fields)?;
        position.rename_nodes(&renamed);
        let mut kept = None;
        match source {
            Source::Stored => self.load_fields(&stored.fields)?,
            Source::Read(fields) => self.take_fields(fields),
            Source::ToKeep => {
                let mut fields = ReadFields::new(&self.graph.inner().initial);
                fields.read(&stored.fields, &mut self.report.warnings)?;
                self.take_fields(&fields);
                // What has warned has to warn again.
                kept = Some(fields).filter(|_| !migrates && self.report.warnings.is_empty());
            }
        }
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
        Ok(Loaded::Whole(kept))
    }

    fn take_position(&mut self, position: Position<'_>) -> Result<(), String> {
        let graph = self.graph.clone();
        let graph = graph.inner();
        (self.step, self.began) = (position.step, position.began);
        self.origin = position.origin.unwrap_or_default();
        self.frontier.replies = position.replies;
        self.frontier.completed = position.completed;
        self.frontier.left = position.left.into_iter().map(hop_of).collect();
        self.shared.turn.kept_children.set(position.children);
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
