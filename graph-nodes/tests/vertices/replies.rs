//! The parts of a reply: prompt, messages, content type, and the order in which they take effect.

use std::sync::Arc;

use graph_engine::{Graph, MemoryStore, START, Status};
use graph_nodes::gate::{GatePolicy, Validators};
use graph_nodes::message::{Message, ToolCall, check_history};
use graph_nodes::model::{ChatModel, ScriptedModel, Turn};
use graph_nodes::stage::{AgentNode, GateNode, StageError, ToolsNode};
use graph_nodes::tool::{FnTool, ToolBox, ToolReply, TypedReply};
use serde_json::json;

use crate::support::{Stage, Trip, calls, fixed, say, seat, transcript};

fn prompts(model: &ScriptedModel) -> Vec<String> {
    model.requests().iter().map(|request| request.messages[0].text()).collect()
}

/// Two stages, `a` and `b`, each with every tool; tools may go to the agent of the other one.
fn two_stages(tools: impl IntoIterator<Item = FnTool<Trip>>) -> Graph<Trip> {
    let tools = tools.into_iter().fold(ToolBox::builder(), |all, tool| all.tool(tool)).build().unwrap();
    let names: Vec<String> = tools.names().into_iter().map(str::to_owned).collect();
    let mut builder = Graph::<Trip>::builder("trip").edge(START, "a.agent");
    for (stage, other) in [("a", "b"), ("b", "a")] {
        let name = |part: &str| format!("{stage}.{part}");
        let agent = AgentNode::new(stage, seat()).prompt(move |_| format!("usual {stage}")).tools(tools.clone());
        let gate = GateNode::new(stage, seat(), GatePolicy::new(), Validators::new()).calls(name("tools"));
        let run = ToolsNode::new(stage, seat(), tools.clone(), &names)
            .then(name("agent"))
            .targets([format!("{other}.agent")]);
        builder = builder.cluster(stage, name("agent"), |cluster| {
            cluster
                .node(name("agent"), agent)
                .node(name("gate"), gate)
                .node(name("tools"), run)
                .edge(name("agent"), name("gate"))
        });
    }
    builder.compile().unwrap()
}

async fn turn(graph: &Graph<Trip>, turns: impl IntoIterator<Item = Turn>) -> (Trip, ScriptedModel) {
    let model = ScriptedModel::new(turns);
    let shared: Arc<dyn ChatModel> = Arc::new(model.clone());
    let end = say(&graph.runner().provide_arc(shared).thread("t")).await.unwrap();
    (Trip::clone(&end.state), model)
}

#[tokio::test(start_paused = true)]
async fn a_prompt_counts_for_one_round_of_the_destination_only() {
    let go = fixed("go", || Ok(ToolReply::text("ok").go("b.agent").prompt("special b")));
    let plain = fixed("plain", || Ok("ok".into()));
    let graph = two_stages([go, plain]);
    let (state, model) =
        turn(&graph, [calls([("1", "plain")]), calls([("2", "go")]), calls([("3", "plain")]), Turn::text("done")])
            .await;
    assert_eq!(prompts(&model), ["usual a", "usual a", "special b", "usual b"]);
    assert!(state.book.prompts.is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_prompt_is_kept_through_the_retries_of_its_round_and_over_a_restart() {
    let set = || fixed("set", || Ok(ToolReply::text("ok").stay("again").prompt("special")));
    let model = ScriptedModel::new([calls([("1", "set")]), Turn::text("bad"), Turn::text("good"), Turn::text("good")]);
    let validators = || {
        Validators::new().with_fn("not_bad", |response, _: &Trip| match response.text.as_str() {
            "bad" => graph_nodes::gate::Verdict::retry("bad", "say good"),
            _ => graph_nodes::gate::Verdict::Accept,
        })
    };
    let store = Arc::new(MemoryStore::new());
    let stage = || Stage::tools([set()]).validators(validators());
    let thread = stage().runner(&model).store_arc(store.clone()).thread("t");
    let cancelled = say(&thread).cancel_on(tokio::time::sleep(std::time::Duration::from_millis(200))).await.unwrap();
    assert_eq!((cancelled.status, model.requests().len()), (Status::Cancelled, 2));
    drop(thread);
    let thread = stage().runner(&model).store_arc(store).thread("t");
    let end = thread.proceed().await.unwrap();
    assert!(end.state.book.prompts.is_empty());
    say(&thread).await.unwrap();
    assert_eq!(prompts(&model), ["Plan a trip to ``.", "special", "special", "Plan a trip to ``."]);
}

#[tokio::test(start_paused = true)]
async fn a_prompt_for_a_place_that_is_not_followed_is_dropped_and_the_last_of_several_counts() {
    let tools = || {
        [
            fixed("here", || Ok(ToolReply::text("x").stay("x").prompt("for a"))),
            fixed("there", || Ok(ToolReply::text("x").go("b.agent").prompt("for b"))),
            fixed("also", || Ok(ToolReply::text("x").go("b.agent").prompt("for b again"))),
        ]
    };
    let graph = two_stages(tools());
    let (_, model) = turn(&graph, [calls([("1", "there"), ("2", "here"), ("3", "also")]), Turn::text("done")]).await;
    assert_eq!(prompts(&model), ["usual a", "for b again"]);
    let (_, model) = turn(&graph, [calls([("1", "there"), ("2", "here")]), Turn::text("done")]).await;
    assert_eq!(prompts(&model), ["usual a", "for b"]);
}

#[tokio::test(start_paused = true)]
async fn messages_of_replies_come_after_all_tool_messages_in_request_order() {
    let tools = [
        fixed("a", || Ok(ToolReply::text("A").message(Message::user("from a")))),
        fixed("b", || Ok(ToolReply::text("B").message(Message::system("from b")).direct("Hello."))),
    ];
    let ran = Stage::tools(tools).turn([calls([("1", "a"), ("2", "b")])]).await;
    assert_eq!(
        transcript(ran.state())[2..],
        ["tool 1: A", "tool 2: B", "user: from a", "system: from b", "assistant: Hello."],
    );
}

#[tokio::test(start_paused = true)]
async fn a_message_that_would_break_the_history_is_an_error_of_the_tool() {
    for message in [Message::tool("9", "x"), Message::assistant("").with_calls([ToolCall::from_text("9", "a", "{}")])] {
        let bad =
            fixed("a", move || Ok(ToolReply::text("A").update(Trip::update().city("Oslo")).message(message.clone())));
        let ran = Stage::tools([bad]).turn([calls([("1", "a")]), Turn::text("done")]).await;
        let text = "tool 1 failed: the tool `a` gave a message of a tool or with calls, which a history can't take; \
                    don't call it again in the same way";
        assert_eq!((transcript(ran.state())[2].as_str(), ran.state().city.as_str()), (text, ""));
    }
}

#[tokio::test(start_paused = true)]
async fn a_content_type_goes_to_the_caller_and_the_content_to_the_history() {
    let page = fixed("page", || Ok(ToolReply::text("shown").direct("<p>Inn</p>").content_type("text/html")));
    let ran = Stage::tools([page]).turn([calls([("1", "page")])]).await;
    let reply: TypedReply = ran.end().reply_as().unwrap().unwrap();
    assert_eq!(reply, TypedReply { content_type: "text/html".into(), content: json!("<p>Inn</p>") });
    assert_eq!(transcript(ran.state())[3], "assistant: <p>Inn</p>");
}

#[tokio::test(start_paused = true)]
async fn r3_the_default_feedback_of_a_stay() {
    let ran =
        Stage::tools([fixed("a", || Ok(ToolReply::validated()))]).turn([calls([("1", "a")]), Turn::text("done")]).await;
    assert_eq!((transcript(ran.state())[2].as_str(), ran.asked()), ("tool 1: input validated", 2));
}

#[tokio::test(start_paused = true)]
async fn r4_a_direct_reply_makes_no_further_model_call_and_the_stage_stays() {
    let tool = || fixed("a", || Ok(ToolReply::text("shown").direct("t")));
    let model = ScriptedModel::new([calls([("1", "a")]), Turn::text("next")]);
    let thread = Stage::tools([tool()]).runner(&model).store(MemoryStore::new()).thread("t");
    let end = say(&thread).await.unwrap();
    assert_eq!((end.reply_as::<String>().unwrap().as_deref(), model.requests().len()), (Some("t"), 1));
    assert_eq!(say(&thread).await.unwrap().reply_as::<String>().unwrap().as_deref(), Some("next"));
}

#[tokio::test(start_paused = true)]
async fn a_direct_reply_without_words_leaves_no_words_of_the_assistant() {
    let ran = Stage::tools([fixed("a", || Ok(ToolReply::text("shown").direct("")))]).turn([calls([("c1", "a")])]).await;
    assert_eq!(transcript(ran.state()), ["user: hi", "assistant calls c1: ", "tool c1: shown"]);
    assert_eq!(ran.reply(), Some(""));
}

#[tokio::test(start_paused = true)]
async fn r5_a_direct_reply_of_an_object_is_compact_json_in_the_history() {
    let tool = fixed("a", || Ok(ToolReply::text("shown").direct(json!({"b": [1, 2], "a": "x"}))));
    let ran = Stage::tools([tool]).turn([calls([("1", "a")])]).await;
    assert_eq!(transcript(ran.state())[3], r#"assistant: {"a":"x","b":[1,2]}"#);
    assert_eq!(ran.end().reply(), Some(&json!({"a": "x", "b": [1, 2]})));
}

#[tokio::test(start_paused = true)]
async fn r6_everything_of_a_reply_takes_effect_in_one_step_before_the_next_node_runs() {
    let tool = fixed("a", || {
        let reply = ToolReply::text("A").message(Message::user("look")).update(Trip::update().city("Oslo"));
        Ok(reply.prompt("special").stay("checked"))
    });
    let ran = Stage::tools([tool]).turn([calls([("1", "a")]), Turn::text("done")]).await;
    let request = &ran.model.requests()[1];
    let texts: Vec<String> = request.messages.iter().map(|message| message.text()).collect();
    assert_eq!(texts, ["special", "hi", "", "checked", "look"]);
    // Agent, gate and tools made three steps until then.
    assert_eq!((ran.state().city.as_str(), ran.end().report.steps), ("Oslo", 5));
}

#[tokio::test(start_paused = true)]
async fn r7_an_update_is_seen_by_the_destination() {
    let go = fixed("go", || Ok(ToolReply::text("ok").update(Trip::update().city("Oslo")).go("b.agent")));
    let see = graph_nodes::tool::tool::<Trip, crate::support::NoArgs>("see", "Sees.", |_, call| async move {
        Ok(format!("`{}`", call.state().city).into())
    });
    let (state, _) =
        turn(&two_stages([go, see]), [calls([("1", "go"), ("2", "see")]), calls([("3", "see")]), Turn::text("done")])
            .await;
    let lines = transcript(&state);
    assert_eq!((lines[3].as_str(), lines[5].as_str()), ("tool 2: ``", "tool 3: `Oslo`"));
}

#[tokio::test(start_paused = true)]
async fn r13_a_thread_that_a_tool_finished_takes_no_further_turn() {
    let end = fixed("end", || Ok(ToolReply::text("ended").finish("Goodbye.")));
    let model = ScriptedModel::new([calls([("1", "end")]), Turn::text("never")]);
    let thread = Stage::tools([end]).runner(&model).store(MemoryStore::new()).thread("t");
    assert_eq!(say(&thread).await.unwrap().status, Status::Completed);
    let error = say(&thread).await.unwrap_err();
    assert!(matches!(&*error, graph_engine::RunError::Completed { .. }), "{error}");
    assert_eq!(model.requests().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn r10_a_tool_cannot_go_to_a_node_of_a_graph_around_its_own() {
    let lost = fixed("lost", || Ok(ToolReply::text("x").go("parent_node")));
    let ran = Stage::tools([lost]).validators(Validators::new()).turn([calls([("1", "lost")])]).await;
    assert!(matches!(ran.stage_error(), StageError::UnknownTarget { target, .. } if *target == "parent_node"));
}

#[tokio::test(start_paused = true)]
async fn what_tools_write_into_the_history_comes_after_the_answers() {
    let tool = fixed("a", || Ok(ToolReply::text("A").update(Trip::update().history([Message::user("written")]))));
    let ran = Stage::tools([tool]).turn([calls([("1", "a")]), Turn::text("done")]).await;
    assert_eq!(transcript(ran.state())[2..4], ["tool 1: A", "user: written"]);
    assert_eq!(check_history(ran.state().history.iter()), Ok(()));
}
