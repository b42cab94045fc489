//! Large, deep and hostile answers: a typed end, in linear time, with a small ledger.

use std::time::Duration;

use graph_nodes::gate::{
    AllowedTools, ArgumentsFit, ArgumentsParse, ForbiddenPatterns, Gated, GatedError, Length, NonEmptyText, Streaming,
    StructuredOutput, Validators, Verdict,
};
use graph_nodes::model::{ScriptedModel, ToolSpec, Turn};
use serde_json::json;

use crate::support::{Ran, ask, attempts, call, run, run_with};

const LARGE: usize = 10_000_000;

fn all() -> Validators<()> {
    let anything = ToolSpec::new("book", "Books.", json!({"type": "object", "properties": {"a": {"type": "string"}}}));
    Validators::new()
        .with(NonEmptyText)
        .with(ArgumentsParse)
        .with(ArgumentsFit::new([anything]).unwrap())
        .with(AllowedTools::new(["book"]))
        .with(ForbiddenPatterns::new([("repetition", r"(x+x+)+y"), ("a secret", "(?i)secret")]).unwrap())
        .with(Length::at_most(LARGE))
}

/// Rejected, with a ledger that holds no copy of the answer.
fn small_rejection(ran: &Ran, code: &str) {
    assert!(matches!(ran.error(), GatedError::Exhausted(_)), "{}", ran.error());
    assert_eq!(ran.ledger().attempts[0].codes()[0].as_str(), code);
    let saved = serde_json::to_string(ran.ledger()).unwrap();
    assert!(saved.len() < 10_000, "{} bytes", saved.len());
    assert!(ran.error().to_string().len() < 10_000);
}

#[tokio::test(start_paused = true)]
async fn ten_megabytes_pass_through_every_check() {
    let text = "x".repeat(LARGE);
    let ran = run(attempts(1), all(), [Turn::text(text)]).await;
    assert_eq!(ran.text().len(), LARGE);
}

#[tokio::test(start_paused = true)]
async fn ten_megabytes_in_small_pieces_are_checked_by_every_checkpoint() {
    let text = "word. ".repeat(LARGE / 60);
    let turn = Turn::text(text.clone()).cut_at((0..text.len()).step_by(1_000));
    let streaming = |gated: Gated<()>| gated.with_streaming(Streaming::every_sentence());
    let ran = run_with(attempts(1), all(), [turn], streaming, ask()).await;
    assert_eq!(ran.text().len(), text.len());
    // A checkpoint lies at least a 64th of what came before behind the last one.
    assert!((100..2_000).contains(&ran.events.len()), "{} pieces", ran.events.len());
}

#[tokio::test(start_paused = true)]
async fn feedback_that_quotes_ten_megabytes_is_told_whole_and_kept_short() {
    let echo = Validators::new().with_fn("echo", |response, ()| Verdict::retry("no", response.text.clone()));
    let ran = run(attempts(2), echo, [Turn::text("x".repeat(LARGE)), Turn::text("y".repeat(LARGE))]).await;
    small_rejection(&ran, "no");
    assert!(ran.model.requests()[1].messages[1].text().len() > LARGE);
    let kept = ran.ledger().attempts[0].reasons[0].message.as_ref().unwrap();
    assert!(kept.ends_with("x.. (9998000 more characters)"), "{}", &kept[1_990..]);
}

#[tokio::test(start_paused = true)]
async fn names_and_ids_of_ten_megabytes_are_told_short() {
    let long = "n".repeat(LARGE);
    for turn in [
        Turn::calls([call("1", &long, "{}")]),
        Turn::calls([call(&long, "book", "[]")]),
        Turn::calls([call("1", "book", &format!(r#"{{"a": {}}}"#, "[".repeat(LARGE)))]),
        Turn::calls([call("1", "book", &format!(r#"{{"a": [{}]}}"#, "1,".repeat(1_000_000) + "1"))]),
    ] {
        let ran = run(attempts(1), all(), [turn]).await;
        assert!(ran.end.is_err());
        let saved = serde_json::to_string(ran.ledger()).unwrap();
        assert!(saved.len() < 10_000, "{} bytes", saved.len());
    }
}

fn lists() -> Validators<()> {
    let schema = json!({"type": "array", "items": {"type": "string"}});
    Validators::new().with_structured(StructuredOutput::new(schema).unwrap().with_repair())
}

#[tokio::test(start_paused = true)]
async fn deep_json_is_a_parse_fault_and_no_overflow() {
    for deep in [
        "[".repeat(10_000) + &"]".repeat(10_000),
        "[".repeat(LARGE),
        "{\"a\":".repeat(10_000) + "1" + &"}".repeat(10_000),
        "[[],".repeat(10_000) + "1" + &",]".repeat(10_000),
    ] {
        small_rejection(&run(attempts(1), lists(), [Turn::text(deep)]).await, "parse");
    }
}

#[tokio::test(start_paused = true)]
async fn lone_surrogates_control_characters_and_a_byte_order_mark_are_parse_faults() {
    for odd in
        [r#"["\ud800"]"#, r#"["\udc00x"]"#, "[\"\u{0}\"]", "\u{feff}[]", "[\"\\", "\"", "[1e999]", "```", "```\n```"]
    {
        small_rejection(&run(attempts(1), lists(), [Turn::text(odd)]).await, "parse");
    }
    // Both halves together are a character.
    let ran = run(attempts(1), lists(), [Turn::text(r#"["\ud83d\ude00"]"#)]).await;
    assert!(ran.end.is_ok());
}

#[tokio::test(start_paused = true)]
async fn a_million_wrong_items_are_twenty_paths() {
    let many = format!("[{}1]", "1,".repeat(1_000_000));
    let ran = run(attempts(1), lists(), [Turn::text(many)]).await;
    small_rejection(&ran, "schema");
    let told = ran.ledger().attempts[0].reasons[0].message.clone().unwrap();
    assert!(told.ends_with("; and 999981 more; correct it"), "{told}");
}

#[tokio::test(start_paused = true)]
async fn a_refusal_or_an_error_of_ten_megabytes_is_kept_short() {
    let ran = run(attempts(1), all(), [Turn::refusal("no ".repeat(LARGE / 3))]).await;
    assert!(ran.error().to_string().len() < 3_000);
    assert!(serde_json::to_string(ran.ledger()).unwrap().len() < 10_000);
    let error = graph_nodes::model::ModelError::rejected("no ".repeat(LARGE / 3));
    let ran = run(attempts(1), all(), [Turn::error(error)]).await;
    assert!(ran.error().to_string().len() < 3_000);
}

#[tokio::test(start_paused = true)]
async fn a_text_that_breaks_backtracking_matchers_takes_linear_time() {
    let start = std::time::Instant::now();
    let text = "x".repeat(LARGE);
    let mut model = ScriptedModel::new([Turn::text(text)]);
    model = model.with_name("hostile");
    let gated = Gated::new(model, attempts(1), all());
    assert!(gated.run(ask(), &(), ()).await.is_ok());
    // Generous: even a slow build needs a small part of it, while backtracking would not end.
    assert!(start.elapsed() < Duration::from_secs(60));
}
