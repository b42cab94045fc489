//! Examples and tool choice of a stage.

use graph_nodes::flow::{FlowError, Stage};
use graph_nodes::message::Message;
use graph_nodes::model::{ToolChoice, Turn};
use graph_nodes::stage::Example;
use serde_json::json;

use crate::support::{Trip, calls, flow, talk};

#[tokio::test(start_paused = true)]
async fn each_stage_shows_its_own_examples_and_makes_its_own_choice() {
    let explore = Stage::new("explore")
        .tools(["to_present"])
        .leads_to(["present"])
        .tool_choice(ToolChoice::Required)
        .examples(|_| vec![Example::new("Go on.").call("to_present", json!({}), "moved")]);
    let present = Stage::new("present").examples(|trip: &Trip| vec![Example::new("Where?").text(&*trip.city)]);
    let graph = flow().stage(explore).stage(present).build().unwrap();
    let talk = talk(&graph, [calls(["to_present"]), Turn::text("Here.")]);
    let end = talk.say("hi").await;
    let requests = talk.model.requests();
    let choices: Vec<_> = requests.iter().map(|request| request.tool_choice.clone()).collect();
    assert_eq!(choices, [ToolChoice::Required, ToolChoice::Auto]);
    assert_eq!(requests[0].messages[0], Message::user("Go on."));
    assert_eq!(requests[0].messages.len(), 4);
    // The second one sees the state as the first one left it.
    assert_eq!(requests[1].messages[..2], [Message::user("Where?"), Message::assistant("present")]);
    assert_eq!(end.state.history.len(), 4);
}

#[test]
fn what_cannot_be_chosen_or_shown_is_found_when_the_flow_is_built() {
    let explore = Stage::new("explore").tools(["to_present"]).tool_choice(ToolChoice::Named("to_bye".into()));
    let bye = Stage::end("bye", |_| "Bye.".into()).examples(|_| Vec::new());
    let FlowError::Problems(problems) = flow().stage(explore).stage(bye).build().unwrap_err() else {
        panic!("problems");
    };
    let problems: Vec<String> = problems.iter().map(ToString::to_string).collect();
    assert_eq!(
        problems,
        [
            "stage `bye` asks no model, so it has no examples; take it away, or make the stage with `Stage::new`",
            "stage `explore`: the model must call `to_bye`, but the tools that are offered are `to_present`; offer it \
             with `AgentNode::tools`, or choose otherwise with `AgentNode::tool_choice`",
        ]
    );
}
