//! The book is bounded, exact, stored, and readable.

use graph_nodes::message::Usage;
use graph_nodes::model::{ScriptedModel, Turn};
use graph_nodes::stage::GateBook;

use crate::support::{Stage, only_good, say};

#[tokio::test(start_paused = true)]
async fn only_the_latest_rounds_are_kept_and_the_sums_are_exact() {
    let model = ScriptedModel::new((0..40).flat_map(|n| [Turn::text(format!("bad {n}")), Turn::text("good")]));
    let runner = Stage::default().validators(only_good()).runner(&model).store(graph_engine::MemoryStore::new());
    let thread = runner.thread("t");
    for _ in 0..40 {
        say(&thread).await.unwrap();
    }
    let book = thread.state().await.unwrap().state.book.clone();
    assert_eq!(book.recent.len(), GateBook::KEPT);
    let totals = book.totals("explore");
    assert_eq!((totals.rounds, totals.accepted_rounds, totals.attempts), (40, 40, 80));
    assert_eq!((totals.accepted, totals.rejected), (Usage::new(4000, 400), Usage::new(4000, 400)));
    assert_eq!((totals.acceptance_rate(), book.tokens()), (Some(0.5), 8800));
    let json = serde_json::to_string(&book).unwrap();
    assert_eq!(serde_json::from_str::<GateBook>(&json).unwrap(), book);
}

#[tokio::test(start_paused = true)]
async fn the_table_is_aligned() {
    let ran = Stage::default().validators(only_good()).turn([Turn::text("bad"), Turn::text("good")]).await;
    let expected = "\
stage    rounds  attempts  accepted  rejected  judge   ms
explore       1         2       110       110      0  500
counters: explore not_good 1
";
    assert_eq!(ran.state().book.to_table(), expected);
}
