//! Turns that stop between two stages, prompts that nobody used, models that panic, hooks with policies.

use std::num::NonZeroU32;
use std::time::Duration;

use graph_engine::{Log, NodeExt, Snap, State, Status};
use graph_nodes::flow::{Compaction, FlowError, FlowProblem, Stage};
use graph_nodes::gate::{GatePolicy, Streaming, Validators};
use graph_nodes::message::{Message, check_history};
use graph_nodes::model::{FnModel, Response, ScriptedModel, Turn};
use graph_nodes::stage::RequireEvidence;
use graph_nodes::tool::ToolReply;
use tokio::time::sleep;

use crate::support::{Trip, calls, flow, path, replies, seat, talk};

#[tokio::test(start_paused = true)]
async fn a_summary_whose_model_panics_is_a_warning() {
    let broken = FnModel::new("broken", |_| -> Result<Response, _> { panic!("no summary") });
    let compaction = Compaction::new(broken).minimum(3).recent(1);
    let graph = flow([]).stage(Stage::new("explore").compaction(compaction)).build().unwrap();
    let talk = talk(&graph, ["1", "2"].map(Turn::text));
    talk.say("a").await;
    let end = talk.say("b").await;
    assert_eq!(end.status, Status::Done);
    assert_eq!(end.state.history.iter().map(Message::text).collect::<Vec<_>>(), ["a", "1", "b", "2"]);
}

#[tokio::test(start_paused = true)]
async fn a_compacted_history_of_add_messages_goes_on_with_new_ids() {
    let summaries = ScriptedModel::new([Turn::text("first"), Turn::text("second")]);
    let compaction = Compaction::new(summaries.clone()).minimum(5).recent(1);
    let graph = flow([]).stage(Stage::new("explore").compaction(compaction)).build().unwrap();
    let talk = talk(&graph, ["1", "2", "3", "4", "5"].map(Turn::text));
    for text in ["a", "b", "c", "d", "e"] {
        let end = talk.say(text).await;
        assert_eq!(check_history(end.state.history.iter()), Ok(()));
        let ids: Vec<_> = end.state.history.iter().filter_map(|message| message.id.clone()).collect();
        let mut different = ids.clone();
        different.sort();
        different.dedup();
        assert_eq!(different.len(), ids.len(), "{ids:?}");
    }
    // The second summary was made of the first one.
    assert!(summaries.requests()[1].messages[0].text().ends_with("first"));
}

#[tokio::test(start_paused = true)]
async fn a_prompt_for_a_round_that_could_not_begin_is_gone() {
    let again = replies("again", || ToolReply::text("ok").stay("go on").prompt("Once only."));
    let one = NonZeroU32::new(1).unwrap();
    let explore = Stage::new("explore")
        .prompt(|_| "Usual.".into())
        .tools(["again"])
        .agent(move |agent| agent.max_model_calls(one).out_of_calls("sorry"));
    let graph = flow([again])
        .stage(explore)
        .with(|builder| builder.node("sorry", async || Trip::update().notes(["sorry"])))
        .build()
        .unwrap();
    let talk = talk(&graph, [calls(["again"]), Turn::text("hello")]);
    let end = talk.say("a").await;
    assert_eq!(end.state.notes, ["sorry"]);
    assert!(end.state.book.prompts.is_empty(), "{:?}", end.state.book.prompts);
    talk.say("b").await;
    assert_eq!(talk.prompt(1), "Usual.");
}

fn two_stages() -> graph_engine::Graph<Trip> {
    let note = |hook: &'static str| move |_: Snap<Trip>| async move { Trip::update().notes([hook]) };
    let slow = move |_: Snap<Trip>| async move {
        sleep(Duration::from_secs(1)).await;
        Trip::update().notes(["enter present"])
    };
    let to_present = replies("to_present", || {
        ToolReply::text("moved").update(Trip::update().city("Oslo")).prompt("Once.").go("present")
    });
    flow([to_present])
        .stage(
            Stage::new("explore")
                .prompt(|_| "Explore.".into())
                .tools(["to_present"])
                .leads_to(["present"])
                .on_enter(note("enter explore"))
                .on_exit(note("exit explore"))
                .on_restore(note("restore explore")),
        )
        .stage(Stage::new("present").prompt(|_| "Present.".into()).on_enter(slow).on_restore(note("restore present")))
        .build()
        .unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_move_that_was_cancelled_goes_on_where_it_was() {
    let talk = talk(&two_stages(), [calls(["to_present"]), Turn::text("Here.")]);
    let end = talk.thread.run(seat().user("hi")).cancel_on(sleep(Duration::from_millis(100))).await.unwrap();
    assert_eq!((end.status, path(&end.state)), (Status::Cancelled, vec!["explore"]));
    assert_eq!(check_history(end.state.history.iter()), Ok(()));
    let end = talk.thread.proceed().await.unwrap();
    assert_eq!(path(&end.state), ["explore", "present"]);
    assert_eq!(end.state.notes, ["enter explore", "exit explore", "enter present"]);
    assert_eq!(talk.prompt(1), "Once.");
}

#[tokio::test(start_paused = true)]
async fn a_move_that_was_abandoned_leaves_the_stage_where_it_was() {
    let talk =
        talk(&two_stages(), [calls(["to_present"]), Turn::text("Where?"), calls(["to_present"]), Turn::text("Here.")]);
    talk.thread.run(seat().user("hi")).cancel_on(sleep(Duration::from_millis(100))).await.unwrap();
    talk.thread.abandon().await.unwrap();
    let end = talk.say("again").await;
    assert_eq!((path(&end.state), end.reply_as::<String>().unwrap()), (vec!["explore"], Some("Where?".into())));
    assert_eq!(end.state.notes, ["enter explore", "restore explore"]);
    assert_eq!(talk.prompt(1), "Explore.");
    let end = talk.say("go").await;
    assert_eq!(path(&end.state), ["explore", "present"]);
    assert_eq!(check_history(end.state.history.iter()), Ok(()));
}

#[test]
fn a_hook_with_a_policy_is_refused_because_nothing_would_follow_it() {
    async fn greet() -> TripUpdateAlias {
        Trip::update().notes(["hi"])
    }
    type TripUpdateAlias = <Trip as State>::Update;
    let error =
        flow([]).stage(Stage::new("explore").on_enter(greet.timeout(Duration::from_secs(1)))).build().unwrap_err();
    let FlowError::Problems(problems) = error else { panic!("{error}") };
    assert!(matches!(&problems[..], [FlowProblem::Hook { .. }]), "{problems:?}");
    assert!(problems[0].to_string().contains("timeout"), "{}", problems[0]);
}

#[tokio::test(start_paused = true)]
async fn evidence_of_an_earlier_turn_is_none_however_the_stage_streams() {
    for streaming in [Streaming::HoldAll, Streaming::PassThrough] {
        let search = replies("search", || ToolReply::text("3 hotels"));
        let evidence = RequireEvidence::new("explore", seat()).all_of(["search"]);
        let explore = Stage::new("explore")
            .tools(["search"])
            .policy(GatePolicy::new().with_max_attempts(NonZeroU32::new(3).unwrap()))
            .validators(Validators::new().with(evidence))
            .streaming(streaming);
        let graph = flow([search]).stage(explore).build().unwrap();
        let turns = [calls(["search"]), Turn::text("3"), Turn::text("4"), calls(["search"]), Turn::text("5")];
        let talk = talk(&graph, turns);
        assert_eq!(talk.say("how many?").await.reply_as::<String>().unwrap().as_deref(), Some("3"));
        let reply = talk.say("and now?").await.reply_as::<String>().unwrap();
        assert_eq!(reply.as_deref(), Some("5"), "{streaming:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn two_stages_that_share_a_seat_close_each_others_drafts() {
    let talk = talk(&two_stages(), [Turn::text("late").with_delay(Duration::ZERO), Turn::text("Here.")]);
    // The turn stops between the agent and its gate.
    let gate = talk.thread.run(seat().user("hi")).cancel_on(sleep(Duration::ZERO)).await.unwrap();
    assert_eq!(gate.status, Status::Cancelled);
    talk.thread.abandon().await.unwrap();
    let input = Trip::compose(Trip::update().cursor(graph_nodes::flow::Cursor::at("present")), seat().user("there"));
    let end = talk.thread.run(input).await.unwrap();
    assert_eq!(end.state.draft, None);
    assert_eq!(end.state.book.open.len(), 0);
    assert_eq!(check_history(end.state.history.iter()), Ok(()));
    let _: &Log<Message> = &end.state.history;
}

#[test]
fn a_stage_with_the_name_of_anothers_vertex_is_refused() {
    let error = flow([]).stage(Stage::new("a")).stage(Stage::new("a_agent")).build().unwrap_err();
    assert!(error.to_string().contains("a_agent"), "{error}");
}

#[test]
fn a_move_past_the_beginning_of_a_stage_is_refused() {
    let to = replies("to", || ToolReply::text("moved").go("present_agent"));
    let built = flow([to])
        .stage(Stage::new("explore").tools(["to"]).leads_to(["present_agent"]))
        .stage(Stage::new("present"))
        .build();
    let error = built.unwrap_err();
    assert!(error.to_string().contains("`present_agent`"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn a_private_memory_keeps_its_calls_when_a_tool_goes_elsewhere() {
    let to = replies("to", || ToolReply::text("moved").message(Message::user("note")).go("present"));
    let back = replies("back", || ToolReply::text("bye").finish("the end"));
    let graph = flow([to, back])
        .stage(Stage::new("explore").memory(Trip::PRIVATE).tools(["to"]).leads_to(["present"]))
        .stage(Stage::new("present").tools(["back"]))
        .build()
        .unwrap();
    // The same ids in both memories.
    let call = |name: &str| Turn::calls([graph_nodes::message::ToolCall::from_text("c1", name, "{}")]);
    let end = talk(&graph, [call("to"), call("back")]).say("hi").await;
    let texts = |log: &Log<Message>| log.iter().map(Message::text).collect::<Vec<_>>();
    assert_eq!(texts(&end.state.private), ["", "moved", "note"]);
    assert_eq!(texts(&end.state.history), ["hi", "", "bye", "the end"]);
    assert_eq!(check_history(end.state.history.iter()), Ok(()));
    assert_eq!(check_history(end.state.private.iter()), Ok(()));
}

#[tokio::test(start_paused = true)]
async fn a_compaction_that_was_cancelled_changes_nothing_and_goes_on() {
    let slow = ScriptedModel::new([Turn::text("late").with_delay(Duration::from_secs(9)), Turn::text("short")]);
    let compaction = Compaction::new(slow.clone()).minimum(3).recent(1);
    let graph = flow([]).stage(Stage::new("explore").compaction(compaction)).build().unwrap();
    let talk = talk(&graph, ["1", "2"].map(Turn::text));
    talk.say("a").await;
    let end = talk.thread.run(seat().user("b")).cancel_on(sleep(Duration::from_secs(1))).await.unwrap();
    assert_eq!((end.status, end.state.history.len()), (Status::Cancelled, 3));
    let end = talk.thread.proceed().await.unwrap();
    let texts: Vec<String> = end.state.history.iter().map(Message::text).collect();
    assert_eq!(texts, ["Summary of the conversation so far: short", "b", "2"]);
    assert_eq!(slow.requests().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn the_last_steps_of_a_turn_end_it_whatever_the_model_wants() {
    use graph_nodes::stage::FinalizePolicy;
    let policy = FinalizePolicy::default();
    assert_eq!((policy.steps_left(0), policy.steps_left(u64::MAX) > 1), (1, true));
    assert_eq!(policy.with_reserve_steps(u64::MAX).steps_left(u64::MAX), 1);
    let search = replies("search", || ToolReply::text("3"));
    let graph = flow([search])
        .stage(Stage::new("explore").tools(["search"]).finalize(FinalizePolicy::default()))
        .build()
        .unwrap();
    let model = FnModel::new("greedy", |request| {
        Ok(match request.tools.is_empty() {
            true => Response::from_text("what I have"),
            false => Response::from_calls([graph_nodes::message::ToolCall::from_text("c", "search", "{}")]),
        })
    });
    for steps in 6..16 {
        let provided: std::sync::Arc<dyn graph_nodes::model::ChatModel> = std::sync::Arc::new(model.clone());
        let thread = graph.runner().provide_arc(provided).step_limit(steps).thread("t");
        let end = thread.run(seat().user("hi")).await.unwrap();
        assert_eq!(end.reply_as::<String>().unwrap().as_deref(), Some("what I have"), "{steps}");
        assert_eq!(check_history(end.state.history.iter()), Ok(()));
    }
}

#[tokio::test(start_paused = true)]
async fn logic_may_come_back_by_way_of_a_node() {
    use graph_engine::Command;

    #[derive(graph_engine::Route)]
    enum Next {
        #[route(to = "fix")]
        Fix,
        #[route(to = "present")]
        Present,
    }
    async fn check(trip: Snap<Trip>) -> Command<Trip, Next> {
        match trip.city.is_empty() {
            true => Command::go(Next::Fix),
            false => Command::go(Next::Present),
        }
    }
    async fn fix() -> <Trip as State>::Update {
        Trip::update().city("Oslo")
    }
    let graph = flow([])
        .stage(Stage::logic("check", check))
        .stage(Stage::new("present"))
        .with(|builder| builder.node("fix", fix).edge("fix", "check"))
        .build()
        .unwrap();
    let end = talk(&graph, [Turn::text("Here.")]).say("hi").await;
    assert_eq!(path(&end.state), ["check", "present"]);
}
