//! How a turn ends, as texts that can be compared.

use graph_engine::{FaultKind, Reply, RunError, Status, TaskRef};

use super::model::{Model, Said};
use super::turn::Turn;
use super::{holds, same};
use crate::simulation::plan::NAMES;
use crate::simulation::state::Facts;

/// What the oracle expects of a turn.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Verdict {
    Ended(Status),
    Failed(String),
}

/// Why the prediction stops.
#[derive(Debug)]
pub(super) enum Stop {
    Ended(Verdict),
    /// The turn was dropped here.
    Dropped,
    Broken(String),
}

impl From<String> for Stop {
    fn from(broken: String) -> Self {
        Self::Broken(broken)
    }
}

pub(super) fn failed<T>(text: impl Into<String>) -> Result<T, Stop> {
    Err(Stop::Ended(Verdict::Failed(text.into())))
}

pub(super) fn told(replies: &[Reply]) -> Vec<String> {
    replies.iter().map(|reply| format!("{} {} {}", reply.task, reply.node, reply.value)).collect()
}

pub(super) fn replies(said: &[Said]) -> Vec<String> {
    let name = |node: &Option<usize>| node.map_or(graph_engine::START, |node| NAMES[node]);
    said.iter().map(|(step, rank, node, value)| format!("{step}.{rank} {} {value}", name(node))).collect()
}

/// What an error says, without its prose.
pub(super) fn shape(error: &RunError) -> String {
    let at = |task: &TaskRef| format!("{}@{}", task.node, task.id.rank);
    match error {
        RunError::WriteConflict { step, field, tasks, .. } => {
            format!("conflict {step} {field} {:?}", tasks.iter().map(at).collect::<Vec<_>>())
        }
        RunError::Step { step, failures, .. } => {
            let each = failures.iter().map(|failure| failure_text(&at(&failure.task), failure.attempts, failure.kind));
            format!("failed {step} {:?}", each.collect::<Vec<_>>())
        }
        RunError::Router { step, node, .. } => format!("router {step} {node}"),
        RunError::Merge { step, .. } => format!("merge {step}"),
        RunError::Input { .. } => "input".into(),
        RunError::Entry { .. } => "entry".into(),
        RunError::StepLimit { limit, step, pending, .. } => {
            format!("step limit {limit} at {step} {:?}", pending.iter().map(ToString::to_string).collect::<Vec<_>>())
        }
        RunError::StayLimit { step, node, cluster, limit, .. } => {
            format!("stay limit {limit} at {step} {node} {:?}", cluster.as_ref().map(ToString::to_string))
        }
        RunError::Unfinished { pending, .. } => {
            format!("unfinished {:?}", pending.iter().map(ToString::to_string).collect::<Vec<_>>())
        }
        RunError::Deadline { step, limit, pending, .. } => {
            let pending: Vec<_> = pending.iter().map(ToString::to_string).collect();
            format!("deadline {} at {step} {pending:?}", limit.as_millis())
        }
        RunError::Completed { .. } => "completed".into(),
        RunError::NothingToProceed { .. } => "nothing to proceed".into(),
        RunError::NoStore { .. } => "no store".into(),
        RunError::Store { .. } => "store".into(),
        other => format!("{other:?}"),
    }
}

pub(super) fn failure_text(task: &str, attempts: u32, kind: FaultKind) -> String {
    format!("{task} {attempts} {kind:?}")
}

impl Turn<'_, '_> {
    /// Compares how the turn ended.
    pub(super) fn check_end(&self, verdict: &Verdict) -> Result<(), String> {
        let Some(result) = &self.trace.result else {
            return Err(format!("the turn has no result, expected {verdict:?}"));
        };
        let report = match (verdict, result) {
            (Verdict::Ended(_), Ok(None)) => None,
            (Verdict::Ended(expected), Ok(Some((status, facts, replies, report)))) => {
                same("the status", expected, status)?;
                self.check_state(&self.model, facts)?;
                same("the replies", &self::replies(&self.model.replies), &told(replies))?;
                Some(report)
            }
            (Verdict::Failed(expected), Err((text, error, report))) => {
                let error = error.as_ref().map(|error| shape(error)).unwrap_or_else(|| text.clone());
                same("the error", expected, &error)?;
                report.as_deref()
            }
            (expected, got) => return Err(format!("the end: expected {expected:?}, got {got:?}")),
        };
        let Some(report) = report else { return Ok(()) };
        same("the steps of the report", &self.merged, &report.steps)?;
        same("the tasks of the report", &self.tasks, &report.tasks)?;
        let attempts = self.trace.records.len() as u64;
        same("I6 the attempts of the report", &attempts, &report.attempts)?;
        same("the stays of the report", &self.stays, &report.stays)?;
        let waiting: Vec<(String, Vec<String>)> = report
            .waiting_joins
            .iter()
            .map(|join| (join.to.to_string(), join.missing.iter().map(ToString::to_string).collect()))
            .collect();
        let expected = if self.started { self.model.waiting_joins(self.oracle.graph) } else { Vec::new() };
        same("the joins that wait", &expected, &waiting)?;
        same("the rescued tasks of the report", &self.rescued, &report.rescued)?;
        same("the cached tasks of the report", &self.cached, &report.cached)?;
        // Transient writes of finished tasks are warned of when their step isn't.
        let odd: Vec<_> = report
            .warnings
            .iter()
            .filter(|warning| !warning.contains("transient") && !warning.contains("never stored"))
            .collect();
        holds(odd.is_empty(), || format!("warnings: {odd:?}"))
    }

    fn check_state(&self, model: &Model, facts: &Facts) -> Result<(), String> {
        same("I2 the state at the end", &model.facts, facts)
    }
}
