//! Which calls a group handler gets, and what its reply does.

use graph_nodes::message::ToolCall;
use graph_nodes::model::Turn;
use graph_nodes::stage::{StageError, ToolsNode};
use graph_nodes::tool::{GroupKey, GroupReply, ToolBox, group};

use crate::office::{Log, noted, office, simple, three};
use crate::support::{Ran, Stage, Trip, call, calls, transcript};

async fn called<const N: usize>(stage: Stage, these: [(&str, &str); N]) -> Ran {
    stage.turn([calls(these), Turn::text("done")]).await
}

#[tokio::test(start_paused = true)]
async fn t1_the_exact_set_goes_to_the_group_with_the_calls_in_order() {
    let log = Log::default();
    let ran = called(simple(&log), [("1", "weather"), ("2", "forecast")]).await;
    assert_eq!(log.lines(), ["group 1 2"]);
    assert_eq!(transcript(ran.state())[2..4], ["tool 1: all 2", "tool 2: all 2"]);
}

#[tokio::test(start_paused = true)]
async fn t2_the_order_of_the_calls_makes_no_difference() {
    let log = Log::default();
    called(simple(&log), [("1", "forecast"), ("2", "weather")]).await;
    assert_eq!(log.lines(), ["group 1 2"]);
}

#[tokio::test(start_paused = true)]
async fn t3_a_tool_that_is_called_twice_is_in_the_set_once() {
    let log = Log::default();
    let ran = called(simple(&log), [("1", "weather"), ("2", "forecast"), ("3", "weather")]).await;
    assert_eq!(log.lines(), ["group 1 2 3"]);
    assert_eq!(transcript(ran.state())[2..5], ["tool 1: all 3", "tool 2: all 3", "tool 3: all 3"]);
}

#[tokio::test(start_paused = true)]
async fn t4_a_part_of_the_set_goes_to_the_single_tool() {
    let log = Log::default();
    called(simple(&log), [("1", "weather")]).await;
    assert_eq!(log.lines(), ["weather 1"]);
}

#[tokio::test(start_paused = true)]
async fn t5_one_tool_more_and_each_call_goes_to_its_own() {
    let log = Log::default();
    called(simple(&log), [("1", "weather"), ("2", "forecast"), ("3", "traffic")]).await;
    assert_eq!(log.lines(), ["weather 1", "forecast 2", "traffic 3"]);
}

#[tokio::test(start_paused = true)]
async fn t6_a_group_of_one_tool_gets_any_number_of_its_calls() {
    for n in [1, 2, 10] {
        let log = Log::default();
        let noting = log.clone();
        let all = group(move |calls| {
            noting.note(format!("group of {}", calls.len()));
            async { Ok(GroupReply::text("ok")) }
        });
        let tools = ToolBox::builder().tool(noted("get_weather", &log)).group(["get_weather"], all).build().unwrap();
        let these = (0..n).map(|id| call(&id.to_string(), "get_weather"));
        Stage { tools, ..Stage::default() }.turn([Turn::calls(these), Turn::text("done")]).await;
        assert_eq!(log.lines(), [format!("group of {n}")]);
    }
}

#[tokio::test(start_paused = true)]
async fn t13_a_group_that_goes_to_an_undeclared_node_applies_nothing() {
    let log = Log::default();
    let stage = office(&log, |_| Ok(GroupReply::text("x").update(Trip::update().city("Oslo")).go("nowhere")));
    let ran = called(stage, [("1", "weather"), ("2", "forecast")]).await;
    let StageError::UnknownTarget { tool, target, .. } = ran.stage_error() else { panic!("{}", ran.error()) };
    assert_eq!((tool.as_str(), target.as_str(), log.lines().len()), ("forecast,weather", "nowhere", 1));
}

#[tokio::test(start_paused = true)]
async fn t14_a_stay_of_a_group_of_three_answers_each_with_the_feedback() {
    let log = Log::default();
    let stage = office(&log, |_| Ok(GroupReply::text("ignored").stay("x")));
    let ran = called(stage, [("1", "weather"), ("2", "forecast"), ("3", "weather")]).await;
    assert_eq!(transcript(ran.state())[2..], ["tool 1: x", "tool 2: x", "tool 3: x", "assistant: done"]);
    assert_eq!(ran.asked(), 2);
}

#[tokio::test(start_paused = true)]
async fn t15_update_and_route_of_a_group_take_effect_once() {
    let log = Log::default();
    let stage = office(&log, |_| Ok(GroupReply::text("ok").update(Trip::update().notes(["once"])).go("present")));
    let ran = called(stage, [("1", "weather"), ("2", "forecast"), ("3", "forecast")]).await;
    assert_eq!((ran.state().notes.join(",").as_str(), ran.state().book.conflicts.len()), ("once,present", 0));
}

#[test]
fn t16_the_key_of_a_group_is_sorted_and_without_repetition() {
    assert_eq!(GroupKey::of(["b", "a", "b"]).to_string(), "a,b");
}

#[tokio::test(start_paused = true)]
async fn t17_a_group_that_fails_or_panics_answers_every_call_and_no_single_tool_runs() {
    let these = [("1", "weather"), ("2", "forecast"), ("3", "weather")];
    let log = Log::default();
    let ran = called(office(&log, |_| Err("the office is closed".into())), these).await;
    assert_eq!(transcript(ran.state())[2..5], [1, 2, 3].map(|id| format!("tool {id} failed: the office is closed")));
    assert_eq!(log.lines(), ["group 1 2 3"]);

    let log = Log::default();
    let ran = called(office(&log, |_| panic!("secret detail")), these).await;
    let text = "the handler of `forecast,weather` failed because of a defect; don't call it again in the same way";
    assert_eq!(transcript(ran.state())[2..5], [1, 2, 3].map(|id| format!("tool {id} failed: {text}")));
    assert_eq!((log.lines(), ran.reply()), (vec!["group 1 2 3".to_owned()], Some("done")));
}

#[tokio::test(start_paused = true)]
async fn t18_a_tool_that_there_is_not_breaks_the_set() {
    let log = Log::default();
    let ran = called(simple(&log), [("1", "weather"), ("2", "forecast"), ("3", "zzz")]).await;
    assert_eq!(log.lines(), ["weather 1", "forecast 2"]);
    let text = "there is no tool `zzz`; the tools are `weather`, `forecast`, `traffic`";
    assert_eq!(transcript(ran.state())[4], format!("tool 3 failed: {text}"));
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_is_not_offered_breaks_the_set_too() {
    let log = Log::default();
    let stage = Stage { offered: vec!["weather", "traffic"], ..simple(&log) };
    let ran = called(stage, [("1", "weather"), ("2", "forecast")]).await;
    assert_eq!(log.lines(), ["weather 1"]);
    let text = "the tool `forecast` is not offered here; the tools are `weather`, `traffic`";
    assert_eq!(transcript(ran.state())[3], format!("tool 2 failed: {text}"));
}

#[tokio::test(start_paused = true)]
async fn calls_with_a_text_of_their_own_get_it_and_the_others_the_shared_one() {
    let log = Log::default();
    let stage = office(&log, |calls| {
        let last = calls.iter().last().unwrap().id().to_owned();
        Ok(GroupReply::text("shared").answer_json(last, [1, 2]))
    });
    let ran = called(stage, [("1", "weather"), ("2", "forecast")]).await;
    assert_eq!(transcript(ran.state())[2..4], ["tool 1: shared", "tool 2: [1,2]"]);
}

#[tokio::test(start_paused = true)]
async fn a_text_for_a_call_that_is_not_there_fails_the_group() {
    let log = Log::default();
    let stage = office(&log, |_| Ok(GroupReply::text("x").answer("9", "y").update(Trip::update().city("Oslo"))));
    let ran = called(stage, [("1", "weather"), ("2", "forecast")]).await;
    let text = "the group answered the call `9`, which it was not given; its calls are `1`, `2`";
    assert_eq!(transcript(ran.state())[2..4], [1, 2].map(|id| format!("tool {id} failed: {text}")));
    assert_eq!((ran.state().city.as_str(), log.lines().len()), ("", 1));
}

#[tokio::test(start_paused = true)]
async fn one_faulty_call_and_nothing_of_the_group_runs() {
    let log = Log::default();
    let these = [call("1", "weather"), ToolCall::from_text("2", "forecast", "[]")];
    let ran = simple(&log).turn([Turn::calls(these), Turn::text("done")]).await;
    assert_eq!(
        transcript(ran.state())[2..4],
        [
            "tool 1 failed: not executed: it is handled together with another call, whose arguments are wrong; \
             call all of them again",
            "tool 2 failed: the arguments are an array; send one JSON object",
        ],
    );
    assert_eq!(log.lines(), [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn a_group_over_a_limit_does_not_run_at_all() {
    let log = Log::default();
    let stage = Stage { run: |run| run.max_calls(1), ..simple(&log) };
    let ran = called(stage, [("1", "weather"), ("2", "forecast")]).await;
    let text = "not executed: the limit is 1 call in one response; these calls are handled together, so call fewer";
    assert_eq!(transcript(ran.state())[2..4], [1, 2].map(|id| format!("tool {id} failed: {text}")));
    assert_eq!(log.lines(), [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn a_group_that_takes_too_long_is_answered_and_not_tried_one_by_one() {
    let log = Log::default();
    let slow = group(|_| async {
        tokio::time::sleep(std::time::Duration::from_secs(60)).await;
        Ok(GroupReply::text("late"))
    });
    let tools = three(&log).group(["weather", "forecast"], slow).build().unwrap();
    let run = |run: ToolsNode<Trip>| run.call_timeout(std::time::Duration::from_secs(2));
    let start = tokio::time::Instant::now();
    let ran = called(Stage { tools, run, ..Stage::default() }, [("1", "weather"), ("2", "forecast")]).await;
    let text = "the handler of `forecast,weather` gave no result within 2s and was stopped; \
                the same call may work later";
    assert_eq!(transcript(ran.state())[2..4], [1, 2].map(|id| format!("tool {id} failed: {text}")));
    assert_eq!((start.elapsed().as_secs(), log.lines()), (2, Vec::new()));
}
