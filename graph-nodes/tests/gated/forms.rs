//! The plain function, the one vertex and the two vertices count the same, whatever the model does.

use std::time::Duration;

use graph_engine::{Graph, Runner, START};
use graph_nodes::gate::{
    Backoff, ExhaustedBy, Exhaustion, FeedbackMode, GateLedger, GatePolicy, Gated, Streaming, Validators, Verdict,
};
use graph_nodes::message::FinishReason;
use graph_nodes::model::{ModelError, Request, ScriptedModel, Turn};
use graph_nodes::stage::{GatedNode, StageError};
use proptest::prelude::*;

use crate::support::{Trip, agent, ask, attempts, call, gate, runner, seat};

/// One answer, as data, because a turn can't be copied.
#[derive(Clone, Debug)]
struct Said {
    kind: u8,
    text: u8,
    usage: bool,
    delay: u64,
}

impl Said {
    fn turn(&self) -> Turn {
        let text = ["good", "bad", "worse", "ugly"][usize::from(self.text % 4)];
        let turn = match self.kind % 9 {
            0 => Turn::text(" "),
            1 => Turn::refusal(text),
            2 => Turn::error(ModelError::transport(text)),
            3 => Turn::error(ModelError::rejected(text)),
            4 => Turn::text(text).with_call(call("c1", "f", "{}")).with_finish(FinishReason::Length),
            5 => Turn::text(text).cut_at([1]).broken_after(1, ModelError::transport("reset")),
            _ => Turn::text(text),
        };
        let turn = if self.usage { turn } else { turn.without_usage() };
        turn.with_delay(Duration::from_millis(self.delay))
    }
}

fn said() -> impl Strategy<Value = Said> {
    (any::<u8>(), any::<u8>(), prop::bool::weighted(0.9), 0_u64..400).prop_map(|(kind, text, usage, delay)| Said {
        kind,
        text,
        usage,
        delay,
    })
}

fn policies() -> impl Strategy<Value = GatePolicy> {
    let limits = (1_u32..5, prop::option::of(100_u64..500), prop::option::of(300_u64..3_000), 0_u32..3);
    let rules = (0_u8..3, 0_u8..4, any::<bool>(), any::<bool>());
    (limits, rules).prop_map(|((n, tokens, deadline, cap), (feedback, exhaustion, shadow, stubborn))| {
        let mut policy = attempts(n).with_code_cap("bad", cap).with_backoff(Backoff::Fixed(Duration::from_millis(150)));
        policy.token_budget = tokens;
        policy.deadline = deadline.map(Duration::from_millis);
        policy.feedback = [FeedbackMode::Blind, FeedbackMode::Reason, FeedbackMode::Transcript][usize::from(feedback)];
        policy.exhaustion = match exhaustion {
            0 => Exhaustion::Fail,
            1 => Exhaustion::AcceptBest,
            2 => Exhaustion::FallbackModel,
            _ => Exhaustion::Escalate("person".into()),
        };
        policy.shadow = shadow && n == 1;
        policy.stop_without_progress = !stubborn;
        policy
    })
}

fn checks<S: Sync + 'static>() -> Validators<S> {
    let words = Validators::<S>::new().with_fn("words", |response, _| match response.text.as_str() {
        "bad" => Verdict::retry("bad", "better, please"),
        "worse" => Verdict::fatal("worse", "never again"),
        "ugly" => Verdict::escalate("person", "ugly", "look at it"),
        _ => Verdict::Accept,
    });
    words.with_score(|response, _| response.text.len() as f64)
}

fn models(script: &[Said], fallback: &Said) -> (ScriptedModel, ScriptedModel) {
    let large = ScriptedModel::new([fallback.turn()]).with_name("large");
    (ScriptedModel::new(script.iter().map(Said::turn)), large)
}

/// What a form gave: its text if a response was accepted, its ledger, and what the models were asked.
#[derive(Debug, PartialEq)]
struct Seen {
    text: Option<String>,
    by: Option<ExhaustedBy>,
    ledger: Option<GateLedger>,
    asked: Vec<Request>,
}

fn plain(mut ledger: GateLedger) -> Option<GateLedger> {
    // A round that has ended in a book keeps no candidate.
    ledger.best = None;
    Some(ledger)
}

async fn by_function(policy: &GatePolicy, streaming: Streaming, script: &[Said], fallback: &Said) -> Seen {
    let (small, large) = models(script, fallback);
    let gated = Gated::new(small.clone(), policy.clone(), checks::<()>().with(no_calls())).with_fallback(large.clone());
    let ran = gated.with_streaming(streaming).run(ask(), &(), |_| {}).await;
    let asked = [small.requests(), large.requests()].concat();
    match ran {
        Ok(answer) => Seen { text: Some(answer.response.text), by: None, ledger: plain(answer.ledger), asked },
        Err(failure) => {
            let (by, ledger) = match *failure.error {
                graph_nodes::gate::GatedError::Exhausted(failure) => (Some(failure.by), true),
                // What a gate that can't do its work has counted is not in the state of a stage.
                graph_nodes::gate::GatedError::Gate(_) => (None, false),
                _ => (None, true),
            };
            Seen { text: None, by, ledger: plain(*failure.ledger).filter(|_| ledger), asked }
        }
    }
}

fn no_calls() -> graph_nodes::gate::AllowedTools {
    graph_nodes::gate::AllowedTools::default()
}

async fn by_stage(runner: Runner<Trip>, small: &ScriptedModel, large: &ScriptedModel) -> Seen {
    let ran = runner.thread("t").run(seat().user("hi")).await;
    let asked = [small.requests(), large.requests()].concat();
    match ran {
        Ok(end) => {
            let text = end.reply().and_then(|reply| reply.as_str()).map(str::to_owned);
            let round = end.state.book.last_round("explore").cloned();
            Seen { text, by: None, ledger: round.and_then(|round| plain(round.ledger)), asked }
        }
        Err(error) => match error.failures()[0].source.downcast_ref().expect("a stage error") {
            StageError::Exhausted { failure, ledger, .. } => {
                Seen { text: None, by: Some(failure.by.clone()), ledger: plain(GateLedger::clone(ledger)), asked }
            }
            StageError::Fatal { ledger, .. } => {
                Seen { text: None, by: None, ledger: plain(GateLedger::clone(ledger)), asked }
            }
            _ => Seen { text: None, by: None, ledger: None, asked },
        },
    }
}

async fn by_one_vertex(policy: &GatePolicy, streaming: Streaming, script: &[Said], fallback: &Said) -> Seen {
    let (small, large) = models(script, fallback);
    let gate = gate(policy.clone(), checks()).escalate("person", "handoff").escalate("blocked", "handoff");
    let node = GatedNode::new(agent(&small).fallback_model(large.clone()), gate).streaming(streaming);
    by_stage(runner(node), &small, &large).await
}

async fn by_two_vertices(policy: &GatePolicy, script: &[Said], fallback: &Said) -> Seen {
    let (small, large) = models(script, fallback);
    let agent = agent(&small).fallback_model(large.clone()).policy(policy);
    let gate = gate(policy.clone(), checks()).escalate("person", "handoff").escalate("blocked", "handoff");
    let graph = Graph::<Trip>::builder("trip")
        .cluster("explore", "agent", |stage| stage.node("agent", agent).node("gate", gate).edge("agent", "gate"))
        .node("handoff", || async { Trip::update() })
        .edge(START, "agent")
        .compile()
        .unwrap();
    by_stage(graph.runner(), &small, &large).await
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_form_counts_the_same(
        policy in policies(),
        script in prop::collection::vec(said(), 6),
        fallback in said(),
        mode in 0_usize..4,
    ) {
        let streaming =
            [Streaming::HoldAll, Streaming::every_chars(2), Streaming::every_sentence(), Streaming::PassThrough][mode];
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        runtime.block_on(async {
            let function = by_function(&policy, streaming, &script, &fallback).await;
            let one = by_one_vertex(&policy, streaming, &script, &fallback).await;
            let two = by_two_vertices(&policy, &script, &fallback).await;
            prop_assert_eq!(&function, &one);
            prop_assert_eq!(&one, &two);
            // No call is lost from the ledger.
            if let Some(ledger) = &two.ledger {
                prop_assert_eq!(two.asked.len(), ledger.attempts.len());
                let sum: u64 = ledger.attempts.iter().filter_map(|attempt| attempt.usage).map(|usage| usage.total()).sum();
                prop_assert_eq!(ledger.tokens(), sum);
            }
            Ok(())
        })?;
    }
}
