//! An answer needs evidence.

use graph_engine::MemoryStore;
use graph_nodes::gate::{Code, Validators};
use graph_nodes::model::{ScriptedModel, Turn};
use graph_nodes::stage::{RequireEvidence, StageError};
use graph_nodes::tool::{FnTool, ToolReply};

use crate::support::{Stage, Trip, attempts, calls, fixed, say, seat, transcript};

fn tools() -> [FnTool<Trip>; 4] {
    [
        fixed("search", || Ok("two hotels".into())),
        fixed("empty", || Ok(ToolReply::text("nothing").unproductive())),
        fixed("price", || Ok("120".into())),
        fixed("down", || Err("down".into())),
    ]
}

fn stage(evidence: RequireEvidence<Trip>) -> Stage {
    Stage { policy: attempts(5), ..Stage::tools(tools()) }.validators(Validators::new().with(evidence))
}

fn search() -> RequireEvidence<Trip> {
    RequireEvidence::new("explore", seat()).all_of(["search"])
}

/// Texts that differ, so that no progress is not the reason.
fn texts(n: usize) -> impl Iterator<Item = Turn> {
    (1..=n).map(|n| Turn::text(format!("guess {n}")))
}

#[tokio::test(start_paused = true)]
async fn x11_an_answer_without_evidence_is_reminded_of_twice_and_then_fails_with_the_code() {
    let ran = stage(search()).turn(texts(5)).await;
    let StageError::Fatal { code, ledger, .. } = ran.stage_error() else { panic!("{}", ran.error()) };
    assert_eq!((code, ledger.count(&Code::new("evidence")), ran.asked()), (&Code::new("evidence"), 3, 3));
    let requests = ran.model.requests();
    let told = requests[1].messages.last().unwrap().text();
    let text = "answer only after `search` gave a result; call it first";
    assert!(told.ends_with(text), "{told}");
    assert!(requests[2].messages.last().unwrap().text().ends_with(text));
}

#[tokio::test(start_paused = true)]
async fn a_productive_success_is_enough_and_the_answer_is_accepted() {
    let ran = stage(search()).turn([Turn::text("guess"), calls([("1", "search")]), Turn::text("two hotels")]).await;
    assert_eq!((ran.reply(), ran.asked()), (Some("two hotels"), 3));
    assert_eq!(ran.state().book.tools["explore"].reminders, 1);
}

#[tokio::test(start_paused = true)]
async fn reminders_are_counted_over_the_rounds_of_a_turn() {
    let turns = [
        Turn::text("guess 1"),
        calls([("1", "price")]),
        Turn::text("guess 2"),
        calls([("2", "price")]),
        Turn::text("guess 3"),
    ];
    let ran = stage(search()).turn(turns).await;
    assert!(matches!(ran.stage_error(), StageError::Fatal { code, .. } if code.as_str() == "evidence"));
    assert_eq!(ran.asked(), 5);
}

#[tokio::test(start_paused = true)]
async fn an_unproductive_success_and_a_failure_are_no_evidence() {
    for tool in ["empty", "down"] {
        let evidence = RequireEvidence::new("explore", seat()).all_of([tool]).reminders(0);
        let ran = stage(evidence).turn([calls([("1", tool)]), Turn::text("guess")]).await;
        assert!(matches!(ran.stage_error(), StageError::Fatal { code, .. } if code.as_str() == "evidence"), "{tool}");
    }
}

#[tokio::test(start_paused = true)]
async fn one_of_a_set_is_enough_and_everything_that_is_missing_is_told() {
    let evidence = || search().any_of(["down", "price"]).any_of([""; 0]);
    let ran = stage(evidence())
        .turn([Turn::text("guess"), calls([("1", "search"), ("2", "price")]), Turn::text("120")])
        .await;
    assert_eq!(ran.reply(), Some("120"));
    let told = ran.model.requests()[1].messages.last().unwrap().text();
    assert!(
        told.ends_with("answer only after `search` and one of `down`, `price` gave a result; call them first"),
        "{told}"
    );
}

#[tokio::test(start_paused = true)]
async fn evidence_of_an_earlier_turn_does_not_count() {
    let model = ScriptedModel::new([
        calls([("1", "search")]),
        Turn::text("two"),
        Turn::text("two"),
        calls([("2", "search")]),
        Turn::text("two"),
    ]);
    let thread = stage(search()).runner(&model).store(MemoryStore::new()).thread("t");
    say(&thread).await.unwrap();
    let end = say(&thread).await.unwrap();
    assert_eq!(model.requests().len(), 5);
    assert_eq!(
        transcript(&end.state)[4..],
        ["user: hi", "assistant calls 2: ", "tool 2: two hotels", "assistant: two"]
    );
}
