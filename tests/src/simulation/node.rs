//! The node of every simulated graph: it notes what it was given and does what the plan says.

use std::sync::Arc;
use std::time::Duration;

use graph_engine::{
    END, FailedTask, FaultKind, IntoOutcome, Node, NodeError, NodeInfo, NodeKind, Outcome, Payload, TargetSpec, Task,
    async_trait,
};
use tokio::time::sleep;

use super::behave::{Call, End, behave};
use super::plan::{GraphPlan, NAMES};
use super::rng::mix;
use super::route;
use super::state::{Sim, update};
use super::world::{Ending, World};

/// One node of the plan.
#[derive(Clone, Debug)]
pub(super) struct SimNode {
    /// Its place in the plan.
    pub at: usize,
    /// The plan.
    pub plan: Arc<GraphPlan>,
    /// Where it notes what happens.
    pub world: Arc<World>,
}

impl SimNode {
    fn call(&self, task: &Task<Sim>) -> Result<Call, NodeError> {
        let ctx = task.ctx();
        Ok(Call {
            turn: self.world.turn(),
            step: ctx.step(),
            rank: ctx.task().rank,
            attempt: ctx.attempt(),
            node: if **task.node() == *NAMES[self.at] { self.at } else { usize::MAX },
            view: task.state().view(),
            payload: task.payload().map(number).transpose()?,
            feedback: ctx.feedbacks::<u64>().collect::<Result<_, _>>()?,
        })
    }
}

/// What was sent: a number, or a failure as the number that stands for it.
fn number(payload: &Payload) -> Result<u64, NodeError> {
    match payload.get::<u64>() {
        Ok(number) => Ok(*number),
        Err(_) => payload.get::<FailedTask>().map(|failed| rescue_number(&failed)),
    }
}

/// A kind of failure as a number.
pub(super) fn kind_number(kind: FaultKind) -> u64 {
    format!("{kind:?}").bytes().fold(0, |hash, byte| mix(&[hash, byte.into()]))
}

/// The number that stands for a failed task.
pub(super) fn rescue_number(failed: &FailedTask) -> u64 {
    let node = NAMES.iter().position(|name| **name == *failed.node).unwrap_or(usize::MAX);
    let words =
        [node as u64, failed.task.step, failed.task.rank.into(), failed.attempts.into(), kind_number(failed.kind)];
    mix(&words)
}

#[async_trait]
impl Node<Sim> for SimNode {
    async fn run(&self, task: &Task<Sim>) -> Result<Outcome<Sim>, NodeError> {
        let (ctx, call) = (task.ctx(), self.call(task)?);
        let mut running = self.world.begin(call.clone(), ctx.remaining_steps(), ctx.idempotency_key());
        let act = behave(&self.plan, self.world.seed, &call);
        for at in 0..act.emits {
            if at == 0 {
                ctx.emit(call.node).await?;
            } else {
                ctx.token(NAMES[call.node]).await;
            }
        }
        let rest = if act.beats { 4 } else { act.delay.max(1) };
        for _ in 0..act.delay / rest {
            sleep(Duration::from_millis(rest)).await;
            ctx.heartbeat();
        }
        running.ends(match act.end {
            End::Done(..) => Ending::Done,
            End::Retryable => Ending::Retryable,
            End::Fatal => Ending::Fatal,
            End::Panic => Ending::Panicked,
        });
        match act.end {
            End::Done(ops, way) => route::command(&way, update(&ops)).into_outcome(),
            End::Retryable => Err(NodeError::retryable("retryable")),
            End::Fatal => Err(NodeError::fatal("fatal")),
            End::Panic => panic!("{}", super::PANIC),
        }
    }

    fn describe(&self) -> NodeInfo {
        let plan = &self.plan.nodes[self.at];
        let mut info = NodeInfo::new(NodeKind::Plain);
        info.targets.extend(plan.commands.iter().map(|to| TargetSpec::new(NAMES[*to])));
        let back = plan.edges.iter().flatten().any(|to| self.plan.nodes[*to].order <= plan.order);
        if back {
            info.targets.push(TargetSpec::new(END));
        }
        (info.stay, info.direct, info.finish) = (plan.can.stay, plan.can.direct, plan.can.finish);
        info
    }
}
