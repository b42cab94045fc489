//! What a subscriber of `tracing` sees: one event an attempt, one a round.

use std::fmt::Debug;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use graph_nodes::gate::Gated;
use graph_nodes::model::{ScriptedModel, Turn};
use graph_nodes::stage::GatedNode;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

use crate::support::{agent, ask, attempts, gate, only_good, runner, seat};

#[derive(Clone, Default)]
struct Seen(Arc<Mutex<Vec<String>>>);

struct Line(String);

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        match field.name() {
            "message" => self.0.insert_str(0, &format!("{value:?}")),
            name => self.0.push_str(&format!(" {name}={value:?}")),
        }
    }
}

impl Subscriber for Seen {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target() == "graph_nodes"
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut line = Line(String::new());
        event.record(&mut line);
        self.0.lock().unwrap().push(line.0);
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

fn turns() -> [Turn; 2] {
    [Turn::text("secret words").with_delay(Duration::from_millis(30)), Turn::text("good").without_usage()]
}

fn expected(stage: &str) -> [String; 3] {
    [
        format!(
            "gate.attempt gate.stage=\"{stage}\" gate.attempt=1 gate.outcome=\"rejected\" gate.codes=\"not_good\" \
             gate.latency_ms=30 gen_ai.request.model=\"scripted\" gen_ai.usage.input_tokens=100 \
             gen_ai.usage.output_tokens=10"
        ),
        format!(
            "gate.attempt gate.stage=\"{stage}\" gate.attempt=2 gate.outcome=\"accepted\" gate.codes=\"\" \
             gate.latency_ms=0 gen_ai.request.model=\"scripted\""
        ),
        format!(
            "gate.round gate.stage=\"{stage}\" gate.end=\"accepted\" gate.attempts=2 gate.codes=\"\" \
             gate.tokens.accepted=0 gate.tokens.rejected=110 gate.tokens.judge=0 gate.elapsed_ms=530 \
             gen_ai.request.model=\"scripted\""
        ),
    ]
}

#[tokio::test(start_paused = true)]
async fn the_plain_function_tells_each_attempt_and_the_round() {
    let seen = Seen::default();
    let _guard = tracing::subscriber::set_default(seen.clone());
    let gated = Gated::new(ScriptedModel::new(turns()), attempts(3), only_good::<()>()).with_name("offer");
    gated.run(ask(), &(), ()).await.unwrap();
    assert_eq!(*seen.0.lock().unwrap(), expected("offer"));
}

#[tokio::test(start_paused = true)]
async fn a_stage_tells_the_same_in_both_forms() {
    let seen = Seen::default();
    let _guard = tracing::subscriber::set_default(seen.clone());
    let model = ScriptedModel::new(turns());
    let node = GatedNode::new(agent(&model), gate(attempts(3), only_good()));
    runner(node).thread("t").run(seat().user("hi")).await.unwrap();
    assert_eq!(std::mem::take(&mut *seen.0.lock().unwrap()), expected("explore"));

    let model = ScriptedModel::new(turns());
    let graph = graph_engine::Graph::<crate::support::Trip>::builder("trip")
        .cluster("explore", "agent", |stage| {
            stage.node("agent", agent(&model)).node("gate", gate(attempts(3), only_good())).edge("agent", "gate")
        })
        .edge(graph_engine::START, "agent")
        .compile()
        .unwrap();
    graph.runner().thread("t").run(seat().user("hi")).await.unwrap();
    assert_eq!(std::mem::take(&mut *seen.0.lock().unwrap()), expected("explore"));
}

#[tokio::test(start_paused = true)]
async fn a_round_that_fails_is_told_too_and_no_text_of_anybody() {
    let seen = Seen::default();
    let _guard = tracing::subscriber::set_default(seen.clone());
    let gated = Gated::new(ScriptedModel::new(turns()), attempts(1), only_good::<()>());
    gated.run(ask(), &(), ()).await.unwrap_err();
    let lines = seen.0.lock().unwrap().clone();
    assert!(
        lines[1].starts_with("gate.round gate.stage=\"gated\" gate.end=\"exhausted\" gate.attempts=1"),
        "{}",
        lines[1]
    );
    assert!(!lines.concat().contains("secret") && !lines.concat().contains("say `good`"));
}
