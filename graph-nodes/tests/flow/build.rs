//! What is found when a flow is built, and which model is asked with what.

use graph_nodes::flow::{Catalogue, Flow, FlowError, FlowProblem, ModelEntry, Stage};
use graph_nodes::gate::{Exhaustion, GatePolicy, Streaming, Verdict};
use graph_nodes::model::{ScriptedModel, Turn};
use graph_nodes::stage::StageError;
use graph_nodes::tool::{GroupKey, GroupReply, ToolBox, ToolBoxWarning, group, tool};

use crate::support::{Trip, calls, flow, noted, talk};

fn problems(flow: Flow<Trip>) -> Vec<String> {
    match flow.build().unwrap_err() {
        FlowError::Problems(problems) => problems.iter().map(FlowProblem::to_string).collect(),
        other => panic!("{other}"),
    }
}

#[test]
fn everything_that_is_wrong_is_told_at_once() {
    let catalogue = Catalogue::new()
        .with(ModelEntry::provided("small").supports(["seed", "temperature"]))
        .with(ModelEntry::provided("small"));
    let flow = flow()
        .catalogue(catalogue)
        .model("small")
        .start("nowhere")
        .stage(Stage::new("explore").model("large").tools(["fly"]).template("a\n{% if %}", |_: &Trip| ()))
        .stage(Stage::new("present").parameter("temperature", 1))
        .stage(Stage::end("present", |_| "Bye.".into()).model("small").tools(["to_bye"]).tools(["to_explore"]));
    assert_eq!(
        problems(flow),
        [
            "the catalogue has two models `small`; give each its own name",
            "there are two stages `present`; give each its own name",
            "a thread begins in stage `nowhere`, which there is not; the stages are `explore`, `present`",
            "stage `present` asks no model, so it has no model; take it away, or make the stage with `Stage::new`",
            "stage `present` asks no model, so it has no tools; take it away, or make the stage with `Stage::new`",
            "stage `explore`: the template is wrong, line 2: syntax error: unexpected end of block; correct it",
            "stage `explore`: there is no tool `fly`; the tools are `to_explore`, `to_present`, `to_bye`, `to_check`",
            "stage `explore`: there is no model `large`; the catalogue has `small`; name one of these, or add it with `Catalogue::with`",
            "stage `present`: the model `small` doesn't take `temperature`; it takes none; leave it out, or let the entry say it with `ModelEntry::supports`",
        ],
    );
}

#[test]
fn a_flow_without_stages_is_refused() {
    assert_eq!(problems(flow()), ["there are no stages; add one with `Flow::stage`"]);
}

#[test]
fn a_stage_that_leads_nowhere_known_is_found_by_the_compiler() {
    let error = flow().stage(noted("explore", "present")).build().unwrap_err();
    assert!(matches!(error, FlowError::Compile(_)), "{error}");
    assert!(error.to_string().contains("`present`"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn a_stage_asks_its_own_model_with_its_own_parameters_and_the_attempt_says_which() {
    let (small, large) = (ScriptedModel::new([Turn::text("1")]), ScriptedModel::new([Turn::text("2")]));
    let catalogue = Catalogue::new()
        .with(ModelEntry::new("small", small.clone()).id("acme-small-1").supports(["temperature", "seed"]))
        .with(ModelEntry::new("large", large.clone()).supports(["temperature"]));
    let graph = flow()
        .catalogue(catalogue)
        .model("small")
        .parameter("temperature", 0)
        .stage(Stage::new("explore").parameter("seed", 7).then("present"))
        .stage(Stage::new("present").model("large").parameter("temperature", 1))
        .build()
        .unwrap();
    let talk = talk(&graph, []);
    let end = talk.say("hi").await;
    assert_eq!(end.reply_as::<String>().unwrap().as_deref(), Some("2"));
    let request = &small.requests()[0];
    assert_eq!(request.model.as_deref(), Some("acme-small-1"));
    assert_eq!(serde_json::to_string(&request.parameters).unwrap(), r#"{"seed":7,"temperature":0}"#);
    let request = &large.requests()[0];
    assert_eq!((request.model.as_deref(), request.parameters["temperature"].as_u64()), (None, Some(1)));
    let models: Vec<&str> = ["explore", "present"]
        .map(|stage| end.state.book.last_round(stage).unwrap().ledger.attempts[0].model.as_str())
        .into();
    assert_eq!(models, ["small", "large"]);
}

#[tokio::test(start_paused = true)]
async fn a_name_that_the_values_don_t_have_fails_the_turn_before_any_model_call() {
    let stage = Stage::new("explore").template("Plan {{ town }}", |trip: &Trip| serde_json::json!({"city": trip.city}));
    let graph = flow().stage(stage).build().unwrap();
    let talk = talk(&graph, [Turn::text("1")]);
    let failed = talk.thread.run(Trip::update()).await.unwrap_err();
    let error: &StageError = failed.failures()[0].source.downcast_ref().unwrap();
    assert_eq!(
        error.to_string(),
        "stage `explore`: the prompt can't be made: the template can't be filled, line 1: undefined value; give it every name it uses",
    );
    assert_eq!(talk.model.requests().len(), 0);
}

#[tokio::test(start_paused = true)]
async fn refusals_and_exhaustion_lead_to_nodes_of_the_flow() {
    async fn sorry() -> crate::support::TripUpdate {
        Trip::update().notes(["sorry"])
    }
    let build = || {
        let never = Stage::new("explore")
            .check("never", |_, _| Verdict::retry("no", "no"))
            .escalate("blocked", "sorry")
            .exhausted("sorry");
        flow().stage(never).with(|builder| builder.node("sorry", sorry)).build()
    };
    let talk_once = |turns: Vec<Turn>| {
        let graph = build().unwrap();
        async move { talk(&graph, turns).say("hi").await }
    };
    let end = talk_once(vec![Turn::refusal("I can't.")]).await;
    assert_eq!((end.state.notes.len(), end.state.book.totals("explore").attempts), (1, 1));
    let end = talk_once(["1", "2", "3"].map(Turn::text).into()).await;
    assert_eq!((end.state.notes.len(), end.state.book.totals("explore").attempts), (1, 3));
}

#[tokio::test(start_paused = true)]
async fn the_fallback_of_a_stage_is_asked_once_and_accounted_under_its_name() {
    let large = ScriptedModel::new([Turn::text("good")]);
    let catalogue = Catalogue::new().with(ModelEntry::new("large", large)).with(ModelEntry::provided("usual"));
    let stage = |fallback: Option<&str>| {
        let policy = GatePolicy::new().with_exhaustion(Exhaustion::FallbackModel);
        let stage = Stage::new("explore").policy(policy).check("good", |response, _| match response.text.as_str() {
            "good" => Verdict::Accept,
            _ => Verdict::retry("bad", "say good"),
        });
        fallback.into_iter().fold(stage, |stage, name| stage.fallback(name))
    };
    let with = |fallback| flow().catalogue(catalogue.clone()).model("usual").stage(stage(fallback));
    assert_eq!(
        problems(with(None)),
        [
            "stage `explore`: the gate asks a fallback model when a limit is reached, but the agent has none; give it one with `AgentNode::fallback_model`"
        ],
    );
    assert_eq!(
        problems(with(Some("usual")))[0],
        "stage `explore`: the fallback `usual` is the model that the runner provides; give its entry a model with `ModelEntry::new`",
    );
    let graph = with(Some("large")).build().unwrap();
    let end = talk(&graph, ["1", "2", "3"].map(Turn::text)).say("hi").await;
    let attempts = &end.state.book.last_round("explore").unwrap().ledger.attempts;
    let models: Vec<&str> = attempts.iter().map(|attempt| attempt.model.as_str()).collect();
    assert_eq!(models, ["scripted", "scripted", "scripted", "large"]);
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Offer {
    city: String,
}

#[tokio::test(start_paused = true)]
async fn structured_output_is_asked_for_checked_and_composed_into_the_state() {
    let stage = Stage::new("explore").output(|offer: Offer, _| Trip::update().city(offer.city));
    let talk =
        talk(&flow().stage(stage).build().unwrap(), [Turn::text(r#"{"town": 1}"#), Turn::text(r#"{"city": "Oslo"}"#)]);
    let end = talk.say("hi").await;
    assert_eq!((end.state.city.as_str(), talk.model.requests().len()), ("Oslo", 2));
    let schema = talk.model.requests()[0].response_schema.clone().unwrap();
    assert_eq!(schema["required"], serde_json::json!(["city"]));
    assert_eq!(talk.model.requests()[1].response_schema.as_ref(), Some(&schema));
}

#[tokio::test(start_paused = true)]
async fn a_stage_that_streams_asks_and_judges_in_one_vertex() {
    let stage = Stage::new("explore").streaming(Streaming::every_sentence()).tools(["to_bye"]).leads_to(["bye"]);
    let bye = Stage::end("bye", |_: &Trip| "Bye.".into());
    let graph = flow().stage(stage).stage(bye).build().unwrap();
    let names: Vec<&str> = graph.topology().nodes.iter().map(|vertex| vertex.name.as_str()).collect();
    assert_eq!(names, ["bye", "bye_end", "explore", "explore_agent", "explore_tools"]);
    let talk = talk(&graph, [Turn::text("One. Two."), calls(["to_bye"])]);
    assert_eq!(talk.say("hi").await.reply_as::<String>().unwrap().as_deref(), Some("One. Two."));
    assert_eq!(talk.say("bye").await.reply_as::<String>().unwrap().as_deref(), Some("Bye."));
}

#[test]
fn a_group_that_no_stage_can_reach_is_a_warning_of_the_flow() {
    let handler = || group::<Trip>(|_| async { Ok(GroupReply::text("both")) });
    let nothing = |name: &str| tool::<Trip, Nothing>(name, "Does nothing.", |_, _| async { Ok("done".into()) });
    let tools = ToolBox::builder()
        .tool(nothing("a"))
        .tool(nothing("b"))
        .tool(nothing("c"))
        .group(["a", "b"], handler())
        .group(["b", "c"], handler())
        .build()
        .unwrap();
    let flow =
        flow().tools(tools).stage(Stage::new("explore").tools(["a", "b"])).stage(Stage::new("present").tools(["b"]));
    let missing = vec!["c".to_owned()];
    assert_eq!(flow.warnings(), [ToolBoxWarning::UnreachableGroup { group: GroupKey::of(["b", "c"]), missing }]);
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Nothing {}
