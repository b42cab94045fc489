//! Faults that were reported of other systems, with inputs of our own.

use std::time::Duration;

use graph_engine::{MemoryStore, Status};
use graph_nodes::message::{Message, ToolCall, check_history};
use graph_nodes::model::{Request, ScriptedModel, Turn};
use graph_nodes::stage::{SeveralCalls, StageError};
use graph_nodes::tool::{ToolReply, tool};
use tokio::time::sleep;

use crate::office::{Log, noted};
use crate::support::{NoArgs, Stage, Trip, call, calls, fixed, say, stage_error, transcript};

fn valid(requests: &[Request]) {
    for request in requests {
        assert_eq!(check_history(&request.messages), Ok(()));
    }
}

#[tokio::test(start_paused = true)]
async fn report_20_one_of_several_parallel_tools_panics_and_the_session_goes_on() {
    let log = Log::default();
    let crash = tool::<Trip, NoArgs>("translate", "Translates.", |_, _| async {
        sleep(Duration::from_millis(5)).await;
        panic!("no such language")
    });
    let model = ScriptedModel::new([
        calls([("x1", "map"), ("x2", "translate"), ("x3", "map")]),
        Turn::text("sorry"),
        calls([("x4", "map")]),
        Turn::text("here"),
    ]);
    let tools = [noted("map", &log).concurrent(), crash.concurrent()];
    let thread = Stage::tools(tools).runner(&model).store(MemoryStore::new()).thread("t");
    say(&thread).await.unwrap();
    let end = say(&thread).await.unwrap();
    assert_eq!(end.reply_as::<String>().unwrap().as_deref(), Some("here"));
    let lines = transcript(&end.state);
    assert_eq!((lines[2].as_str(), lines[4].as_str()), ("tool x1: one map", "tool x3: one map"));
    assert!(lines[3].starts_with("tool x2 failed: "), "{}", lines[3]);
    valid(&model.requests());
}

#[tokio::test(start_paused = true)]
async fn report_22_a_provider_sends_three_calls_though_one_was_asked_for() {
    let log = Log::default();
    let stage = Stage {
        run: |run| run.several(SeveralCalls::First),
        agent: |agent| agent.request(|_, request| request.with_parameter("parallel_tool_calls", false)),
        ..Stage::tools([noted("lamp", &log), noted("door", &log)])
    };
    let ran = stage.turn([calls([("q", "lamp"), ("r", "door"), ("s", "lamp")]), Turn::text("done")]).await;
    assert_eq!(log.lines(), ["lamp q"]);
    let answered: Vec<_> = ran.state().history.iter().filter_map(Message::call_id).collect();
    assert_eq!(answered, ["q", "r", "s"]);
    valid(&ran.model.requests());
}

#[tokio::test(start_paused = true)]
async fn report_23_a_call_of_a_tool_that_was_never_registered_is_told_the_list() {
    let log = Log::default();
    let turns = [calls([("7", "open_pod_bay"), ("8", "lamp")]), calls([("9", "lamp")]), Turn::text("done")];
    let ran = Stage::tools([noted("lamp", &log)]).turn(turns).await;
    assert_eq!(transcript(ran.state())[2], "tool 7 failed: there is no tool `open_pod_bay`; the tools are `lamp`");
    assert_eq!((log.lines(), ran.reply()), (vec!["lamp 8".to_owned(), "lamp 9".to_owned()], Some("done")));
}

#[tokio::test(start_paused = true)]
async fn s2_cancelled_between_call_and_result_and_the_user_writes_again() {
    let log = Log::default();
    let slow = tool::<Trip, NoArgs>("slow", "Waits.", |_, _| async {
        sleep(Duration::from_secs(30)).await;
        Ok("late".into())
    });
    let model = ScriptedModel::new([calls([("1", "lamp"), ("2", "slow")]), Turn::text("fresh"), Turn::text("again")]);
    let tools = [noted("lamp", &log).concurrent(), slow.concurrent()];
    let thread = Stage::tools(tools).runner(&model).store(MemoryStore::new()).thread("t");
    let end = say(&thread).cancel_on(sleep(Duration::from_secs(1))).await.unwrap();
    assert_eq!((end.status, transcript(&end.state)), (Status::Cancelled, vec!["user: hi".to_owned()]));
    thread.abandon().await.unwrap();
    let end = say(&thread).await.unwrap();
    assert_eq!(transcript(&end.state), ["user: hi", "user: hi", "assistant: fresh"]);
    assert_eq!(say(&thread).await.unwrap().reply_as::<String>().unwrap().as_deref(), Some("again"));
    valid(&model.requests());
}

#[tokio::test(start_paused = true)]
async fn s2_a_cancelled_turn_may_also_go_on_and_runs_the_same_calls_again() {
    let log = Log::default();
    let noting = log.clone();
    let slow = tool::<Trip, NoArgs>("slow", "Waits.", move |_, call| {
        noting.note(call.idempotency_key());
        async {
            sleep(Duration::from_secs(30)).await;
            Ok("late".into())
        }
    });
    let model = ScriptedModel::new([calls([("1", "slow")]), Turn::text("done")]);
    let thread = Stage::tools([slow]).runner(&model).store(MemoryStore::new()).thread("t");
    say(&thread).cancel_on(sleep(Duration::from_secs(1))).await.unwrap();
    let end = thread.proceed().await.unwrap();
    assert_eq!(transcript(&end.state)[1..], ["assistant calls 1: ", "tool 1: late", "assistant: done"]);
    let keys = log.lines();
    assert_eq!((keys.len(), &keys[0]), (2, &keys[1]));
}

#[tokio::test(start_paused = true)]
async fn s2_a_provider_that_fails_after_the_calls_leaves_a_history_that_can_be_sent() {
    let log = Log::default();
    let fails = || Turn::error(graph_nodes::model::ModelError::rejected("unplugged"));
    let model = ScriptedModel::new([calls([("1", "lamp")]), fails(), Turn::text("back")]);
    let thread = Stage::tools([noted("lamp", &log)]).runner(&model).store(MemoryStore::new()).thread("t");
    let error = say(&thread).await.unwrap_err();
    assert!(matches!(stage_error(&error), StageError::Fatal { .. } | StageError::Exhausted { .. }), "{error}");
    thread.abandon().await.unwrap();
    let end = say(&thread).await.unwrap();
    let expected = ["user: hi", "assistant calls 1: ", "tool 1: one lamp", "user: hi", "assistant: back"];
    assert_eq!(transcript(&end.state), expected);
    valid(&model.requests());
}

#[tokio::test(start_paused = true)]
async fn l96_results_are_in_call_order_and_every_kind_of_error_is_a_message() {
    let log = Log::default();
    let tools = [fixed("fails", || Err("no luck".into())), noted("lamp", &log)];
    let turn = Turn::calls([
        call("1", "fails"),
        call("2", "nothing"),
        ToolCall::from_text("3", "lamp", "["),
        call("4", "lamp"),
    ]);
    let ran = Stage::tools(tools).turn([turn, Turn::text("done")]).await;
    let lines = transcript(ran.state());
    assert_eq!((lines[2].as_str(), lines[5].as_str()), ("tool 1 failed: no luck", "tool 4: one lamp"));
    assert!(lines[3].starts_with("tool 2 failed: there is no tool `nothing`"), "{}", lines[3]);
    assert!(lines[4].starts_with("tool 3 failed: the arguments are not valid JSON"), "{}", lines[4]);
}

#[tokio::test(start_paused = true)]
async fn l97_arguments_that_a_model_forges_for_the_state_reach_no_handler() {
    #[derive(serde::Deserialize, schemars::JsonSchema)]
    struct Search {
        city: String,
    }
    let search = tool::<Trip, Search>("search", "Finds hotels.", |args: Search, call| async move {
        Ok(format!("{} for `{}`", args.city, call.state().city).into())
    });
    let forged = ToolCall::from_text("1", "search", r#"{"city": "Bern", "state": {"city": "Rome"}, "ctx": 1}"#);
    let ran = Stage::tools([search]).turn([Turn::calls([forged]), Turn::text("done")]).await;
    assert_eq!(transcript(ran.state())[2], "tool 1: Bern for ``");
}

#[tokio::test(start_paused = true)]
async fn l98_a_handler_gives_exactly_one_answer_and_more_messages_stand_behind_all_answers() {
    let two = fixed("two", || Ok(ToolReply::text("first").message(Message::user("second"))));
    let ran = Stage::tools([two]).turn([calls([("1", "two"), ("2", "two")]), Turn::text("done")]).await;
    let answers: Vec<_> = ran.state().history.iter().filter_map(Message::call_id).collect();
    assert_eq!(answers, ["1", "2"]);
    assert_eq!(transcript(ran.state())[2..6], ["tool 1: first", "tool 2: first", "user: second", "user: second"]);
}

#[tokio::test(start_paused = true)]
async fn l100_a_history_with_an_unanswered_call_is_refused_before_the_model_is_asked() {
    let model = ScriptedModel::new([Turn::text("never")]);
    let thread = Stage::default().runner(&model).thread("t");
    let open = Message::assistant("").with_calls([call("c7", "lamp")]);
    let error = thread.run(Trip::update().history([Message::user("hi"), open])).await.unwrap_err();
    let StageError::History { reason, .. } = stage_error(&error) else { panic!("{error}") };
    let text = "the history can't be sent: the call `c7` of `lamp` in message 1 is not answered; add its tool message";
    assert_eq!((reason.to_string().as_str(), model.requests().len()), (text, 0));
}
