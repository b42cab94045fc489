//! Structured output that becomes a part of the accepted update, in both forms of a stage.

use graph_engine::{Graph, START};
use graph_nodes::gate::{Exhaustion, Repair, Streaming, StructuredOutput, Validators, Verdict};
use graph_nodes::message::check_history;
use graph_nodes::model::{ScriptedModel, Turn};
use graph_nodes::stage::{GateNode, GatedNode, StageError};

use crate::support::{Trip, agent, attempts, gate, runner, seat, turn, watch};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Offer {
    price: u32,
}

fn priced(gate: GateNode<Trip>) -> GateNode<Trip> {
    gate.output::<Offer>(|offer, trip: &Trip| {
        Trip::update().price(offer.price).notes([format!("it was {}", trip.price)])
    })
}

fn turns() -> [Turn; 3] {
    [Turn::text("ninety"), Turn::text(r#"{"price": "90"}"#), Turn::text(r#"{"price": 90}"#)]
}

fn check(trip: &Trip) {
    assert_eq!((trip.price, trip.notes.join(",").as_str()), (90, "it was 0"));
    assert_eq!(check_history(trip.history.iter()), Ok(()));
    assert_eq!((trip.history.len(), trip.history.last().unwrap().text().as_str()), (2, r#"{"price": 90}"#));
    assert_eq!((&trip.draft, trip.book.open.len()), (&None, 0));
    let totals = trip.book.totals("explore");
    let counters: Vec<_> = totals.counters.iter().map(|(code, count)| (code.as_str(), *count)).collect();
    assert_eq!((totals.attempts, counters), (3, vec![("parse", 1), ("schema", 1)]));
}

#[tokio::test(start_paused = true)]
async fn in_one_vertex_the_model_is_told_of_the_schema_too() {
    let model = ScriptedModel::new(turns());
    let ran = turn(GatedNode::new(agent(&model), priced(gate(attempts(3), Validators::new())))).await;
    check(ran.state());
    assert_eq!(ran.reply(), Some(r#"{"price": 90}"#));
    let schema = StructuredOutput::of::<Offer>().unwrap().schema().clone();
    assert!(model.requests().iter().all(|request| request.response_schema.as_ref() == Some(&schema)));
}

#[tokio::test(start_paused = true)]
async fn in_two_vertices_the_agent_is_given_the_schema() {
    let model = ScriptedModel::new(turns());
    let offer = StructuredOutput::of::<Offer>().unwrap();
    let schema = offer.schema().clone();
    let agent = agent(&model).request(move |_, request| offer.request(request));
    let gate = priced(gate(attempts(3), Validators::new()));
    assert!(gate.check_agent(&agent).is_ok());
    let graph = Graph::<Trip>::builder("trip")
        .cluster("explore", "agent", |stage| stage.node("agent", agent).node("gate", gate).edge("agent", "gate"))
        .edge(START, "agent")
        .compile()
        .unwrap();
    let end = graph.runner().thread("t").run(seat().user("hi")).await.unwrap();
    check(&end.state);
    assert!(model.requests().iter().all(|request| request.response_schema.as_ref() == Some(&schema)));
}

#[tokio::test(start_paused = true)]
async fn a_repair_that_was_asked_for_is_made_before() {
    let lenient = Validators::new().with_structured(StructuredOutput::of::<Offer>().unwrap().with_repair());
    let model = ScriptedModel::new([Turn::text("```\n{\"price\": 90,}\n```")]);
    let ran = turn(GatedNode::new(agent(&model), priced(gate(attempts(1), lenient)))).await;
    let book = &ran.state().book;
    assert_eq!((ran.state().price, book.totals("explore").repaired), (90, 1));
    let attempt = &book.last_round("explore").unwrap().ledger.attempts[0];
    assert_eq!(attempt.repaired, [Repair::CodeFence, Repair::TrailingCommas]);
    assert_eq!(ran.state().history.last().unwrap().text(), "{\"price\": 90}");
}

#[tokio::test(start_paused = true)]
async fn calls_have_no_output() {
    let model = ScriptedModel::new([Turn::calls([crate::support::call("1", "f", "{}")])]);
    let gate = priced(gate(attempts(1), Validators::new())).calls("handoff");
    let ran = watch(runner(GatedNode::new(agent(&model), gate)).thread("t").run(seat().user("hi"))).await;
    assert_eq!((ran.state().price, ran.state().notes.join(",").as_str()), (0, "handoff"));
}

#[tokio::test(start_paused = true)]
async fn the_best_response_has_an_output_too() {
    let scored = Validators::new()
        .with_fn("cheap", |_, _: &Trip| Verdict::retry("dear", "find a cheaper one"))
        .with_score(|response, _: &Trip| -(response.text.len() as f64));
    let policy = attempts(2).with_exhaustion(Exhaustion::AcceptBest);
    let model = ScriptedModel::new([Turn::text(r#"{"price": 90}"#), Turn::text(r#"{"price":   80}"#)]);
    let ran = turn(GatedNode::new(agent(&model), priced(gate(policy, scored)))).await;
    assert_eq!(ran.state().price, 90);
}

#[derive(serde::Deserialize)]
struct Odd {}

impl schemars::JsonSchema for Odd {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Odd".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({"type": "number", "minimum": "low"})
    }
}

#[tokio::test(start_paused = true)]
async fn a_type_that_describes_itself_by_no_schema_is_found_before_the_first_turn() {
    let odd = || gate(attempts(1), Validators::new()).output::<Odd>(|_, _| Trip::update());
    assert!(matches!(odd().check(), Err(StageError::Check { .. })));
    let model = ScriptedModel::new([]);
    let node = GatedNode::new(agent(&model), odd()).streaming(Streaming::PassThrough);
    assert!(matches!(node.check(), Err(StageError::Check { .. })));
    let built = Graph::<Trip>::builder("trip").node("talk", node).edge(START, "talk").compile();
    assert!(built.unwrap_err().to_string().contains("is no JSON schema"));
}
