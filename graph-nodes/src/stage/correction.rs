//! The feedback of a gate that stays.

use std::time::Duration;

use graph_engine::{Ctx, Name, NodeError};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::gate::FeedbackMode;

/// The feedback of a gate that stays, for the agent of its stage. An agent of your own reads it with
/// [`Ctx::feedback`].
///
/// ```
/// use graph_nodes::gate::FeedbackMode;
/// use graph_nodes::stage::Correction;
///
/// let correction = Correction {
///     stage: "explore".into(),
///     feedback: Some("name the price".into()),
///     mode: FeedbackMode::Reason,
///     attempt: 2,
///     max: 3,
///     is_last: false,
///     fallback: false,
/// };
/// let json = serde_json::to_string(&correction).unwrap();
/// assert_eq!(serde_json::from_str::<Correction>(&json).unwrap(), correction);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Correction {
    /// The stage.
    pub stage: Name,
    /// Why the response was rejected, for the model; none to ask again blindly.
    pub feedback: Option<String>,
    /// What the model is told.
    pub mode: FeedbackMode,
    /// The number of the attempt that begins, from 1.
    pub attempt: u32,
    /// How many there can be.
    pub max: u32,
    /// Whether no further one can follow.
    pub is_last: bool,
    /// Whether the fallback model is to be asked instead of the usual one.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub fallback: bool,
}

/// The feedback of a vertex that asks and judges: it waits when it begins again, so that what the attempt cost is
/// saved before the wait.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Again {
    pub(super) correction: Correction,
    pub(super) wait: Duration,
}

/// What the stays that led to an agent say.
#[derive(Default)]
pub(super) struct Told {
    /// How long to wait before the call.
    pub(super) wait: Duration,
    /// From the gate of this stage; the last one counts.
    pub(super) correction: Option<Correction>,
    /// From other nodes of the cluster, in task order, as text.
    pub(super) notes: Vec<String>,
}

impl Told {
    pub(super) fn of(ctx: &Ctx, stage: &Name) -> Result<Self, NodeError> {
        let mut told = Self::default();
        for feedback in ctx.feedbacks::<Value>() {
            let mut feedback = feedback?;
            if let Ok(again) = Again::deserialize(&feedback) {
                if again.correction.stage == *stage {
                    told.wait = again.wait;
                }
                feedback = serde_json::to_value(again.correction).map_err(NodeError::fatal)?;
            }
            match Correction::deserialize(&feedback) {
                Ok(correction) if correction.stage == *stage => told.correction = Some(correction),
                Ok(_) => {}
                Err(_) => told.notes.push(text_of(&feedback)),
            }
        }
        Ok(told)
    }
}

/// A string as it is, everything else as compact JSON.
pub(super) fn text_of(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
