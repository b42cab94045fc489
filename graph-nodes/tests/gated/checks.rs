//! The checks that come with the library.

use graph_nodes::gate::{
    AllowedTools, ArgumentsFit, CheckError, CleanFinish, Cost, ForbiddenPatterns, Gated, Length, NonEmptyText,
    Validators, Verdict,
};
use graph_nodes::message::FinishReason;
use graph_nodes::model::{Response, ScriptedModel, ToolSpec, Turn};
use serde_json::json;

use crate::support::{ask, attempts, call, judged, run};

#[tokio::test(start_paused = true)]
async fn text_and_finish() {
    let checks = || Validators::new().with(NonEmptyText).with(CleanFinish);
    let (codes, _) = judged(checks(), Turn::calls([call("c1", "f", "{}")])).await;
    assert_eq!(codes, ["empty"]);
    let (codes, _) = judged(checks(), Turn::text("half").with_finish(FinishReason::Length)).await;
    assert_eq!(codes, ["truncated"]);
    let ran = run(attempts(1), checks(), [Turn::text("whole")]).await;
    assert_eq!(ran.text(), "whole");
}

#[tokio::test(start_paused = true)]
async fn forbidden_patterns_name_what_they_found_and_quote_nothing() {
    let private = ForbiddenPatterns::new([("an e-mail address", r"\S@\S"), ("a number", r"\d{4}")]).unwrap();
    let (codes, told) = judged(Validators::new().with(private), Turn::text("ann@example.org, 4711")).await;
    assert_eq!(codes, ["forbidden"]);
    assert_eq!(told, "the answer contains an e-mail address and a number; leave it out");
}

#[test]
fn a_bad_or_too_large_pattern_is_refused_when_it_is_built() {
    let error = |pattern: &str| ForbiddenPatterns::new([("x", pattern)]).unwrap_err().to_string();
    assert_eq!(
        error("(a"),
        "the pattern for `x` can't be used: unclosed group; correct it, without look-around and back-references, \
         which can't be matched in linear time",
    );
    assert!(error(r"(?=a)b").contains("look-around"));
    assert_eq!(
        error(r"(\w{900}){900}"),
        "the pattern for `x` needs more than 1048576 bytes; use smaller counts of repetition"
    );
    let nested = format!("{}a{}", "(".repeat(5_000), ")".repeat(5_000));
    assert!(ForbiddenPatterns::new([("x", nested)]).is_err());
}

#[tokio::test(start_paused = true)]
async fn length_is_counted_in_characters() {
    let length = || Validators::new().with(Length::between(3, 5).unwrap());
    assert_eq!(judged(length(), Turn::text("ßß")).await.0, ["too_short"]);
    assert_eq!(judged(length(), Turn::text("ßßßßßß")).await.0, ["too_long"]);
    let ran = run(attempts(1), length(), [Turn::text("ßßßßß")]).await;
    assert_eq!(ran.text(), "ßßßßß");
    let ran = run(attempts(1), length(), [Turn::calls([call("c1", "f", "{}")])]).await;
    assert!(ran.end.is_ok());
    assert_eq!(Length::between(5, 3), Err(CheckError::Length { min: 5, max: 3 }));
}

#[tokio::test(start_paused = true)]
async fn arguments_are_checked_against_the_schemas_of_the_tools() {
    let spec = ToolSpec::new(
        "book",
        "Books.",
        json!({
            "type": "object",
            "properties": {"nights": {"type": "integer", "minimum": 1}},
            "required": ["nights"],
            "additionalProperties": false,
        }),
    );
    let fit = || Validators::new().with(ArgumentsFit::new([spec.clone()]).unwrap());
    let turn = Turn::calls([call("1", "book", r#"{"nights": 0}"#), call("2", "book", "{}"), call("3", "other", "{}")]);
    let (codes, told) = judged(fit(), turn).await;
    assert_eq!(codes, ["arguments"]);
    assert_eq!(
        told,
        "call `1` of `book`: at `/nights`: value is less than the minimum of 1\n\
         call `2` of `book`: \"nights\" is a required property",
    );
    let ran = run(attempts(1), fit(), [Turn::calls([call("1", "book", r#"{"nights": 2}"#)])]).await;
    assert!(ran.end.is_ok());
    let bad = ToolSpec::new("book", "Books.", json!({"type": 7}));
    assert!(matches!(ArgumentsFit::new([bad]), Err(CheckError::Schema { .. })));
}

#[derive(serde::Deserialize)]
struct Book {
    hotel: String,
}

#[tokio::test(start_paused = true)]
async fn arguments_are_checked_against_the_state() {
    let found = vec!["Inn".to_owned(), "Lodge".to_owned()];
    let validators = Validators::<Vec<String>>::new().with(AllowedTools::new(["book", "search"])).with_call_check(
        "book",
        |book: Book, found: &Vec<String>| match found.contains(&book.hotel) {
            true => Ok(()),
            false => Err(format!("`{}` is not among the results", book.hotel)),
        },
    );
    let model = ScriptedModel::new([
        Turn::calls([call("1", "book", r#"{"hotel": "Ritz"}"#), call("2", "book", r#"{"hotel": 7}"#)]),
        Turn::calls([call("1", "book", r#"{"hotel": "Lodge"}"#), call("2", "search", r#"{"hotel": 7}"#)]),
    ]);
    let gated = Gated::new(model.clone(), attempts(3), validators);
    let answer = gated.run(ask(), &found, ()).await.unwrap();
    assert_eq!(answer.response.calls.len(), 2);
    assert_eq!(
        model.requests()[1].messages[1].text(),
        "Your previous answer was rejected: call `1` of `book`: `Ritz` is not among the results\n\
         call `2` of `book`: invalid type: integer `7`, expected a string",
    );
}

async fn in_stock(response: &Response, stock: &u32) -> Verdict {
    tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    match response.text.len() <= *stock as usize {
        true => Verdict::Accept,
        false => Verdict::retry("sold_out", "offer less"),
    }
}

#[tokio::test(start_paused = true)]
async fn a_check_is_an_async_function_with_a_name_and_a_cost() {
    let validators = Validators::<u32>::new().with_async_fn("in_stock", Cost::Cheap, in_stock);
    let gated = Gated::new(ScriptedModel::new([Turn::text("long"), Turn::text("ok")]), attempts(3), validators);
    let answer = gated.run(ask(), &2, ()).await.unwrap();
    assert_eq!((answer.response.text.as_str(), answer.ledger.judge_calls), ("ok", 0));
    assert_eq!(answer.ledger.attempts[0].reasons[0].validator.as_deref(), Some("in_stock"));
}
