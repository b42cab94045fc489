//! Where a machine begins: new, or in the lists of one whose turn is over.

use std::sync::Arc;

use super::breaks::Breaks;
use super::fields::Changes;
use super::frontier::Frontier;
use super::position::Tails;
use super::wrote::Wrote;
use super::{Machine, Options};
use crate::checkpoint_id::{CheckpointId, IdPrefix};
use crate::graph::Graph;
use crate::report::RunReport;
use crate::state::State;
use crate::store::Tags;
use crate::task::{Held, Shared, TurnContext};

/// Tasks of one super-step for which a machine that rests keeps room.
const ROOM: usize = 256;

impl<S: State> Machine<S> {
    /// The machine of a thread that has never run.
    pub(crate) fn new(graph: Graph<S>, options: Options, turn: Arc<TurnContext>, tags: Option<Arc<Tags>>) -> Self {
        let inner = graph.inner();
        let mut frontier = Frontier::new(inner);
        frontier.record(options.record);
        Self {
            frontier,
            prefix: prefix(options, &turn),
            shared: Held::new(Arc::new(Shared { state: inner.initial.clone(), turn })),
            options,
            step: 0,
            began: 0,
            report: RunReport::default(),
            stopping: false,
            draining: false,
            now_ms: 0,
            hold: false,
            unsaved: false,
            ending: None,
            until: None,
            breaks: Breaks::default(),
            wrote: Wrote::default(),
            head: None,
            origin: CheckpointId::default(),
            fresh: true,
            fork: false,
            embedded: None,
            tags,
            changes: Changes::new(&inner.initial, options.durable),
            tails: Tails::default(),
            batch: None,
            commit: None,
            graph,
        }
    }

    /// The same in the place of a machine that [rests](Self::rest).
    pub(crate) fn renew(&mut self, options: Options, turn: Arc<TurnContext>, tags: Option<Arc<Tags>>) {
        let initial = &self.graph.inner().initial;
        self.frontier.record(options.record);
        self.prefix = prefix(options, &turn);
        self.changes = Changes::new(initial, options.durable);
        self.shared = Held::new(Arc::new(Shared { state: initial.clone(), turn }));
        (self.options, self.tags) = (options, tags);
    }

    /// Forgets everything of a turn whose report was taken, its state too. Only empty lists are left; false if even those
    /// are too large to be kept.
    pub(crate) fn rest(&mut self) -> bool {
        // Each field by its name, so that none is forgotten.
        let Self {
            // What `renew` makes new.
            graph: _,
            options: _,
            prefix: _,
            shared,
            step,
            began,
            frontier,
            report,
            stopping,
            draining,
            now_ms,
            hold,
            unsaved,
            ending,
            until,
            breaks,
            wrote,
            head,
            origin,
            fresh,
            fork,
            embedded,
            tags,
            changes,
            tails,
            batch,
            commit,
        } = self;
        debug_assert_eq!(*report, RunReport::default(), "the report was not taken");
        shared.drop_now();
        frontier.clear();
        (*step, *began, *now_ms) = (0, 0, 0);
        (*stopping, *draining, *hold, *unsaved, *fresh, *fork) = (false, false, false, false, true, false);
        (*ending, *until, *head, *origin) = (None, None, None, CheckpointId::default());
        (*embedded, *tags, *commit) = (None, None, None);
        *breaks = Breaks::default();
        *wrote = Wrote::default();
        *tails = Tails::default();
        changes.drop_stored();
        if let Some(batch) = batch {
            batch.tasks.clear();
            batch.outcomes.clear();
            batch.stop = false;
        }
        let batched = batch.as_ref().map_or(0, |batch| batch.tasks.capacity().max(batch.outcomes.capacity()));
        frontier.room().max(batched) <= ROOM
    }
}

/// A child graph has that of its call.
fn prefix(options: Options, turn: &TurnContext) -> IdPrefix {
    if options.durable && turn.nested.is_none() {
        IdPrefix::new(&turn.thread, &turn.namespace, turn.turn_id())
    } else {
        IdPrefix::default()
    }
}
