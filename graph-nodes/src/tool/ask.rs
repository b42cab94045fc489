//! How a handler asks a person, and keeps what must not be done twice.

use std::future::Future;
use std::time::Duration;

use graph_engine::{Ctx, NodeError};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::ToolError;

/// A question of a handler before it is asked. Made by [`Call::ask`](super::Call::ask) and
/// [`GroupCalls::ask`](super::GroupCalls::ask).
///
/// ```
/// use std::time::Duration;
///
/// use graph_engine::State;
/// use graph_nodes::tool::{ToolReply, tool};
///
/// #[derive(State, Clone, Default)]
/// struct Trip {
///     city: String,
/// }
///
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// struct NoArgs {}
///
/// let bed = tool::<Trip, NoArgs>("bed", "Chooses a bed.", |_, call| async move {
///     let bed: String = call.ask("Which bed?").expires(Duration::from_secs(3_600), "double").answer()?;
///     Ok(bed.into())
/// });
/// # let _ = bed;
/// ```
#[derive(Debug)]
#[must_use = "a question is asked by `answer`"]
pub struct CallAsk {
    ctx: Ctx,
    question: serde_json::Result<Value>,
    expires: Option<(Duration, serde_json::Result<Value>)>,
}

impl CallAsk {
    pub(super) fn new(ctx: Ctx, question: impl Serialize) -> Self {
        Self { ctx, question: serde_json::to_value(question), expires: None }
    }

    /// Answers the question by a default when nobody has within so long of its first being asked.
    pub fn expires(mut self, within: Duration, default: impl Serialize) -> Self {
        self.expires = Some((within, serde_json::to_value(default)));
        self
    }

    /// Asks, and gives the answer. The first time there is none: the error pauses this call, whatever the handler makes
    /// of it, and the handler runs again from its first line once there is an answer.
    ///
    /// # Errors
    /// The one that pauses. Without a store, or with a question that is no JSON, the task fails.
    pub fn answer<T: DeserializeOwned>(self) -> Result<T, ToolError> {
        let no_json = |error| ToolError::halts(&NodeError::fatal(format!("a question is no JSON: {error}")));
        let mut ask = self.ctx.ask(self.question.map_err(no_json)?);
        if let Some((within, default)) = self.expires {
            ask = ask.expires(within, default.map_err(no_json)?);
        }
        ask.answer().map_err(|error| ToolError::halts(&error))
    }
}

/// Work that is done once: see [`Call::memo`](super::Call::memo).
pub(super) async fn memo<T, E>(
    ctx: &Ctx,
    key: &str,
    work: impl Future<Output = Result<T, E>> + Send,
) -> Result<T, ToolError>
where
    T: Serialize + DeserializeOwned + Send,
    E: Into<ToolError>,
{
    let mut failed = None;
    let work = async {
        work.await.map_err(|error| {
            failed = Some(error.into());
            NodeError::fatal("the work failed")
        })
    };
    let done = ctx.memo(key, work).await;
    match (done, failed) {
        (Ok(done), _) => Ok(done),
        (Err(_), Some(error)) => Err(error),
        (Err(error), None) => Err(ToolError::halts(&error)),
    }
}
