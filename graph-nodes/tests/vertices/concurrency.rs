//! When calls run, on the paused clock.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use graph_nodes::message::{CallStatus, ToolCall};
use graph_nodes::model::Turn;
use graph_nodes::stage::{StageEvent, ToolsNode};
use graph_nodes::tool::{FnTool, ToolBox, ToolReply, tool};
use tokio::time::{Instant, sleep};

use crate::office::Log;
use crate::support::{NoArgs, Ran, Stage, Trip, call, calls, fixed, transcript};

/// How many calls run, and how many ran at most.
#[derive(Clone, Default)]
struct Gauge(Arc<(AtomicUsize, AtomicUsize)>);

impl Gauge {
    fn most(&self) -> usize {
        self.0.1.load(Ordering::SeqCst)
    }

    async fn during(&self, time: u64) {
        let now = self.0.0.fetch_add(1, Ordering::SeqCst) + 1;
        self.0.1.fetch_max(now, Ordering::SeqCst);
        sleep(Duration::from_millis(time)).await;
        self.0.0.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Writes down when it begins, and takes so many milliseconds.
fn slow(name: &'static str, time: u64, log: &Log, gauge: &Gauge) -> FnTool<Trip> {
    let (log, gauge, start) = (log.clone(), gauge.clone(), Instant::now());
    tool::<Trip, NoArgs>(name, "Takes its time.", move |_, call| {
        let (log, gauge) = (log.clone(), gauge.clone());
        async move {
            log.note(format!("{} at {}", call.id(), start.elapsed().as_millis()));
            gauge.during(time).await;
            Ok(ToolReply::text(name).update(Trip::update().notes([call.id().to_owned()])))
        }
    })
}

fn stage(tools: impl IntoIterator<Item = FnTool<Trip>>) -> Stage {
    Stage::tools(tools)
}

async fn took(stage: Stage, turns: impl IntoIterator<Item = Turn>) -> (Ran, u128) {
    let start = Instant::now();
    let ran = stage.turn(turns).await;
    (ran, start.elapsed().as_millis())
}

#[tokio::test(start_paused = true)]
async fn x1_safe_neighbours_run_together_and_unsafe_calls_alone() {
    let (log, gauge) = (Log::default(), Gauge::default());
    let tools = [slow("safe", 100, &log, &gauge).concurrent(), slow("alone", 100, &log, &gauge)];
    let turn = calls([("1", "safe"), ("2", "safe"), ("3", "alone"), ("4", "safe")]);
    let (_, time) = took(stage(tools), [turn, Turn::text("done")]).await;
    assert_eq!(log.lines(), ["1 at 0", "2 at 0", "3 at 100", "4 at 200"]);
    assert_eq!((time, gauge.most()), (300, 2));
}

#[tokio::test(start_paused = true)]
async fn x2_answers_and_updates_are_in_request_order_whatever_ends_first() {
    let (log, gauge) = (Log::default(), Gauge::default());
    let tools = [("a", 400), ("b", 100), ("c", 300), ("d", 200)]
        .map(|(name, time)| slow(name, time, &log, &gauge).concurrent());
    let (ran, time) =
        took(stage(tools), [calls([("1", "a"), ("2", "b"), ("3", "c"), ("4", "d")]), Turn::text("done")]).await;
    assert_eq!(transcript(ran.state())[2..6], ["tool 1: a", "tool 2: b", "tool 3: c", "tool 4: d"]);
    assert_eq!((ran.state().notes.join(""), time), ("1234".to_owned(), 400));
    let answered: Vec<_> =
        ran.stage_events().into_iter().filter(|event| matches!(event, StageEvent::ToolAnswered { .. })).collect();
    let expected = [("1", "a"), ("2", "b"), ("3", "c"), ("4", "d")].map(|(id, tool)| StageEvent::ToolAnswered {
        stage: "explore".into(),
        tool: tool.into(),
        call_id: id.into(),
        status: CallStatus::Ok,
    });
    assert_eq!(answered, expected);
}

#[tokio::test(start_paused = true)]
async fn x3_a_panic_in_the_question_whether_it_is_safe_counts_as_no() {
    let (log, gauge) = (Log::default(), Gauge::default());
    let tools =
        [slow("odd", 100, &log, &gauge).concurrent_if(|_| panic!("odd")), slow("safe", 100, &log, &gauge).concurrent()];
    let (ran, time) =
        took(stage(tools), [calls([("1", "odd"), ("2", "odd"), ("3", "safe")]), Turn::text("done")]).await;
    assert_eq!((time, gauge.most(), ran.reply()), (300, 1, Some("done")));
}

#[tokio::test(start_paused = true)]
async fn the_arguments_decide_whether_a_call_is_safe() {
    let (log, gauge) = (Log::default(), Gauge::default());
    let reads = |arguments: &serde_json::Map<String, serde_json::Value>| arguments.is_empty();
    let turn = Turn::calls(
        ["{}", "{}", r#"{"write": true}"#]
            .iter()
            .enumerate()
            .map(|(n, arguments)| ToolCall::from_text(n.to_string(), "file", *arguments)),
    );
    let (_, time) =
        took(stage([slow("file", 100, &log, &gauge).concurrent_if(reads)]), [turn, Turn::text("done")]).await;
    assert_eq!((time, gauge.most()), (200, 2));
}

fn four(log: &Log, gauge: &Gauge) -> (Stage, [Turn; 2]) {
    let turn = calls([("1", "safe"), ("2", "safe"), ("3", "safe"), ("4", "safe")]);
    (stage([slow("safe", 100, log, gauge).concurrent()]), [turn, Turn::text("done")])
}

#[tokio::test(start_paused = true)]
async fn x4_four_calls_of_100_ms_take_100_ms_together_and_400_ms_in_sequence() {
    let (log, gauge) = (Log::default(), Gauge::default());
    let (stage, turns) = four(&log, &gauge);
    let (_, time) = took(stage, turns).await;
    assert_eq!((time, gauge.most()), (100, 4));

    let (log, gauge) = (Log::default(), Gauge::default());
    let (stage, turns) = four(&log, &gauge);
    let (_, time) = took(Stage { run: ToolsNode::sequential, ..stage }, turns).await;
    assert_eq!((time, gauge.most()), (400, 1));
}

#[tokio::test(start_paused = true)]
async fn x5_with_two_at_once_they_take_200_ms() {
    let (log, gauge) = (Log::default(), Gauge::default());
    let (stage, turns) = four(&log, &gauge);
    let two = |run: ToolsNode<Trip>| run.max_concurrency(NonZeroUsize::new(2).unwrap());
    let (_, time) = took(Stage { run: two, ..stage }, turns).await;
    assert_eq!((time, gauge.most()), (200, 2));
    assert_eq!(log.lines(), ["1 at 0", "2 at 0", "3 at 100", "4 at 100"]);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_waits_does_not_keep_a_place_free_from_the_others() {
    let (log, gauge) = (Log::default(), Gauge::default());
    let tools = [slow("long", 300, &log, &gauge).concurrent(), slow("short", 100, &log, &gauge).concurrent()];
    let two = |run: ToolsNode<Trip>| run.max_concurrency(NonZeroUsize::new(2).unwrap());
    let turn = calls([("1", "long"), ("2", "short"), ("3", "short"), ("4", "short")]);
    let (_, time) = took(Stage { run: two, ..stage(tools) }, [turn, Turn::text("done")]).await;
    assert_eq!(log.lines(), ["1 at 0", "2 at 0", "3 at 100", "4 at 200"]);
    assert_eq!(time, 300);
}

#[tokio::test(start_paused = true)]
async fn x10_of_eleven_calls_ten_run_and_one_is_told_the_limit() {
    let (log, gauge) = (Log::default(), Gauge::default());
    let turn = Turn::calls((1..=11).map(|id| call(&id.to_string(), "safe")));
    let run = |run: ToolsNode<Trip>| run.max_calls(10);
    let (ran, time) =
        took(Stage { run, ..stage([slow("safe", 100, &log, &gauge).concurrent()]) }, [turn, Turn::text("done")]).await;
    let lines = transcript(ran.state());
    assert_eq!((log.lines().len(), time, gauge.most()), (10, 100, 10));
    let text = "tool 11 failed: not executed: the limit is 10 calls in one response; call it again in the next one";
    assert_eq!((lines[11].as_str(), lines[12].as_str()), ("tool 10: safe", text));
}

#[tokio::test(start_paused = true)]
async fn x13_a_call_over_its_time_is_a_retryable_error_for_that_id_only() {
    let (log, gauge) = (Log::default(), Gauge::default());
    let tools = [slow("long", 5_000, &log, &gauge).concurrent(), slow("short", 100, &log, &gauge).concurrent()];
    let run = |run: ToolsNode<Trip>| run.call_timeout(Duration::from_secs(2));
    let turn = calls([("1", "short"), ("2", "long"), ("3", "short")]);
    let (ran, time) = took(Stage { run, ..stage(tools) }, [turn, Turn::text("done")]).await;
    assert_eq!(
        transcript(ran.state())[2..5],
        [
            "tool 1: short",
            "tool 2 failed: the tool `long` gave no result within 2s and was stopped; the same call may work later",
            "tool 3: short",
        ],
    );
    // The update of the call that was stopped is not there.
    assert_eq!((time, ran.state().notes.join("")), (2_000, "13".to_owned()));
    let failed =
        StageEvent::ToolFailed { stage: "explore".into(), tool: "long".into(), call_id: "2".into(), retryable: true };
    let told: Vec<_> =
        ran.stage_events().into_iter().filter(|event| matches!(event, StageEvent::ToolFailed { .. })).collect();
    assert_eq!(told, [failed]);
}

#[tokio::test(start_paused = true)]
async fn a_handlers_own_error_says_whether_it_is_retryable() {
    let tools =
        [fixed("a", || Err(graph_nodes::tool::ToolError::from("busy").retryable())), fixed("b", || Err("no".into()))];
    let ran = Stage::tools(tools).turn([calls([("1", "a"), ("2", "b")]), Turn::text("done")]).await;
    let told: Vec<bool> = ran
        .stage_events()
        .into_iter()
        .filter_map(|event| match event {
            StageEvent::ToolFailed { retryable, .. } => Some(retryable),
            _ => None,
        })
        .collect();
    assert_eq!(told, [true, false]);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_finishes_the_thread_lets_its_neighbours_end_and_stops_what_follows() {
    let (log, gauge) = (Log::default(), Gauge::default());
    let end = fixed("end", || Ok(ToolReply::text("ended").finish("Bye."))).concurrent();
    let tools = ToolBox::builder()
        .tool(end)
        .tool(slow("safe", 100, &log, &gauge).concurrent())
        .tool(slow("alone", 100, &log, &gauge));
    let stage = Stage { tools: tools.build().unwrap(), ..Stage::default() };
    let (ran, time) = took(stage, [calls([("1", "end"), ("2", "safe"), ("3", "alone")])]).await;
    assert_eq!(
        transcript(ran.state())[2..],
        [
            "tool 1: ended",
            "tool 2: safe",
            "tool 3 failed: not executed: `end` ended the conversation",
            "assistant: Bye."
        ],
    );
    assert_eq!((time, ran.state().notes.join("")), (100, "2".to_owned()));
}

#[tokio::test(start_paused = true)]
async fn a_panic_beside_others_fails_only_its_own_call() {
    let (log, gauge) = (Log::default(), Gauge::default());
    let broken = tool::<Trip, NoArgs>("broken", "Panics.", |_, _| async {
        sleep(Duration::from_millis(50)).await;
        panic!("later")
    });
    let tools = [broken.concurrent(), slow("safe", 100, &log, &gauge).concurrent()];
    let (ran, time) = took(stage(tools), [calls([("1", "broken"), ("2", "safe")]), Turn::text("done")]).await;
    assert!(transcript(ran.state())[2].starts_with("tool 1 failed: the tool `broken` failed because of a defect"));
    assert_eq!((transcript(ran.state())[3].as_str(), time), ("tool 2: safe", 100));
}
