//! What a model is shown before the conversation, and whether it must call a tool.

use graph_engine::MemoryStore;
use graph_nodes::gate::{Validators, Verdict};
use graph_nodes::message::{Message, ToolCall};
use graph_nodes::model::{ScriptedModel, ToolChoice, Turn};
use graph_nodes::stage::{AgentNode, Example, FinalizePolicy, StageError};
use serde_json::json;

use crate::support::{Stage, Trip, calls, fixed, say, seat, transcript};

fn stage(agent: fn(AgentNode<Trip>) -> AgentNode<Trip>) -> Stage {
    Stage { agent, ..Stage::tools([fixed("a", || Ok("A".into()))]) }
}

fn shown(agent: AgentNode<Trip>) -> AgentNode<Trip> {
    agent.examples(|trip| {
        let call =
            Example::new(format!("From `{}`?", trip.city)).call("a", json!({"n": 1}), "1").call("a", json!({}), "2");
        vec![call.text("Two."), Example::new("Bye").call("a", json!({}), "3")]
    })
}

#[tokio::test(start_paused = true)]
async fn examples_stand_between_prompt_and_history_of_every_request_and_are_never_kept() {
    let not_bad = Validators::new().with_fn("not_bad", |response, _: &Trip| match response.text.as_str() {
        "bad" => Verdict::retry("bad", "say `good`"),
        _ => Verdict::Accept,
    });
    let stage = stage(shown).validators(not_bad);
    let model = ScriptedModel::new([calls([("1", "a")]), Turn::text("bad"), Turn::text("good")]);
    let thread = stage.runner(&model).store(MemoryStore::new()).thread("t");
    let end = say(&thread).await.unwrap();
    let call = |id: &str, arguments| ToolCall::new(id, "a", &arguments);
    let answer = |id: &str, text: &str| Message::tool(id, text).with_tool_name("a");
    let expected = [
        Message::system("Plan a trip to ``."),
        Message::user("From ``?"),
        Message::assistant("").with_calls([call("example_1", json!({"n": 1})), call("example_2", json!({}))]),
        answer("example_1", "1"),
        answer("example_2", "2"),
        Message::assistant("Two."),
        Message::user("Bye"),
        Message::assistant("").with_calls([call("example_3", json!({}))]),
        answer("example_3", "3"),
        Message::user("hi"),
    ];
    let requests = model.requests();
    assert_eq!(requests.len(), 3);
    for request in &requests {
        assert_eq!(request.messages[..expected.len()], expected);
    }
    // The second attempt of the last round has the correction at its end, as without examples.
    let last = requests[2].messages.last().unwrap().text();
    assert!(last.starts_with("Your previous answer was rejected: "), "{last}");
    assert_eq!(end.reply_as::<String>().unwrap().as_deref(), Some("good"));
    let kept = serde_json::to_string(&thread.state().await.unwrap().state.history).unwrap();
    assert!(!kept.contains("example") && !kept.contains("From"), "{kept}");
    assert_eq!(transcript(&end.state).len(), 4);
}

#[tokio::test(start_paused = true)]
async fn the_choice_is_in_every_request_and_the_last_step_comes_before_it() {
    let stage = stage(|agent| agent.tool_choice(ToolChoice::Required).finalize(FinalizePolicy::new()));
    let model = ScriptedModel::new([calls([("1", "a")]), calls([("2", "a")]), Turn::text("done")]);
    let end = say(&stage.runner(&model).step_limit(10).thread("t")).await.unwrap();
    assert_eq!(end.reply_as::<String>().unwrap().as_deref(), Some("done"));
    let choices: Vec<_> = model.requests().iter().map(|request| request.tool_choice.clone()).collect();
    assert_eq!(choices, [ToolChoice::Required, ToolChoice::Required, ToolChoice::None]);
}

#[test]
fn a_call_that_must_be_made_must_be_possible() {
    let agent = |choice| AgentNode::<Trip>::new("explore", seat()).tool_choice(choice);
    assert!(agent(ToolChoice::None).check().is_ok());
    let tools = Stage::tools([fixed("a", || Ok("A".into())), fixed("b", || Ok("B".into()))]).tools;
    assert!(agent(ToolChoice::Required).tools(tools.clone()).check().is_ok());
    assert!(agent(ToolChoice::Named("a".into())).tools(tools.clone()).check().is_ok());

    let error = agent(ToolChoice::Required).check().unwrap_err();
    assert!(matches!(error, StageError::ToolChoice { .. }));
    assert_eq!(
        error.to_string(),
        "stage `explore`: the model must call a tool, but the tools that are offered are none; offer it with \
         `AgentNode::tools`, or choose otherwise with `AgentNode::tool_choice`"
    );
    let error = agent(ToolChoice::Named("fly".into())).tools(tools).check().unwrap_err();
    assert_eq!(
        error.to_string(),
        "stage `explore`: the model must call `fly`, but the tools that are offered are `a`, `b`; offer it with \
         `AgentNode::tools`, or choose otherwise with `AgentNode::tool_choice`"
    );
}
