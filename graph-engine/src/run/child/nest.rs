//! Runs a child graph inside a task: finds where it stands, drives it, and tells the task what became of it.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use super::Keeping;
use super::error::ChildError;
use super::host::{Hosting, Taken};
use super::space::{digest, joined};
use crate::driver::{Bench, Durability, Keep, Live, LocalDriver};
use crate::error::{FaultKind, NodeError};
use crate::graph::Graph;
use crate::machine::{Enter, Machine, Start, Stopped, call_of, kept_child};
use crate::name::Name;
use crate::panic::panic_text;
use crate::reply::Reply;
use crate::run_error::RunError;
use crate::state::State;
use crate::store::{Place, Stored};
use crate::task::{ChildRow, Ctx, Hop, Keeper, Nested, Snap, TurnContext, paused};

/// How many graphs may be around another one.
const DEPTH: u32 = 32;

/// One call of a child graph.
pub(super) struct Call<'a, C: State> {
    pub(super) graph: &'a Graph<C>,
    pub(super) keeping: Keeping,
    pub(super) step_limit: Option<u64>,
    /// The name of the call within the graph around it.
    pub(super) name: String,
    /// Which call of the task it is: by scope, name and number.
    pub(super) key: String,
    /// No other task beside this one may use the same namespace.
    pub(super) alone: bool,
    /// The same call may be made again within the turn.
    pub(super) again: bool,
}

/// What came of a child graph that ended.
pub(super) struct Ran<C: State> {
    pub(super) state: Snap<C>,
    pub(super) written: C::Update,
    pub(super) replies: Vec<Reply>,
    pub(super) completed: bool,
    pub(super) left: Vec<Hop>,
}

/// Where a call stands in the store.
struct Standing {
    namespace: Name,
    /// What to begin from, and whether it is this call that made it.
    from: Option<(Stored, bool)>,
    /// The next commit doesn't follow the head.
    fork: bool,
}

impl<C: State> Call<'_, C> {
    pub(super) async fn run(
        self,
        ctx: &Ctx,
        enter: impl FnOnce() -> Result<Enter<C>, NodeError>,
    ) -> Result<Ran<C>, NodeError> {
        let host = Hosting::of(ctx);
        let outer = &ctx.turn;
        let depth = outer.nested.as_ref().map_or(0, |nested| nested.depth) + 1;
        if depth > DEPTH {
            return Err(NodeError::fatal(format!(
                "child graph `{}` would be {depth} levels deep, more than {DEPTH}; a graph that calls itself needs an end",
                self.graph.name()
            )));
        }
        let task = format!("{}/{}", outer.namespace, ctx.id);
        let call: Name = ctx.with_origin(|origin| digest([origin, &task, &self.key])).into();
        let path: Name = joined(outer.nested.as_ref().map_or("", |nested| &nested.path), &self.name).into();
        let row = outer.journals.child(ctx.id, &self.key);
        let namespace = match &row {
            Some(row) => row.namespace.clone(),
            None => self.namespace(ctx, &call),
        };
        self.take(&host, ctx, &namespace, &call)?;
        let node = outer.nested.as_ref().map_or_else(|| ctx.node().clone(), |nested| nested.node.clone());
        let again = self.again || outer.nested.as_ref().is_some_and(|nested| nested.again);
        let kept = self.is_kept(&host, again);
        // Of what is called once the task need not know that it was.
        let once = !kept && self.keeping == Keeping::PerTurn;
        let standing = match kept {
            false => Standing { namespace, from: None, fork: false },
            true => self.stand(&host, ctx, namespace, &call, row.as_ref()).await?,
        };
        let namespace = standing.namespace.clone();
        let fail = |error| ChildError::fail(self.graph.name(), &namespace, error);

        let names = self.graph.inner().names.clone();
        let cancel = outer.cancel.within(ctx.id.step);
        let mut context = TurnContext::of(outer.thread.clone(), outer.turn_id().clone().into(), names, cancel);
        context.lineage = Some(call.clone());
        context.namespace = namespace.clone();
        context.resources = outer.resources.clone();
        let guard = context.cancel.guard();
        context.offload = outer.offload.clone();
        context.durable = outer.durable;
        context.host = outer.host.clone();
        context.nested = Some(Nested { depth, node: node.clone(), path: path.clone(), again });
        let mut row = row.unwrap_or_default();
        row.namespace = namespace.clone();
        row.per_thread = self.keeping == Keeping::PerThread;
        if !kept {
            context.journals.give(row.answers.clone());
        }
        let mut live = Live::default();
        if let Some(relay) = &host.relay {
            live = Live::relayed(relay.clone(), node);
            if outer.cancel.is_read() && relay.upgrade().is_some_and(|relay| relay.is_open()) {
                ctx.note_told();
            }
        }
        let place = Place::new(&outer.thread, &namespace);
        // Where nobody looks at its single super-steps, because it is not called again, its end is enough.
        let durability = if host.store.is_none() && !again { Durability::Exit } else { host.durability };
        let keep = kept.then(|| {
            let (saves, spawn) = (durability != Durability::Exit, host.seams.0.spawn.clone());
            Keep::new(host.checkpoints().clone(), place.clone(), saves, spawn, host.lease.upgrade())
        });
        let keeper: Option<Arc<dyn Keeper>> = keep.clone().filter(|keep| keep.saves()).map(|keep| keep as _);
        if let Some(keeper) = &keeper {
            context.keeper = Arc::downgrade(keeper).into();
        }
        let context = Arc::new(context);

        let mut options = host.options;
        (options.durable, options.record) = (kept, false);
        options.every_step = durability == Durability::Sync;
        let mut machine = Machine::new(self.graph.clone(), options, context.clone(), host.tags.clone());
        let mut fresh = standing.from.is_none() && !standing.fork;
        let mut goes_on = false;
        machine.embed(call.clone(), self.step_limit);
        // Where an earlier call left the child: this one has not been there, whatever becomes of it.
        let earlier = standing.from.as_ref().filter(|(_, same_call)| !same_call).map(|(stored, _)| stored.info.id);
        if let Some((stored, same_call)) = standing.from {
            goes_on = same_call;
            machine.restore(stored).map_err(&fail)?;
        }
        if standing.fork {
            machine.branch();
        }
        let start = if goes_on {
            fresh = false;
            Enter::Continue(row.answers.clone())
        } else {
            caught("`enter`", enter)?
        };

        let mut bench = Bench::new(self.graph.clone(), context.clone(), host.seams.clone(), host.guards(self.graph));
        bench.live = live;
        bench.measure = host.measure;
        bench.metrics = host.metrics.clone();
        bench.spans = host.spans;
        let bench = Arc::new(bench);
        bench.open_sink();
        let mut driver = LocalDriver {
            keep,
            durability,
            parallel: host.parallel,
            watched: host.metrics.is_some() || host.spans.on,
            stays: 0,
            in_step: false,
            node_time: Vec::new(),
            bench: &bench,
        };
        let stopped = Box::pin(driver.drive(&mut machine, Start::Enter(start))).await;
        drop(guard);
        row.at = machine.head().filter(|head| Some(*head) != earlier);
        (row.waits, row.done) = (false, false);
        if kept {
            row.answers.clear();
        }
        let note_row = |row| {
            if !once {
                outer.journals.set_child(ctx.id, &self.key, row);
            }
        };
        let mut report = machine.take_report();
        let open = std::mem::take(&mut report.interrupts);
        let mut warnings = driver.bench.live.take_warnings();
        if let Some(guards) = &driver.bench.guards {
            warnings.append(&mut guards.take_warnings());
        }
        report.warnings.append(&mut warnings);
        host.note(&path, report);
        let stopped = match stopped {
            Ok(Stopped::Failed(error)) => Err(*error),
            stopped => stopped,
        };
        match stopped {
            Ok(Stopped::Done) => {
                row.done = true;
                row.open.clear();
                note_row(row);
                // A call that never stopped is in no checkpoint of the graphs around it.
                if fresh && self.keeping == Keeping::PerTurn && host.store.is_some() {
                    let step = outermost_step(ctx);
                    host.ledger().spent.push((step, place));
                }
                Ok(Ran {
                    written: machine.take_written(),
                    replies: machine.frontier().replies.clone(),
                    completed: machine.frontier().completed,
                    left: machine.left().to_vec(),
                    state: Snap::shared(machine.snapshot().clone()),
                })
            }
            Ok(Stopped::Paused) => {
                (row.waits, row.open, row.defaults) = (true, open, context.journals.defaults());
                outer.journals.set_child(ctx.id, &self.key, row);
                Err(paused())
            }
            Err(RunError::BadAnswer { bad, .. }) => {
                // They are asked again.
                bad.iter().for_each(|bad| drop(row.answers.remove(&bad.id)));
                (row.waits, row.open, row.defaults) = (true, open, context.journals.defaults());
                outer.journals.set_child(ctx.id, &self.key, row);
                outer.journals.child_refused(ctx.id, bad);
                Err(paused())
            }
            Err(error) => {
                row.open.clear();
                note_row(row);
                Err(fail(error))
            }
            // Only what is around it stops it, and then this task is stopped too. A failure is an error by now.
            Ok(Stopped::Cancelled | Stopped::Drained | Stopped::Failed(_)) => {
                Err(NodeError::retryable("the child graph was cancelled"))
            }
        }
    }

    /// Whether what becomes of the child is kept. Without a store nothing outlives the turn, and within it only a call that
    /// is made again, or the next one of a child that goes on, asks for it.
    fn is_kept(&self, host: &Hosting, again: bool) -> bool {
        match self.keeping {
            Keeping::Nothing => false,
            Keeping::PerThread => true,
            Keeping::PerTurn => again || host.store.is_some(),
        }
    }

    fn namespace(&self, ctx: &Ctx, call: &Name) -> Name {
        let level = match self.keeping {
            Keeping::PerThread => self.name.clone(),
            // The task first, so that a person finds its way.
            Keeping::PerTurn | Keeping::Nothing => format!("{}:{}:{call}", self.name, ctx.id),
        };
        joined(&ctx.turn.namespace, &level).into()
    }

    /// A namespace that is kept over calls belongs to one call at a time.
    fn take(&self, host: &Hosting, ctx: &Ctx, namespace: &Name, call: &Name) -> Result<(), NodeError> {
        if self.keeping != Keeping::PerThread {
            return Ok(());
        }
        let step = ctx.id.step;
        let mut ledger = host.ledger();
        let taken = ledger.taken.get(namespace).filter(|taken| taken.step == step && taken.call != *call);
        if taken.is_some() || !self.alone {
            return Err(NodeError::fatal(format!(
                "child graph `{}` keeps its state per thread, and several tasks of one super-step call it at \
                 `{namespace}`; call it from one of them, or let it keep its state per turn",
                self.graph.name()
            )));
        }
        ledger.taken.insert(namespace.clone(), Taken { step, call: call.clone() });
        Ok(())
    }

    /// Finds what to begin from. A head that this very call made goes on, which is so after a failure, a pause and a
    /// crash. Otherwise the graphs around it were set back: then what their checkpoint says of the child counts.
    async fn stand(
        &self,
        host: &Hosting,
        ctx: &Ctx,
        namespace: Name,
        call: &Name,
        row: Option<&ChildRow>,
    ) -> Result<Standing, NodeError> {
        let store = host.checkpoints();
        let place = Place::new(&ctx.turn.thread, &namespace);
        let fail = |error| ChildError::fail(self.graph.name(), &namespace, error);
        let load = async |at| {
            let stored = store.load(&place, at).await;
            stored.map_err(|cause| fail(RunError::Store { thread: ctx.turn.thread.clone(), cause }))
        };
        let head = load(None).await?;
        if let Some(head) = head.as_ref().filter(|head| call_of(&head.position).as_ref() == Some(call)) {
            let from = Some((head.clone(), true));
            return Ok(Standing { namespace, from, fork: false });
        }
        let (at, same) = match (row.and_then(|row| row.at), self.keeping) {
            (Some(at), _) => (Some(at), true),
            (None, Keeping::PerThread) => (kept_child(&ctx.turn, &namespace), false),
            (None, _) => (None, false),
        };
        let Some(at) = at else { return Ok(Standing { fork: head.is_some(), namespace, from: None }) };
        if let Some(head) = head.filter(|head| head.info.id == at) {
            // The branch begins at its head, unless it only goes on.
            return Ok(Standing { namespace, from: Some((head, same)), fork: same });
        }
        match load(Some(at)).await? {
            // What was saved since belongs to another branch.
            Some(stored) => {
                let stored = Stored { saved: Vec::new(), ..stored };
                Ok(Standing { namespace, from: Some((stored, same)), fork: true })
            }
            None => Err(fail(RunError::UnknownCheckpoint { thread: ctx.turn.thread.clone(), id: at })),
        }
    }
}

/// The super-step of the outermost graph in which a task runs.
fn outermost_step(ctx: &Ctx) -> u64 {
    ctx.turn.cancel.outermost_step().unwrap_or(ctx.id.step)
}

/// Calls a function of the user; a panic in it is a failure of the task.
pub(super) fn caught<T>(what: &str, call: impl FnOnce() -> Result<T, NodeError>) -> Result<T, NodeError> {
    catch_unwind(AssertUnwindSafe(call)).unwrap_or_else(|panic| {
        let text = format!("{what} of the child graph panicked: {}", panic_text(&*panic));
        Err(NodeError::new(FaultKind::Panicked, text.into()))
    })
}
