//! What a subscriber of `tracing` sees of a turn: one span a turn, super-step and attempt, with fixed names and fields.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::future::ready;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use behaviour_tests::{Runs, Trip, TripUpdate, after, note};
use expect_test::expect;
use graph_engine::{Command, Graph, In, NodeError, NodeExt, NodeKind, Parallel, Retry, Route, Runner, START, Seams};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::subscriber::DefaultGuard;
use tracing_subscriber::layer::{Context, Layer, SubscriberExt};
use tracing_subscriber::registry::LookupSpan;

#[derive(Default)]
struct Seen {
    /// By id: the place of the span in `lines`.
    open: BTreeMap<u64, usize>,
    spans: Vec<Line>,
}

struct Line {
    depth: usize,
    name: &'static str,
    fields: BTreeMap<String, String>,
    closed: bool,
}

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.fields.insert(field.name().to_owned(), format!("{value:?}"));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.fields.insert(field.name().to_owned(), value.to_owned());
    }
}

#[derive(Clone, Default)]
struct Recorder(Arc<Mutex<Seen>>);

impl<S: tracing::Subscriber + for<'a> LookupSpan<'a>> Layer<S> for Recorder {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let depth = context.span(id).expect("it exists").scope().count() - 1;
        let mut line = Line { depth, name: attributes.metadata().name(), fields: BTreeMap::new(), closed: false };
        attributes.record(&mut line);
        assert_eq!(attributes.metadata().target(), "graph_engine");
        let mut seen = self.0.lock().unwrap();
        let at = seen.spans.len();
        seen.open.insert(id.into_u64(), at);
        seen.spans.push(line);
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, _: Context<'_, S>) {
        let mut seen = self.0.lock().unwrap();
        let at = seen.open[&id.into_u64()];
        values.record(&mut seen.spans[at]);
    }

    fn on_close(&self, id: Id, _: Context<'_, S>) {
        let mut seen = self.0.lock().unwrap();
        let at = seen.open.remove(&id.into_u64()).expect("an open span");
        seen.spans[at].closed = true;
    }
}

impl Recorder {
    fn listen() -> (Self, DefaultGuard) {
        let recorder = Self::default();
        let subscriber = tracing_subscriber::registry().with(recorder.clone());
        (recorder, tracing::subscriber::set_default(subscriber))
    }

    /// A line a span in the order in which they began, indented by depth.
    fn lines(&self) -> String {
        let seen = self.0.lock().unwrap();
        assert!(seen.spans.iter().all(|span| span.closed), "a span is still open");
        let line = |span: &Line| {
            let fields: Vec<String> = span.fields.iter().map(|(name, value)| format!("{name}={value}")).collect();
            format!("{}{} {}\n", "  ".repeat(span.depth), span.name, fields.join(" "))
        };
        seen.spans.iter().map(line).collect()
    }
}

fn repeatable(graph: Graph<Trip>) -> Runner<Trip> {
    graph.runner().seams(Seams::default().numbered_turns().seed(7))
}

#[tokio::test(start_paused = true)]
async fn a_turn_a_super_step_and_an_attempt_have_a_span_each() {
    let (recorder, _guard) = Recorder::listen();
    let graph = Graph::<Trip>::builder("trip")
        .node("agent", note("agent").kind(NodeKind::Agent))
        .node("tools", Runs::new().failing(1, "tools").retry(Retry::fixed(2, Duration::from_secs(1))))
        .edge(START, "agent")
        .edge("agent", "tools")
        .compile()
        .unwrap();
    repeatable(graph).thread("guest-7").run(Trip::update()).await.unwrap();
    expect![[r#"
        invoke_workflow gen_ai.conversation.id=guest-7 gen_ai.operation.name=invoke_workflow gen_ai.workflow.name=trip graph.outcome=done graph.turn=turn-1 otel.name=invoke_workflow trip
          graph.super_step graph.step=0 graph.tasks=1
            invoke_agent gen_ai.agent.name=agent gen_ai.operation.name=invoke_agent graph.attempt=1 graph.node=agent graph.outcome=done graph.rank=0 graph.route=declared graph.step=0 otel.name=invoke_agent agent
          graph.super_step graph.step=1 graph.tasks=1
            graph.task error.type=retryable graph.attempt=1 graph.node=tools graph.outcome=failed graph.rank=0 graph.step=1 otel.name=graph.task tools
            graph.task graph.attempt=2 graph.node=tools graph.outcome=done graph.rank=0 graph.route=declared graph.step=1 otel.name=graph.task tools
    "#]].assert_eq(&recorder.lines());
}

#[derive(Route)]
enum Quote {
    Quote(u32),
}

#[tokio::test(start_paused = true)]
async fn parallel_tasks_have_their_super_step_as_parent_in_both_modes() {
    let spread = || ready(Command::<Trip, Quote>::fan_out([Quote::Quote(20), Quote::Quote(10)]));
    let quote = |In(millis): In<u32>| async move { after(u64::from(*millis), "quote")().await };
    let lines = async |parallel| {
        let (recorder, _guard) = Recorder::listen();
        let graph = Graph::<Trip>::builder("trip")
            .node("spread", spread)
            .node("quote", quote)
            .edge(START, "spread")
            .compile()
            .unwrap();
        repeatable(graph).parallel(parallel).thread("guest-7").run(Trip::update()).await.unwrap();
        recorder.lines()
    };
    let joined = lines(Parallel::Joined).await;
    expect![[r#"
        invoke_workflow gen_ai.conversation.id=guest-7 gen_ai.operation.name=invoke_workflow gen_ai.workflow.name=trip graph.outcome=done graph.turn=turn-1 otel.name=invoke_workflow trip
          graph.super_step graph.step=0 graph.tasks=1
            graph.task graph.attempt=1 graph.node=spread graph.outcome=done graph.rank=0 graph.route=fan_out graph.step=0 otel.name=graph.task spread
          graph.super_step graph.step=1 graph.tasks=2
            graph.task graph.attempt=1 graph.node=quote graph.outcome=done graph.rank=0 graph.route=declared graph.step=1 otel.name=graph.task quote
            graph.task graph.attempt=1 graph.node=quote graph.outcome=done graph.rank=1 graph.route=declared graph.step=1 otel.name=graph.task quote
    "#]].assert_eq(&joined);
    assert_eq!(lines(Parallel::Spawned).await, joined);
}

#[tokio::test(start_paused = true)]
async fn what_failed_is_named_by_kind_and_its_text_only_on_request() {
    let failing = || {
        let fail = || ready(Err::<TripUpdate, _>(NodeError::fatal("the guest said: my secret is 42")));
        repeatable(Graph::<Trip>::builder("trip").node("explore", fail).edge(START, "explore").compile().unwrap())
    };
    let (recorder, guard) = Recorder::listen();
    failing().thread("guest-7").run(Trip::update()).await.unwrap_err();
    drop(guard);
    assert!(!recorder.lines().contains("secret"));
    expect![[r#"
        invoke_workflow error.type=step gen_ai.conversation.id=guest-7 gen_ai.operation.name=invoke_workflow gen_ai.workflow.name=trip graph.outcome=failed graph.turn=turn-1 otel.name=invoke_workflow trip
          graph.super_step graph.step=0 graph.tasks=1
            graph.task error.type=fatal graph.attempt=1 graph.node=explore graph.outcome=failed graph.rank=0 graph.step=0 otel.name=graph.task explore
    "#]].assert_eq(&recorder.lines());
    let (recorder, _guard) = Recorder::listen();
    failing().trace_content(true).thread("guest-7").run(Trip::update()).await.unwrap_err();
    assert_eq!(recorder.lines().matches("my secret is 42").count(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_turn_closes_its_spans_and_says_so() {
    let (recorder, _guard) = Recorder::listen();
    let graph =
        Graph::<Trip>::builder("trip").node("explore", after(60_000, "explore")).edge(START, "explore").compile();
    let turn = repeatable(graph.unwrap()).thread("guest-7").run(Trip::update());
    turn.cancel_on(tokio::time::sleep(Duration::from_secs(1))).await.unwrap();
    expect![[r#"
        invoke_workflow gen_ai.conversation.id=guest-7 gen_ai.operation.name=invoke_workflow gen_ai.workflow.name=trip graph.outcome=cancelled graph.turn=turn-1 otel.name=invoke_workflow trip
          graph.super_step graph.step=0 graph.tasks=1
            graph.task graph.attempt=1 graph.node=explore graph.outcome=cancelled graph.rank=0 graph.step=0 otel.name=graph.task explore
    "#]].assert_eq(&recorder.lines());
}

#[tokio::test(start_paused = true)]
async fn a_dropped_turn_closes_its_spans() {
    let (recorder, _guard) = Recorder::listen();
    let graph =
        Graph::<Trip>::builder("trip").node("explore", after(60_000, "explore")).edge(START, "explore").compile();
    let turn = repeatable(graph.unwrap()).thread("guest-7").run(Trip::update()).into_future();
    tokio::time::timeout(Duration::from_secs(1), turn).await.unwrap_err();
    assert_eq!(recorder.lines().lines().count(), 3);
}
