//! When hooks of stages run, and what they see: the table of a stage's life.

use std::sync::Arc;

use graph_engine::{Command, Graph, MemoryStore, NodeError, Route, RunError, Snap, State, Status};
use graph_nodes::flow::{Cursor, Flow, FlowError, FlowProblem, Stage};
use graph_nodes::gate::Verdict;
use graph_nodes::message::Message;
use graph_nodes::model::{ChatModel, ScriptedModel, Turn};
use graph_nodes::tool::{ToolBox, ToolReply, tool};

use crate::support::{Trip, TripUpdate, calls, flow, go, noted, path, seat, talk};

fn two_stages() -> Graph<Trip> {
    flow().stage(noted("explore", "present")).stage(noted("present", "explore")).build().unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_new_thread_enters_the_first_stage() {
    let talk = talk(&two_stages(), [Turn::text("Where to?")]);
    let end = talk.say("hi").await;
    assert_eq!(end.state.notes, ["enter explore at ``"]);
    assert_eq!((path(&end.state), end.state.cursor.moves()), (vec!["explore"], 1));
}

#[tokio::test(start_paused = true)]
async fn a_go_leaves_one_stage_and_enters_the_other_and_both_see_the_merged_state() {
    let talk = talk(&two_stages(), [calls(["to_present"]), Turn::text("Here.")]);
    let end = talk.say("hi").await;
    // What the tool wrote is in the state before any hook runs.
    assert_eq!(end.state.notes, ["enter explore at ``", "exit explore at `present`", "enter present at `present`"]);
    assert_eq!((path(&end.state), end.state.cursor.moves()), (vec!["explore", "present"], 2));
    assert_eq!(end.reply_as::<String>().unwrap().as_deref(), Some("Here."));
}

#[tokio::test(start_paused = true)]
async fn a_later_turn_restores_the_current_stage_once_and_does_not_enter_it() {
    let turns =
        [calls(["to_present"]), Turn::text("Here."), Turn::text("More."), calls(["to_explore"]), Turn::text("?")];
    let talk = talk(&two_stages(), turns);
    talk.say("hi").await;
    let end = talk.say("more").await;
    assert_eq!(end.state.notes[3..], ["restore present at `present`"]);
    assert_eq!(path(&end.state), ["explore", "present"]);
    // A turn that moves away restores first, then leaves.
    let end = talk.say("back").await;
    assert_eq!(
        end.state.notes[4..],
        ["restore present at `present`", "exit present at `explore`", "enter explore at `explore`"],
    );
}

#[tokio::test(start_paused = true)]
async fn a_resumed_turn_that_comes_back_to_its_stage_restores_nothing_and_the_next_turn_restores_once() {
    let tools = ToolBox::builder().tool(go("to_explore").confirm()).build().unwrap();
    let flow = Flow::new("trip", seat(), Trip::CURSOR).tools(tools);
    let graph = flow.stage(noted("explore", "explore")).build().unwrap();
    let talk = talk(&graph, [calls(["to_explore"]), Turn::text("Here again."), Turn::text("More.")]);
    assert_eq!(talk.say("hi").await.status, Status::Paused);
    // This turn begins with the tools and goes to the beginning of the stage.
    let end = talk.thread.resume(true).await.unwrap();
    assert_eq!((end.status, &end.state.notes[..]), (Status::Done, &["enter explore at ``".to_owned()][..]));
    let end = talk.say("more").await;
    assert_eq!(end.state.notes[1..], ["restore explore at `explore`"]);
}

#[tokio::test(start_paused = true)]
async fn a_stay_of_the_gate_runs_no_hook_and_adds_nothing_to_the_path() {
    let stage = noted("explore", "explore").check("good", |response, _| match response.text.as_str() {
        "good" => Verdict::Accept,
        _ => Verdict::retry("bad", "say good"),
    });
    let graph = flow().stage(stage).build().unwrap();
    let talk = talk(&graph, [Turn::text("bad"), Turn::text("good")]);
    let end = talk.say("hi").await;
    assert_eq!(end.state.notes, ["enter explore at ``"]);
    assert_eq!((path(&end.state), talk.model.requests().len(), end.report.stays), (vec!["explore"], 2, 1));
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_goes_to_its_own_stage_runs_no_hook() {
    let graph = flow().stage(noted("explore", "explore")).build().unwrap();
    let talk = talk(&graph, [calls(["to_explore"]), Turn::text("good")]);
    let end = talk.say("hi").await;
    assert_eq!(end.state.notes, ["enter explore at ``"]);
    assert_eq!(path(&end.state), ["explore"]);
}

#[tokio::test(start_paused = true)]
async fn a_direct_reply_of_a_tool_leaves_the_cursor_and_asks_no_model_again() {
    #[derive(serde::Deserialize, schemars::JsonSchema)]
    struct NoArgs {}
    let say = tool::<Trip, NoArgs>("say", "Says it.", |_, _| async { Ok(ToolReply::text("said").direct("It.")) });
    let graph = flow()
        .tools(ToolBox::builder().tool(say).build().unwrap())
        .stage(Stage::new("explore").tools(["say"]))
        .build()
        .unwrap();
    let talk = talk(&graph, [calls(["say"])]);
    let end = talk.say("hi").await;
    assert_eq!(end.reply_as::<String>().unwrap().as_deref(), Some("It."));
    assert_eq!((path(&end.state), talk.model.requests().len()), (vec!["explore"], 1));
}

#[derive(Route)]
enum FromCheck {
    #[route(to = "present")]
    Present,
    #[route(to = "check")]
    Again,
}

async fn sort_out(trip: Snap<Trip>) -> Command<Trip, FromCheck> {
    match trip.notes.last().map(String::as_str) {
        Some("loop") => Command::go(FromCheck::Again),
        _ => Command::go(FromCheck::Present).with(Trip::update().notes(["sorted out"])),
    }
}

#[tokio::test(start_paused = true)]
async fn logic_runs_between_stages_without_a_model() {
    let graph = flow()
        .stage(noted("explore", "check"))
        .stage(Stage::logic("check", sort_out))
        .stage(noted("present", "explore"))
        .build()
        .unwrap();
    let talk = talk(&graph, [calls(["to_check"]), Turn::text("Here.")]);
    let end = talk.say("hi").await;
    assert_eq!(path(&end.state), ["explore", "check", "present"]);
    assert_eq!(end.state.notes[1..], ["exit explore at `check`", "sorted out", "enter present at `check`"]);
}

#[tokio::test(start_paused = true)]
async fn logic_that_goes_to_itself_fails_the_turn() {
    let graph = flow().stage(Stage::logic("check", sort_out)).stage(noted("present", "check")).build().unwrap();
    let talk = talk(&graph, []);
    let error = talk.thread.run(Trip::update().notes(["loop"])).await.unwrap_err();
    assert!(error.to_string().contains("stage `check` goes to itself; go to another stage, or finish"), "{error}");
}

#[derive(Route)]
enum Round {
    #[route(to = "one")]
    One,
    #[route(to = "two")]
    Two,
}

async fn to_two() -> Command<Trip, Round> {
    Command::go(Round::Two)
}

async fn to_one() -> Command<Trip, Round> {
    Command::go(Round::One)
}

#[tokio::test(start_paused = true)]
async fn a_cycle_of_logic_ends_at_the_step_limit() {
    let graph = flow().stage(Stage::logic("one", to_two)).stage(Stage::logic("two", to_one)).build().unwrap();
    let thread = graph.runner().step_limit(9).store(MemoryStore::new()).thread("t");
    let failed = thread.run(Trip::update()).await.unwrap_err();
    assert!(matches!(*failed.error, RunError::StepLimit { .. }), "{failed}");
    // Every other step enters a stage.
    assert_eq!(thread.state().await.unwrap().state.cursor.moves(), 5);
}

#[tokio::test(start_paused = true)]
async fn the_last_stage_finishes_the_thread_and_a_later_turn_is_refused_without_a_model_call() {
    let bye = Stage::end("bye", |trip: &Trip| format!("Bye from {}.", trip.city));
    let graph = flow().stage(noted("explore", "bye")).stage(bye).build().unwrap();
    let talk = talk(&graph, [calls(["to_bye"])]);
    let end = talk.say("hi").await;
    assert_eq!((end.status, end.reply_as::<String>().unwrap().as_deref()), (Status::Completed, Some("Bye from bye.")));
    assert_eq!(end.state.history.last(), Some(&Message::assistant("Bye from bye.")));
    assert_eq!(end.state.notes, ["enter explore at ``", "exit explore at `bye`"]);
    let refused = talk.thread.run(seat().user("more")).await.unwrap_err();
    assert!(matches!(*refused.error, RunError::Completed { .. }), "{refused}");
    assert_eq!(talk.model.requests().len(), 1);
}

async fn broken(_: Snap<Trip>) -> Result<TripUpdate, NodeError> {
    Err(NodeError::fatal("no light"))
}

#[tokio::test(start_paused = true)]
async fn a_hook_that_fails_fails_the_turn_and_the_cursor_stays() {
    let graph =
        flow().stage(noted("explore", "present")).stage(Stage::new("present").on_enter(broken)).build().unwrap();
    let talk = talk(&graph, [calls(["to_present"])]);
    let failed = talk.thread.run(seat().user("hi")).await.unwrap_err();
    assert!(failed.to_string().contains("no light"), "{failed}");
    assert_eq!(path(&talk.thread.state().await.unwrap().state), ["explore"]);
}

async fn moving() -> Command<Trip, FromCheck> {
    Command::go(FromCheck::Present)
}

#[test]
fn a_hook_that_moves_is_refused_when_the_flow_is_built() {
    let error = flow().stage(noted("explore", "present").on_enter(moving)).build().unwrap_err();
    let FlowError::Problems(problems) = error else { panic!("{error}") };
    let reason = "`on_enter` declares moves, but a hook only writes; return an update".to_owned();
    assert_eq!(problems, [FlowProblem::Hook { stage: "explore".into(), reason }]);
}

#[tokio::test(start_paused = true)]
async fn a_cursor_at_a_stage_that_is_gone_fails_the_turn_and_is_not_kept() {
    let talk = talk(&two_stages(), [Turn::text("Where to?")]);
    let failed = talk.thread.run(Trip::update().cursor(Cursor::at("compare"))).await.unwrap_err();
    let text =
        "the thread stands in stage `compare`, which the flow doesn't have any more; write its cursor with the input";
    assert!(failed.to_string().contains(text), "{failed}");
    assert_eq!(path(&talk.say("hi").await.state), ["explore"]);
}

#[tokio::test(start_paused = true)]
async fn an_input_that_writes_the_cursor_begins_elsewhere_without_entering() {
    let talk = talk(&two_stages(), [Turn::text("Here.")]);
    let input = Trip::compose(seat().user("hi"), Trip::update().cursor(Cursor::at("present")));
    let end = talk.thread.run(input).await.unwrap();
    assert_eq!(end.state.notes, ["restore present at ``"]);
    assert_eq!(end.state.cursor.moves(), 0);
}

#[tokio::test(start_paused = true)]
async fn without_a_store_every_turn_begins_anew() {
    let graph = two_stages();
    let model = ScriptedModel::new([Turn::text("1"), Turn::text("2")]);
    let provided: Arc<dyn ChatModel> = Arc::new(model);
    let thread = graph.runner().provide_arc(provided).thread("t");
    for _ in 0..2 {
        let end = thread.run(seat().user("hi")).await.unwrap();
        assert_eq!(end.state.notes, ["enter explore at ``"]);
    }
}
