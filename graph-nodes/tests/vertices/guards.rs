//! What keeps a model from calling in vain.

use std::num::NonZeroU32;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use graph_engine::MemoryStore;
use graph_nodes::message::ToolCall;
use graph_nodes::model::{ScriptedModel, Turn};
use graph_nodes::stage::{Guards, StageError, ToolLedger, ToolsNode};
use graph_nodes::tool::{FnTool, GroupReply, ToolBox, ToolReply, group, tool};

use crate::office::{Log, noted, three};
use crate::support::{NoArgs, Ran, Stage, Trip, call, calls, counted, fixed, say, transcript};

fn guarded(tools: impl IntoIterator<Item = FnTool<Trip>>) -> Stage {
    Stage { run: |run| run.guards(Guards::all()), ..Stage::tools(tools) }
}

fn any(name: &'static str, log: &Log) -> FnTool<Trip> {
    let log = log.clone();
    tool::<Trip, std::collections::BTreeMap<String, u32>>(name, "Notes its calls.", move |_, call| {
        log.note(format!("{name} {}", call.id()));
        async move { Ok(ToolReply::text(format!("result of {}", call.id()))) }
    })
}

fn with(id: &str, name: &str, arguments: &str) -> Turn {
    Turn::calls([ToolCall::from_text(id, name, arguments)])
}

fn answers(ran: &Ran) -> Vec<String> {
    transcript(ran.state()).into_iter().filter(|line| line.starts_with("tool")).collect()
}

#[tokio::test(start_paused = true)]
async fn x6_the_same_arguments_in_another_order_are_the_same_call() {
    let log = Log::default();
    let turns = [with("1", "f", r#"{"b": 1, "a": 2}"#), with("2", "f", r#"{"a": 2, "b": 1}"#), Turn::text("done")];
    let ran = guarded([any("f", &log)]).turn(turns).await;
    assert_eq!(log.lines(), ["f 1"]);
    assert_eq!(
        answers(&ran),
        [
            "tool 1: result of 1",
            "tool 2: not executed again: the same call succeeded in this turn and answered: result of 1"
        ],
    );
}

#[tokio::test(start_paused = true)]
async fn other_arguments_are_another_call_and_without_the_guard_every_call_runs() {
    let log = Log::default();
    let turns = || {
        [
            with("1", "f", r#"{"a": 1}"#),
            with("2", "f", r#"{"a": 2}"#),
            with("3", "f", r#"{"a": 1}"#),
            Turn::text("done"),
        ]
    };
    guarded([any("f", &log).read_only()]).turn(turns()).await;
    assert_eq!(log.lines(), ["f 1", "f 2"]);
    let log = Log::default();
    Stage::tools([any("f", &log)]).turn(turns()).await;
    assert_eq!(log.lines(), ["f 1", "f 2", "f 3"]);
}

#[tokio::test(start_paused = true)]
async fn an_intercepted_call_quotes_the_first_200_characters() {
    let long = fixed("f", || Ok("é".repeat(300).into()));
    let ran = guarded([long]).turn([calls([("1", "f")]), calls([("2", "f")]), Turn::text("done")]).await;
    let quoted = answers(&ran)[1].rsplit(": ").next().unwrap().to_owned();
    assert_eq!(quoted, "é".repeat(200));
}

#[tokio::test(start_paused = true)]
async fn a_success_of_a_tool_that_writes_makes_earlier_results_old() {
    let log = Log::default();
    let tools = [any("read", &log).read_only(), any("peek", &log).read_only(), any("write", &log)];
    let turns = [
        calls([("1", "read"), ("2", "peek")]),
        calls([("3", "read")]),
        calls([("4", "write")]),
        calls([("5", "read"), ("6", "write")]),
        calls([("7", "read")]),
        Turn::text("done"),
    ];
    guarded(tools).turn(turns).await;
    // 3 is a repeat of 1; 4 makes it old, so 5 runs; 6 is a repeat of 4 and 7 of 5.
    assert_eq!(log.lines(), ["read 1", "peek 2", "write 4", "read 5"]);
}

#[tokio::test(start_paused = true)]
async fn x7_two_equal_neighbours_are_executed_once_and_answered_twice() {
    let log = Log::default();
    let turn = calls([("1", "f"), ("2", "f"), ("3", "f")]);
    let ran = guarded([any("f", &log).concurrent()]).turn([turn, Turn::text("done")]).await;
    assert_eq!(log.lines(), ["f 1"]);
    let beside = "not executed again: the call `1` beside it is the same and answered: result of 1";
    assert_eq!(
        answers(&ran),
        ["tool 1: result of 1".to_owned(), format!("tool 2: {beside}"), format!("tool 3: {beside}")]
    );
    let tally = ran.state().book.tools["explore"].tally("f");
    assert_eq!((tally.succeeded, tally.repeated, tally.failed), (1, 2, 0));
}

/// Answers by a script of successes, and counts its runs.
fn flaky(script: &'static [bool]) -> (FnTool<Trip>, Arc<AtomicUsize>) {
    let count = Arc::new(AtomicUsize::new(0));
    let counter = count.clone();
    let tool = tool::<Trip, std::collections::BTreeMap<String, u32>>("t", "Fails at times.", move |_, _| {
        let run = counter.fetch_add(1, Ordering::Relaxed);
        async move { if script[run] { Ok("fine".into()) } else { Err("down".into()) } }
    });
    (tool, count)
}

fn each(n: usize) -> impl Iterator<Item = Turn> {
    (0..n).map(|n| with(&n.to_string(), "t", &format!("{{\"n\": {n}}}")))
}

#[tokio::test(start_paused = true)]
async fn x8_three_failures_in_a_row_open_the_breaker_and_a_success_sets_it_back() {
    let (tool, count) = flaky(&[false, false, false]);
    let other = fixed("other", || Ok("fine".into()));
    let turns = each(5).chain([calls([("o", "other")]), Turn::text("done")]);
    let ran = guarded([tool, other]).turn(turns).await;
    let open =
        "failed: not executed: `t` failed 3 times in a row, so it is not called again in this turn; go on without it";
    assert_eq!(
        answers(&ran)[2..5],
        ["tool 2 failed: down".to_owned(), format!("tool 3 {open}"), format!("tool 4 {open}")]
    );
    assert_eq!((answers(&ran)[5].as_str(), count.load(Ordering::Relaxed)), ("tool o: fine", 3));

    let (tool, count) = flaky(&[false, false, true, false, true]);
    let ran = guarded([tool]).turn(each(5).chain([Turn::text("done")])).await;
    assert_eq!((count.load(Ordering::Relaxed), ran.reply()), (5, Some("done")));
}

#[tokio::test(start_paused = true)]
async fn arguments_that_do_not_fit_count_as_failures_and_limits_do_not() {
    let log = Log::default();
    let bad = || Turn::calls([ToolCall::from_text("1", "t", "[]")]);
    let stage = guarded([any("t", &log), any("other", &log)]);
    let ran = stage.turn([bad(), bad(), bad(), calls([("4", "t")]), Turn::text("done")]).await;
    assert!(answers(&ran)[3].contains("`t` failed 3 times in a row"), "{:?}", answers(&ran));
    assert_eq!(log.lines(), [""; 0]);

    let stage = Stage { run: |run| run.guards(Guards::all()).max_calls(0), ..Stage::tools([any("t", &log)]) };
    let ran = stage.turn(each(4).chain([Turn::text("done")])).await;
    assert_eq!((ran.reply(), ran.state().book.tools["explore"].tally("t").failed), (Some("done"), 0));
}

#[tokio::test(start_paused = true)]
async fn when_every_tool_is_broken_the_turn_fails_or_takes_the_way_out() {
    let down = || fixed("t", || Err("down".into()));
    let thrice = || (0..3).map(|n| calls([(["a", "b", "c"][n], "t")]));
    let ran = guarded([down()]).turn(thrice()).await;
    assert!(matches!(ran.stage_error(), StageError::AllToolsBroken { tools, .. } if tools == &["t"]));

    let run = |run: ToolsNode<Trip>| run.guards(Guards::all()).all_broken("handoff");
    let ran = Stage { run, ..Stage::tools([down()]) }.turn(thrice()).await;
    assert_eq!((ran.state().notes.join(",").as_str(), ran.asked()), ("handoff", 3));
    assert_eq!(answers(&ran), ["tool a failed: down", "tool b failed: down", "tool c failed: down"]);
}

#[tokio::test(start_paused = true)]
async fn a_route_of_a_tool_is_followed_even_if_every_tool_is_broken() {
    let (tool, _) = counted("x");
    let run = |run: ToolsNode<Trip>| run.guards(Guards::new().with_breaker(NonZeroU32::MIN));
    let out = fixed("out", || Ok(ToolReply::text("x").go("present")));
    let stage = Stage { run, ..Stage::tools([out, tool]) };
    let turns = [Turn::calls([ToolCall::from_text("1", "x", "[]"), call("2", "out")])];
    assert_eq!(stage.turn(turns).await.state().notes, ["present"]);
}

#[tokio::test(start_paused = true)]
async fn x9_a_repeat_is_not_a_failure() {
    let log = Log::default();
    let same = || with("1", "t", "{}");
    let ran = guarded([any("t", &log)]).turn([same(), same(), same(), same(), same(), Turn::text("done")]).await;
    let tally = ran.state().book.tools["explore"].tally("t");
    assert_eq!((tally.succeeded, tally.repeated, tally.failed, tally.failures_in_a_row), (1, 4, 0, 0));
    assert_eq!((log.lines().len(), ran.reply()), (1, Some("done")));
}

#[tokio::test(start_paused = true)]
async fn guards_count_within_one_turn_and_the_ledger_is_stored() {
    let log = Log::default();
    let model = ScriptedModel::new([
        with("1", "t", "{}"),
        with("2", "t", "{}"),
        Turn::text("one"),
        with("3", "t", "{}"),
        Turn::text("two"),
    ]);
    let store = Arc::new(MemoryStore::new());
    for expected in [vec!["t 1"], vec!["t 1", "t 3"]] {
        let thread = guarded([any("t", &log)]).runner(&model).store_arc(store.clone()).thread("t");
        let end = say(&thread).await.unwrap();
        assert_eq!(log.lines(), expected);
        let ledger = &end.state.book.tools["explore"];
        assert_eq!((ledger.calls, ledger.results.len()), (1, 1));
        let json = serde_json::to_string(ledger).unwrap();
        assert_eq!(serde_json::from_str::<ToolLedger>(&json).unwrap(), *ledger);
    }
}

#[tokio::test(start_paused = true)]
async fn the_ledger_is_bounded() {
    let log = Log::default();
    let turns = (0..40).map(|n| with(&n.to_string(), "t", &format!("{{\"n\": {n}}}"))).chain([Turn::text("done")]);
    let model = ScriptedModel::new(turns);
    let runner = guarded([any("t", &log).read_only()]).runner(&model).step_limit(200);
    let end = say(&runner.thread("t")).await.unwrap();
    let ledger = &end.state.book.tools["explore"];
    assert_eq!((ledger.calls, ledger.results.len(), ledger.tools.len()), (40, ToolLedger::KEPT, 1));
}

#[tokio::test(start_paused = true)]
async fn a_limit_of_calls_in_one_turn_counts_what_was_executed() {
    let log = Log::default();
    let run = |run: ToolsNode<Trip>| run.max_calls_per_turn(NonZeroU32::new(3).unwrap());
    let stage = Stage { run, ..Stage::tools([noted("a", &log).concurrent()]) };
    let turns = [calls([("1", "a"), ("2", "zzz")]), calls([("3", "a"), ("4", "a"), ("5", "a")]), Turn::text("done")];
    let ran = stage.turn(turns).await;
    assert_eq!(log.lines(), ["a 1", "a 3", "a 4"]);
    let text = "tool 5 failed: not executed: the limit is 3 calls in one turn; go on with what you have";
    assert_eq!(answers(&ran)[4], text);
}

#[tokio::test(start_paused = true)]
async fn a_group_counts_for_each_of_its_tools_and_is_held_back_whole() {
    let log = Log::default();
    let closed = group(|_| async { Err::<GroupReply<Trip>, _>("closed".into()) });
    let tools = three(&log).group(["weather", "forecast"], closed).build().unwrap();
    let stage = Stage { tools, run: |run| run.guards(Guards::all()), ..Stage::default() };
    let both = |n: usize| {
        let ids = [format!("w{n}"), format!("f{n}")];
        Turn::calls([call(&ids[0], "weather"), call(&ids[1], "forecast")])
    };
    let ran = stage.turn([both(1), both(2), both(3), both(4), Turn::text("done")]).await;
    let open = |tool| {
        format!(
            "not executed: `{tool}` failed 3 times in a row, so it is not called again in this turn; go on without it"
        )
    };
    assert_eq!(
        answers(&ran)[6..],
        [format!("tool w4 failed: {}", open("weather")), format!("tool f4 failed: {}", open("forecast"))]
    );
    assert_eq!((log.lines(), ran.state().book.tools["explore"].calls), (Vec::new(), 6));
}

#[tokio::test(start_paused = true)]
async fn a_group_whose_calls_all_succeeded_already_is_not_run_again() {
    let log = Log::default();
    let noting = log.clone();
    let all = group(move |calls| {
        noting.note(format!("group of {}", calls.len()));
        async { Ok(GroupReply::text("sunny")) }
    });
    let tools =
        ToolBox::builder().tool(tool::<Trip, NoArgs>("w", "W.", |_, _| async { Ok("x".into()) })).group(["w"], all);
    let stage = Stage { tools: tools.build().unwrap(), run: |run| run.guards(Guards::all()), ..Stage::default() };
    let ran = stage.turn([calls([("1", "w"), ("2", "w")]), calls([("3", "w")]), Turn::text("done")]).await;
    assert_eq!(log.lines(), ["group of 2"]);
    assert_eq!(
        answers(&ran)[2],
        "tool 3: not executed again: the same call succeeded in this turn and answered: sunny"
    );
}
