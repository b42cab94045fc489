//! Structured output: its shape, and what may be repaired of it.

use graph_nodes::gate::{CheckError, Code, Exhaustion, Repair, StructuredOutput, Validators, Verdict, shown};
use graph_nodes::message::FinishReason;
use graph_nodes::model::Turn;
use serde_json::json;

use crate::support::{ask, attempts, call, judged, run, run_with};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Offer {
    #[expect(dead_code, reason = "only read")]
    hotel: String,
    #[expect(dead_code, reason = "only read")]
    price: u32,
}

fn offer() -> StructuredOutput {
    StructuredOutput::of::<Offer>().unwrap()
}

fn offers() -> Validators<()> {
    Validators::new().with_structured(offer())
}

const GOOD: &str = r#"{"hotel": "Inn", "price": 90}"#;

#[tokio::test(start_paused = true)]
async fn no_json_is_parse_and_another_shape_is_schema_with_its_paths() {
    let ran =
        run(attempts(3), offers(), [Turn::text("ninety"), Turn::text(r#"{"price": -1}"#), Turn::text(GOOD)]).await;
    assert_eq!((ran.text(), ran.counters()), (GOOD, vec![("parse", 1), ("schema", 1)]));
    assert_eq!(
        ran.model.requests()[2].messages[1].text(),
        "Your previous answer was rejected: the answer doesn't fit its schema: \"hotel\" is a required property; \
         at `/price`: value is less than the minimum of 0; correct it",
    );
}

#[tokio::test(start_paused = true)]
async fn what_the_schema_lets_through_and_the_type_does_not_is_schema_too() {
    // The schema of a number in JSON has no upper limit of 32 bits.
    let (codes, told) = judged(offers(), Turn::text(r#"{"hotel": "Inn", "price": 9000000000}"#)).await;
    assert_eq!(codes, ["schema"]);
    assert!(told.contains("9000000000"), "{told}");
}

#[tokio::test(start_paused = true)]
async fn syntax_is_repaired_only_where_that_is_asked_for() {
    let fenced = "```json\n{\"hotel\": \"Inn\", \"price\": 90,}\n```";
    let (codes, _) = judged(offers(), Turn::text(fenced)).await;
    assert_eq!(codes, ["parse"]);

    let lenient = || Validators::new().with_structured(offer().with_repair());
    let ran = run(attempts(3), lenient(), [Turn::text(fenced)]).await;
    assert_eq!((ran.text(), ran.asked(), shown(&ran.events).as_str()), (GOOD, 1, GOOD));
    let attempt = &ran.ledger().attempts[0];
    assert_eq!(attempt.repaired, [Repair::CodeFence, Repair::TrailingCommas]);
    let modified = attempt.modified.as_ref().unwrap();
    assert_eq!(modified.note, "repaired: code fence, trailing commas");
    assert_ne!(modified.before, modified.after);
    assert_eq!(ran.ledger().repaired, 1);
    assert!(ran.ledger().to_table().contains("\nrepaired: 1\n"));
}

#[tokio::test(start_paused = true)]
async fn what_was_cut_off_is_never_repaired() {
    let lenient = || Validators::new().with_structured(offer().with_repair());
    for (turn, code) in [
        (Turn::text("```json\n{\"hotel\": \"Inn\", \"price\": 90,}\n```").with_finish(FinishReason::Length), "parse"),
        (Turn::text("```json\n{\"hotel\": \"Inn\", \"price\": 90,}\n```").without_finish(), "truncated"),
        (Turn::text("{\"hotel\": \"Inn\", \"price\": 9"), "parse"),
    ] {
        assert_eq!(judged(lenient(), turn).await.0, [code]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_repaired_text_is_judged_as_any_other() {
    let lenient = Validators::new()
        .with_structured(offer().with_repair())
        .with_fn("cheap", |_, ()| Verdict::retry("dear", "find a cheaper one"));
    let ran = run(attempts(1), lenient, [Turn::text("```\n{\"hotel\": \"Inn\", \"price\": 90}\n```")]).await;
    assert_eq!((ran.counters(), ran.ledger().repaired), (vec![("dear", 1)], 1));
    let lenient = Validators::new().with_structured(offer().with_repair());
    assert_eq!(judged(lenient, Turn::text("{\"hotel\": \"Inn\",}")).await.0, ["schema"]);
}

#[tokio::test(start_paused = true)]
async fn the_wrong_shape_is_accepted_neither_in_shadow_nor_as_the_best() {
    let turns = || [Turn::text("{}"), Turn::text("{\"a\": 1}")];
    let ran = run(attempts(2).in_shadow(), offers(), turns()).await;
    assert_eq!(ran.counters(), [("schema", 2)]);
    let scored = offers().with_score(|_, ()| 1.0);
    let ran = run(attempts(2).with_exhaustion(Exhaustion::AcceptBest), scored, turns()).await;
    assert!(ran.end.is_err() && ran.ledger().best.is_none());
}

#[tokio::test(start_paused = true)]
async fn a_validator_can_t_put_another_shape_in_its_place() {
    let broken = offers().with_fn("polish", |_, ()| Verdict::accept_text("{}", "polished"));
    let ran = run(attempts(1), broken, [Turn::text(GOOD)]).await;
    assert_eq!(ran.counters(), [("schema", 1)]);
}

#[tokio::test(start_paused = true)]
async fn a_response_that_calls_tools_has_no_shape_yet() {
    let turn = Turn::text("Let me look.").with_call(call("c1", "search", "{}"));
    let ran = run(attempts(1), offers(), [turn]).await;
    assert_eq!(ran.end.unwrap().response.calls.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn the_request_tells_the_model_of_the_schema() {
    let expected = json!({
        "type": "object",
        "properties": {
            "hotel": {"type": "string"},
            "price": {"type": "integer", "format": "uint32", "minimum": 0},
        },
        "required": ["hotel", "price"],
    });
    let ran = run_with(attempts(1), offers(), [Turn::text(GOOD)], |gated| gated, offer().request(ask())).await;
    assert_eq!(ran.model.requests()[0].response_schema, Some(expected));
}

#[test]
fn a_schema_that_is_none_is_refused_when_it_is_built() {
    let error = StructuredOutput::new(json!({"type": "number", "minimum": "low"})).unwrap_err();
    let CheckError::Schema { of, place, .. } = error else { panic!("{error}") };
    assert_eq!((of.as_str(), place.as_str()), ("the structured output", "/minimum"));
    // Nothing is fetched.
    assert!(StructuredOutput::new(json!({"$ref": "https://example.org/schema.json"})).is_err());
    assert_eq!(Code::SCHEMA.as_str(), "schema");
}
