//! What is found when a flow is built, and which model is asked with what.

use graph_nodes::flow::{Catalogue, Flow, FlowError, FlowProblem, ModelEntry, Stage};
use graph_nodes::gate::Verdict;
use graph_nodes::model::{ScriptedModel, Turn};
use graph_nodes::stage::StageError;

use crate::support::{Trip, flow, noted, talk};

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
            "stage `explore`: there is no model `large`; the catalogue has `small`",
            "stage `present`: the model `small` doesn't take `temperature`; it takes none",
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
