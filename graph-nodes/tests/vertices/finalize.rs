//! The last steps of a turn, and how often a model may be asked.

use std::num::NonZeroU32;

use graph_engine::{MemoryStore, RunError};
use graph_nodes::gate::{Validators, Verdict};
use graph_nodes::model::{Request, ScriptedModel, ToolChoice, Turn};
use graph_nodes::stage::{AgentNode, FinalizePolicy, RoundEnd, StageError};

use crate::support::{Stage, Trip, attempts, calls, counted, fixed, only_good, say, transcript};

fn stage(agent: fn(AgentNode<Trip>) -> AgentNode<Trip>) -> Stage {
    Stage { agent, ..Stage::tools([fixed("a", || Ok("A".into()))]) }
}

fn note(request: &Request) -> Option<String> {
    request.messages.iter().map(|message| message.text()).find(|text| text.contains("left: "))
}

#[tokio::test(start_paused = true)]
async fn x12_the_last_three_steps_are_announced_and_in_the_last_one_no_tool_is_offered() {
    let stage = stage(|agent| agent.finalize(FinalizePolicy::new()));
    let model = ScriptedModel::new([calls([("1", "a")]), calls([("2", "a")]), calls([("3", "a")]), Turn::text("done")]);
    // Three rounds of three super-steps, then agent and gate; two are kept in reserve.
    let runner = stage.runner(&model).step_limit(13);
    let end = say(&runner.thread("t")).await.unwrap();
    assert_eq!(end.reply_as::<String>().unwrap().as_deref(), Some("done"));
    let requests = model.requests();
    let notes: Vec<_> = requests.iter().map(note).collect();
    let told = |text: &str| Some(text.to_owned());
    assert_eq!(
        notes,
        [
            None,
            told("3 steps left: come to an end."),
            told("2 steps left: come to an end."),
            told("1 step left: answer now, with what you have."),
        ],
    );
    let offered: Vec<_> = requests.iter().map(|request| (request.tools.len(), request.tool_choice.clone())).collect();
    assert_eq!(offered[2..], [(1, ToolChoice::Auto), (0, ToolChoice::None)]);
    // The notes are not kept.
    assert_eq!(transcript(&end.state).iter().filter(|line| line.contains("left: ")).count(), 0);
}

#[tokio::test(start_paused = true)]
async fn the_reserve_is_enough_for_one_rejected_answer() {
    let not_bad = Validators::new().with_fn("not_bad", |response, _: &Trip| match response.text.as_str() {
        "bad" => Verdict::retry("bad", "say `good`"),
        _ => Verdict::Accept,
    });
    let stage = stage(|agent| agent.finalize(FinalizePolicy::new())).validators(not_bad);
    let model = ScriptedModel::new([calls([("1", "a")]), Turn::text("bad"), Turn::text("good")]);
    let end = say(&stage.runner(&model).step_limit(7).thread("t")).await.unwrap();
    assert_eq!((end.reply_as::<String>().unwrap().as_deref(), end.report.steps), (Some("good"), 7));
}

#[tokio::test(start_paused = true)]
async fn without_the_policy_the_step_limit_ends_the_turn() {
    let model = ScriptedModel::new([calls([("1", "a")]), calls([("2", "a")]), Turn::text("done")]);
    let error = say(&stage(|agent| agent).runner(&model).step_limit(5).thread("t")).await.unwrap_err();
    assert!(matches!(&*error, RunError::StepLimit { .. }), "{error}");
    assert_eq!(model.requests().iter().filter_map(note).count(), 0);
}

#[tokio::test(start_paused = true)]
async fn tools_stay_on_if_the_policy_says_so_and_a_named_choice_is_taken_back() {
    let on = stage(|agent| agent.finalize(FinalizePolicy::new().with_tools_off(false)));
    let model = ScriptedModel::new([Turn::text("done")]);
    say(&on.runner(&model).step_limit(2).thread("t")).await.unwrap();
    assert_eq!(model.requests()[0].tools.len(), 1);

    let forced = stage(|agent| {
        let agent = agent.finalize(FinalizePolicy::new().with_reserve_steps(0));
        agent.request(|_, request| request.with_tool_choice(ToolChoice::Required))
    });
    let model = ScriptedModel::new([calls([("1", "a")]), Turn::text("done")]);
    say(&forced.runner(&model).step_limit(5).thread("t")).await.unwrap();
    let choices: Vec<_> = model.requests().iter().map(|request| request.tool_choice.clone()).collect();
    assert_eq!(choices, [ToolChoice::Required, ToolChoice::None]);
}

fn two(agent: AgentNode<Trip>) -> AgentNode<Trip> {
    agent.max_model_calls(NonZeroU32::new(2).unwrap())
}

#[tokio::test(start_paused = true)]
async fn a_turn_may_call_the_model_so_often_and_the_next_turn_begins_anew() {
    let (tool, _) = counted("a");
    let model = ScriptedModel::new([calls([("1", "a")]), calls([("2", "a")]), Turn::text("three")]);
    let thread = Stage { agent: two, ..Stage::tools([tool]) }.runner(&model).store(MemoryStore::new()).thread("t");
    let error = say(&thread).await.unwrap_err();
    assert!(matches!(crate::support::stage_error(&error), StageError::ModelCallLimit { limit: 2, .. }));
    assert_eq!(model.requests().len(), 2);
    let end = thread.proceed().await.unwrap();
    assert_eq!(end.reply_as::<String>().unwrap().as_deref(), Some("three"));
    assert_eq!(transcript(&end.state).len(), 6);
}

#[tokio::test(start_paused = true)]
async fn corrections_count_and_the_way_out_ends_the_round() {
    let agent = |agent: AgentNode<Trip>| two(agent).out_of_calls("handoff");
    let stage = Stage { agent, policy: attempts(5), ..Stage::default() }.validators(only_good());
    let ran = stage.turn([Turn::text("bad 1"), Turn::text("bad 2"), Turn::text("good")]).await;
    assert_eq!((ran.asked(), ran.state().notes.join(",").as_str(), &ran.state().draft), (2, "handoff", &None));
    let book = &ran.state().book;
    assert_eq!((book.open.len(), &book.last_round("explore").unwrap().end), (0, &RoundEnd::Abandoned));
    assert_eq!(book.totals("explore").attempts, 2);
}
