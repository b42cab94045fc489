//! Answers that are kept while another call of the response waits, so that no handler runs twice.

use graph_engine::{Ctx, Name, NodeError, State};
use serde::{Deserialize, Serialize};

use super::super::RouteOf;
use super::Dispatch;
use super::answered::{Answered, Counts, Standing};
use crate::message::{Message, ToolCall};
use crate::tool::{Extras, ToolRoute};

/// An answer as it is stored.
#[derive(Serialize, Deserialize)]
struct Kept {
    message: Message,
    /// What it writes, as the state encodes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    update: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    route: Option<ToolRoute>,
    extras: Extras,
    counts: Counts,
}

impl<S: State> Dispatch<'_, S> {
    /// The turn in which the calls were made, if they were kept waiting since.
    pub(in crate::stage) async fn since(ctx: &Ctx) -> Result<Option<Name>, NodeError> {
        if !may_be_kept(ctx) {
            return Ok(None);
        }
        recall(&own(ctx), "turn").await
    }

    /// The answer of an earlier run of the vertex.
    pub(super) async fn kept(&self, call: &ToolCall) -> Result<Option<Answered<S>>, NodeError> {
        if self.since.is_none() && !may_be_kept(self.ctx) {
            return Ok(None);
        }
        let Some(kept) = recall::<Kept>(&calls(self.ctx), &call.id).await? else { return Ok(None) };
        let update = kept.update.map(|update| self.task.state().decode_update(update.as_bytes()));
        let route = kept.route;
        let answered = Answered {
            message: kept.message,
            update: update.transpose().map_err(NodeError::fatal)?,
            route: route.map(|route| RouteOf { call_id: call.id.clone(), tool: call.name.clone(), route }),
            extras: kept.extras,
            counts: kept.counts,
            standing: Standing::Kept,
        };
        self.told(answered, call).await.map(Some)
    }

    /// Stores an answer, unless it is stored already.
    pub(super) async fn keep(&self, call: &ToolCall, answered: &mut Answered<S>) -> Result<(), NodeError> {
        if answered.standing != Standing::Fresh {
            return Ok(());
        }
        let encode = |update| {
            let mut bytes = Vec::new();
            self.task.state().encode_update(update, &mut bytes).map_err(NodeError::fatal)?;
            String::from_utf8(bytes).map_err(NodeError::fatal)
        };
        let kept = Kept {
            message: answered.message.clone(),
            update: answered.update.as_ref().map(encode).transpose()?,
            route: answered.route.as_ref().map(|of| of.route.clone()),
            extras: answered.extras.clone(),
            counts: answered.counts,
        };
        calls(self.ctx).memo(&call.id, async { Ok::<_, NodeError>(kept) }).await?;
        answered.standing = Standing::Kept;
        Ok(())
    }

    /// Keeps what is answered and pauses, if a call waits.
    pub(super) async fn pause_if_waiting(&self, calls: &[ToolCall], all: &mut [Answered<S>]) -> Result<(), NodeError> {
        // Whatever was asked and isn't answered pauses the task, so what is answered must be kept.
        if !all.iter().any(Answered::waits) && !(self.ctx.is_durable() && self.ctx.is_waiting()) {
            return Ok(());
        }
        for (call, answered) in calls.iter().zip(all) {
            self.keep(call, answered).await?;
        }
        if self.since.is_none() {
            own(self.ctx).memo("turn", async { Ok::<_, NodeError>(self.ctx.turn().clone()) }).await?;
        }
        // The engine knows of the questions, and pauses whatever is said here.
        Err(NodeError::fatal("a call waits for an answer"))
    }
}

/// Only a task that was begun before has anything.
fn may_be_kept(ctx: &Ctx) -> bool {
    ctx.is_durable() && (ctx.is_first_step() || ctx.attempt() > 1)
}

/// Where the vertex keeps what is its own. No call has a blank id.
fn own(ctx: &Ctx) -> Ctx {
    ctx.scope("")
}

fn calls(ctx: &Ctx) -> Ctx {
    own(ctx).scope("calls")
}

/// What is remembered, without making it.
async fn recall<T: Serialize + for<'de> Deserialize<'de> + Send>(ctx: &Ctx, key: &str) -> Result<Option<T>, NodeError> {
    let mut is_new = false;
    let nothing = async {
        is_new = true;
        Err::<T, _>(NodeError::fatal("nothing is kept"))
    };
    match ctx.memo(key, nothing).await {
        Ok(known) => Ok(Some(known)),
        Err(_) if is_new => Ok(None),
        Err(error) => Err(error),
    }
}
