//! The response that no tool and no history has seen yet.

use std::time::Duration;

use graph_engine::Name;
use serde::{Deserialize, Serialize};

use crate::gate::ModelOutcome;
use crate::model::Response;

/// The response that no tool and no history has seen yet: what one vertex of a stage hands to the next.
///
/// A draft that a cancelled or failed turn left behind poisons nothing: the agent overwrites it.
///
/// ```
/// use graph_nodes::model::Response;
/// use graph_nodes::stage::{Draft, Held};
///
/// let draft = Draft { stage: "explore".into(), held: Held::Calls(Box::new(Response::from_text("hi"))) };
/// let json = serde_json::to_string(&draft).unwrap();
/// assert_eq!(serde_json::from_str::<Draft>(&json).unwrap(), draft);
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Draft {
    /// The stage that it is of.
    pub stage: Name,
    /// What it holds.
    pub held: Held,
}

/// What a [`Draft`] holds.
///
/// ```
/// use std::time::Duration;
///
/// use graph_nodes::gate::ModelOutcome;
/// use graph_nodes::stage::Held;
///
/// let held = Held::Outcome { outcome: Box::new(ModelOutcome::cancelled("m", Duration::ZERO)), deadline: None, fallback: false };
/// assert!(matches!(held, Held::Outcome { .. }));
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Held {
    /// From the agent to the gate: what the model call gave.
    Outcome {
        /// The response or the error.
        outcome: Box<ModelOutcome>,
        /// The deadline that the agent knows of.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        deadline: Option<Duration>,
        /// Whether the agent has a fallback model.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        fallback: bool,
    },
    /// From the gate to the tools: an accepted response whose calls wait.
    Calls(Box<Response>),
    /// From the gate to the agent, in feedback mode `Transcript`: what was rejected.
    Rejected(Box<Response>),
}

impl Draft {
    pub(super) fn outcome(stage: &Name, outcome: ModelOutcome, deadline: Option<Duration>, fallback: bool) -> Self {
        Self { stage: stage.clone(), held: Held::Outcome { outcome: Box::new(outcome), deadline, fallback } }
    }
}
