//! One `tracing` span a turn, super-step and attempt of a task. Field names follow OpenTelemetry's conventions for
//! generative AI (status "development" in 2026) where they have a word for it; the others begin with `graph.`.
//!
//! Nothing that a person or a model said is in a field unless it is asked for.

use tracing::Span;
use tracing::field::Empty;

use crate::graph::Graph;
use crate::machine::TaskOutcome;
use crate::name::Name;
use crate::run_error::TurnError;
use crate::state::State;
use crate::task::{NodeKind, Task, TurnContext};

/// Which spans a turn makes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spans {
    /// Whether somebody listens.
    pub(crate) on: bool,
    /// Whether texts of errors go into fields.
    pub(crate) content: bool,
}

impl Spans {
    /// Nobody listens.
    pub(crate) fn off() -> Self {
        Self { on: false, content: false }
    }

    /// Asks once a turn, so that a turn that nobody watches pays nothing for its tasks.
    pub(crate) fn new(content: bool) -> Self {
        Self { on: tracing::enabled!(target: "graph_engine", tracing::Level::INFO), content }
    }

    pub(crate) fn turn(self, graph: &Name, turn: &TurnContext) -> Span {
        if !self.on {
            return Span::none();
        }
        tracing::info_span!(
            target: "graph_engine",
            "invoke_workflow",
            otel.name = %format_args!("invoke_workflow {graph}"),
            gen_ai.operation.name = "invoke_workflow",
            gen_ai.workflow.name = graph.as_str(),
            gen_ai.conversation.id = turn.thread.as_str(),
            graph.turn = turn.turn_id().as_str(),
            graph.outcome = Empty,
            "error.type" = Empty,
            error.message = Empty,
        )
    }

    pub(crate) fn end_turn(self, span: &Span, outcome: &'static str, failed: Option<&TurnError>) {
        if !self.on {
            return;
        }
        match failed {
            None => {
                span.record("graph.outcome", outcome);
            }
            Some(failed) => {
                span.record("graph.outcome", "failed");
                span.record("error.type", outcome);
                if self.content {
                    span.record("error.message", failed.to_string());
                }
            }
        }
    }

    /// The span of a super-step, within that of the turn.
    pub(crate) fn step(self, step: u64, tasks: usize) -> Span {
        if !self.on {
            return Span::none();
        }
        tracing::info_span!(target: "graph_engine", "graph.super_step", graph.step = step, graph.tasks = tasks)
    }

    /// The span of an attempt, within that of its super-step.
    pub(crate) fn attempt<S: State>(self, graph: &Graph<S>, parent: &Span, task: &Task<S>) -> Span {
        let vertex = graph.inner().at(task.node);
        let node = graph.inner().name_of(task.node).as_str();
        if vertex.info.kind == NodeKind::Agent {
            return tracing::info_span!(
                target: "graph_engine",
                parent: parent,
                "invoke_agent",
                otel.name = %format_args!("invoke_agent {node}"),
                gen_ai.operation.name = "invoke_agent",
                gen_ai.agent.name = node,
                graph.node = node,
                graph.step = task.id.step,
                graph.rank = task.id.rank,
                graph.attempt = task.attempt,
                graph.route = Empty,
                graph.outcome = Empty,
                "error.type" = Empty,
                error.message = Empty,
            );
        }
        tracing::info_span!(
            target: "graph_engine",
            parent: parent,
            "graph.task",
            otel.name = %format_args!("graph.task {node}"),
            graph.node = node,
            graph.step = task.id.step,
            graph.rank = task.id.rank,
            graph.attempt = task.attempt,
            graph.route = Empty,
            graph.outcome = Empty,
            "error.type" = Empty,
            error.message = Empty,
        )
    }

    pub(crate) fn end_attempt<S: State>(self, span: &Span, outcome: &TaskOutcome<S>) {
        let end = match outcome {
            TaskOutcome::Done(done) => {
                span.record("graph.route", done.goto.word());
                "done"
            }
            TaskOutcome::Cached(done) => {
                span.record("graph.route", done.goto.word());
                "cached"
            }
            TaskOutcome::Failed(failure) => {
                span.record("error.type", failure.kind.as_str());
                if self.content {
                    span.record("error.message", failure.text());
                }
                "failed"
            }
            TaskOutcome::Cancelled { .. } => "cancelled",
            TaskOutcome::Paused => "paused",
        };
        span.record("graph.outcome", end);
    }
}
